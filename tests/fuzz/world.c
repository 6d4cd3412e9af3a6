// SPDX-License-Identifier: GPL-2.0
/*
 * Two peers as their owners drive them, and virtual time.
 */
#include <stdarg.h>

#include "input.h"
#include "world.h"

#define BACKLOG_US 20000	/* SDs are sent if the wire is busy for less */
#define STEPS_MAX 2000000	/* in a world_run() */
#define NEVER (~0ULL)

void world_fail(struct world *world, const char *format, ...)
{
	va_list args;

	if (world->failure[0])
		return;
	va_start(args, format);
	vsnprintf(world->failure, sizeof(world->failure), format, args);
	va_end(args);
}

u32 world_random(struct world *world, u32 below)
{
	world->random = world->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world->random >> 33) % below;
}

/* --- what the owner does -------------------------------------------------------------- */

/* Fetch the events, and compare them with what was lost. */
static void look(struct peer *peer)
{
	u32 events = sscop_events(&peer->s);

	peer->events |= events;
	if (events & (SSCOP_EVENT_UP | SSCOP_EVENT_RESET))
		peer->excuse = true;
	if (peer->lost && !(events & SSCOP_EVENT_RESET) && !peer->stopping &&
	    !peer->world->lied)
		fail(peer->world, "data lost without a reset");
	peer->lost = false;
	if (sscop_outstanding(&peer->s) > peer->s.config.window)
		fail(peer->world, "more outstanding than the window");
}

static enum sscop_room room_below(const struct peer *peer)
{
	if (peer->world->now < peer->out.paused_until)
		return SSCOP_FULL;
	if (peer->out.box || peer->world->now >= peer->out.busy_until)
		return SSCOP_QUIET;
	return peer->world->now + BACKLOG_US >= peer->out.busy_until ? SSCOP_ROOM : SSCOP_FULL;
}

/* Tell which classes have a new packet. What the peer cannot take is not sent. */
static void offer(struct peer *peer)
{
	u32 class;

	for (class = 0; peer->s.classes && class < SSCOP_CLASSES; class++) {
		struct flow *flow = &peer->flows[class];

		if (peer->s.state == SSCOP_READY && !peer->s.classed)
			flow->given = flow->sent;
		peer->s.classes[class].tx.offered = flow->sent < flow->given;
	}
}

/* Do what sscop_next() asks for; returns false if it was nothing. */
static bool act(struct peer *peer)
{
	struct world *world = peer->world;
	struct sscop_output output = {};
	struct segment *segment;

	offer(peer);
	switch (sscop_next(&peer->s, world->now, room_below(peer),
			   peer->sent < peer->given, &output)) {
	case SSCOP_CONTROL:
		wire_send(peer, output.octets, output.length);
		break;
	case SSCOP_RESEND:
		segment = output.segment;
		wire_send(peer, segment->octets, segment->length);
		break;
	case SSCOP_NEW:
		segment = segment_cut(peer, output.seq);
		wire_send(peer, segment->octets, segment->length);
		sscop_sent(&peer->s, segment, segment->length, world->now);
		break;
	case SSCOP_DATAGRAM:
		segment = output.segment;
		if (!segment)
			segment = datagram_new(peer, output.ud.class);
		datagram_send(peer, segment, &output.ud);
		if (!output.segment)
			sscop_datagram_sent(&peer->s, output.ud.class, segment, segment->length,
					    world->now);
		break;
	default:
		look(peer);
		return false;
	}
	look(peer);
	return true;
}

/* Ask again when the link below takes more, or is quiet. */
static void wait_for_room(struct peer *peer)
{
	enum sscop_room room = room_below(peer);
	u64 at = peer->out.busy_until - (room == SSCOP_FULL ? BACKLOG_US : 0);

	if (peer->world->now < peer->out.paused_until)
		at = peer->out.paused_until;
	if (room == SSCOP_QUIET || at >= peer->wake)
		return;
	peer->wake = at;
	peer->wake_is_deadline = false;
}

/* Deliver packets of classes; returns how many. */
static u32 take_datagrams(struct peer *peer)
{
	struct segment *segment;
	u32 count;

	for (count = 0; (segment = sscop_deliver_datagram(&peer->s, peer->world->now)); count++)
		datagram_delivered(peer, segment);
	return count;
}

