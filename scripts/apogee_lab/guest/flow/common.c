// SPDX-License-Identifier: GPL-2.0
/* Shared by both ends of a flow: time, signals, logs, a listening socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <netinet/in.h>

#include "flow.h"

#define PENDING		64

volatile sig_atomic_t stop;
int protocol;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

void end_on_term(void)
{
	const struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGTERM, &sa, NULL);
}

void die(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reset the connection when the socket is closed, even if its owner was killed. Otherwise the
 * kernel may retransmit for minutes and hold the congestion control's module for that long.
 */
void reset_at_close(int fd, int on)
{
	const struct linger reset = { .l_onoff = on };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)))
		die("SO_LINGER");
}

int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Sleep until an absolute time; a signal ends the sleep early. */
void sleep_until(int64_t t_us)
{
	struct timespec ts = {
		.tv_sec = t_us / 1000000,
		.tv_nsec = t_us % 1000000 * 1000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

FILE *create(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die(path);
	return f;
}

void finish(FILE *f, const char *path)
{
	if (ferror(f) || fclose(f))
		die(path);
}

/* A socket that listens for IPv4 and IPv6. Handshakes of sockets that the sender gave up are still
 * pending: with less room Linux would answer further SYNs by cookies, which may leave out SACK and
 * the window's scale, and reset a connection whose first segments are lost.
 */
int listening(const char *port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	int lfd, one = 1, off = 0;

	lfd = socket(AF_INET6, SOCK_STREAM, protocol);
	if (lfd < 0)
		die("socket");
	reset_at_close(lfd, 1); /* accepted sockets inherit its options */
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(lfd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	addr.sin6_port = htons((uint16_t)atoi(port));
	if (bind(lfd, (struct sockaddr *)&addr, sizeof(addr)) || listen(lfd, PENDING))
		die("listen");
	return lfd;
}
