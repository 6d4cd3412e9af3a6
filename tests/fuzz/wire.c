// SPDX-License-Identifier: GPL-2.0
/*
 * The channel: frames lost, repeated, damaged, delayed and overtaking each other.
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static bool happens(struct world *world, u8 of_256)
{
	return of_256 && world_random(world, 256) < of_256;
}

/* A frame from @from that arrives at @at, padded. */
void wire_put(struct peer *from, const u8 *octets, u32 length, u64 at)
{
	struct wire *wire = &from->out;
	u32 padded = max(length, FRAME_MIN);
	struct frame *frame;
	u32 i = wire->count;

	if (wire->count == WIRE_MAX)
		return;
	frame = calloc(1, sizeof(*frame) + padded);
	if (!frame)
		abort();
	frame->at = at;
	frame->length = padded;
	memcpy(frame->octets, octets, length);
	while (i && wire->frames[i - 1]->at > at) {
		wire->frames[i] = wire->frames[i - 1];
		i--;
	}
	wire->frames[i] = frame;
	wire->count++;
}

static void damage(struct world *world, u8 *octets, u32 length)
{
	u32 bits = 1 + world_random(world, 4);

	while (bits--)
		octets[world_random(world, length)] ^= 1 << world_random(world, 8);
}

/* @from sends a frame. */
void wire_send(struct peer *from, const u8 *octets, u32 length)
{
	struct world *world = from->world;
	struct wire *wire = &from->out;
	u8 *copy;
	u32 copies;

	if (wire->busy_until > world->now + wire->queue)
		return;
	wire->busy_until = max(wire->busy_until, world->now);
	if (wire->rate)
		wire->busy_until += (u64)max(length, FRAME_MIN) * 8000000 / wire->rate;
	if (wire->cut || happens(world, wire->loss))
		return;
	copy = malloc(length);
	if (!copy)
		abort();
	for (copies = happens(world, wire->twice) ? 2 : 1; copies; copies--) {
		memcpy(copy, octets, length);
		if (happens(world, wire->damage))
			damage(world, copy, length);
		wire_put(from, copy, length, wire->busy_until + wire->delay +
			 (wire->jitter ? world_random(world, wire->jitter) : 0));
	}
	free(copy);
}

/* Take a frame out of @wire; the caller frees it. */
struct frame *wire_take(struct wire *wire, u32 index)
{
	struct frame *frame = wire->frames[index];

	wire->count--;
	memmove(wire->frames + index, wire->frames + index + 1,
		(wire->count - index) * sizeof(*wire->frames));
	return frame;
}

void wire_clear(struct wire *wire)
{
	while (wire->count)
		free(wire_take(wire, wire->count - 1));
}

/* --- single frames: @index counts those under way from the one that arrives next -------- */

void world_drop(struct world *world, u32 side, u32 index)
{
	struct wire *wire = &world->peers[side].out;

	if (index < wire->count)
		free(wire_take(wire, index));
}

void world_repeat(struct world *world, u32 side, u32 index, u32 delay)
{
	struct wire *wire = &world->peers[side].out;
	const struct frame *frame;

	if (index >= wire->count)
		return;
	frame = wire->frames[index];
	wire_put(&world->peers[side], frame->octets, frame->length, frame->at + delay);
}

void world_damage(struct world *world, u32 side, u32 index, u32 octet, u8 bits)
{
	struct wire *wire = &world->peers[side].out;

	if (index < wire->count)
		wire->frames[index]->octets[octet % wire->frames[index]->length] ^= bits;
}

/* The frame overtakes all others. */
void world_hurry(struct world *world, u32 side, u32 index)
{
	struct wire *wire = &world->peers[side].out;
	struct frame *frame;

	if (index >= wire->count)
		return;
	frame = wire_take(wire, index);
	wire_put(&world->peers[side], frame->octets, frame->length, world->now);
	free(frame);
}

/* From now on the channel works. */
void world_heal(struct world *world)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		struct wire *wire = &world->peers[side].out;

		wire->cut = false;
		wire->loss = 0;
		wire->twice = 0;
		wire->damage = 0;
		wire->jitter = 0;
	}
}