/* Send all there is, then find out when to ask again; returns what was sent. */
static u32 pump(struct peer *peer)
{
	struct world *world = peer->world;
	u32 most = 8 * peer->s.config.window + 100, sent = 0;
	u32 taken = take_datagrams(peer);
	bool more;

	if (peer->s.classes)
		most += 100 * SSCOP_CLASS_SLOTS;
	while (sent < most && act(peer))
		sent++;
	if (sent == most)
		fail(world, "sscop_next() does not end");
	more = peer->sent < peer->given;
	peer->wake = sscop_deadline(&peer->s, room_below(peer), more);
	peer->wake_is_deadline = true;
	if (peer->running && peer->wake == NEVER && room_below(peer) != SSCOP_FULL)
		fail(world, "sscop_deadline() never");
	if (peer->wake <= world->now) {
		fail(world, "sscop_deadline() has passed, state %u", peer->s.state);
		peer->wake = world->now + 1000;
	}
	wait_for_room(peer);
	return sent + taken;
}

/* What came in and what it changed, if WORLD_TRACE is set */
static void trace(const struct peer *peer, const struct sscop_pdu *pdu,
		  enum sscop_verdict verdict)
{
	const struct sscop *s = &peer->s;

	if (!getenv("WORLD_TRACE"))
		return;
	fprintf(stderr, "%llu %d: type %u seq %u ps %u mr %u list %u from %x to %x sq %u: %u",
		(unsigned long long)peer->world->now, peer != peer->world->peers,
		pdu->type, pdu->seq, pdu->ps, pdu->mr, pdu->elements, pdu->from, pdu->to,
		pdu->sq, verdict);
	fprintf(stderr, "; state %u, %x and %x, tx %u %u %u poll %u, rx %u %u\n",
		s->state, s->mine, s->theirs, s->tx.acked, s->tx.next, s->tx.limit,
		s->tx.poll, s->rx.next, s->rx.high);
}

static void handle(struct peer *peer, const u8 *octets, u32 length)
{
	struct segment *segment = NULL;
	enum sscop_verdict verdict;
	struct sscop_pdu pdu = {};

	verdict = sscop_decode(&pdu, octets, length, peer->s.seal_in);
	if (verdict != SSCOP_TAKEN) {
		peer->s.counts.dropped[verdict]++;
		return;
	}
	if (pdu.type == SSCOP_SD || pdu.type == SSCOP_UD)
		segment = segment_received(peer, &pdu, octets);
	verdict = sscop_receive(&peer->s, &pdu, segment, peer->world->now);
	if (segment && verdict == SSCOP_TAKEN)
		segment_taken(segment);
	else if (segment)
		segment_free(segment);
	trace(peer, &pdu, verdict);
	look(peer);
	for (;;) {
		segment = sscop_deliver(&peer->s);
		if (!segment)
			break;
		segment_delivered(peer, segment);
	}
	take_datagrams(peer);
}

/* A frame for @peer, padding included, at an address behind which nothing may be read */
void peer_receive(struct peer *peer, const u8 *octets, u32 length)
{
	u8 *copy = copy_of(octets, length);

	handle(peer, copy, length);
	free(copy);
	pump(peer);
}

/* --- what the user does --------------------------------------------------------------- */

void world_start(struct world *world, u32 side)
{
	struct peer *peer = &world->peers[side];
	u32 class;

	if (peer->running)
		return;
	peer->running = true;
	peer->life = ++world->lives;
	peer->given = 0;
	peer->sent = 0;
	peer->owed = 0;
	memset(peer->taken, 0, sizeof(peer->taken));
	for (class = 0; class < SSCOP_CLASSES; class++) {
		peer->flows[class].given = 0;
		peer->flows[class].sent = 0;
	}
	sscop_start(&peer->s, world->now);
	pump(peer);
}

static bool keeps_packets(const struct peer *peer)
{
	const struct flow *flows = peer->flows;

	return flows[0].kept || flows[0].stored || flows[1].kept || flows[1].stored;
}

