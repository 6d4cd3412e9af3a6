/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that an agent holds back.
 */
#ifndef _SHAKE_HELD_H
#define _SHAKE_HELD_H

#include "state.h"

struct shake_held *shake_held_make(struct shake_dev *d);
void shake_held_free(struct shake_held *held);
void shake_held_purge(struct shake_held *held);
u32 shake_held_count(const struct shake_held *held);
bool shake_held_put(struct shake_held *held, struct sk_buff *skb, bool opening);
bool shake_held_waits(const struct shake_held *held);
bool shake_held_has(struct shake_held *held, struct sk_buff *skb);
bool shake_held_begin(struct shake_held *held);
struct sk_buff *shake_held_take(struct shake_held *held, u32 trip);
void shake_held_end(struct shake_held *held);

#endif /* _SHAKE_HELD_H */
