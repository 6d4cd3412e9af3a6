/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signs of life, and the pseudo-ACKs that tell of what was received.
 */
#ifndef _SHAKE_CONTROL_H
#define _SHAKE_CONTROL_H

#include "state.h"

u8 shake_wished_path(const struct shake_peer *peer);
bool shake_ack_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now);
bool shake_ack_take_late(struct shake_path *path, struct shake_way *way, u8 *packet, u64 counter,
			 u64 now);
void shake_ack_send(struct shake_dev *d, const struct shake_way *way, u8 *packet);
void shake_count_verdict(struct shake_dev *d, enum shake_verdict verdict);
void shake_path_heard(struct shake_path *path, u64 now);

#endif /* _SHAKE_CONTROL_H */
