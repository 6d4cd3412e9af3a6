// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>

#include "early_packets.h"

u64 fuzz_now;
u64 fuzz_clock;

void *early_packet(u32 number)
{
	struct sk_buff *skb = fuzz_skb((u8 *)&number, sizeof(number));

	skb->hash = number;
	return skb;
}

u32 early_number(void *packet)
{
	return ((struct sk_buff *)packet)->hash;
}

void *early_rest(void *packet)
{
	struct sk_buff *rest = ((struct sk_buff *)packet)->next;

	kfree_skb(packet);
	return rest;
}
