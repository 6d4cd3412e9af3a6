// SPDX-License-Identifier: GPL-2.0
/*
 * Claims that relate two values, as result <= argument: contracts of functions of
 * include/apogee, proven by WP for all arguments that they require. A caller's proof
 * takes its callees' contracts. Those of functions with loops are proven in
 * intervals.c, or with the invariants of loops.txt.
 */
#include "proof.h"

/*
 * The sums of samples of which the first is 0 and none is above 2^21 units. A macro, as
 * loops.txt puts it in front of the predicates.
 */
#define TREND_MOST(w)	((w)->n > 0 ? (w)->n - 1 : 0)
#define TREND_SANE(w)	((w)->n <= 0x100000 && (w)->t_shift <= 18 && (w)->d_shift <= 11 && \
	0 <= (w)->sum_t <= TREND_MOST(w) * 0x200000 && \
	0 <= (w)->sum_tt <= TREND_MOST(w) * 0x40000000000 && \
	-TREND_MOST(w) * 0x200000 <= (w)->sum_d <= TREND_MOST(w) * 0x200000 && \
	0 <= (w)->sum_dd <= TREND_MOST(w) * 0x40000000000 && \
	-TREND_MOST(w) * 0x40000000000 <= (w)->sum_td <= TREND_MOST(w) * 0x40000000000)

#include <apogee/star.h>
#include <apogee/compound.h>
#include <apogee/hstcp_gentle.h>
#include <apogee/idle.h>

/* The only axioms: what shifts and masks are. */
/*@ axiomatic Bits {
  @	axiom and_at_most: \forall integer x, y; x >= 0 && y >= 0 ==> 0 <= (x & y) <= y;
  @	axiom right_at_most: \forall integer x, n; x >= 0 && n >= 0 ==> 0 <= (x >> n) <= x;
  @	axiom right_of_negative: \forall integer x, n; x < 0 && n >= 0 ==> x <= (x >> n) < 0;
  @	axiom right_2: \forall integer x; x >= 0 ==> (x >> 2) == x / 4;
  @	axiom right_3: \forall integer x; x >= 0 ==> (x >> 3) == x / 8;
  @	axiom right_4: \forall integer x; x >= 0 ==> (x >> 4) == x / 16;
  @	axiom right_5: \forall integer x; x >= 0 ==> (x >> 5) == x / 32;
  @	axiom left_2: \forall integer x; x >= 0 ==> (x << 2) == x * 4;
  @	axiom left_4: \forall integer x; x >= 0 ==> (x << 4) == x * 16;
  @	axiom right_6: \forall integer x; x >= 0 ==> (x >> 6) == x / 64;
  @	axiom right_7: \forall integer x; x >= 0 ==> (x >> 7) == x / 128;
  @	axiom right_8: \forall integer x; x >= 0 ==> (x >> 8) == x / 256;
  @	axiom right_10: \forall integer x; x >= 0 ==> (x >> 10) == x / 1024;
  @	axiom left_of_8: \forall integer n; 0 <= n <= 3 ==> 8 <= (8 << n) <= 64;
  @	axiom left_6: \forall integer x; x >= 0 ==> (x << 6) == x * 64;
  @	axiom left_8: \forall integer x; x >= 0 ==> (x << 8) == x * 256;
  @	axiom left_10: \forall integer x; x >= 0 ==> (x << 10) == x * 1024;
  @ }
  @*/
/*@ lemma product_at_most: \forall integer x, y;
  @	-0x200000 <= x <= 0x200000 && -0x200000 <= y <= 0x200000 ==>
  @	-0x40000000000 <= x * y <= 0x40000000000;
  @*/
/*@ lemma square_at_most: \forall integer x;
  @	-0x200000 <= x <= 0x200000 ==> 0 <= x * x <= 0x40000000000;
  @*/
/*@ lemma share_at_most: \forall integer x, y;
  @	0 <= x <= 0x1fffffffe && 0 <= y <= 0x400 ==> 0 <= x * y <= 0x7fffffff800;
  @*/
/*@ lemma quotient_at_most: \forall integer x, y; x >= 0 && y >= 1 ==> 0 <= x / y <= x; */

/* --- predicates --- */

/* As the documentation of struct star_window has it. */
/*@ predicate star_sane(struct star_window *w) =
  @	1 <= w->cwnd_reno <= 0x40000000 && w->cwnd_abe <= 0x40000000 &&
  @	w->clear <= 64 && w->tries <= 3;
  @*/
/* What counts of cwnd_abe, and the window but for its upper limit. */
/*@ predicate star_held(struct star_window *w) =
  @	w->mode >= STAR_SLOW;
  @ logic integer star_abe(struct star_window *w) =
  @	w->mode >= STAR_SLOW ?
  @	0 : w->cwnd_abe;
  @ logic integer star_sum(struct star_window *w) =
  @	\max(2, w->cwnd_reno + star_abe(w));
  @*/

