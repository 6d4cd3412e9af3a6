// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver: a window, delayed ACKs, SACK.
 *
 * An ACK reports what has arrived so far, as the length of the receiver's log. While no ACK
 * is lost, this is equivalent to the SACK blocks of all ACKs up to it. Else it is as if each
 * ACK had room for all blocks; a duplicate is reported only by the ACK that it caused.
 */
#include "events.h"
#include "path.h"
#include "receiver.h"
#include "transfers.h"

#define ACK_DELAY	(40 * NSEC_PER_MSEC)
#define SACK_DELAY	NSEC_PER_MSEC
#define SACK_MOST	44
#define SACK_AT_ONCE	3
#define QUICK_ACKS	16
/* Initial receive window, and its growth per segment. */
#define WINDOW_FIRST	(65535 / MODEL_MSS)
#define WINDOW_STEP	2

static bool held(const struct receiver *r, u32 seg)
{
	return r->held[ring(seg) / 64] >> (seg % 64) & 1;
}

static void flip_held(struct receiver *r, u32 seg)
{
	r->held[ring(seg) / 64] ^= 1ULL << (seg % 64);
}

/* Its clock is not that of the sender. */
#define RECEIVER_CLOCK_MS	0xfffff000U

static void receiver_ack(struct flow *f)
{
	struct receiver *r = &f->rcv;

	r->edge = max(r->edge, r->next + min(r->opened, world.path.window));
	r->acked = r->next;
	r->compressed = 0;
	r->ack_now = false;
	if (r->quick)
		r->quick--;
	timer_stop(f, TIMER_ACK);
	timer_stop(f, TIMER_SACK);
	path_ack(f, (struct ack){
		.next = r->next,
		.edge = r->edge,
		.arrivals = r->arrivals,
		.tsecr = r->ts_recent,
		.tsval = now_ms() + RECEIVER_CLOCK_MS,
	});
}

void receiver_timer(struct flow *f)
{
	receiver_ack(f);
}

/* With a hole: the first three ACKs at once, later ones compressed. */
static void receiver_sack(struct flow *f)
{
	struct receiver *r = &f->rcv;

	if (r->dups_at != r->next) {
		r->dups_at = r->next;
		r->dups = 0;
	}
	if (r->dups < SACK_AT_ONCE || r->compressed >= SACK_MOST) {
		r->dups++;
		receiver_ack(f);
		return;
	}
	r->compressed++;
	if (f->timers[TIMER_SACK].at == NEVER)
		timer_set(f, TIMER_SACK,
			  model_now + min(SACK_DELAY, world.path.rtt / 20));
}

static void receiver_answer(struct flow *f)
{
	struct receiver *r = &f->rcv;

	if (r->next - r->acked > 1 || r->quick || r->ack_now)
		receiver_ack(f);
	else if (r->holding)
		receiver_sack(f);
	else if (f->timers[TIMER_ACK].at == NEVER)
		timer_set(f, TIMER_ACK,
			  world.kernel ? timer_tick(ACK_DELAY) : model_now + ACK_DELAY);
}

static void deliver(struct flow *f)
{
	f->total.delivered++;
	f->total.bytes += f->snd.segs[ring(f->rcv.next++)].payload;
}

static void receiver_advance(struct flow *f)
{
	struct receiver *r = &f->rcv;
	bool hole = r->holding;

	deliver(f);
	while (r->holding && held(r, r->next)) {
		flip_held(r, r->next);
		r->holding--;
		deliver(f);
	}
	r->ack_now |= hole && !r->holding;
}

static void receiver_syn(struct flow *f, u32 tsval)
{
	f->rcv.opened = WINDOW_FIRST;
	f->rcv.edge = min(WINDOW_FIRST, world.path.window);
	f->rcv.ts_recent = tsval;
	path_ack(f, (struct ack){
		.edge = f->rcv.edge,
		.tsecr = tsval,
		.tsval = now_ms() + RECEIVER_CLOCK_MS,
		.syn = true,
	});
}

void receiver_packet(struct flow *f, struct packet packet)
{
	struct receiver *r = &f->rcv;
	bool again;

	if (packet.handshake) {
		if (packet.handshake == SYN_FRAME)
			receiver_syn(f, packet.tsval);
		return;
	}
	f->total.arrived++;
	if (f->total.arrived == 1)
		r->quick = QUICK_ACKS;
	if (packet.seg <= r->acked)
		r->ts_recent = packet.tsval;
	/* While the window opens, each segment is acknowledged (tcp_grow_window()). */
	if (r->opened < world.path.window) {
		r->opened += WINDOW_STEP;
		r->quick = max(r->quick, 1U);
	}

	again = packet.seg < r->next || held(r, packet.seg);
	r->log[ring4(r->arrivals++)] = packet.seg | (again ? LOG_AGAIN : 0);
	if (again) {
		f->total.duplicates++;
		r->quick = QUICK_ACKS;
		receiver_ack(f);
		return;
	}
	if (packet.seg == r->next) {
		receiver_advance(f);
		if (transfers_of(f))
			transfers_arrived(f);
	} else {
		flip_held(r, packet.seg);
		r->holding++;
	}
	receiver_answer(f);
}
