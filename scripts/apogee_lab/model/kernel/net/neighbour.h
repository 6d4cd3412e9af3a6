/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets have no routes here, and so no next hops. */
#ifndef _TEST_NET_NEIGHBOUR_H
#define _TEST_NET_NEIGHBOUR_H

#include <linux/types.h>

#define MAX_ADDR_LEN	32
#define NUD_NOARP	0x40
#define NUD_VALID	0xde

struct inet_sock {
	u32 inet_daddr;
};

struct sock;

static inline const struct inet_sock *inet_sk(const struct sock *sk)
{
	static const struct inet_sock nowhere;

	(void)sk;
	return &nowhere;
}

struct neighbour_device {
	u8 addr_len;
};

struct neighbour {
	u8 nud_state;
	struct neighbour_device *dev;
};

static inline void neigh_ha_snapshot(char *address, const struct neighbour *n,
				     const struct neighbour_device *dev)
{
	(void)address;
	(void)n;
	(void)dev;
}

static inline struct neighbour *dst_neigh_lookup(const void *dst, const void *to)
{
	(void)dst;
	(void)to;
	return NULL;
}

static inline void neigh_release(struct neighbour *n)
{
	(void)n;
}

#endif /* _TEST_NET_NEIGHBOUR_H */
