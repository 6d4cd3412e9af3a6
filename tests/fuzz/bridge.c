// SPDX-License-Identifier: GPL-2.0
/*
 * What tests in Python read of a world.
 */
#include <stddef.h>
#include <string.h>

#include "world.h"

#define FIELD(name) { #name, offsetof(struct peer, name), sizeof(((struct peer *)0)->name) }

static const struct {
	const char *name;
	u32 offset;
	u32 size;
} fields[] = {
	FIELD(s.state), FIELD(s.mine), FIELD(s.theirs), FIELD(s.offer), FIELD(s.epoch),
	FIELD(s.seal_in), FIELD(s.seal_out), FIELD(s.tx.acked), FIELD(s.tx.next),
	FIELD(s.tx.limit), FIELD(s.tx.poll), FIELD(s.rx.next), FIELD(s.rx.high),
	FIELD(s.rx.poll), FIELD(s.heard_at), FIELD(delivered), FIELD(kept), FIELD(stored),
	FIELD(sent), FIELD(given), FIELD(events), FIELD(out.count), FIELD(out.delay),
	FIELD(out.jitter), FIELD(out.rate), FIELD(out.loss), FIELD(out.twice),
	FIELD(out.damage), FIELD(out.cut),
};

static void *find(struct world *world, u32 side, const char *name, u32 *size)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].name, name))
			continue;
		*size = fields[i].size;
		return (u8 *)&world->peers[side] + fields[i].offset;
	}
	fail(world, "no field %s", name);
	return NULL;
}

u64 bridge_get(struct world *world, u32 side, const char *name);
void bridge_set(struct world *world, u32 side, const char *name, u64 value);
const struct sscop_counts *bridge_counts(const struct world *world, u32 side);
const struct frame *bridge_frame(const struct world *world, u32 side, u32 index);
const char *bridge_failure(const struct world *world);
u64 bridge_now(const struct world *world);
void bridge_lie(struct world *world);

u64 bridge_get(struct world *world, u32 side, const char *name)
{
	u64 value = 0;
	u32 size;
	const void *field = find(world, side, name, &size);

	if (field)
		memcpy(&value, field, size);
	return value;
}

void bridge_set(struct world *world, u32 side, const char *name, u64 value)
{
	u32 size;
	void *field = find(world, side, name, &size);

	if (field)
		memcpy(field, &value, size);
}

const struct sscop_counts *bridge_counts(const struct world *world, u32 side)
{
	return &world->peers[side].s.counts;
}

const struct frame *bridge_frame(const struct world *world, u32 side, u32 index)
{
	return world->peers[side].out.frames[index];
}

const char *bridge_failure(const struct world *world)
{
	return world->failure;
}

u64 bridge_now(const struct world *world)
{
	return world->now;
}

/* From now on a PDU may be forged under the right seal. */
void bridge_lie(struct world *world)
{
	world->lied = true;
}