/* Stop; if not @told, as if the memory had been wiped: without END. */
void world_stop(struct world *world, u32 side, bool told)
{
	struct peer *peer = &world->peers[side], *other = peer->other;
	struct sscop_output output;
	u32 class;

	if (!peer->running)
		return;
	peer->stopping = true;
	if (sscop_stop(&peer->s, &output) && told)
		wire_send(peer, output.octets, output.length);
	peer->running = false;
	peer->life = 0;
	look(peer);
	peer->stopping = false;
	peer->heard_life = 0;
	peer->heard_number = 0;
	for (class = 0; class < SSCOP_CLASSES; class++) {
		peer->flows[class].heard_life = 0;
		peer->flows[class].heard_number = 0;
	}
	pump(peer);
	if (peer->kept || peer->stored || keeps_packets(peer))
		fail(world, "sscop_stop() left %u and %u segments", peer->kept,
		     peer->stored);
	if ((other->s.state == SSCOP_READY || other->s.state == SSCOP_RESYNCING) &&
	    other->s.theirs == peer->s.mine)
		other->owed = other->s.counts.resets + 1;
	if (!told) {
		struct sscop old = peer->s;

		sscop_init(&peer->s, &old.config, &test_owner, peer, old.tx.slots,
			   old.rx.slots);
		peer->s.counts = old.counts;
		peer->s.classes = old.classes;
		if (old.classes)
			memset(old.classes, 0, SSCOP_CLASSES * sizeof(*old.classes));
	}
}

void world_resync(struct world *world, u32 side)
{
	sscop_resync(&world->peers[side].s, world->now);
	look(&world->peers[side]);
	pump(&world->peers[side]);
}

void world_resume(struct world *world, u32 side)
{
	if (!world->peers[side].running)
		return;
	sscop_resume(&world->peers[side].s, world->now);
	pump(&world->peers[side]);
}

/* The device below sends nothing for some time, nor of what it has. */
void world_pause(struct world *world, u32 side, u32 us)
{
	struct wire *out = &world->peers[side].out;
	u32 i;

	out->paused_until = world->now + us;
	out->busy_until = max(out->busy_until, world->now) + us;
	for (i = 0; i < out->count; i++)
		out->frames[i]->at += us;
	pump(&world->peers[side]);
}

void world_give(struct world *world, u32 side, u32 segments)
{
	if (!world->peers[side].running)
		return;
	world->peers[side].given += segments;
	pump(&world->peers[side]);
}

/* Packets of a class are given; where there are no classes, none. */
void world_offer(struct world *world, u32 side, u32 class, u32 packets)
{
	struct peer *peer = &world->peers[side];

	if (!peer->running || !peer->s.classes)
		return;
	peer->flows[class].given += packets;
	pump(peer);
}

/* --- time ---------------------------------------------------------------------------- */

static u32 packets_kept(const struct peer *peer)
{
	return peer->flows[0].kept + peer->flows[1].kept;
}

/* The deadline of @peer has come: there must be something to do. It may be to begin anew, or to
 * give up packets of a class.
 */
static void wake(struct peer *peer)
{
	bool deadline = peer->wake_is_deadline;
	enum sscop_state state = peer->s.state;
	u32 kept = packets_kept(peer);

	if (!pump(peer) && deadline && peer->running && peer->s.state == state &&
	    packets_kept(peer) == kept)
		fail(peer->world, "sscop_deadline() was early, state %u", peer->s.state);
}

static void arrive(struct peer *to)
{
	struct frame *frame = wire_take(&to->other->out, 0);

	peer_receive(to, frame->octets, frame->length);
	free(frame);
}

/* The next that happens up to @until; returns false if nothing does. */
static bool step(struct world *world, u64 until)
{
	struct peer *next = NULL;
	bool frame = false;
	u64 at = until;
	u32 side;

	for (side = 0; side < 2; side++) {
		struct peer *peer = &world->peers[side];
		const struct wire *in = &peer->other->out;

		if (in->count && in->frames[0]->at <= at) {
			at = in->frames[0]->at;
			next = peer;
			frame = true;
		}
		if (peer->running && peer->wake < at) {
			at = peer->wake;
			next = peer;
			frame = false;
		}
	}
	if (!next)
		return false;
	world->now = max(world->now, at);
	if (frame)
		arrive(next);
	else
		wake(next);
	return true;
}

/* Let @us pass. Afterwards nothing may be due that sscop_deadline() did not announce. */
void world_run(struct world *world, u64 us)
{
	u64 until = world->now + us;
	u32 side;

	world->steps = 0;
	while (!world->failure[0] && step(world, until)) {
		if (++world->steps == STEPS_MAX)
			fail(world, "too much happens");
	}
	world->now = until;
	for (side = 0; side < 2; side++) {
		struct peer *peer = &world->peers[side];

		if (peer->running && peer->wake > until && act(peer)) {
			fail(world, "sscop_deadline() was late, state %u", peer->s.state);
			pump(peer);
		}
	}
}

/* Both are in data transfer, with each other. */
bool world_connected(const struct world *world)
{
	const struct sscop *a = &world->peers[0].s, *b = &world->peers[1].s;

	return a->state == SSCOP_READY && b->state == SSCOP_READY &&
	       a->seal_out == b->seal_in && b->seal_out == a->seal_in;
}