/* As judge_rtt() and judge_end_rtt(), judge_end_losses() keep the state. WP does not know how wide
 * bit fields are.
 */
/*@ predicate judge_sane(struct judge_state *j) =
  @	j->base_us <= j->least_us && j->standing <= 4 && j->rest <= 8 && j->test <= 3 &&
  @	j->dip <= 1 && j->renew <= 3;
  @ predicate judge_loses(struct judge_state *j) =
  @	12 <= j->link <= 96 && j->skip <= 3;
  @*/

/* --- int.h --- */
/*@ requires divisor > 0;
  @ assigns \nothing;
  @ ensures \result == dividend / divisor;
  @*/
static inline u64 div_u64(u64 dividend, u32 divisor);

/*@ requires divisor > 0;
  @ assigns \nothing;
  @ ensures \result == dividend / divisor;
  @*/
static inline u64 div64_u64(u64 dividend, u64 divisor);

/* --- proven in intervals.c --- */
/*@ assigns \nothing;
  @ ensures 0 <= \result <= 64;
  @ ensures x > 0 ==> \result >= 1;
  @*/
static inline int fls64(u64 x);

/*@ requires 0 <= response <= 1;
  @ assigns \nothing;
  @ ensures \valid_read(\result) && 1 <= \result->increase <= 75;
  @ ensures 8 <= \result->decrease <= 128;
  @*/
static inline const struct hstcp_row *hstcp_row(enum hstcp_response response, u32 cwnd);

/*@ requires swnd <= 0x7fffffff && k <= 1000;
  @ assigns \nothing;
  @ ensures \result <= 0x20000000000;
  @*/
static inline u64 compound_power(u32 swnd, u32 k);

/*@ requires shift <= 18;
  @ assigns \nothing;
  @ ensures us < 0x80000000 && shift == 18 ==> \result <= 0x200000;
  @ ensures us <= 10000000 && shift == 11 ==> \result <= 0x200000;
  @ ensures us == 0 ==> \result == 0;
  @ ensures us < 0x80000000 ==> \result <= 0x80000000 * 256;
  @*/
static inline u64 rtt_trend_units(u32 us, u8 shift);

/* --- not proven --- */
/* Callers' proofs take no bounds of its result. */
/*@ assigns \nothing; */
static inline s64 rtt_trend_about_means(s64 xy, s64 x, s64 y, u32 n);

/* --- abe.h --- */
/*@ assigns \nothing;
  @ ensures bytes <= U64_MAX / 1000000 ==> \result <= bytes * 1000000;
  @ ensures bytes <= U64_MAX / 1000000 && elapsed_us <= U32_MAX && elapsed_us > 0 ==>
  @	    \result == bytes * 1000000 / elapsed_us;
  @*/
static inline u64 abe_rate(u64 bytes, u64 elapsed_us);

/*@ assigns \nothing;
  @ ensures \result <= 0x40000000;
  @ ensures rtt_min_us <= 10000000 && mss > 0 && bw <= U64_MAX / 10000000 &&
  @	    bw * rtt_min_us / 1000000 / mss <= 0x40000000 ==>
  @	    \result == bw * rtt_min_us / 1000000 / mss;
  @*/
static inline u32 abe_window(u64 bw, u32 rtt_min_us, u32 mss);

/* --- judge.h --- */

/*@ assigns \nothing;
  @ ensures \result <= cwnd;
  @ ensures rtt_us > base_us ==> \result == cwnd * base_us / rtt_us;
  @*/
static inline u32 judge_share(u32 cwnd, u32 rtt_us, u32 base_us);

/*@ requires \valid_read(j) && cwnd <= 0x40000000;
  @ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 judge_dip(const struct judge_state *j, u32 cwnd);

/* --- star.h --- */

/*@ requires \valid_read(w);
  @ assigns \nothing;
  @ ensures \result <==> star_held(w);
  @*/
static inline bool star_holds(const struct star_window *w);

/*@ requires \valid_read(w);
  @ assigns \nothing;
  @ ensures \result == \min(star_sum(w), 0x40000000);
  @ ensures 2 <= \result <= 0x40000000;
  @*/
static inline u32 star_cwnd(const struct star_window *w);

/*@ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 star_yield_least(u32 cwnd, bool alone);

/*@ requires 2 <= cwnd <= 0x40000000;
  @ assigns \nothing;
  @ ensures 2 <= \result <= cwnd;
  @*/
static inline u32 star_yield(u32 cwnd, u32 rtt_us, u32 rtt_min_us, bool alone);

