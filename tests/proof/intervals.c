// SPDX-License-Identifier: GPL-2.0
/*
 * Claims whose bounds are numbers, proven by Eva, which computes the interval of each
 * value and unrolls the loops. In wrap_*() times and sequence numbers wrap, modulo 2^32:
 * unsigned overflows are not looked for.
 */
#include "proof.h"
#include <apogee/compound.h>
#include <apogee/hstcp_gentle.h>
#include <apogee/idle.h>
#include <apogee/shake_sched.h>
#include <apogee/sscop_segment.h>
#include <apogee/star.h>

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
		  u32 first_us, bool limited)
{
	assume(a->samples <= ABE_SETTLE && mss <= 65483 && first_us && bytes <= 1ULL << 31);
	abe_ack(a, now_us, sent_us, bytes, mss, rtt_us, first_us, limited);
	//@ assert a->samples <= ABE_SETTLE;
}

/* --- hstcp.h, hstcp_gentle.h, idle.h --- */

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

void prove_idle(u32 cwnd, u32 restart, u32 idle, u32 rto)
{
	idle_cwnd(cwnd, restart, idle, rto);
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

/* --- star.h --- */

static bool sane(const struct star_window *w)
{
	return w->cwnd_reno >= 1 && w->cwnd_reno <= ABE_WINDOW_MAX &&
	       w->cwnd_abe <= ABE_WINDOW_MAX && w->clear <= STAR_WAIT_MOST &&
	       (w->wait <= STAR_WAIT_MOST || w->wait == STAR_WAIT_FULL);
}

void prove_star_cwnd(const struct star_window *w)
{
	u32 cwnd = star_cwnd(w);

	//@ assert 2 <= cwnd <= ABE_WINDOW_MAX;
}

void wrap_star_divisor(const struct star_window *w)
{
	assume(sane(w));
	star_yield_divisor(w);
}

void prove_star_increase(struct star_window *w, u32 divisor, u32 acked)
{
	assume(sane(w) && divisor <= ABE_WINDOW_MAX);
	star_increase(w, divisor, acked);
	//@ assert 1 <= w->cwnd_reno <= ABE_WINDOW_MAX;
}

void prove_star_respond(struct star_window *w, u32 cwnd, u32 to, bool published)
{
	assume(sane(w) && cwnd <= ABE_WINDOW_MAX && to <= ABE_WINDOW_MAX);
	star_respond(w, cwnd, to, published);
	//@ assert 1 <= w->cwnd_reno <= ABE_WINDOW_MAX;
}

void prove_star_watch(struct star_window *w, bool queue, bool losses, bool costly)
{
	u8 n;

	assume(sane(w));
	for (n = 0; n <= STAR_WAIT_MOST; n++) {
		if (w->clear != n)
			continue;
		w->clear = n;
		star_watch(w, queue, losses);
		//@ assert w->clear <= STAR_WAIT_MOST;
	}
	star_try_failed(w, costly);
}

void prove_star_pacing(u32 cwnd, u32 mss, u32 rtt_us)
{
	u64 rate = star_pacing_rate(cwnd, mss, rtt_us, STAR_PACE_START);

	//@ assert rate <= 1ULL << 63;
	star_pacing_rate(cwnd, mss, rtt_us, STAR_PACE_CRUISE);
	star_first_rate(cwnd, mss, rtt_us);
}

/* --- judge.h --- */

void wrap_judge_end_rtt(struct judge_state *j, u32 srtt_us, u32 min_rtt_us)
{
	assume(j->still <= JUDGE_STILL && j->standing <= JUDGE_STANDING);
	judge_end_rtt(j, srtt_us, min_rtt_us);
	//@ assert j->still <= JUDGE_STILL;
	//@ assert j->standing <= JUDGE_STANDING;
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
