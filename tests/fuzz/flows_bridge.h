/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests need to use shake/flows.c.
 */
#ifndef _FUZZ_FLOWS_BRIDGE_H
#define _FUZZ_FLOWS_BRIDGE_H

#include "../../shake/flows.h"

struct shake_flows *flows_new(void);
void flows_delete(struct shake_flows *f);
u32 flows_count(const struct shake_flows *f);
u32 flows_holes(const struct shake_flows *f);
void flows_refuse_memory(bool refuses);

#endif /* _FUZZ_FLOWS_BRIDGE_H */
