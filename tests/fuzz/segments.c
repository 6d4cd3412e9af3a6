// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: made so that the receiver knows what must come next, and followed until
 * they are freed.
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define SEGMENT_MAGIC 0x5e6d3a71U
#define STAMP 8			/* octets: life and number */

static u32 mix(u32 life, u32 number)
{
	u32 x = life * 0x9e3779b1U + number * 0x85ebca77U;

	x ^= x >> 15;
	x *= 0x2c1b3c6dU;
	return x ^ x >> 13;
}

static void put(u8 *octets, u32 value)
{
	memcpy(octets, &value, sizeof(value));
}

static u32 get(const u8 *octets)
{
	u32 value;

	memcpy(&value, octets, sizeof(value));
	return value;
}

static void fill(u8 *payload, u32 length, u32 life, u32 number)
{
	u32 i;

	put(payload, life);
	put(payload + 4, number);
	for (i = STAMP; i < length; i++)
		payload[i] = mix(life, number) >> (i % 4 * 8) ^ i;
}

static u32 payload_octets(const struct peer *peer, u32 life, u32 number)
{
	return STAMP + mix(number, life) % (peer->segment - STAMP + 1);
}

static struct segment *segment_new(struct peer *peer, u32 length, bool received)
{
	struct segment *segment = calloc(1, sizeof(*segment) + length);

	if (!segment)
		abort();
	segment->magic = SEGMENT_MAGIC;
	segment->peer = peer;
	segment->length = length;
	segment->received = received;
	segment->class = SSCOP_ASSURED;
	return segment;
}

/* The next SD of @peer, complete, with N(S) = @seq. */
struct segment *segment_cut(struct peer *peer, u32 seq)
{
	u32 payload = payload_octets(peer, peer->life, peer->sent);
	u32 header = sscop_sd_header(payload);
	struct segment *segment = segment_new(peer, header + payload, false);

	segment->life = peer->life;
	segment->number = peer->sent++;
	segment->first = segment->number % 3 == 0;
	segment->last = segment->number % 3 == 2;
	fill(segment->octets + header, payload, segment->life, segment->number);
	sscop_encode_sd(segment->octets, payload, seq, segment->first, segment->last,
			peer->s.seal_out);
	if (++peer->kept > peer->s.config.window)
		fail(peer->world, "the transmitter keeps more than its window");
	return segment;
}

/* What is kept of the SD in @octets */
struct segment *segment_received(struct peer *peer, const struct sscop_pdu *pdu,
				 const u8 *octets)
{
	struct segment *segment = segment_new(peer, pdu->length, true);

	memcpy(segment->octets, octets + pdu->header, pdu->length);
	segment->first = pdu->first;
	segment->last = pdu->last;
	if (pdu->length >= STAMP) {
		segment->life = get(segment->octets);
		segment->number = get(segment->octets + 4);
	}
	if (pdu->type == SSCOP_UD) {
		segment->class = pdu->class;
		if (++peer->flows[pdu->class].stored > 2 * SSCOP_CLASS_SLOTS)
			fail(peer->world, "the receiver stores too many packets of a class");
	} else if (++peer->stored > peer->s.config.window + 1) {
		fail(peer->world, "the receiver stores more than its window");
	}
	return segment;
}

/* The receiver of @segment took it. */
void segment_taken(struct segment *segment)
{
	struct peer *sender = segment->peer->other;

	if (segment->class == SSCOP_ASSURED && segment->life == sender->life)
		sender->taken[segment->number % TAKEN_MAX] = segment->number + 1;
}

void segment_free(struct segment *segment)
{
	struct peer *peer = segment->peer;

	if (segment->magic != SEGMENT_MAGIC)
		abort();
	segment->magic = 0;
	if (segment->class != SSCOP_ASSURED)
		*(segment->received ? &peer->flows[segment->class].stored :
		  &peer->flows[segment->class].kept) -= 1;
	else if (segment->received)
		peer->stored--;
	else
		peer->kept--;
	free(segment);
}

/* Called by the machines: a segment that was not delivered is lost. */
static void owner_free(void *owner, void *pointer)
{
	struct segment *segment = pointer;
	struct peer *peer = segment->peer;

	if (owner != peer)
		fail(peer->world, "freed by the wrong peer");
	if (segment->class == SSCOP_ASSURED &&
	    (segment->received ||
	     peer->taken[segment->number % TAKEN_MAX] != segment->number + 1))
		peer->lost = true;
	segment_free(segment);
}

