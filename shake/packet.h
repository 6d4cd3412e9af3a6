/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is read of a packet in its buffer, and the tag over it.
 */
#ifndef _SHAKE_PACKET_H
#define _SHAKE_PACKET_H

#include "state.h"

/*
 * Copy what is not in pages that can be read, or in such as somebody else may write to meanwhile,
 * as a file's: it has to stay what its tag says. Returns false if that can't be done.
 */
static inline bool shake_own(struct sk_buff *skb)
{
	return !skb_is_nonlinear(skb) ||
	       (!skb_has_shared_frag(skb) && !skb_has_frag_list(skb) &&
		apogee_frags_readable(skb)) ||
	       !__skb_linearize(skb);
}

void shake_data_tag(const struct sk_buff *skb, u32 head, const u8 *key, u64 counter, u8 *tag);
bool shake_segment_pull(struct sk_buff *skb, struct shake_segment *segment);

#endif /* _SHAKE_PACKET_H */
