/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device below has of us.
 */
#ifndef _SSCOP_BELOW_H
#define _SSCOP_BELOW_H

#include "state.h"

bool sscop_runs_below(const struct sscop_dev *d);
u32 sscop_mtu_below(const struct sscop_dev *d);
struct sscop_under_way *sscop_under_way_new(struct napi_struct *napi);
void sscop_under_way_put(struct sscop_under_way *under_way);
void sscop_begin_budget(struct sscop_dev *d, u64 now);
enum sscop_room sscop_room_below(const struct sscop_dev *d);
void sscop_look_below(struct sscop_dev *d, u64 now);
enum sscop_room sscop_await_room(struct sscop_dev *d);
void sscop_refused(struct sscop_dev *d, u32 frames);
void sscop_put_below(struct sscop_dev *d, struct sk_buff *skb);

#endif /* _SSCOP_BELOW_H */
