/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_PATH_H
#define _MODEL_PATH_H

#include "world.h"

double path_random(void);
bool path_change(const char *key, double value);
double path_capacity(void);
u32 path_queue_length(void);
bool path_bad(u64 at);
void path_send(struct flow *f, struct packet packet);
void path_queue(struct packet packet);
void path_ack(struct flow *f, struct ack ack);
void path_return(struct packet packet);
bool path_is_out(u64 at);

#endif /* _MODEL_PATH_H */
