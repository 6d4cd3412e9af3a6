/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of the tunnel leave: a route, UDP.
 */
#ifndef _SHAKE_SEND_H
#define _SHAKE_SEND_H

#include "state.h"

#define SHAKE_NO_ROOM 1	/* octets of a route that has room for no packet, or of none */

/**
 * struct shake_route - the packet outside
 * @sk: socket
 * @dst: route, referenced
 * @mtu: longest inner packet of the route; another CPU may forget the path's meanwhile
 * @saddr4: address that is sent from
 * @saddr6: address that is sent from
 */
struct shake_route {
	struct sock *sk;
	struct dst_entry *dst;
	u32 mtu;
	__be32 saddr4;
	struct in6_addr saddr6;
};

bool shake_find_route(struct shake_dev *d, const struct shake_way *way, struct shake_route *route);
void shake_send_outside(struct shake_dev *d, const struct shake_way *way,
			struct shake_route *route, struct sk_buff *skb, u8 tos, bool df);

/* Under RCU, without locks. */
void shake_send_control(struct shake_dev *d, const struct shake_way *way, const u8 *packet,
			u32 length);
void shake_send_copies(struct shake_dev *d, const struct shake_way *way, struct sk_buff *list);

/* Seal and send a packet of a session. The same. */
static inline void shake_send_sealed(struct shake_dev *d, const struct shake_way *way, u8 *packet,
				     u32 length)
{
	if (way->link->s.auth) {
		shake_seal(&way->link->s, way->counter, packet, length, length);
		length += SHAKE_TAG;
	}
	shake_send_control(d, way, packet, length);
}

#endif /* _SHAKE_SEND_H */