/*@ requires 2 <= cwnd <= 0x40000000;
  @ assigns \nothing;
  @ ensures 2 <= \result <= cwnd;
  @*/
static inline u32 star_drain(u32 cwnd, u32 rtt_us, u32 rtt_min_us, bool alone);

/*@ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 3 ==> \result < cwnd;
  @*/
static inline u32 star_mark_cwnd(u32 cwnd);

/*@ requires \valid_read(w) && w->tries <= 3 && times <= 2;
  @ assigns \nothing;
  @*/
static inline bool star_waited(const struct star_window *w, u32 times);

/*@ requires 1 <= divisor <= 0x40000000 && steps <= 512;
  @ assigns \nothing;
  @ ensures \result == steps * (2 * divisor + steps - 1) / 2;
  @*/
static inline u64 star_steps_cost(u32 divisor, u32 steps);

/*@ requires \valid(w) && 1 <= w->cwnd_reno <= 0x40000000 && divisor <= 0x40000000;
  @ assigns w->cwnd_reno, w->cwnd_cnt;
  @ ensures \old(w->cwnd_reno) <= w->cwnd_reno <= 0x40000000;
  @ ensures w->cwnd_reno <= \old(w->cwnd_reno) + 256;
  @*/
static inline void star_increase(struct star_window *w, u32 divisor, u32 acked);

/*@ requires \valid_read(w) && star_sane(w) && 2 <= cwnd <= 0x40000000;
  @ assigns \nothing;
  @ ensures 1 <= \result <= cwnd;
  @*/
static inline u32 star_yield_growth(const struct star_window *w, u32 cwnd, bool empty);

/*@ requires \valid_read(w) && star_sane(w);
  @ assigns \nothing;
  @ ensures 1 <= \result <= 0x40000000;
  @*/
static inline u32 star_yield_divisor(const struct star_window *w, bool empty);

/*@ assigns \nothing;
  @ ensures \result <==> rtt_us > rtt_min_us + rtt_min_us / 16;
  @*/
static inline bool star_queue_stands(u32 rtt_us, u32 rtt_min_us);

/*@ requires \valid_read(w);
  @ assigns \nothing;
  @ ensures \result ==> w->cwnd_reno > w->cwnd_abe;
  @*/
static inline bool star_is_clear(const struct star_window *w, bool published);

/*@ requires \valid(w) && star_sane(w);
  @ assigns w->mode, w->tries, w->cwnd_reno;
  @ ensures star_sane(w) && w->cwnd_reno <= \old(w->cwnd_reno);
  @ ensures w->cwnd_reno + w->cwnd_abe >= \old(w->cwnd_reno);
  @ ensures \old(w->cwnd_reno) > w->cwnd_abe && \old(star_held(w)) ==>
  @	    star_sum(w) == \old(star_sum(w));
  @*/
static inline void star_release(struct star_window *w, u32 ssthresh, bool published);

/*@ requires \valid(w) && star_sane(w) && \valid_read(j) && \separated(w, j);
  @ assigns w->mode, w->tries, w->cwnd_reno, w->cwnd_cnt;
  @ ensures star_sane(w);
  @*/
static inline void star_lwc(struct star_window *w, u32 acked, u32 ssthresh,
			    bool published, const struct judge_state *j);

/*@ requires \valid(w);
  @ assigns w->cwnd_reno, w->cwnd_cnt;
  @ ensures w->cwnd_reno >= 1 && w->cwnd_reno <= \max(cwnd, 1);
  @ ensures cwnd > star_abe(w) ==> w->cwnd_reno + star_abe(w) == cwnd;
  @ ensures cwnd <= star_abe(w) ==> w->cwnd_reno == 1;
  @*/
static inline void star_set_cwnd(struct star_window *w, u32 cwnd);

/*@ requires \valid(w) && star_sane(w) && 2 <= cwnd <= 0x40000000 && to <= cwnd;
  @ assigns w->cwnd_reno, w->cwnd_cnt, w->mode, w->held;
  @ ensures star_sane(w);
  @ ensures !published && (\old(star_held(w)) || \old(w->mode) == STAR_CRUISE) ==>
  @	    star_sum(w) <= cwnd;
  @*/
static inline void star_respond(struct star_window *w, u32 cwnd, u32 to, bool published);

/*@ requires \valid_read(w);
  @ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures w->cwnd_abe <= cwnd && cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 star_cws_ssthresh(const struct star_window *w, u32 cwnd);

/*@ assigns \nothing;
  @ ensures \result <= \max(cwnd, new_ssthresh) && \result >= \min(cwnd, new_ssthresh);
  @ ensures cwnd < ssthresh ==> \result == cwnd;
  @*/
