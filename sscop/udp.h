/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link under UDP instead of a device below.
 */
#ifndef _SSCOP_UDP_H
#define _SSCOP_UDP_H

#include "state.h"

u16 sscop_udp_family(const struct sscop_udp *u);
int sscop_udp_check(struct sscop_udp *u, struct netlink_ext_ack *extack);
u32 sscop_udp_find_mtu(struct sscop_udp *u);
bool sscop_udp_is_from_peer(const struct sscop_udp *u, const struct sk_buff *skb);
void sscop_udp_learn(struct sscop_udp *u, const struct sk_buff *skb, bool is_peer);
void sscop_udp_address(const struct sscop_udp *u, struct sk_buff *skb, bool is_known);
void sscop_udp_send(struct sscop_dev *d, struct sk_buff *skb);

static inline bool sscop_udp_has_remote(const struct sscop_udp *u)
{
	return u->remote.any.sa_family != AF_UNSPEC;
}

#endif /* _SSCOP_UDP_H */
