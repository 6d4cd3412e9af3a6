/* SPDX-License-Identifier: GPL-2.0 */
/* Frames and IP packets that a device sends and receives, and how many are sent each second. */
#ifndef APOGEE_TEST_FRAMES_H
#define APOGEE_TEST_FRAMES_H

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "octets.h"

#define SHOT 10		/* frames sent at once */

static inline uint32_t draw(void)
{
	return mrand48();
}

static inline int fill_random(unsigned char *octets, int length)
{
	for (int i = 0; i < length; i += sizeof(uint32_t)) {
		uint32_t four = draw();

		memcpy(octets + i, &four, length - i < 4 ? length - i : 4);
	}
	return length;
}

static inline int bind_frames(int fd, const char *device, int protocol)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };

	at.sll_ifindex = if_nametoindex(device);
	return at.sll_ifindex ? bind(fd, (struct sockaddr *)&at, sizeof(at)) : -1;
}

/* A socket that sees IP packets; -1: there is no such device. */
static inline int packets_of(const char *device)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));

	return fd < 0 || bind_frames(fd, device, ETH_P_ALL) ? -1 : fd;
}

/* A socket that sends past the device's queue, and sees what comes and goes. */
static inline int frames_of(const char *device)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), one = 1;

	if (fd < 0 || bind_frames(fd, device, ETH_P_ALL) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		err(1, "%s", device);
	return fd;
}

/* Frames that pass are read no more, or they fill the socket's buffer for nothing. */
static inline void stop_listening(int fd, const char *device)
{
	if (bind_frames(fd, device, 0))
		err(1, "%s", device);
}

/* The next one, and whether it was sent; its length, -1: an error. */
static inline int next_frame(int fd, unsigned char *octets, int room, int flags, bool *sent)
{
	struct sockaddr_ll from = { 0 };
	socklen_t size = sizeof(from);
	int n = recvfrom(fd, octets, room, flags, (struct sockaddr *)&from, &size);

	*sent = from.sll_pkttype == PACKET_OUTGOING;
	return n;
}

/* A queue without room drops it. */
static inline void send_octets(int fd, const unsigned char *octets, int length)
{
	if (send(fd, octets, length, 0) < 0 && errno != ENOBUFS)
		err(1, "send");
}

static inline void sleep_until(double at)
{
	struct timespec ts = { .tv_sec = at, .tv_nsec = (at - (long)at) * 1e9 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Call shoot() as often as asked for, and print how often it was. */
static inline void paced(double rate, double seconds, void (*shoot)(void *), void *with)
{
	double begin = now();
	long n;

	for (n = 0; n < rate * seconds; n++) {
		if (n % SHOT == 0)
			sleep_until(begin + n / rate);
		if (now() > begin + 2 * seconds)
			break;
		shoot(with);
	}
	printf("%ld\n", n);
}

#endif
