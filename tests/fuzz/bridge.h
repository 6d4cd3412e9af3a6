/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests in Python read of a world.
 */
#ifndef _FUZZ_BRIDGE_H
#define _FUZZ_BRIDGE_H

#include "world.h"

u64 bridge_get(struct world *world, u32 side, const char *name);
void bridge_set(struct world *world, u32 side, const char *name, u64 value);
const struct sscop_counts *bridge_counts(const struct world *world, u32 side);
const struct frame *bridge_frame(const struct world *world, u32 side, u32 index);
const char *bridge_failure(const struct world *world);
u64 bridge_now(const struct world *world);
void bridge_lie(struct world *world);

#endif /* _FUZZ_BRIDGE_H */