static inline u32 star_cws_cwnd(u32 cwnd, u32 ssthresh, u32 new_ssthresh);

/*@ requires \valid_read(a);
  @ assigns \nothing;
  @ ensures a->sack_hole ==> \result == STAR_AEN_LOSS;
  @ ensures \result == STAR_AEN_SPURIOUS ==> a->covers_probe && a->una_after_mark &&
  @	    ((a->has_tstamp && a->echo_original) || (a->has_sack && a->dsack) ||
  @	     (!a->has_sack && !a->has_tstamp));
  @*/
static inline enum star_verdict star_aen_verdict(const struct star_aen_evidence *a);

/* --- hstcp_gentle.h --- */
/*@ assigns \nothing;
  @ ensures \result >= 2;
  @*/
static inline u32 gentle_capacity(u32 packets, u32 sent_us, u32 rise_us, u32 rtt_min_us);

/* --- compound.h --- */

/*@ assigns \nothing;
  @ ensures \result <= swnd * 256;
  @ ensures rtt_us <= base_rtt_us ==> \result == 0;
  @*/
static inline u64 compound_diff(u32 swnd, u32 base_rtt_us, u32 rtt_us);

/*@ requires \valid_read(base) && base->rounds >= 1;
  @ assigns \nothing;
  @ ensures \result <= swnd;
  @*/
static inline u32 compound_dip_window(const struct compound_base *base, u32 swnd);

/*@ requires \valid_read(windows);
  @ requires windows->cwnd <= 0x20000000000 && windows->dwnd <= 0x20000000000;
  @ assigns \nothing;
  @ ensures \result <= 0x7fffffff;
  @ ensures \result < 0x7fffffff ==> \result * 256 >= windows->cwnd + windows->dwnd;
  @ ensures \result * 256 < windows->cwnd + windows->dwnd + 256;
  @*/
static inline u32 compound_sent(const struct compound_windows *windows);

/*@ requires \valid(windows) && 1 <= swnd <= 0x7fffffff;
  @ requires windows->cwnd + windows->dwnd <= 0x7fffffff * 256;
  @ assigns *windows;
  @ ensures windows->cwnd + windows->dwnd <= 0x7fffffff * 256;
  @ ensures swnd * 256 < \old(windows->cwnd + windows->dwnd) + 256 ==>
  @	    windows->cwnd + windows->dwnd <= \old(windows->cwnd + windows->dwnd);
  @*/
static inline void compound_follow(struct compound_windows *windows, u32 swnd);

/*@ requires \valid(windows) && beta <= 1000;
  @ requires windows->cwnd + windows->dwnd <= 0x7fffffff * 256;
  @ assigns *windows;
  @ ensures windows->cwnd >= 512;
  @ ensures windows->cwnd + windows->dwnd <=
  @	    \max(512, \old(windows->cwnd) + \old(windows->dwnd));
  @*/
static inline void compound_loss(struct compound_windows *windows, u32 beta);

/* --- hstcp.h --- */

/*@ requires 0 <= response <= 1;
  @ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 hstcp_ssthresh(enum hstcp_response response, u32 cwnd);

/*@ requires 0 <= response <= 1 && cwnd >= 1;
  @ assigns \nothing;
  @ ensures \result >= cwnd;
  @*/
static inline u32 gentle_reno_credit(enum hstcp_response response, enum gentle_share share,
				     u32 cwnd);

/*@ requires \valid(path) && \valid_read(rules) && \separated(path, rules);
  @ requires rules->rise <= 1000000;
  @ assigns *path;
  @ ensures mode != GENTLE_RENO ==> path->rtt_us <= low_us;
  @*/
static inline void gentle_path_learn(struct gentle_path *path, const struct gentle_rules *rules,
				     enum gentle_mode mode, u32 cwnd, u32 low_us);

/*@ requires 0 <= response <= 1;
  @ assigns \nothing;
  @ ensures 1 <= \result <= 75;
  @*/
static inline u32 hstcp_increase(enum hstcp_response response, u32 cwnd);

/*@ requires \valid_read(rules) && \valid(agreed) && \separated(rules, agreed);
  @ requires 1 <= rules->confirm <= 255 && *agreed < rules->confirm;
  @ assigns *agreed;
  @ ensures *agreed < rules->confirm;
  @ ensures mode == GENTLE_SLOW_START ==> \result == mode;
  @ ensures \result != mode ==> *agreed == 0;
  @*/
static inline enum gentle_mode gentle_next_mode(const struct gentle_rules *rules,
						enum gentle_mode mode,
						enum rtt_trend_verdict verdict, u8 *agreed);

