// SPDX-License-Identifier: GPL-2.0
/*
 * Claims that relate two values, as result <= argument: contracts of functions of
 * include/apogee, proven by WP for all arguments that they require. A caller's proof
 * takes its callees' contracts. Those of functions with loops are proven in intervals.c.
 */
#include "proof.h"
#include <apogee/star.h>
#include <apogee/compound.h>
#include <apogee/hstcp_gentle.h>

/* The only axioms: what shifts of numbers that are not negative are. */
/*@ axiomatic Shifts {
  @	axiom right_at_most: \forall integer x, n; x >= 0 && n >= 0 ==> 0 <= (x >> n) <= x;
  @	axiom right_2: \forall integer x; x >= 0 ==> (x >> 2) == x / 4;
  @	axiom right_3: \forall integer x; x >= 0 ==> (x >> 3) == x / 8;
  @	axiom right_4: \forall integer x; x >= 0 ==> (x >> 4) == x / 16;
  @	axiom right_5: \forall integer x; x >= 0 ==> (x >> 5) == x / 32;
  @	axiom left_4: \forall integer x; x >= 0 ==> (x << 4) == x * 16;
  @	axiom right_7: \forall integer x; x >= 0 ==> (x >> 7) == x / 128;
  @	axiom right_8: \forall integer x; x >= 0 ==> (x >> 8) == x / 256;
  @	axiom right_10: \forall integer x; x >= 0 ==> (x >> 10) == x / 1024;
  @	axiom left_10: \forall integer x; x >= 0 ==> (x << 10) == x * 1024;
  @ }
  @*/
/*@ lemma quotient_at_most: \forall integer x, y; x >= 0 && y >= 1 ==> 0 <= x / y <= x; */

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

/*@ requires \valid_read(j);
  @ assigns \nothing;
  @ ensures \result <= 255;
  @*/
static inline u32 judge_queued(const struct judge_state *j, u32 rtt_us);

/*@ assigns \nothing;
  @ ensures \result <= link;
  @ ensures link > 40 ==> \result >= 40;
  @*/
static inline u32 judge_doubt(u32 link);

/*@ requires \valid_read(j) && cwnd <= 0x40000000;
  @ assigns \nothing;
  @ ensures \result >= 2;
  @ ensures cwnd >= 2 ==> \result <= cwnd;
  @*/
static inline u32 judge_dip(const struct judge_state *j, u32 cwnd);

/* --- star.h --- */

/*@ requires \valid_read(w);
  @ assigns \nothing;
  @*/
static inline bool star_holds(const struct star_window *w);

/*@ requires \valid_read(w);
  @ assigns \nothing;
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

/*@ requires \valid_read(w) && times <= 2;
  @ assigns \nothing;
  @*/
static inline bool star_waited(const struct star_window *w, u32 times);

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
  @*/
static inline void compound_follow(struct compound_windows *windows, u32 swnd);

/*@ requires \valid(windows) && beta <= 1000;
  @ requires windows->cwnd + windows->dwnd <= 0x7fffffff * 256;
  @ assigns *windows;
  @ ensures windows->cwnd >= 512;
  @ ensures \old(windows->cwnd) + \old(windows->dwnd) >= 512 ==>
  @	    windows->cwnd + windows->dwnd <= \old(windows->cwnd) + \old(windows->dwnd);
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

/* --- judge.h, losses --- */
/*@ requires \valid_read(j);
  @ assigns \nothing;
  @*/
static inline bool judge_is_lone(const struct judge_state *j);

/*@ requires calm <= 255;
  @ assigns \nothing;
  @*/
static inline bool judge_is_empty(u32 rtt_us, u32 base_us, u32 calm);

/*@ requires \valid(j);
  @ assigns j->link, j->seen_expected, j->seen;
  @ ensures j->seen_expected == 0 && j->seen == 0;
  @*/
static inline void judge_believe(struct judge_state *j, u32 link);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ requires j->seen_expected < 128;
  @ assigns j->link, j->seen_expected, j->seen;
  @ ensures j->seen_expected < 128;
  @*/
static inline void judge_see(struct judge_state *j, const struct judge_round *r, u32 sent);

/*@ requires \valid(j);
  @ assigns j->ratio, j->expected, j->lost;
  @*/
static inline void judge_count_anew(struct judge_state *j, u32 ratio);

/*@ requires \valid(j);
  @ assigns j->expected, j->lost;
  @*/
static inline void judge_count(struct judge_state *j, u64 expected, u64 lost);

/*@ requires \valid_read(j) && expected <= 255 && lost <= 255;
  @ assigns \nothing;
  @*/
static inline bool judge_stays(const struct judge_state *j, u64 expected, u64 lost);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->ratio, j->expected, j->lost, j->link, j->seen_expected, j->seen;
  @*/
static inline bool judge_test_link(struct judge_state *j, const struct judge_round *r, u32 sent);

/*@ requires \valid(j) && \valid_read(r) && \separated(j, r);
  @ assigns j->excess;
  @*/
static inline bool judge_is_excess(struct judge_state *j, const struct judge_round *r, u32 sent);

/*@ requires \valid_read(j) && \valid_read(r);
  @ assigns \nothing;
  @ ensures answer == JUDGE_OVER ==> \result <= r->cwnd;
  @ ensures answer == JUDGE_FULL ==> \result <= r->cwnd && \result <= prior_cwnd;
  @ ensures answer == JUDGE_CUT ==> \result <= r->cwnd;
  @ ensures answer == JUDGE_CUT && r->cwnd >= 1 ==> \result >= 1;
  @ ensures answer == JUDGE_TAKE_BACK ==> \result >= r->cwnd;
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
