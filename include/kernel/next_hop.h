/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link address of a connection's next hop.
 */
#ifndef _KERNEL_NEXT_HOP_H
#define _KERNEL_NEXT_HOP_H

#include <net/neighbour.h>
#include <net/tcp.h>

static inline const void *next_hop_destination(const struct sock *sk,
					       const struct dst_entry *dst)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (dst->ops->family == AF_INET6)
		return &sk->sk_v6_daddr;
#endif
	return &inet_sk(sk)->inet_daddr;
}

/* The last eight bytes of a neighbour's link address. Devices without address
 * resolution (loopback, tunnels) have only their own address or none: 0.
 */
static inline u64 next_hop_of(struct neighbour *n)
{
	char ha[MAX_ADDR_LEN];
	u64 address = 0;
	int i;

	if (READ_ONCE(n->nud_state) & NUD_NOARP)
		return 0;
	neigh_ha_snapshot(ha, n, n->dev);
	for (i = 0; i < n->dev->addr_len; i++)
		address = address << 8 | (u8)ha[i];
	return address;
}

/**
 * next_hop_address() - link address of the next hop
 * @sk: the connection
 * @address: set to its last eight bytes, or to 0 if the device has no addresses
 *
 * Return: true if it is known.
 */
static inline bool next_hop_address(struct sock *sk, u64 *address)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	struct neighbour *n;
	bool known;

	if (!dst)
		return false;
	n = dst_neigh_lookup(dst, next_hop_destination(sk, dst));
	if (!n)
		return false;
	known = READ_ONCE(n->nud_state) & NUD_VALID;
	if (known)
		*address = next_hop_of(n);
	neigh_release(n);
	return known;
}

#endif /* _KERNEL_NEXT_HOP_H */
