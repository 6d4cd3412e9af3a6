/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long packets may be by a path.
 */
#ifndef _SHAKE_MTU_H
#define _SHAKE_MTU_H

#include "state.h"

void shake_mtu_forget(struct shake_path *path);
void shake_mtu_doubt(struct shake_path *path, u64 now);
u64 shake_mtu_due(const struct shake_path *path);
u32 shake_mtu_take(struct shake_path *path, struct shake_way ways[2], u64 now);
void shake_mtu_send(struct shake_dev *d, const struct shake_way ways[2], u32 size);
bool shake_came_take(struct shake_link *link, u64 counter, struct shake_way *way, u8 *packet,
		     u64 now);
void shake_came_in(struct shake_link *link, const u8 *packet, u64 now);

#endif /* _SHAKE_MTU_H */
