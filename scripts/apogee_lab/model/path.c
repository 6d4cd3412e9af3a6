// SPDX-License-Identifier: GPL-2.0
/* The path: each sender's access link, the bottleneck, the lossy hop, the return path. */
#include <err.h>
#include <math.h>

#include <linux/random.h>

#include "events.h"
#include "path.h"

/* Departure time of each packet in the queue. */
static u64 *leaving;
static u32 leaving_head, leaving_tail, leaving_room;
static u64 full_at, left_at;
/* When the last one has left the queue. */
static u64 gone_at;
/* When the way back has sent what is in its queue. */
static u64 ack_free;
/* Capacity of the link up to the last change of its rate. */
static double capacity_bits;
static u64 rate_since;

/* The times (ms) at which good and bad times end, in turn. */
static u64 *turns;
static u32 turn, turn_count, turn_room;
static bool bad_first;

/* A random number in [0, 1) (xorshift64*). */
static double random_of(u64 *seed)
{
	u64 x = *seed;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*seed = x;
	return (double)((x * 0x2545f4914f6cdd1dULL) >> 11) / 9007199254740992.0;
}

double path_random(void)
{
	return random_of(&world.seed);
}

/* The kernel's: from 0 to below - 1. */
u32 prandom_u32_max(u32 below)
{
	return (u32)(path_random() * below);
}

static u32 frame_bytes(struct packet packet)
{
	return packet.handshake ? packet.handshake : MODEL_FRAME - MODEL_MSS + packet.payload;
}

static u64 transmission(double bytes, double rate)
{
	return (u64)(bytes * 8 * NSEC_PER_SEC / rate);
}

void path_send(struct flow *f, struct packet packet)
{
	u64 at = model_now;

	if (!packet.handshake)
		f->total.sent++;
	if (world.path.access_rate) {
		f->access_free = max(f->access_free, model_now) +
				 transmission(frame_bytes(packet), world.path.access_rate);
		at = f->access_free;
	}
	event_add(at + f->extra, EV_QUEUE, packet);
}

/* Packets in the queue, including the one being sent. */
u32 path_queue_length(void)
{
	while (leaving_head != leaving_tail) {
		u64 at = leaving[leaving_head & (leaving_room - 1)];

		if (at > model_now)
			break;
		gone_at = at;
		leaving_head++;
	}
	return leaving_tail - leaving_head;
}

/* Does an arriving packet find the queue full? One that leaves in the same moment has left in half
 * of all cases: in the kernel that depends on which of two timers was set first.
 */
static bool queue_full(void)
{
	u32 length = path_queue_length();

	length += gone_at == model_now && random_of(&world.tie_seed) < 0.5;
	return length >= world.path.queue;
}

static void queue_room(void)
{
	u32 more = leaving_room ? 2 * leaving_room : 4096;
	u64 *queue = malloc(more * sizeof(*queue));

	if (!queue)
		abort();
	for (u32 i = leaving_head; i != leaving_tail; i++)
		queue[i & (more - 1)] = leaving[i & (leaving_room - 1)];
	free(leaving);
	leaving = queue;
	leaving_room = more;
}

/* Departure time of a packet from a token bucket of burst bytes, filled at the link's
 * rate; with 0 bytes the link is a plain one.
 */
static u64 queue_leave(u32 bytes)
{
	u64 credit = transmission(world.path.burst, world.path.rate);

	full_at = max(full_at, model_now) + transmission(bytes, world.path.rate);
	left_at = max(left_at, model_now);
	if (full_at > credit)
		left_at = max(left_at, full_at - credit);
	if (leaving_tail - leaving_head == leaving_room)
		queue_room();
	leaving[leaving_tail++ & (leaving_room - 1)] = left_at;
	return left_at;
}

/* Gilbert's model: all frames of a burst are lost. */
static void lose_in_bursts(struct path *p)
{
	if (p->burst_begin <= 0)
		return;
	if (p->bursting)
		p->bursting = path_random() >= p->burst_end;
	else
		p->bursting = path_random() < p->burst_begin;
}

/* How many ms a state lasts that ends with the same probability after each of them. */
static u64 lasts(double mean)
{
	double draw = random_of(&world.bad_seed);

	return mean > 1 ? 1 + (u64)(log1p(-draw) / log1p(-1 / mean)) : 1;
}

static void next_turn(struct path *p)
{
	bool bad = bad_first ^ (turn_count & 1);
	u64 before = turn_count ? turns[turn_count - 1] : NSEC_PER_SEC / NSEC_PER_MSEC;

	if (turn_count == turn_room) {
		u64 *more;

		turn_room = turn_room ? 2 * turn_room : 1024;
		more = realloc(turns, turn_room * sizeof(*turns));
		if (!more)
			abort();
		turns = more;
	}
	turns[turn_count++] = before + lasts(bad ? p->bad_length : p->bad_every - p->bad_length);
}

/* Whether a frame that enters the hop then is lost: a process of two states in steps of 1 ms, which
 * depends on the seed alone. The times asked for may go back a little.
 */
