// SPDX-License-Identifier: GPL-2.0
/* flow datagrams and sink: UDP at a constant rate, counted at both ends, with the time that each
 * datagram was on its way: the ends are of one machine and have one clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>

#include "flow.h"

#define MOST_DELAYS	1048576

int flow_datagrams(const struct target *to, int bytes, double seconds, pid_t pid,
		   const char *path)
{
	static char payload[MOST_DATAGRAM];
	long long sent = 0, refused = 0;
	FILE *log = create(path);
	int64_t zero = now_us();
	int fd;

	fd = socket(to->to.ss_family, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to->to, to->length))
		die("datagrams");
	while (!kill(pid, 0)) {
		int64_t now = now_us();

		if (bytes >= (int)sizeof(now))
			memcpy(payload, &now, sizeof(now));
		if (send(fd, payload, (size_t)bytes, MSG_DONTWAIT) >= 0)
			sent++;
		else
			refused++;
		sleep_until(zero + (int64_t)((double)(sent + refused) * seconds * 1e6));
	}
	fprintf(log, "{\"sent\":%lld,\"refused\":%lld,\"first_us\":%lld,\"end_us\":%lld}\n",
		sent, refused, (long long)zero, (long long)now_us());
	finish(log, path);
	close(fd);
	return 0;
}

int flow_sink(const char *port, const char *path)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	long long packets = 0, bytes = 0;
	FILE *log = create(path);
	static int32_t delays[MOST_DELAYS];
	int fd, off = 0, known = 0;
	int64_t at;
	ssize_t n;

	end_on_term();
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	addr.sin6_port = htons((uint16_t)atoi(port));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("bind");
	while (!stop) {
		n = recv(fd, &at, sizeof(at), MSG_TRUNC);
		if (n < 0)
			continue;
		if (n >= (ssize_t)sizeof(at) && known < MOST_DELAYS)
			delays[known++] = (int32_t)(now_us() - at);
		packets++;
		bytes += n;
	}
	fprintf(log, "{\"packets\":%lld,\"bytes\":%lld,\"delays_us\":[", packets, bytes);
	for (int i = 0; i < known; i++)
		fprintf(log, "%s%d", i ? "," : "", delays[i]);
	fprintf(log, "]}\n");
	finish(log, path);
	return 0;
}
