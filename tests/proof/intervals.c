// SPDX-License-Identifier: GPL-2.0
/*
 * Claims whose bounds are numbers, proven by Eva, which computes the interval of each
 * value and unrolls the loops. In wrap_*() times and sequence numbers wrap, modulo 2^32:
 * unsigned overflows are not looked for.
 */
#include "proof.h"
#include <apogee/compound.h>
#include <apogee/hstcp_gentle.h>
#include <shake/core/shake_holes.h>
#include <shake/core/shake_repair.h>
#include <shake/core/shake_replay.h>
#include <shake/core/shake_sched.h>
#include <sscop/core/sscop_segment.h>
#include <apogee/star.h>

/* --- int.h --- */

void prove_int_fls64(u64 x)
{
	int n, bits = fls64(0);

	//@ assert bits == 0;
	for (n = 0; n < 64; n++) {
		if (x < 1ULL << n || x > 2 * ((1ULL << n) - 1) + 1)
			continue;
		bits = fls64(x);
		//@ assert bits == n + 1;
	}
}

/* --- abe.h --- */

void prove_abe_interval(u32 rtt_us)
{
	u32 interval = abe_interval_us(rtt_us);

	//@ assert 1000 <= interval <= 625000;
	//@ assert interval * ABE_EPOCH <= U32_MAX;
}

void prove_abe_rate(u64 bytes, u64 elapsed_us)
{
	abe_rate(bytes, elapsed_us);
}

void prove_abe_window(u64 bw, u32 rtt_us, u32 mss)
{
	u32 window = abe_window(bw, rtt_us, mss);

	//@ assert window <= ABE_WINDOW_MAX;
}

void wrap_abe_ack(struct abe *a, u32 now_us, u32 sent_us, u64 bytes, u32 mss, u32 rtt_us,
		  u32 first_us, bool limited, u32 late_us)
{
	assume(a->samples <= ABE_SETTLE && mss <= 65483 && first_us && bytes <= 1ULL << 31);
	abe_ack(a, now_us, sent_us, bytes, mss, rtt_us, first_us, limited, late_us);
	//@ assert a->samples <= ABE_SETTLE;
}

/* --- hstcp.h, hstcp_gentle.h --- */

void prove_hstcp_rfc3649(u32 cwnd)
{
	const struct hstcp_row *row = hstcp_row(HSTCP_RFC3649, cwnd);

	//@ assert 1 <= row->increase <= 73;
	//@ assert 8 <= row->decrease <= 128;
}

void prove_hstcp_paper(u32 cwnd)
{
	const struct hstcp_row *row = hstcp_row(HSTCP_PAPER, cwnd);

	//@ assert 1 <= row->increase <= 75;
	//@ assert 8 <= row->decrease <= 128;
}

void wrap_gentle_relevant(u32 rise, u32 fall, enum rtt_trend_verdict verdict, s32 change_us,
			  u32 queue_us, u32 rtt_us)
{
	struct gentle_rules rules = { .rise = rise, .fall = fall };

	gentle_relevant(&rules, verdict, change_us, queue_us, rtt_us);
}

/* --- rtt_trend.h --- */

void prove_trend_sums(struct rtt_trend *w, u32 us)
{
	s64 t;
	u8 n;

	assume(us < RTT_TREND_SPAN_MAX_US);
	for (n = 0; n <= 18; n++) {
		if (w->t_shift != n)
			continue;
		w->t_shift = n;
		t = rtt_trend_time(w, us);
		//@ assert 0 <= t <= RTT_TREND_UNITS_MAX;
		//@ assert w->t_shift <= 18;
	}
}

void prove_trend_units(u32 us, u8 shift)
{
	u64 units;
	u8 n;

	for (n = 0; n <= 18; n++) {
		if (shift != n)
			continue;
		units = rtt_trend_units(0, n);
		//@ assert units == 0;
		units = rtt_trend_units(us, n);
		//@ assert units <= 0x10000000000;
		assume(us < RTT_TREND_SPAN_MAX_US);
		units = rtt_trend_units(us, n);
		//@ assert units <= 0x8000000000;
		//@ assert n == 18 ==> units <= RTT_TREND_UNITS_MAX;
		assume(us <= RTT_TREND_RTT_MAX_US);
		units = rtt_trend_units(us, n);
		//@ assert n == 11 ==> units <= RTT_TREND_UNITS_MAX;
	}
}

void prove_trend_critical(u32 level, u32 df)
{
	u32 n;

	assume(df >= 6 && df <= RTT_TREND_SAMPLES_MAX);
	for (n = 0; n <= 3; n++)
		if (level == n)
			rtt_trend_critical_r2(n, df);
}

