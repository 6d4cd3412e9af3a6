/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_SENDER_H
#define _MODEL_SENDER_H

#include "world.h"

void sender_start(struct flow *f);
void sender_ack(struct flow *f, struct ack ack);
void sender_pace(struct flow *f);
void sender_supply(struct flow *f, u32 segments);
void sender_transfer(struct flow *f);
void sender_timer(struct flow *f);
void sender_check(struct flow *f);

#endif /* _MODEL_SENDER_H */
