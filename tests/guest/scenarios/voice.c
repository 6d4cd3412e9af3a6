// SPDX-License-Identifier: GPL-2.0
/* voice speak ADDRESS PORT TOS SECONDS: 200 octets of IP each 20 ms, with number and time.
 * voice hear PORT: a line NUMBER US for each that arrives, with what it took, until none has come
 * for 3 s. Both must have the same clock.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#define EVERY_NS 20000000LL
#define PAYLOAD (200 - 20 - 8)

struct word {
	int64_t number;
	int64_t sent_ns;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int speak(int fd, struct sockaddr_in *to, int tos, int seconds)
{
	char payload[PAYLOAD] = "";
	int64_t zero = now_ns();
	struct word word;

	setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	if (connect(fd, (struct sockaddr *)to, sizeof(*to)))
		return 1;
	for (word.number = 0; word.number < 50 * seconds; word.number++) {
		int64_t at = zero + word.number * EVERY_NS;
		struct timespec until = { at / 1000000000, at % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		word.sent_ns = now_ns();
		memcpy(payload, &word, sizeof(word));
		if (send(fd, payload, sizeof(payload), 0) < 0)
			return 1;
	}
	return 0;
}

static int hear(int fd, struct sockaddr_in *at)
{
	struct timeval patience = { 60, 0 };
	char payload[PAYLOAD];
	struct word word;

	if (bind(fd, (struct sockaddr *)at, sizeof(*at)))
		return 1;
	for (;;) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (recv(fd, payload, sizeof(payload), 0) != sizeof(payload))
			return 0;
		patience.tv_sec = 3;
		memcpy(&word, payload, sizeof(word));
		printf("%lld %lld\n", (long long)word.number,
		       (long long)(now_ns() - word.sent_ns) / 1000);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (argc == 3 && !strcmp(argv[1], "hear")) {
		address.sin_port = htons((uint16_t)atoi(argv[2]));
		return hear(fd, &address);
	}
	if (argc != 6 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		return 2;
	address.sin_port = htons((uint16_t)atoi(argv[3]));
	return speak(fd, &address, atoi(argv[4]), atoi(argv[5]));
}