static void owner_outcome(void *owner, u32 frame, bool lost)
{
	struct peer *peer = owner;

	peer->outcomes[lost]++;
	if (frame < SSCOP_SHORT_HEADER + STAMP || frame > SSCOP_HEADER + 1 + peer->segment)
		fail(peer->world, "an outcome of %u octets", frame);
}

static u32 owner_random(void *owner)
{
	const struct peer *peer = owner;

	return world_random(peer->world, ~0U);
}

const struct sscop_owner test_owner = {
	.free = owner_free,
	.outcome = owner_outcome,
	.random = owner_random,
};

static bool unchanged(const struct segment *segment)
{
	u32 life = segment->life, number = segment->number;
	bool same = false;
	u8 *payload;

	if (segment->length < STAMP ||
	    segment->length != payload_octets(segment->peer->other, life, number) ||
	    segment->first != (number % 3 == 0) || segment->last != (number % 3 == 2))
		return false;
	payload = malloc(segment->length);
	if (!payload)
		abort();
	fill(payload, segment->length, life, number);
	same = !memcmp(payload, segment->octets, segment->length);
	free(payload);
	return same;
}

/* sscop_deliver() returned @segment: is it the next, or is the gap reported? */
void segment_delivered(struct peer *peer, struct segment *segment)
{
	struct world *world = peer->world;

	if (!world->lied) {
		if (!unchanged(segment))
			fail(world, "a segment was changed");
		if (segment->life < peer->heard_life ||
		    (segment->life == peer->heard_life &&
		     segment->number < peer->heard_number))
			fail(world, "segment %u of life %u again or out of order",
			     segment->number, segment->life);
		if ((segment->life != peer->heard_life ||
		     segment->number != peer->heard_number) && !peer->excuse)
			fail(world, "segment %u of life %u after a gap not reported",
			     segment->number, segment->life);
		/* What was under way when the sender stopped may come before that. */
		if ((peer->s.counts.resets < peer->owed &&
		     segment->life == peer->other->life) ||
		    peer->other->s.counts.resets < peer->other->owed)
			fail(world, "data after a restart that was not reported");
	}
	peer->excuse = false;
	peer->heard_life = segment->life;
	peer->heard_number = segment->number + 1;
	peer->delivered++;
	segment_free(segment);
}

/* --- packets of a class --------------------------------------------------------------------- */

/* Their numbers are none of SDs, and none of another class. */
static u32 tagged(u32 class, u32 number)
{
	return number + ((class + 1) << 30);
}

/* The next packet of a class. */
struct segment *datagram_new(struct peer *peer, u32 class)
{
	struct flow *flow = &peer->flows[class];
	u32 number = tagged(class, flow->sent++);
	u32 length = payload_octets(peer, peer->life, number);
	struct segment *segment = segment_new(peer, length, false);

	segment->class = class;
	fill(segment->octets, length, peer->life, number);
	if (++flow->kept > SSCOP_CLASS_SLOTS)
		fail(peer->world, "the transmitter keeps too many packets of a class");
	return segment;
}

/* A UD with it goes out. */
void datagram_send(struct peer *peer, const struct segment *segment, const struct sscop_pdu *ud)
{
	u32 header = sscop_ud_header(segment->length);
	u8 *octets = malloc(header + segment->length);

	if (!octets)
		abort();
	memcpy(octets + header, segment->octets, segment->length);
	sscop_encode_ud(octets, segment->length, ud, peer->s.seal_out);
	wire_send(peer, octets, header + segment->length);
	free(octets);
}

/* sscop_deliver_datagram() returned @segment: it may be missing, but not come twice, changed or
 * out of order.
 */
void datagram_delivered(struct peer *peer, struct segment *segment)
{
	struct world *world = peer->world;
	struct flow *flow = &peer->flows[segment->class];
	u32 number = segment->number - tagged(segment->class, 0);

	segment->first = segment->number % 3 == 0;
	segment->last = segment->number % 3 == 2;
	if (unchanged(segment)) {
		if (!world->lied && (segment->life < flow->heard_life ||
				     (segment->life == flow->heard_life &&
				      number < flow->heard_number)))
			fail(world, "packet %u of class %u again or out of order", number,
			     segment->class);
		flow->heard_life = segment->life;
		flow->heard_number = number + 1;
	} else if (!world->lied) {
		fail(world, "a packet of a class was changed");
	}
	flow->delivered++;
	flow->latest = world->now;
	segment_free(segment);
}