/*@ requires 0 <= response <= 1;
  @ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 gentle_reduced(enum hstcp_response response, enum gentle_mode mode, u32 cwnd,
				 enum gentle_share share);

/*@ assigns \nothing;
  @ ensures \min(restart, cwnd) <= \result <= cwnd;
  @*/
static inline u32 idle_cwnd(u32 cwnd, u32 restart, u32 idle, u32 valid);

/* --- rtt_trend.h --- */

/*@ requires \valid(w) && TREND_SANE(w) && t_us < 0x80000000;
  @ assigns w->t_shift, w->sum_t, w->sum_tt, w->sum_td;
  @ ensures TREND_SANE(w) && 0 <= \result <= 0x200000 && (t_us == 0 ==> \result == 0);
  @*/
static inline s64 rtt_trend_time(struct rtt_trend *w, u32 t_us);

/*@ requires \valid(w) && TREND_SANE(w) && d_us <= 10000000;
  @ assigns w->d_shift, w->sum_d, w->sum_dd, w->sum_td;
  @ ensures TREND_SANE(w) && 0 <= \result <= 0x200000 && (d_us == 0 ==> \result == 0);
  @*/
static inline s64 rtt_trend_distance(struct rtt_trend *w, u32 d_us);

/* --- judge.h, RTTs --- */

/*@ requires \valid_read(r);
  @ assigns \nothing;
  @ ensures \result <= r->rtt_us;
  @*/
static inline u32 judge_packet_us(const struct judge_round *r);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result == j->back * 16;
  @*/
static inline u32 judge_back_us(const struct judge_state *j);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result == \min(rtt_us + j->back * 16, U32_MAX);
  @*/
static inline u32 judge_whole_us(const struct judge_state *j, u32 rtt_us);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result == \min(j->base_us + j->back * 16, U32_MAX);
  @*/
static inline u32 judge_path_us(const struct judge_state *j);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result == \max(r->rtt_us - j->back * 16, 0);
  @*/
static inline u32 judge_mean_us(const struct judge_state *j, const struct judge_round *r);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result ==> rtt_us > j->base_us + j->base_us / 16 + spread_us;
  @*/
static inline bool judge_above(const struct judge_state *j, u32 rtt_us, u32 spread_us);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures rtt_us <= j->base_us + 500 ==> \result;
  @ ensures \result ==> rtt_us <= j->base_us + \max(j->base_us / 8, 500);
  @*/
static inline bool judge_is_empty(const struct judge_state *j, u32 rtt_us, u32 packet_us);

/*@ requires \valid(j) && judge_sane(j);
  @ assigns j->base_us, j->least_us, j->low_us, j->queue;
  @ ensures judge_sane(j) && j->low_us <= rtt_us;
  @ ensures j->base_us == \min(\old(j->base_us), rtt_us);
  @*/
static inline void judge_rtt(struct judge_state *j, u32 rtt_us, u32 cwnd);

/*@ requires \valid(j);
  @ assigns j->base_us, j->queue, j->standing, j->rest;
  @ ensures j->base_us == j->least_us && j->standing == 0 && j->rest == 0;
  @*/
static inline void judge_adopt(struct judge_state *j);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result ==> j->least_us > j->base_us;
  @*/
static inline bool judge_is_path(const struct judge_state *j);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result ==> j->least_us > j->last_us;
  @*/
static inline bool judge_is_rising(const struct judge_state *j);

/*@ requires \valid(j) && j->standing <= 4;
  @ assigns j->queue, j->standing;
  @ ensures j->standing <= 4;
  @*/
static inline void judge_see_queue(struct judge_state *j, u32 spread_us);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->back;
  @ ensures j->back <= \old(j->back);
  @*/
static inline void judge_bound_back(struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r) && judge_sane(j);
  @ assigns *j;
  @ ensures judge_sane(j);
  @ ensures \old(j->least_us) == U32_MAX ==> !\result && j->base_us == \old(j->base_us);
  @ ensures \old(j->least_us) != U32_MAX && (j->renew == 0 || j->renew == 3) ==>
  @	    j->least_us == U32_MAX;
  @ ensures j->base_us == \old(j->base_us) ||
  @	    (\result && j->base_us == \old(j->least_us) && j->base_us > \old(j->base_us));
  @*/
