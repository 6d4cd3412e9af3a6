/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_NET_CODEL_IMPL_H
#define _TEST_NET_CODEL_IMPL_H

#include <net/codel.h>

static inline struct sk_buff *
codel_dequeue(void *context, u32 *backlog, struct codel_params *params, struct codel_vars *vars,
	      struct codel_stats *stats, u32 (*length)(const struct sk_buff *skb),
	      codel_time_t (*time)(const struct sk_buff *skb),
	      void (*drop)(struct sk_buff *skb, void *context),
	      struct sk_buff *(*take)(struct codel_vars *vars, void *context))
{
	struct sk_buff *skb = take(vars, context);

	if (backlog && params && stats && drop && skb && length(skb) && time(skb))
		stats->drop_count = 0;
	return skb;
}

#endif /* _TEST_NET_CODEL_IMPL_H */
