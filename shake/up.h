/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets go up to the stack.
 */
#ifndef _SHAKE_UP_H
#define _SHAKE_UP_H

#include "state.h"

/* A packet is given to the stack. */
static inline void shake_give(struct shake_dev *d, struct sk_buff *skb)
{
	dev_sw_netstats_rx_add(d->dev, skb->len);
	gro_cells_receive(&d->gro, skb);
}

/*
 * How many packets that have waited may go up now: what is left does so later. gro_cells drops what
 * is above net.core.netdev_max_backlog, 1000.
 */
static inline u32 shake_up_room(struct shake_dev *d)
{
	if (jiffies - READ_ONCE(d->up_at)) {
		WRITE_ONCE(d->up_at, jiffies);
		atomic_set(&d->up, SHAKE_UP);
	}
	return max(atomic_read(&d->up), 0);
}

/* So many did. */
static inline void shake_up_count(struct shake_dev *d, u32 count)
{
	if (count)
		atomic_sub(count, &d->up);
}

/* Packets go up, a list. Under RCU, without locks. */
static inline void shake_deliver(struct shake_dev *d, struct sk_buff *list)
{
	struct sk_buff *skb, *next;

	skb_list_walk_safe(list, skb, next) {
		skb_mark_not_on_list(skb);
		memset(skb->cb, 0, sizeof(skb->cb));
		gro_cells_receive(&d->gro, skb);
	}
}

#endif /* _SHAKE_UP_H */
