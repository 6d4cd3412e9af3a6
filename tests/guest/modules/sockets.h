/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of IPv4 in figures, and sockets that have them. */
#ifndef APOGEE_TEST_SOCKETS_H
#define APOGEE_TEST_SOCKETS_H

#include <err.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static inline struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };

	if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
		errx(1, "%s: not of IPv4", host);
	return to;
}

static inline int connected(int type, const char *host, const char *port)
{
	struct sockaddr_in to = address(host, port);
	int fd = socket(AF_INET, type, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "%s", host);
	return fd;
}

static inline int bound(int type, const char *port)
{
	struct sockaddr_in at = address("0.0.0.0", port);
	int fd = socket(AF_INET, type, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(1, "%s", port);
	return fd;
}

#endif
