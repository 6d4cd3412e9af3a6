// SPDX-License-Identifier: GPL-2.0
/*
 * What tests in Python read of a world.
 */
#include <stddef.h>
#include <string.h>

#include "bridge.h"

static const struct peer any;	/* only for the sizes of its fields */

static const struct {
	const char *name;
	u32 offset;
	u32 size;
} fields[] = {
	{ "s.state", offsetof(struct peer, s.state), sizeof(any.s.state) },
	{ "s.mine", offsetof(struct peer, s.mine), sizeof(any.s.mine) },
	{ "s.theirs", offsetof(struct peer, s.theirs), sizeof(any.s.theirs) },
	{ "s.offer", offsetof(struct peer, s.offer), sizeof(any.s.offer) },
	{ "s.epoch", offsetof(struct peer, s.epoch), sizeof(any.s.epoch) },
	{ "s.seal_in", offsetof(struct peer, s.seal_in), sizeof(any.s.seal_in) },
	{ "s.seal_out", offsetof(struct peer, s.seal_out), sizeof(any.s.seal_out) },
	{ "s.tx.acked", offsetof(struct peer, s.tx.acked), sizeof(any.s.tx.acked) },
	{ "s.tx.next", offsetof(struct peer, s.tx.next), sizeof(any.s.tx.next) },
	{ "s.tx.limit", offsetof(struct peer, s.tx.limit), sizeof(any.s.tx.limit) },
	{ "s.tx.poll", offsetof(struct peer, s.tx.poll), sizeof(any.s.tx.poll) },
	{ "s.rx.next", offsetof(struct peer, s.rx.next), sizeof(any.s.rx.next) },
	{ "s.rx.high", offsetof(struct peer, s.rx.high), sizeof(any.s.rx.high) },
	{ "s.rx.poll", offsetof(struct peer, s.rx.poll), sizeof(any.s.rx.poll) },
	{ "s.heard_at", offsetof(struct peer, s.heard_at), sizeof(any.s.heard_at) },
	{ "delivered", offsetof(struct peer, delivered), sizeof(any.delivered) },
	{ "kept", offsetof(struct peer, kept), sizeof(any.kept) },
	{ "stored", offsetof(struct peer, stored), sizeof(any.stored) },
	{ "sent", offsetof(struct peer, sent), sizeof(any.sent) },
	{ "given", offsetof(struct peer, given), sizeof(any.given) },
	{ "events", offsetof(struct peer, events), sizeof(any.events) },
	{ "out.count", offsetof(struct peer, out.count), sizeof(any.out.count) },
	{ "out.delay", offsetof(struct peer, out.delay), sizeof(any.out.delay) },
	{ "out.jitter", offsetof(struct peer, out.jitter), sizeof(any.out.jitter) },
	{ "out.rate", offsetof(struct peer, out.rate), sizeof(any.out.rate) },
	{ "out.loss", offsetof(struct peer, out.loss), sizeof(any.out.loss) },
	{ "out.twice", offsetof(struct peer, out.twice), sizeof(any.out.twice) },
	{ "out.damage", offsetof(struct peer, out.damage), sizeof(any.out.damage) },
	{ "out.cut", offsetof(struct peer, out.cut), sizeof(any.out.cut) },
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