void wrap_trend_abs(s64 value)
{
	u64 size = rtt_trend_abs(value);

	//@ assert size <= 1ULL << 63;
}

/* Two octaves of each sum are shifted alike, as shifts are even. */
void wrap_trend_r2(u64 sxx, u64 syy, u64 sxy)
{
	int x, y;

	for (x = 0; x < 64; x += 2) {
		if (sxx < 1ULL << x || sxx > 4 * ((1ULL << x) - 1) + 3)
			continue;
		for (y = 0; y < 64; y += 2)
			if (syy >= 1ULL << y && syy <= 4 * ((1ULL << y) - 1) + 3)
				rtt_trend_r2(sxx, syy, sxy);
	}
}

/* --- star.h --- */

static bool sane(const struct star_window *w)
{
	return w->cwnd_reno >= 1 && w->cwnd_reno <= ABE_WINDOW_MAX &&
	       w->cwnd_abe <= ABE_WINDOW_MAX && w->clear <= STAR_WAIT_MOST;
}

void prove_star_respond(struct star_window *w, u32 cwnd, u32 to, bool published)
{
	assume(sane(w) && cwnd <= ABE_WINDOW_MAX && to <= ABE_WINDOW_MAX);
	star_respond(w, cwnd, to, published);
	//@ assert 1 <= w->cwnd_reno <= ABE_WINDOW_MAX;
}

void prove_star_watch(struct star_window *w, bool queue, bool losses, bool empty)
{
	u8 n;

	assume(sane(w));
	for (n = 0; n <= STAR_WAIT_MOST; n++) {
		if (w->clear != n)
			continue;
		w->clear = n;
		star_watch(w, queue, losses, empty);
		//@ assert w->clear <= STAR_WAIT_MOST;
	}
	star_try_failed(w);
	//@ assert w->tries <= STAR_TRIES_MOST;
}

void prove_star_scale(u32 n)
{
	u32 shift, quarter, begin, scale;

	for (quarter = 0; quarter < 4; quarter++) {
		if (n != quarter)
			continue;
		scale = star_scale(quarter);
		//@ assert scale == quarter;
	}
	for (shift = 0; shift < 30; shift++) {
		for (quarter = 0; quarter < 4; quarter++) {
			begin = (4 + quarter) << shift;
			if (n < begin || n - begin >= 1U << shift)
				continue;
			scale = star_scale(n);
			//@ assert scale == 4 * shift + 4 + quarter;
		}
	}
}

void prove_star_watch_start(struct star_window *w)
{
	u32 n;

	assume(sane(w) && w->flat <= STAR_FLAT);
	for (n = 2; n < 31; n++) {
		if (w->cwnd_abe >= 2U << n || (n > 2 && w->cwnd_abe < 1U << n))
			continue;
		star_watch_start(w);
		//@ assert w->flat <= STAR_FLAT;
	}
}

/* That nothing overflows is for its contract. */
void wrap_judge_learn(struct judge_state *j, const struct judge_round *r, u32 sent)
{
	u32 n;

	assume(!j->learns && !j->alone);
	for (n = JUDGE_LINK_FEW + 1; n <= JUDGE_LINK_MOST; n++) {
		if (j->link != n)
			continue;
		j->link = (u8)n;
		judge_learn(j, r, sent);
		//@ assert j->link < n;
	}
}

void prove_star_pacing(u32 cwnd, u32 mss, u32 rtt_us)
{
	u64 rate = star_pacing_rate(cwnd, mss, rtt_us, STAR_PACE_START);

	//@ assert rate <= 1ULL << 63;
	star_pacing_rate(cwnd, mss, rtt_us, STAR_PACE_LIFTED);
	star_pacing_rate(cwnd, mss, rtt_us, STAR_PACE_CRUISE);
	star_first_rate(cwnd, mss, rtt_us);
}

/* --- compound.h --- */

void prove_compound_log2(u32 x)
{
	u32 n, log;

	for (n = 0; n < 32; n++) {
		if (x < 1U << n || x > (2ULL << n) - 1)
			continue;
		log = compound_log2(x);
		//@ assert n << 24 <= log < (n + 1) << 24;
	}
}

void prove_compound_exp2(u32 x)
{
	u64 power;

	assume(x < 33U << 24);
	power = compound_exp2(x);
	//@ assert power < 1ULL << 42;
}

void prove_compound_power(u32 swnd, u32 k)
{
	u64 power;
	u32 n;

	assume(k <= 1000);
	for (n = 0; n < 31; n++) {
		if (swnd < 1U << n || swnd > (2U << n) - 1)
			continue;
		power = compound_power(swnd, k);
		//@ assert power <= 1ULL << 41;
	}
}

