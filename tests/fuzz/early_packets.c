// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>

#include "early_packets.h"

u64 fuzz_now;
u64 fuzz_clock;

static struct net_device dev;

void *early_packet(u32 number)
{
	struct sk_buff *skb = fuzz_skb((u8 *)&number, sizeof(number));

	skb->hash = number;
	skb->dev = &dev;
	return skb;
}

u32 early_number(void *packet)
{
	return ((struct sk_buff *)packet)->hash;
}

void *early_rest(void *packet)
{
	struct sk_buff *skb = packet, *rest = skb->next;

	if (skb->dev != &dev || skb->prev)
		abort();
	kfree_skb(skb);
	return rest;
}
