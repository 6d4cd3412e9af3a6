// SPDX-License-Identifier: GPL-2.0
/*
 * Which packets need not be assured: by DSCP, or as they are small.
 *
 * TCP and SCTP repair by themselves, and take what is missing for congestion: they are always
 * assured, as are fragments and what does not fit into one frame. A flow that has packets of both
 * kinds is assured, so that they stay in order.
 */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "classify.h"
#include "piece.h"

#define MIXED_JIFFIES (10 * HZ)	/* for which a flow is assured after such a packet */

/* Whether packets of a protocol may be unassured. Extension headers hide it. */
static bool may_be_lost(u8 protocol)
{
	return protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
	       protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6 ||
	       protocol == IPPROTO_ESP || protocol == IPPROTO_DCCP;
}

/* Return: the DSCP; -1 if the packet must be assured. */
static int dscp_of(const struct sk_buff *skb)
{
	const struct ipv6hdr *ipv6;
	const struct iphdr *ipv4;
	union {
		struct iphdr ipv4;
		struct ipv6hdr ipv6;
	} room;

	if (skb->protocol == htons(ETH_P_IPV6)) {
		ipv6 = skb_header_pointer(skb, 0, sizeof(room.ipv6), &room);
		if (!ipv6 || !may_be_lost(ipv6->nexthdr))
			return -1;
		return ipv6_get_dsfield(ipv6) >> 2;
	}
	ipv4 = skb_header_pointer(skb, 0, sizeof(room.ipv4), &room);
	if (!ipv4 || ip_is_fragment(ipv4) || !may_be_lost(ipv4->protocol))
		return -1;
	return ipv4_get_dsfield(ipv4) >> 2;
}

/* What the settings say of a packet alone */
static u32 wanted_class(const struct sscop_settings *settings, const struct sk_buff *skb, int dscp)
{
	if (READ_ONCE(settings->unassured) >> dscp & 1)
		return SSCOP_UNASSURED;
	if (READ_ONCE(settings->bounded) >> dscp & 1 || skb->len <= READ_ONCE(settings->small))
		return SSCOP_BOUNDED;
	return SSCOP_ASSURED;
}

/* The class of a packet; called by one sender at a time. */
u32 sscop_class_of(struct sscop_dev *d, struct sk_buff *skb)
{
	unsigned long *long_at;
	u32 class;
	int dscp;

	if (!READ_ONCE(d->s.classed))
		return SSCOP_ASSURED;
	dscp = dscp_of(skb);
	if (dscp < 0)
		return SSCOP_ASSURED;
	class = wanted_class(&d->settings, skb, dscp);
	long_at = &d->long_at[skb_get_hash(skb) % SSCOP_FLOWS];
	if (class == SSCOP_ASSURED || skb->len > sscop_piece_limit(d) - SSCOP_UD_FIELDS) {
		*long_at = jiffies;
		return SSCOP_ASSURED;
	}
	return *long_at && time_before(jiffies, *long_at + MIXED_JIFFIES) ? SSCOP_ASSURED : class;
}
