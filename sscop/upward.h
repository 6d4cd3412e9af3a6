/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Upward: frames that arrive, and the packets that they are pieces of.
 */
#ifndef _SSCOP_UPWARD_H
#define _SSCOP_UPWARD_H

#include "state.h"

void sscop_arrived(struct sscop_dev *d, struct sk_buff *skb);
int sscop_frame_in(struct sk_buff *skb, struct net_device *lower, struct packet_type *type,
		   struct net_device *orig);
int sscop_take(struct sscop_dev *d, int budget, u64 now, struct sk_buff_head *up);

#endif /* _SSCOP_UPWARD_H */
