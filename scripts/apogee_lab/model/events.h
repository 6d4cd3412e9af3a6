/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_EVENTS_H
#define _MODEL_EVENTS_H

#include "world.h"

void event_add(u64 at, u8 kind, struct packet packet);
bool event_next(struct event *event);
u64 event_under_way(u16 flow);
u64 event_rescaled(u64 at, double factor);
void event_rescale(double factor);
u64 timer_tick(u64 ns);
void timer_set(struct flow *f, u8 kind, u64 at);
void timer_stop(struct flow *f, u8 kind);
bool timer_expired(struct flow *f, u8 kind);

#endif /* _MODEL_EVENTS_H */
