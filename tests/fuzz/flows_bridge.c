// SPDX-License-Identifier: GPL-2.0
/*
 * What tests need to use shake/flows.c: memory that can be refused, and what Python reads.
 */
#include <stdlib.h>

#include <linux/slab.h>

#include "flows_bridge.h"

bool slab_refuses;

struct shake_flows *flows_new(void)
{
	struct shake_flows *f = malloc(sizeof(*f));

	if (f && !shake_flows_init(f))
		return f;
	if (f)
		shake_flows_free(f);	/* as the caller of one that failed may */
	free(f);
	return NULL;
}

void flows_delete(struct shake_flows *f)
{
	shake_flows_free(f);
	if (f->count || f->holes)
		abort();
	free(f);
}

u32 flows_count(const struct shake_flows *f)
{
	return f->count;
}

u32 flows_holes(const struct shake_flows *f)
{
	return f->holes;
}

void flows_refuse_memory(bool refuses)
{
	slab_refuses = refuses;
}