void wrap_compound_period(u64 now_ms, u32 phase_ms, u32 length_ms)
{
	assume(length_ms && now_ms < 1ULL << 63);
	compound_period_start_ms(now_ms, phase_ms, length_ms);
}

/* --- sscop_segment.h --- */

void prove_segment_index(u32 frame)
{
	u32 n, index;

	for (n = 0; n < 32; n++) {
		if (frame < 1U << n || frame > (2ULL << n) - 1)
			continue;
		index = sscop_segment_index(frame);
		//@ assert index < SSCOP_SEGMENT_CLASSES;
	}
}

void prove_segment_best(u32 h, u32 overhead)
{
	u32 best;

	assume(overhead <= SSCOP_SEGMENT_OVERHEAD && h <= 1U << 28);
	best = sscop_segment_best(h, overhead);
	//@ assert 1 <= best <= U16_MAX;
}

void wrap_segment_shrink(struct sscop_segment_class *c, u32 sent)
{
	assume(sent <= U16_MAX);
	sscop_segment_shrink(c, sent);
	//@ assert c->sent <= U16_MAX;
}

void wrap_segment_choose(struct sscop_segment *s, u32 packet, u32 overhead, u32 limit)
{
	u32 piece = sscop_segment_choose(s, packet, overhead, limit);

	//@ assert piece >= 1;
}

/* --- shake_sched.h, shake_path.h --- */

void prove_sched_log2(u32 x)
{
	u32 n, log;

	for (n = 0; n < 32; n++) {
		if (x < 1U << n || x > (2ULL << n) - 1)
			continue;
		log = shake_sched_log2(x);
		//@ assert n << SHAKE_LOG_BITS <= log < (n + 1) << SHAKE_LOG_BITS;
	}
}

void prove_sched_exp2(u64 x)
{
	u32 share = shake_sched_exp2(x);

	//@ assert 1 <= share <= 1 << SHAKE_SHARE_BITS;
}

void wrap_path_times(const struct shake_path_est *e, u64 bytes)
{
	u32 time;

	assume(e->rate <= SHAKE_RATE_MAX && e->peak <= SHAKE_RATE_MAX);
	time = shake_path_time(e, bytes);
	//@ assert time <= SHAKE_TIME_MAX;
	time = shake_path_carry(e, bytes);
	//@ assert time <= SHAKE_TIME_MAX;
	shake_path_drain(e, bytes);
}

/* An estimate as shake_path.h keeps it, on a ring of any content. */
static bool path_sane(struct shake_path_est *e, struct shake_sent *ring)
{
	e->ring = ring;
	return e->rate <= SHAKE_RATE_MAX && e->peak <= SHAKE_PEAK_MOST * SHAKE_RATE_MAX &&
	       e->wait_us <= SHAKE_TIME_MAX && e->intervals <= SHAKE_INTERVALS_EARLY &&
	       e->bias >= -(s32)SHAKE_TIME_MAX && e->bias <= (s32)SHAKE_TIME_MAX &&
	       e->srtt <= SHAKE_TIME_MAX && e->rtt <= SHAKE_TIME_MAX && e->part < SHAKE_RTT_PARTS;
}

static struct shake_sent path_ring[SHAKE_RING];

void wrap_path_trip(struct shake_path_est *e, u32 bytes, u64 now)
{
	u32 trip;

	assume(path_sane(e, path_ring));
	trip = shake_path_trip(e, bytes, now);
	//@ assert trip <= SHAKE_TIME_MAX;
	shake_path_queue(e, now);
}

void wrap_path_sent(struct shake_path_est *e, u32 counter, u32 bytes, u64 now)
{
	assume(path_sane(e, path_ring));
	shake_path_sent(e, counter, bytes, now);
	//@ assert e->wait_us <= SHAKE_TIME_MAX;
}

void wrap_path_sample(struct shake_path_est *e, const struct shake_path_config *c,
		      struct shake_sent *found, u32 early, u32 hold, u64 now)
{
	u32 most, rtt;

	assume(path_sane(e, path_ring) && found->wait <= SHAKE_TIME_MAX);
	most = shake_path_settle(e, found, early, hold, now);
	rtt = shake_path_took(found->at, hold, now);
	//@ assert 1 <= rtt <= SHAKE_TIME_MAX;
	shake_path_sample(e, c, found, rtt, most, hold, now);
	//@ assert e->rate <= SHAKE_RATE_MAX;
	//@ assert e->wait_us <= SHAKE_TIME_MAX;
	//@ assert -SHAKE_TIME_MAX <= e->bias <= SHAKE_TIME_MAX;
	//@ assert e->srtt <= SHAKE_TIME_MAX;
	//@ assert e->part < SHAKE_RTT_PARTS;
}

