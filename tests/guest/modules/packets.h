/* SPDX-License-Identifier: GPL-2.0 */
/* The IP packets that a device sends and receives. */
#ifndef APOGEE_TEST_PACKETS_H
#define APOGEE_TEST_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

/* A socket that sees them; -1: there is no such device. */
static inline int packets_of(const char *device)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };

	at.sll_ifindex = if_nametoindex(device);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -1;
	return fd;
}

/* The next one, as far as there is room, and whether it was sent; its length, -1: an error. */
static inline ssize_t next_packet(int fd, unsigned char *packet, size_t room, bool *sent)
{
	struct sockaddr_ll from = { 0 };
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(fd, packet, room, 0, (struct sockaddr *)&from, &size);

	*sent = from.sll_pkttype == PACKET_OUTGOING;
	return n;
}

#endif