bool path_bad(u64 at)
{
	struct path *p = &world.path;
	u64 ms = at / NSEC_PER_MSEC;

	if (!p->bad_length)
		return false;
	if (!turn_count) {
		bad_first = random_of(&world.bad_seed) * p->bad_every < p->bad_length;
		next_turn(p);
	}
	while (turns[turn_count - 1] <= ms)
		next_turn(p);
	while (turn && turns[turn - 1] > ms)
		turn--;
	while (turns[turn] <= ms)
		turn++;
	return bad_first ^ (turn & 1);
}

void path_queue(struct packet packet)
{
	struct flow *f = &world.flows[packet.flow];
	double intact = pow(1 - world.path.ber, 8.0 * frame_bytes(packet));
	u64 at;

	world.offered += !packet.handshake;
	if (queue_full()) {
		world.dropped += !packet.handshake;
		f->total.dropped += !packet.handshake;
		return;
	}
	world.served += !packet.handshake;
	packet.left = queue_leave(frame_bytes(packet));
	at = packet.left + world.path.rtt / 2;
	lose_in_bursts(&world.path);
	if (world.path.bursting || path_random() >= intact * (1 - world.path.loss)) {
		f->total.lost += !packet.handshake;
		return;
	}
	f->data_arrival = max(f->data_arrival, at);
	event_add(f->data_arrival, EV_RECEIVER, packet);
}

/* --- the way back ----------------------------------------------------------------------- */

/* The jitter is uniform and keeps the order, as in netem. */
void path_ack(struct flow *f, struct ack ack)
{
	struct packet packet = { .flow = f->number, .seg = f->acks_tail };
	const struct path *p = &world.path;
	u64 at = model_now + p->rtt / 2;
	s64 late = (s64)(p->jitter_mean + p->jitter_half * (2 * path_random() - 1));

	if (path_is_out(model_now) || (p->ack_loss > 0 && path_random() < p->ack_loss))
		return;
	at = max_t(s64, at + late, model_now);
	if (p->slot)
		at += p->slot - at % p->slot;
	at = max3(at, f->ack_arrival, p->stalled);
	f->ack_arrival = at;
	f->acks[ring4(f->acks_tail++)] = ack;
	if (p->ack_rate > 0)
		event_add(at, EV_RETURN, packet);
	else
		event_add(at + f->extra, EV_SENDER, packet);
}

/* The queue in front of the way back's rate. */
void path_return(struct packet packet)
{
	const struct path *p = &world.path;
	u64 frame = transmission(MODEL_ACK, p->ack_rate);

	ack_free = max(ack_free, model_now);
	if (ack_free - model_now > (p->ack_queue - 1) * frame)
		return;
	ack_free += frame;
	event_add(ack_free + world.flows[packet.flow].extra, EV_SENDER, packet);
}

/* --- changes ---------------------------------------------------------------------------- */

/* What would enter the hop from now on is lost, both ways. */
static void begin_outage(u64 length)
{
	struct path *p = &world.path;

	if (p->outage_count == MODEL_OUTAGES)
		errx(1, "there are more than %u outages", MODEL_OUTAGES);
	p->outages[p->outage_count++] = (struct span){ model_now, model_now + length };
}

bool path_is_out(u64 at)
{
	for (u32 i = 0; i < world.path.outage_count; i++)
		if (at >= world.path.outages[i].begin && at < world.path.outages[i].end)
			return true;
	return false;
}

/* Capacity of the link so far, in bits. */
double path_capacity(void)
{
	return capacity_bits + world.path.rate * (double)(model_now - rate_since) / NSEC_PER_SEC;
}

/* Also applies to packets in the queue, and to the bucket's deficit. */
static void set_rate(double rate)
{
	double factor = world.path.rate / rate;

	for (u32 i = leaving_head; i != leaving_tail; i++) {
		u64 *left = &leaving[i & (leaving_room - 1)];

		*left = event_rescaled(*left, factor);
	}
	full_at = event_rescaled(full_at, factor);
	left_at = event_rescaled(left_at, factor);
	event_rescale(factor);
	capacity_bits = path_capacity();
	rate_since = model_now;
	world.path.rate = rate;
}

/* Whether there is such a key. */
bool path_change(const char *key, double value)
{
	struct path *p = &world.path;

	if (!strcmp(key, "rate"))
		set_rate(max(value, 1.0));
	else if (!strcmp(key, "rtt"))
		p->rtt = ns(value / 1e3);
	else if (!strcmp(key, "ber"))
		p->ber = value;
	else if (!strcmp(key, "loss"))
		p->loss = value;
	else if (!strcmp(key, "queue"))
		p->queue = (u32)value;
	else if (!strcmp(key, "stall"))
		p->stalled = model_now + ns(value / 1e3);
	else if (!strcmp(key, "outage"))
		begin_outage(ns(value / 1e3));
	else
		return false;
	return true;
}
