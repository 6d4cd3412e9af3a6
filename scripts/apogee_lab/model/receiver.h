/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_RECEIVER_H
#define _MODEL_RECEIVER_H

#include "world.h"

void receiver_packet(struct flow *f, struct packet packet);
void receiver_timer(struct flow *f);

#endif /* _MODEL_RECEIVER_H */
