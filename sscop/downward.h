/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Downward: packets are cut into SDs, and frames are sent.
 */
#ifndef _SSCOP_DOWNWARD_H
#define _SSCOP_DOWNWARD_H

#include "state.h"

bool sscop_may_wait(const struct sscop_dev *d);
void sscop_follow_above(struct sscop_dev *d, struct sk_buff *skb);
netdev_tx_t sscop_start_xmit(struct sk_buff *skb, struct net_device *dev);
bool sscop_has_more(struct sscop_dev *d);
bool sscop_give(struct sscop_dev *d, u64 now, struct sk_buff_head *down);
u32 sscop_send(struct sscop_dev *d, struct sk_buff_head *down);
void sscop_send_control(struct sscop_dev *d, const struct sscop_output *output);
bool sscop_forget(struct sscop_dev *d, void *segment);

#endif /* _SSCOP_DOWNWARD_H */