/* What is remembered of UDs stays where it is. */
static void shift_classes(struct sscop *from, struct sscop *to, u32 seq, u32 poll)
{
	u32 class;

	for (class = 0; from->classed && to->classed && class < SSCOP_CLASSES; class++) {
		struct sscop_class_tx *tx = &from->classes[class].tx;
		struct sscop_class_rx *rx = &to->classes[class].rx;
		u32 serials = seq & ~(SSCOP_CLASS_SLOTS - 1);
		u16 packets = poll & ~(SSCOP_CLASS_SLOTS - 1);

		tx->serial = sscop_add(tx->serial, serials);
		tx->told = sscop_add(tx->told, serials);
		rx->newest = sscop_add(rx->newest, serials);
		tx->first += packets;
		tx->next += packets;
		rx->next += packets;
		/* closed, as their packets are none of the same numbers */
		memset(tx->frames, 0, sizeof(tx->frames));
	}
}

static void shift_one(struct peer *from, struct peer *to, u32 seq, u32 poll)
{
	struct sscop_tx *tx = &from->s.tx;
	struct sscop_rx *rx = &to->s.rx;

	tx->acked = sscop_add(tx->acked, seq);
	tx->next = sscop_add(tx->next, seq);
	tx->limit = sscop_add(tx->limit, seq);
	tx->missing_from = sscop_add(tx->missing_from, seq);
	tx->again_end = sscop_add(tx->again_end, seq);
	tx->pushed_end = sscop_add(tx->pushed_end, seq);
	tx->repeat_from = sscop_add(tx->repeat_from, seq);
	rx->next = sscop_add(rx->next, seq);
	rx->high = sscop_add(rx->high, seq);
	rx->stat_from = sscop_add(rx->stat_from, seq);
	tx->poll = sscop_add(tx->poll, poll);
	tx->poll_acked = sscop_add(tx->poll_acked, poll);
	tx->stat_poll = sscop_add(tx->stat_poll, poll);
	tx->stat_end = sscop_add(tx->stat_end, seq);
	tx->timed_poll = sscop_add(tx->timed_poll, poll);
	rx->poll = sscop_add(rx->poll, poll);
	shift_classes(&from->s, &to->s, seq, poll);
}

/* As if so many SDs and POLLs had been exchanged; false if data is under way. */
bool world_shift(struct world *world, u32 seq, u32 poll)
{
	struct peer *a = &world->peers[0], *b = &world->peers[1];

	if (!world_connected(world) || a->out.count || b->out.count ||
	    a->kept || b->kept || a->stored || b->stored || keeps_packets(a) || keeps_packets(b) ||
	    a->s.rx.next != a->s.rx.high || b->s.rx.next != b->s.rx.high ||
	    a->s.tx.next != b->s.rx.next || b->s.tx.next != a->s.rx.next)
		return false;
	shift_one(a, b, seq, poll);
	shift_one(b, a, seq, poll);
	return true;
}

/* --- begin and end ----------------------------------------------------------------------- */

static void peer_init(struct world *world, u32 side, const struct sscop_config *config,
		      u32 segment)
{
	struct peer *peer = &world->peers[side];
	u32 slots = sscop_slots(config->window);
	struct sscop_tx_slot *tx_slots = calloc(slots, sizeof(*tx_slots));
	void **rx_slots = calloc(slots, sizeof(*rx_slots));

	if (!tx_slots || !rx_slots)
		abort();
	peer->world = world;
	peer->other = &world->peers[!side];
	peer->segment = segment;
	peer->out.queue = QUEUE_US;
	peer->wake = NEVER;
	sscop_init(&peer->s, config, &test_owner, peer, tx_slots, rx_slots);
	if (!config->persist)
		return;
	peer->s.classes = calloc(SSCOP_CLASSES, sizeof(*peer->s.classes));
	if (!peer->s.classes)
		abort();
}

struct world *world_new(const struct sscop_config *a, const struct sscop_config *b,
			u32 segment, u64 seed)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world)
		abort();
	world->now = 1000000;
	world->random = seed;
	peer_init(world, 0, a, segment);
	peer_init(world, 1, b, segment);
	return world;
}

void world_free(struct world *world)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		struct peer *peer = &world->peers[side];

		world_stop(world, side, false);
		wire_clear(&peer->out);
		free(peer->s.tx.slots);
		free(peer->s.rx.slots);
		free(peer->s.classes);
	}
	free(world);
}
