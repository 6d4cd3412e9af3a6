/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue above, where no queueing discipline keeps one.
 */
#ifndef _SSCOP_ABOVE_H
#define _SSCOP_ABOVE_H

#include "state.h"

int sscop_above_init(struct sscop_above *above);
void sscop_above_free(struct sscop_above *above);
void sscop_above_purge(struct sscop_above *above);
void sscop_above_know(struct sscop_above *above, u64 rate, u32 rtt, u64 takes, u32 packet);
void sscop_above_put(struct sscop_above *above, struct sk_buff *skb);
struct sk_buff *sscop_above_next(struct sscop_above *above);

#endif /* _SSCOP_ABOVE_H */