static inline bool judge_end_rtt(struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && 1 <= rounds <= 3;
  @ assigns j->fall, j->last_us, j->test;
  @ ensures j->test == \old(j->test) || (j->test == rounds && j->renew == 0);
  @*/
static inline void judge_begin_test(struct judge_state *j, u32 rtt_us, u32 fall_us,
				    u32 rounds);

/*@ requires \valid(j);
  @ assigns j->test, j->dip, j->renew, j->over;
  @ ensures j->test == 0 && j->dip == 0 && j->renew == 0;
  @*/
static inline void judge_end_test(struct judge_state *j);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result ==> j->test == 0 && j->rest == 0;
  @*/
static inline bool judge_test_due(const struct judge_state *j);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures r->rtt_us <= j->base_us + 1000 ==> \result;
  @*/
static inline bool judge_may_learn(const struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->large, j->alone, j->empty, j->learns;
  @ ensures j->learns != 0 ==> j->empty != 0;
  @*/
static inline void judge_use(struct judge_state *j, const struct judge_round *r);

/* --- judge.h, losses --- */
/*@ requires \valid(j);
  @ assigns j->skip;
  @ ensures j->large == 0 ==> j->skip == \old(j->skip);
  @*/
static inline void judge_silence(struct judge_state *j);

/*@ requires \valid(j);
  @ assigns j->excess, j->over, j->skip;
  @ ensures j->excess == 0 && j->over == 0 && j->skip == 2;
  @*/
static inline void judge_cut_made(struct judge_state *j);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r) && 12 <= j->link <= 96;
  @ assigns j->link;
  @ ensures 12 <= j->link <= 96;
  @ ensures j->learns == 0 ==> j->link <= \max(\old(j->link), 20);
  @ ensures j->empty == 0 ==> j->link <= \old(j->link);
  @*/
static inline void judge_learn(struct judge_state *j, const struct judge_round *r, u32 sent);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result ==> r->lost >= 4 && !r->train;
  @*/
static inline bool judge_is_too_many(const struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->over;
  @ ensures \result ==> r->lost >= 4 && !r->train && j->over != 0;
  @ ensures \result ==> \old(j->over) != 0 || (j->alone == 0 && j->empty == 0);
  @*/
static inline bool judge_is_over(struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->excess;
  @*/
static inline bool judge_is_excess(struct judge_state *j, const struct judge_round *r, u32 sent);

/*@ requires \valid_read(r);
  @ assigns \nothing;
  @ ensures \result ==> r->limited != 0;
  @*/
static inline bool judge_is_filled(const struct judge_round *r, u32 sent);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result ==> r->lost >= 3;
  @*/
static inline bool judge_is_loss(const struct judge_state *j, const struct judge_round *r,
				 u32 sent);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result ==> r->lost >= 3 && !j->alone;
  @*/
static inline bool judge_is_full(const struct judge_state *j, const struct judge_round *r,
				 u32 sent);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result ==> r->lost >= 3 && r->rests != 0;
  @*/
static inline bool judge_is_unused(const struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r) && judge_loses(j);
  @ assigns j->link, j->over, j->excess, j->skip;
  @ ensures judge_loses(j);
  @ ensures \result != JUDGE_STAY ==> r->lost >= 1 && j->excess == 0 && j->skip == 2;
  @*/
static inline enum judge_answer judge_end_losses(struct judge_state *j,
						 const struct judge_round *r);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures \result <= r->cwnd;
  @ ensures answer == JUDGE_FULL ==> \result <= prior_cwnd;
  @ ensures answer == JUDGE_CUT && r->cwnd >= 1 ==> \result >= 1;
  @*/
static inline u32 judge_cwnd(const struct judge_state *j, enum judge_answer answer,
			     const struct judge_round *r, u32 prior_cwnd);

/* --- compound.h, rules --- */
/*@ requires \valid_read(rules);
  @ assigns \nothing;
  @ ensures \result <==> diff >= rules->gamma * 256;
  @*/
static inline bool compound_crowded(const struct compound_rules *rules, u64 diff);

/*@ requires swnd <= 0x7fffffff && k <= 1000 && alpha <= 100000;
  @ assigns \nothing;
  @ ensures \result <= 0x20000000000 * 100;
  @*/
static inline u64 compound_increase(u32 swnd, u32 alpha, u32 k);

/*@ requires \valid_read(rules) && rules->k <= 1000 && rules->alpha <= 100000;
  @ requires rules->zeta <= 1000000 && dwnd <= 0x20000000000;
  @ requires swnd <= 0x7fffffff && diff <= swnd * 256;
  @ assigns \nothing;
  @ ensures diff >= rules->gamma * 256 ==> \result <= dwnd;
  @*/
static inline u64 compound_delay_window(const struct compound_rules *rules, u64 dwnd, u32 swnd,
					u64 diff, bool may_grow);

/*@ requires \valid_read(rules) && rules->excess <= 1000000;
  @ requires cwnd <= 0x20000000000 && diff <= 0x7fffffff * 256;
  @ assigns \nothing;
  @ ensures \result <= cwnd;
  @ ensures cwnd >= 512 ==> \result >= 512;
  @*/
static inline u64 compound_loss_window(const struct compound_rules *rules, u64 cwnd, u64 diff);

/*@ requires \valid_read(rules);
  @ assigns \nothing;
  @ ensures 2 <= \result <= 0x7fffffff;
  @*/
static inline u32 compound_fitted(const struct compound_rules *rules, u32 swnd, u64 diff);

/*@ requires \valid_read(rules);
  @ assigns \nothing;
  @ ensures \result ==> dwnd == 0;
  @*/
static inline bool compound_held(const struct compound_rules *rules, u64 dwnd, u64 diff);

/*@ requires \valid(windows) && 1 <= swnd <= 0x7fffffff && beta <= 1000;
  @ requires windows->cwnd + windows->dwnd <= 0x7fffffff * 256;
  @ assigns *windows;
  @ ensures windows->cwnd + windows->dwnd <= \old(windows->cwnd + windows->dwnd);
  @*/
static inline void compound_loss_once(struct compound_windows *windows, u32 swnd, u32 beta);

/* --- compound.h, dips --- */
/*@ requires \valid_read(base);
  @ assigns \nothing;
  @ ensures \result <==> rtt_us * 8 <= base->rtt_us * 9;
  @*/
static inline bool compound_base_near(const struct compound_base *base, u32 rtt_us);

/*@ requires \valid(base) && rtt_us > 0;
  @ assigns base->rtt_us, base->seen_ms, base->least_us, base->unseen;
  @ ensures 0 < base->rtt_us <= rtt_us;
  @ ensures \old(base->rtt_us) > 0 ==> base->rtt_us <= \old(base->rtt_us);
  @ ensures base->unseen == 0 || base->unseen == \old(base->unseen);
  @*/
static inline void compound_base_update(struct compound_base *base, u32 rtt_us, u32 now_ms);

/*@ requires \valid_read(base) && base->doubled <= 3;
  @ assigns \nothing;
  @ ensures 1 <= \result <= \max(longest_ms, 1);
  @*/
static inline u32 compound_period_ms(const struct compound_base *base, u32 longest_ms);

/*@ requires \valid(base);
  @ assigns base->before_us, base->rounds;
  @ ensures base->rounds == 5 && base->before_us == rtt_us;
  @ ensures \result <= swnd;
  @*/
static inline u32 compound_dip_begin(struct compound_base *base, u32 swnd, u32 rtt_us);

/*@ requires \valid(base);
  @ assigns base->rounds, base->seen_ms, base->mean_us;
  @ ensures base->rounds == 0;
  @*/
static inline void compound_dip_end(struct compound_base *base, u32 now_ms);

/*@ requires \valid_read(base) && 1 <= base->rounds <= 5;
  @ assigns \nothing;
  @ ensures \result < base->rounds;
  @*/
static inline u8 compound_dip_left(const struct compound_base *base, u32 rtt_us);

/*@ requires \valid(base) && rtt_us > 0;
  @ assigns base->doubled, base->sure, base->rtt_us, base->seen_ms, base->least_us,
  @	    base->unseen;
  @ ensures 0 < base->rtt_us <= rtt_us;
  @ ensures base->unseen == 0 || base->unseen == \old(base->unseen);
  @ ensures base->doubled == 0 || base->doubled == \old(base->doubled);
  @*/
static inline void compound_dip_learn(struct compound_base *base, u32 rtt_us, u32 now_ms);

/*@ requires \valid(base) && rtt_us > 0 && 1 <= base->rounds <= 5;
  @ requires base->unseen < 4 && base->doubled <= 3;
  @ assigns *base;
  @ ensures base->unseen < 4 && base->doubled <= 3 && base->rtt_us > 0;
  @ ensures base->rounds < \old(base->rounds) && (\result <==> base->rounds == 0);
  @*/
static inline bool compound_dip_round(struct compound_base *base, u32 rtt_us, u32 now_ms);

/* --- times wrap --- */
/*@ assigns \nothing; */
static inline u16 judge_age(u32 now_us, u32 tsval);

/*@ assigns \nothing; */
static inline u8 judge_half(u32 now_us);

/*@ assigns \nothing; */
static inline u16 judge_most(u32 most_us);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @*/
static inline u16 judge_older(const struct judge_state *j, u32 now_us, u32 tsval);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @*/
static inline bool judge_in_time(const struct judge_state *j, u32 now_us, u32 tsval, u32 most_us);

/*@ requires \valid(j);
  @ assigns j->half, j->ticks, j->mark;
  @*/
static inline void judge_check_clock(struct judge_state *j, u32 now_us);

/*@ requires \valid(j);
  @ assigns j->base_us, j->least_us, j->last_us, j->low_us, j->link, j->seen, j->age, j->half,
  @	    j->ticks, j->mark;
  @ ensures j->base_us == base_us && j->least_us == U32_MAX && j->link == 12;
  @*/
static inline void judge_init(struct judge_state *j, u32 base_us, u32 now_us, u32 tsval);

/*@ requires \valid(j);
  @ assigns j->age, j->half, j->ticks, j->mark;
  @*/
static inline void judge_see_clock(struct judge_state *j, u32 now_us, u32 tsval, u32 most_us);

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @*/
static inline u16 judge_mean(const struct judge_state *j, u32 late_us);

/*@ requires \valid(j);
  @ assigns j->back;
  @ ensures \result <= most_us;
  @*/
static inline u32 judge_way_back(struct judge_state *j, u32 now_us, u32 tsval, u32 most_us);

/*@ requires \valid_read(r);
  @ assigns \nothing;
  @*/
static inline u8 judge_renew_after(const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->seen, j->renew, j->dip;
  @ ensures (j->renew == \old(j->renew) && j->dip == \old(j->dip)) ||
  @	    (j->renew == 3 && j->dip == 1);
  @*/
static inline void judge_watch_base(struct judge_state *j, const struct judge_round *r);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r) && 1 <= j->renew <= 3;
  @ assigns j->seen, j->renew, j->dip;
  @ ensures j->renew == \old(j->renew) - 1 && j->dip <= 1;
  @ ensures j->dip != 0 <==> j->renew != 0;
  @ ensures \result ==> j->renew == 0 && j->least_us > j->base_us;
  @*/
static inline bool judge_renew(struct judge_state *j, const struct judge_round *r);

/*@ requires \valid_read(a);
  @ assigns \nothing;
  @ ensures \result ==> a->started && a->samples == 0 && a->sent_us != sent_us;
  @*/
static inline bool abe_sent_slowly(const struct abe *a, u32 now_us, u32 sent_us);

/*@ requires \valid(a);
  @ assigns a->mark_us, a->sent_us, a->bytes, a->late;
  @ ensures a->bytes == 0 && a->mark_us == now_us && a->sent_us == sent_us;
  @*/
static inline void abe_restart_sample(struct abe *a, u32 now_us, u32 sent_us, u32 late_us);

/*@ requires \valid(a);
  @ assigns a->epoch_us, a->last_us, a->mark_us, a->sent_us, a->bytes, a->late;
  @ ensures a->started ==> a->bytes == 0 && a->mark_us == now_us && a->last_us == now_us;
  @*/
static inline void abe_skip(struct abe *a, u32 now_us, u32 sent_us, u32 late_us);

/*@ requires \valid(base);
  @ assigns base->period_ms;
  @ ensures base->period_ms == period_ms;
  @ ensures \result ==> \old(base->period_ms) != period_ms;
  @*/
static inline bool compound_period_begins(struct compound_base *base, u32 period_ms);

/*@ requires \valid(base);
  @ assigns base->mean_us;
  @ ensures base->mean_us <= \max(\old(base->mean_us), rtt_us);
  @ ensures base->mean_us >= \min(\old(base->mean_us), rtt_us) || \old(base->mean_us) == 0;
  @*/
static inline bool compound_dip_due(struct compound_base *base, u32 rtt_us, u32 now_ms,
				    u32 length_ms, bool begins);

/*@ requires \valid(w) && TREND_SANE(w) && w->first_rtt_us <= 10000000;
  @ assigns *w;
  @ ensures w->n <= 0x100000 && w->t_shift <= 18 && w->d_shift <= 11;
  @ ensures 0 <= w->sum_t <= TREND_MOST(w) * 0x200000;
  @ ensures 0 <= w->sum_tt <= TREND_MOST(w) * 0x40000000000;
  @ ensures -TREND_MOST(w) * 0x200000 <= w->sum_d <= TREND_MOST(w) * 0x200000;
  @ ensures 0 <= w->sum_dd <= TREND_MOST(w) * 0x40000000000;
  @ ensures -TREND_MOST(w) * 0x40000000000 <= w->sum_td <= TREND_MOST(w) * 0x40000000000;
  @ ensures w->first_rtt_us <= 10000000;
  @*/
static inline void rtt_trend_sample(struct rtt_trend *w, u32 now_us, u32 rtt_us);

/*@ assigns \nothing;
  @*/
static inline u64 rtt_trend_abs(s64 value);

/*@ requires -64 < shift < 64;
  @ assigns \nothing;
  @*/
static inline u64 rtt_trend_shifted(u64 value, int shift);

/*@ requires \valid_read(w) && TREND_SANE(w);
  @ assigns \nothing;
  @ ensures \result >= -S32_MAX;
  @ ensures w->n == 0 ==> \result == 0;
  @*/
static inline s32 rtt_trend_change_us(const struct rtt_trend *w, u32 now_us);