void wrap_path_find(struct shake_path_est *e, u32 echo, u32 tail)
{
	struct shake_sent found;
	u32 early, unsure;

	assume(path_sane(e, path_ring));
	shake_path_find(e, echo, &tail, &found, &early, &unsure);
}

void wrap_path_deadlines(struct shake_path_est *e, u64 silence, u32 counter, u64 now)
{
	assume(path_sane(e, path_ring));
	shake_path_lost(e);
	shake_path_was_forgotten(e, counter);
	shake_path_doubt(e, now);
	shake_path_is_silent(e, now);
	shake_path_probe_gap(e, silence);
	shake_path_forget(e, now);
	shake_path_restart(e, now);
	shake_path_init(e, path_ring, now);
	//@ assert e->wait_us == 0 && e->intervals == 0 && e->least[3] == U32_MAX;
}

void wrap_sched_pick(struct shake_sched *s, const struct shake_sched_config *c,
		     struct shake_choice *paths, struct shake_path_est *a,
		     struct shake_path_est *b, u32 count, u32 bytes, u32 queue, u64 now)
{
	struct shake_choice choices[SHAKE_CHOICES_MAX];
	u32 index;

	assume(path_sane(a, path_ring) && path_sane(b, path_ring));
	for (index = 0; index < SHAKE_CHOICES_MAX; index++)
		choices[index] = (struct shake_choice){ index % 2 ? a : b, paths->weight };
	for (index = 0; index < SHAKE_CHOICES_MAX; index++)
		assume(s->credit[index] <= 1LL << 40 && s->credit[index] >= -(1LL << 40));
	assume(s->pressed <= SHAKE_PRESSED_MOST && s->waits <= SHAKE_BYTES_MAX);
	index = shake_sched_pick(s, c, choices, count, bytes, queue, now);
	//@ assert index < SHAKE_CHOICES_MAX;
	shake_sched_is_full(s, c, choices, count, bytes, queue, now);
}

/* --- shake_replay.h, shake_repair.h --- */

void wrap_replay(struct shake_replay *r, u32 low)
{
	u64 counter = shake_replay_full(r, low);

	assume(r->newest < SHAKE_COUNTER_LIMIT);
	if (shake_replay_check(r, counter))
		shake_replay_update(r, counter);
	//@ assert r->newest < SHAKE_COUNTER_LIMIT;
}

void wrap_replay_behind(const struct shake_replay *r, u64 words)
{
	u32 bit;

	assume(words < SHAKE_COUNTER_LIMIT / 64);
	for (bit = 0; bit < 64; bit++)
		shake_replay_behind(r, words * 64 + bit);
}

void wrap_repair_keep(struct shake_repair *r, u32 counter, u64 rate, u32 most, u64 seen, u32 srtt,
		      u64 now)
{
	u32 place = 0;

	assume(r->saved <= SHAKE_REPAIR_SAVED);
	shake_repair_look(r, seen, now);
	shake_repair_covers(r);
	shake_repair_is_old(&r->kept[0], srtt, now);
	shake_repair_keep(r, counter, rate, most, now, &place);
	//@ assert place < SHAKE_REPAIR_KEPT;
	//@ assert r->saved <= SHAKE_REPAIR_SAVED;
}

void wrap_repair_judge(struct shake_repair *r, u32 place, u32 echo, u64 seen, u32 srtt,
		       u32 least, u64 now)
{
	enum shake_copy copy;

	assume(place < SHAKE_REPAIR_KEPT && r->saved <= SHAKE_REPAIR_SAVED &&
	       r->overtake < SHAKE_REPAIR_REORDER);
	copy = shake_repair_judge(r, place, echo, seen, srtt, least, now);
	//@ assert r->overtake < SHAKE_REPAIR_REORDER;
	//@ assert r->saved <= SHAKE_REPAIR_SAVED;
}

void wrap_repair_close(struct shake_repair *r, u32 number)
{
	if (shake_repair_next(r, &number))
		shake_repair_close(r, shake_repair_place(number));
}

/* --- shake_holes.h --- */

static struct shake_hole hole_room[SHAKE_HOLES_MAX];

void wrap_holes_init(struct shake_holes *h, u32 room)
{
	u32 n;

	shake_holes_init(h, hole_room, room);
	//@ assert h->hole == &hole_room[0] && h->room <= SHAKE_HOLES_MAX;
	//@ assert h->count == 0 && !h->started && h->late == 0 && h->lost == 0;
	//@ assert h->depth == 0 && h->lateness == 0;
	//@ loop unroll SHAKE_HOLES_MAX + 1;
	for (n = 0; n <= SHAKE_HOLES_MAX; n++) {
		shake_holes_init(h, hole_room, n);
		//@ assert h->room == n;
	}
}
