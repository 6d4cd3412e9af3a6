/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of a packet.
 */
#ifndef _SHAKE_WAY_H
#define _SHAKE_WAY_H

#include "state.h"

void shake_way_again(struct shake_path *path, struct shake_way *way);
bool shake_way_take(struct shake_path *path, struct shake_way *way, u64 now);
void shake_way_count(const struct shake_way *way, u32 bytes, u64 now);

#endif /* _SHAKE_WAY_H */
