// SPDX-License-Identifier: GPL-2.0
/* datagrams ADDRESS PORT: UDP datagrams as lines US COUNT OCTETS of standard input say: COUNT of
 * OCTETS of payload, so many microseconds after the beginning.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <arpa/inet.h>
#include <sys/socket.h>

static char payload[65536];

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), count, octets;
	struct timespec zero, at;
	long long us;

	if (argc != 3 || fd < 0 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((uint16_t)atoi(argv[2]));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &zero);
	while (scanf("%lld %d %d", &us, &count, &octets) == 3) {
		at.tv_sec = zero.tv_sec + us / 1000000;
		at.tv_nsec = zero.tv_nsec + us % 1000000 * 1000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		while (count--)
			if (send(fd, payload, (size_t)octets, 0) < 0)
				return 1;
	}
	return 0;
}
