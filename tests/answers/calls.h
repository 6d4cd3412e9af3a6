/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of include/apogee. Written by tests/unit/headers/answers.py; don't edit. */
#ifndef _APOGEE_ANSWERS_CALLS_H
#define _APOGEE_ANSWERS_CALLS_H

#include <apogee/abe.h>
#include <apogee/compound.h>
#include <apogee/hstcp.h>
#include <apogee/hstcp_gentle.h>
#include <apogee/hstcp_table.h>
#include <apogee/idle.h>
#include <apogee/int.h>
#include <apogee/judge.h>
#include <apogee/rtt_trend.h>
#include <apogee/rtt_trend_table.h>
#include <apogee/shake_holes.h>
#include <apogee/shake_path.h>
#include <apogee/shake_repair.h>
#include <apogee/shake_replay.h>
#include <apogee/shake_sched.h>
#include <apogee/sscop_segment.h>
#include <apogee/star.h>

struct answer_div_u64 {
	u64 result;
	u64 dividend;
	u32 divisor;
};

static void answer_div_u64(void *call)
{
	struct answer_div_u64 *c = call;

	c->result = div_u64(c->dividend, c->divisor);
}

struct answer_div_s64 {
	s64 result;
	s64 dividend;
	s32 divisor;
};

static void answer_div_s64(void *call)
{
	struct answer_div_s64 *c = call;

	c->result = div_s64(c->dividend, c->divisor);
}

struct answer_div64_u64 {
	u64 result;
	u64 dividend;
	u64 divisor;
};

static void answer_div64_u64(void *call)
{
	struct answer_div64_u64 *c = call;

	c->result = div64_u64(c->dividend, c->divisor);
}

struct answer_fls64 {
	int result;
	u64 x;
};

static void answer_fls64(void *call)
{
	struct answer_fls64 *c = call;

	c->result = fls64(c->x);
}

struct answer_abe_interval_us {
	u32 result;
	u32 rtt_min_us;
};

static void answer_abe_interval_us(void *call)
{
	struct answer_abe_interval_us *c = call;

	c->result = abe_interval_us(c->rtt_min_us);
}

struct answer_abe_rate {
	u64 result;
	u64 bytes;
	u64 elapsed_us;
};

static void answer_abe_rate(void *call)
{
	struct answer_abe_rate *c = call;

	c->result = abe_rate(c->bytes, c->elapsed_us);
}

struct answer_abe_bw {
	u64 result;
	struct abe a;
};

static void answer_abe_bw(void *call)
{
	struct answer_abe_bw *c = call;

	c->result = abe_bw(&c->a);
}

struct answer_abe_restart_sample {
	struct abe a;
	u32 now_us;
	u32 sent_us;
};

static void answer_abe_restart_sample(void *call)
{
	struct answer_abe_restart_sample *c = call;

	abe_restart_sample(&c->a, c->now_us, c->sent_us);
}

struct answer_abe_elapsed_us {
	u32 result;
	struct abe a;
	u32 now_us;
	u32 sent_us;
};

static void answer_abe_elapsed_us(void *call)
{
	struct answer_abe_elapsed_us *c = call;

	c->result = abe_elapsed_us(&c->a, c->now_us, c->sent_us);
}

struct answer_abe_epoch_over {
	bool result;
	struct abe a;
	u32 now_us;
	u32 interval_us;
};

static void answer_abe_epoch_over(void *call)
{
	struct answer_abe_epoch_over *c = call;

	c->result = abe_epoch_over(&c->a, c->now_us, c->interval_us);
}

struct answer_abe_take_sample {
	struct abe a;
	u32 now_us;
	u64 sample;
	u32 interval_us;
	bool limited;
};

static void answer_abe_take_sample(void *call)
{
	struct answer_abe_take_sample *c = call;

	abe_take_sample(&c->a, c->now_us, c->sample, c->interval_us,
			c->limited);
}

struct answer_abe_correct_first {
	struct abe a;
	u64 bw;
	u32 gap_us;
	u32 rtt_min_us;
};

static void answer_abe_correct_first(void *call)
{
	struct answer_abe_correct_first *c = call;

	abe_correct_first(&c->a, c->bw, c->gap_us, c->rtt_min_us);
}

struct answer_abe_sent_slowly {
	bool result;
	struct abe a;
	u32 now_us;
	u32 sent_us;
};

static void answer_abe_sent_slowly(void *call)
{
	struct answer_abe_sent_slowly *c = call;

	c->result = abe_sent_slowly(&c->a, c->now_us, c->sent_us);
}

struct answer_abe_skip {
	struct abe a;
	u32 now_us;
	u32 sent_us;
};

static void answer_abe_skip(void *call)
{
	struct answer_abe_skip *c = call;

	abe_skip(&c->a, c->now_us, c->sent_us);
}

struct answer_abe_ack {
	bool result;
	struct abe a;
	u32 now_us;
	u32 sent_us;
	u64 bytes;
	u32 mss;
	u32 rtt_min_us;
	u32 first_us;
	bool limited;
};

static void answer_abe_ack(void *call)
{
	struct answer_abe_ack *c = call;

	c->result = abe_ack(&c->a, c->now_us, c->sent_us, c->bytes, c->mss,
			    c->rtt_min_us, c->first_us, c->limited);
}

struct answer_abe_window {
	u32 result;
	u64 bw;
	u32 rtt_min_us;
	u32 mss;
};

static void answer_abe_window(void *call)
{
	struct answer_abe_window *c = call;

	c->result = abe_window(c->bw, c->rtt_min_us, c->mss);
}

struct answer_compound_base_near {
	bool result;
	struct compound_base base;
	u32 rtt_us;
};

static void answer_compound_base_near(void *call)
{
	struct answer_compound_base_near *c = call;

	c->result = compound_base_near(&c->base, c->rtt_us);
}

struct answer_compound_base_update {
	struct compound_base base;
	u32 rtt_us;
	u32 now_ms;
};

static void answer_compound_base_update(void *call)
{
	struct answer_compound_base_update *c = call;

	compound_base_update(&c->base, c->rtt_us, c->now_ms);
}

struct answer_compound_period_ms {
	u32 result;
	struct compound_base base;
	u32 longest_ms;
};

static void answer_compound_period_ms(void *call)
{
	struct answer_compound_period_ms *c = call;

	c->result = compound_period_ms(&c->base, c->longest_ms);
}

struct answer_compound_phase_ms {
	u32 result;
	u64 address;
};

static void answer_compound_phase_ms(void *call)
{
	struct answer_compound_phase_ms *c = call;

	c->result = compound_phase_ms(c->address);
}

struct answer_compound_period_start_ms {
	u32 result;
	u64 now_ms;
	u32 phase_ms;
	u32 length_ms;
};

static void answer_compound_period_start_ms(void *call)
{
	struct answer_compound_period_start_ms *c = call;

	c->result = compound_period_start_ms(c->now_ms, c->phase_ms,
					     c->length_ms);
}

struct answer_compound_period_begins {
	bool result;
	struct compound_base base;
	u32 period_ms;
};

static void answer_compound_period_begins(void *call)
{
	struct answer_compound_period_begins *c = call;

	c->result = compound_period_begins(&c->base, c->period_ms);
}

struct answer_compound_dip_due {
	bool result;
	struct compound_base base;
	u32 rtt_us;
	u32 now_ms;
	u32 length_ms;
	bool begins;
};

static void answer_compound_dip_due(void *call)
{
	struct answer_compound_dip_due *c = call;

	c->result = compound_dip_due(&c->base, c->rtt_us, c->now_ms,
				     c->length_ms, c->begins);
}

struct answer_compound_dip_window {
	u32 result;
	struct compound_base base;
	u32 swnd;
};

static void answer_compound_dip_window(void *call)
{
	struct answer_compound_dip_window *c = call;

	c->result = compound_dip_window(&c->base, c->swnd);
}

struct answer_compound_dip_begin {
	u32 result;
	struct compound_base base;
	u32 swnd;
	u32 rtt_us;
};

static void answer_compound_dip_begin(void *call)
{
	struct answer_compound_dip_begin *c = call;

	c->result = compound_dip_begin(&c->base, c->swnd, c->rtt_us);
}

struct answer_compound_dip_end {
	struct compound_base base;
	u32 now_ms;
};

static void answer_compound_dip_end(void *call)
{
	struct answer_compound_dip_end *c = call;

	compound_dip_end(&c->base, c->now_ms);
}

struct answer_compound_dip_left {
	u8 result;
	struct compound_base base;
	u32 rtt_us;
};

static void answer_compound_dip_left(void *call)
{
	struct answer_compound_dip_left *c = call;

	c->result = compound_dip_left(&c->base, c->rtt_us);
}

struct answer_compound_dip_learn {
	struct compound_base base;
	u32 rtt_us;
	u32 now_ms;
};

static void answer_compound_dip_learn(void *call)
{
	struct answer_compound_dip_learn *c = call;

	compound_dip_learn(&c->base, c->rtt_us, c->now_ms);
}

struct answer_compound_dip_round {
	bool result;
	struct compound_base base;
	u32 rtt_us;
	u32 now_ms;
};

static void answer_compound_dip_round(void *call)
{
	struct answer_compound_dip_round *c = call;

	c->result = compound_dip_round(&c->base, c->rtt_us, c->now_ms);
}

struct answer_compound_log2 {
	u32 result;
	u32 x;
};

static void answer_compound_log2(void *call)
{
	struct answer_compound_log2 *c = call;

	c->result = compound_log2(c->x);
}

struct answer_compound_exp2 {
	u64 result;
	u32 x;
};

static void answer_compound_exp2(void *call)
{
	struct answer_compound_exp2 *c = call;

	c->result = compound_exp2(c->x);
}

struct answer_compound_power {
	u64 result;
	u32 swnd;
	u32 k;
};

static void answer_compound_power(void *call)
{
	struct answer_compound_power *c = call;

	c->result = compound_power(c->swnd, c->k);
}

struct answer_compound_increase {
	u64 result;
	u32 swnd;
	u32 alpha;
	u32 k;
};

static void answer_compound_increase(void *call)
{
	struct answer_compound_increase *c = call;

	c->result = compound_increase(c->swnd, c->alpha, c->k);
}

struct answer_compound_diff {
	u64 result;
	u32 swnd;
	u32 base_rtt_us;
	u32 rtt_us;
};

static void answer_compound_diff(void *call)
{
	struct answer_compound_diff *c = call;

	c->result = compound_diff(c->swnd, c->base_rtt_us, c->rtt_us);
}

struct answer_compound_crowded {
	bool result;
	struct compound_rules rules;
	u64 diff;
};

static void answer_compound_crowded(void *call)
{
	struct answer_compound_crowded *c = call;

	c->result = compound_crowded(&c->rules, c->diff);
}

struct answer_compound_delay_window {
	u64 result;
	struct compound_rules rules;
	u64 dwnd;
	u32 swnd;
	u64 diff;
	bool may_grow;
};

static void answer_compound_delay_window(void *call)
{
	struct answer_compound_delay_window *c = call;

	c->result = compound_delay_window(&c->rules, c->dwnd, c->swnd, c->diff,
					  c->may_grow);
}

struct answer_compound_held {
	bool result;
	struct compound_rules rules;
	u64 dwnd;
	u64 diff;
};

static void answer_compound_held(void *call)
{
	struct answer_compound_held *c = call;

	c->result = compound_held(&c->rules, c->dwnd, c->diff);
}

struct answer_compound_loss_window {
	u64 result;
	struct compound_rules rules;
	u64 cwnd;
	u64 diff;
};

static void answer_compound_loss_window(void *call)
{
	struct answer_compound_loss_window *c = call;

	c->result = compound_loss_window(&c->rules, c->cwnd, c->diff);
}

struct answer_compound_fitted {
	u32 result;
	struct compound_rules rules;
	u32 swnd;
	u64 diff;
};

static void answer_compound_fitted(void *call)
{
	struct answer_compound_fitted *c = call;

	c->result = compound_fitted(&c->rules, c->swnd, c->diff);
}

struct answer_compound_sent {
	u32 result;
	struct compound_windows windows;
};

static void answer_compound_sent(void *call)
{
	struct answer_compound_sent *c = call;

	c->result = compound_sent(&c->windows);
}

struct answer_compound_follow {
	struct compound_windows windows;
	u32 swnd;
};

static void answer_compound_follow(void *call)
{
	struct answer_compound_follow *c = call;

	compound_follow(&c->windows, c->swnd);
}

struct answer_compound_loss {
	struct compound_windows windows;
	u32 beta;
};

static void answer_compound_loss(void *call)
{
	struct answer_compound_loss *c = call;

	compound_loss(&c->windows, c->beta);
}

struct answer_compound_loss_once {
	struct compound_windows windows;
	u32 swnd;
	u32 beta;
};

static void answer_compound_loss_once(void *call)
{
	struct answer_compound_loss_once *c = call;

	compound_loss_once(&c->windows, c->swnd, c->beta);
}

struct answer_hstcp_row {
	struct hstcp_row result;
	enum hstcp_response response;
	u32 cwnd;
};

static void answer_hstcp_row(void *call)
{
	struct answer_hstcp_row *c = call;

	c->result = *hstcp_row(c->response, c->cwnd);
}

struct answer_hstcp_increase {
	u32 result;
	enum hstcp_response response;
	u32 cwnd;
};

static void answer_hstcp_increase(void *call)
{
	struct answer_hstcp_increase *c = call;

	c->result = hstcp_increase(c->response, c->cwnd);
}

struct answer_hstcp_ssthresh {
	u32 result;
	enum hstcp_response response;
	u32 cwnd;
};

static void answer_hstcp_ssthresh(void *call)
{
	struct answer_hstcp_ssthresh *c = call;

	c->result = hstcp_ssthresh(c->response, c->cwnd);
}

struct answer_rtt_trend_units {
	u64 result;
	u32 us;
	u8 shift;
};

static void answer_rtt_trend_units(void *call)
{
	struct answer_rtt_trend_units *c = call;

	c->result = rtt_trend_units(c->us, c->shift);
}

struct answer_rtt_trend_time {
	s64 result;
	struct rtt_trend w;
	u32 t_us;
};

static void answer_rtt_trend_time(void *call)
{
	struct answer_rtt_trend_time *c = call;

	c->result = rtt_trend_time(&c->w, c->t_us);
}

struct answer_rtt_trend_distance {
	s64 result;
	struct rtt_trend w;
	u32 d_us;
};

static void answer_rtt_trend_distance(void *call)
{
	struct answer_rtt_trend_distance *c = call;

	c->result = rtt_trend_distance(&c->w, c->d_us);
}

struct answer_rtt_trend_sample {
	struct rtt_trend w;
	u32 now_us;
	u32 rtt_us;
};

static void answer_rtt_trend_sample(void *call)
{
	struct answer_rtt_trend_sample *c = call;

	rtt_trend_sample(&c->w, c->now_us, c->rtt_us);
}

struct answer_rtt_trend_about_means {
	s64 result;
	s64 xy;
	s64 x;
	s64 y;
	u32 n;
};

static void answer_rtt_trend_about_means(void *call)
{
	struct answer_rtt_trend_about_means *c = call;

	c->result = rtt_trend_about_means(c->xy, c->x, c->y, c->n);
}

struct answer_rtt_trend_abs {
	u64 result;
	s64 value;
};

static void answer_rtt_trend_abs(void *call)
{
	struct answer_rtt_trend_abs *c = call;

	c->result = rtt_trend_abs(c->value);
}

struct answer_rtt_trend_shifted {
	u64 result;
	u64 value;
	int shift;
};

static void answer_rtt_trend_shifted(void *call)
{
	struct answer_rtt_trend_shifted *c = call;

	c->result = rtt_trend_shifted(c->value, c->shift);
}

struct answer_rtt_trend_r2 {
	u64 result;
	u64 sxx;
	u64 syy;
	u64 sxy;
};

static void answer_rtt_trend_r2(void *call)
{
	struct answer_rtt_trend_r2 *c = call;

	c->result = rtt_trend_r2(c->sxx, c->syy, c->sxy);
}

struct answer_rtt_trend_critical_t2 {
	u32 result;
	enum rtt_trend_level level;
	u32 df;
};

static void answer_rtt_trend_critical_t2(void *call)
{
	struct answer_rtt_trend_critical_t2 *c = call;

	c->result = rtt_trend_critical_t2(c->level, c->df);
}

struct answer_rtt_trend_critical_r2 {
	u64 result;
	enum rtt_trend_level level;
	u32 df;
};

static void answer_rtt_trend_critical_r2(void *call)
{
	struct answer_rtt_trend_critical_r2 *c = call;

	c->result = rtt_trend_critical_r2(c->level, c->df);
}

struct answer_rtt_trend_verdict {
	enum rtt_trend_verdict result;
	struct rtt_trend w;
	enum rtt_trend_level level;
};

static void answer_rtt_trend_verdict(void *call)
{
	struct answer_rtt_trend_verdict *c = call;

	c->result = rtt_trend_verdict(&c->w, c->level);
}

struct answer_rtt_trend_change_us {
	s32 result;
	struct rtt_trend w;
	u32 now_us;
};

static void answer_rtt_trend_change_us(void *call)
{
	struct answer_rtt_trend_change_us *c = call;

	c->result = rtt_trend_change_us(&c->w, c->now_us);
}

struct answer_gentle_path_learn {
	struct gentle_path path;
	struct gentle_rules rules;
	enum gentle_mode mode;
	u32 cwnd;
	u32 low_us;
};

static void answer_gentle_path_learn(void *call)
{
	struct answer_gentle_path_learn *c = call;

	gentle_path_learn(&c->path, &c->rules, c->mode, c->cwnd, c->low_us);
}

struct answer_gentle_relevant {
	enum rtt_trend_verdict result;
	struct gentle_rules rules;
	enum rtt_trend_verdict verdict;
	s32 change_us;
	u32 queue_us;
	u32 rtt_min_us;
};

static void answer_gentle_relevant(void *call)
{
	struct answer_gentle_relevant *c = call;

	c->result = gentle_relevant(&c->rules, c->verdict, c->change_us,
				    c->queue_us, c->rtt_min_us);
}

struct answer_gentle_next_mode {
	enum gentle_mode result;
	struct gentle_rules rules;
	enum gentle_mode mode;
	enum rtt_trend_verdict verdict;
	u8 agreed;
};

static void answer_gentle_next_mode(void *call)
{
	struct answer_gentle_next_mode *c = call;

	c->result = gentle_next_mode(&c->rules, c->mode, c->verdict,
				     &c->agreed);
}

struct answer_gentle_reno_credit {
	u32 result;
	enum hstcp_response response;
	enum gentle_share share;
	u32 cwnd;
};

static void answer_gentle_reno_credit(void *call)
{
	struct answer_gentle_reno_credit *c = call;

	c->result = gentle_reno_credit(c->response, c->share, c->cwnd);
}

struct answer_gentle_reduced {
	u32 result;
	enum hstcp_response response;
	enum gentle_mode mode;
	u32 cwnd;
	enum gentle_share share;
};

static void answer_gentle_reduced(void *call)
{
	struct answer_gentle_reduced *c = call;

	c->result = gentle_reduced(c->response, c->mode, c->cwnd, c->share);
}

struct answer_gentle_capacity {
	u32 result;
	u32 packets;
	u32 sent_us;
	u32 rise_us;
	u32 rtt_min_us;
};

static void answer_gentle_capacity(void *call)
{
	struct answer_gentle_capacity *c = call;

	c->result = gentle_capacity(c->packets, c->sent_us, c->rise_us,
				    c->rtt_min_us);
}

struct answer_idle_cwnd {
	u32 result;
	u32 cwnd;
	u32 restart;
	u32 idle;
	u32 rto;
};

static void answer_idle_cwnd(void *call)
{
	struct answer_idle_cwnd *c = call;

	c->result = idle_cwnd(c->cwnd, c->restart, c->idle, c->rto);
}

struct answer_judge_share {
	u32 result;
	u32 cwnd;
	u32 rtt_us;
	u32 base_us;
};

static void answer_judge_share(void *call)
{
	struct answer_judge_share *c = call;

	c->result = judge_share(c->cwnd, c->rtt_us, c->base_us);
}

struct answer_judge_above {
	bool result;
	struct judge_state j;
	u32 rtt_us;
	u32 spread_us;
};

static void answer_judge_above(void *call)
{
	struct answer_judge_above *c = call;

	c->result = judge_above(&c->j, c->rtt_us, c->spread_us);
}

struct answer_judge_rtt {
	struct judge_state j;
	u32 rtt_us;
};

static void answer_judge_rtt(void *call)
{
	struct answer_judge_rtt *c = call;

	judge_rtt(&c->j, c->rtt_us);
}

struct answer_judge_is_empty {
	bool result;
	u32 rtt_us;
	u32 base_us;
	u32 calm;
};

static void answer_judge_is_empty(void *call)
{
	struct answer_judge_is_empty *c = call;

	c->result = judge_is_empty(c->rtt_us, c->base_us, c->calm);
}

struct answer_judge_queued {
	u32 result;
	struct judge_state j;
	u32 rtt_us;
};

static void answer_judge_queued(void *call)
{
	struct answer_judge_queued *c = call;

	c->result = judge_queued(&c->j, c->rtt_us);
}

struct answer_judge_adopt {
	struct judge_state j;
};

static void answer_judge_adopt(void *call)
{
	struct answer_judge_adopt *c = call;

	judge_adopt(&c->j);
}

struct answer_judge_is_path {
	bool result;
	struct judge_state j;
};

static void answer_judge_is_path(void *call)
{
	struct answer_judge_is_path *c = call;

	c->result = judge_is_path(&c->j);
}

struct answer_judge_is_still {
	bool result;
	struct judge_state j;
};

static void answer_judge_is_still(void *call)
{
	struct answer_judge_is_still *c = call;

	c->result = judge_is_still(&c->j);
}

struct answer_judge_see_queue {
	struct judge_state j;
};

static void answer_judge_see_queue(void *call)
{
	struct answer_judge_see_queue *c = call;

	judge_see_queue(&c->j);
}

struct answer_judge_is_near_top {
	bool result;
	struct judge_state j;
	u32 rtt_us;
};

static void answer_judge_is_near_top(void *call)
{
	struct answer_judge_is_near_top *c = call;

	c->result = judge_is_near_top(&c->j, c->rtt_us);
}

struct answer_judge_is_rising {
	bool result;
	struct judge_state j;
};

static void answer_judge_is_rising(void *call)
{
	struct answer_judge_is_rising *c = call;

	c->result = judge_is_rising(&c->j);
}

struct answer_judge_end_rtt {
	bool result;
	struct judge_state j;
	u32 srtt_us;
	u32 min_rtt_us;
};

static void answer_judge_end_rtt(void *call)
{
	struct answer_judge_end_rtt *c = call;

	c->result = judge_end_rtt(&c->j, c->srtt_us, c->min_rtt_us);
}

struct answer_judge_begin_test {
	struct judge_state j;
	u32 rtt_us;
	u32 fall_us;
	u32 rounds;
};

static void answer_judge_begin_test(void *call)
{
	struct answer_judge_begin_test *c = call;

	judge_begin_test(&c->j, c->rtt_us, c->fall_us, c->rounds);
}

struct answer_judge_end_test {
	struct judge_state j;
};

static void answer_judge_end_test(void *call)
{
	struct answer_judge_end_test *c = call;

	judge_end_test(&c->j);
}

struct answer_judge_test_due {
	bool result;
	struct judge_state j;
};

static void answer_judge_test_due(void *call)
{
	struct answer_judge_test_due *c = call;

	c->result = judge_test_due(&c->j);
}

struct answer_judge_dip {
	u32 result;
	struct judge_state j;
	u32 cwnd;
};

static void answer_judge_dip(void *call)
{
	struct answer_judge_dip *c = call;

	c->result = judge_dip(&c->j, c->cwnd);
}

struct answer_judge_calm {
	struct judge_state j;
	u32 rtt_us;
	bool little;
};

static void answer_judge_calm(void *call)
{
	struct answer_judge_calm *c = call;

	judge_calm(&c->j, c->rtt_us, c->little);
}

struct answer_judge_use {
	struct judge_state j;
	struct judge_round r;
};

static void answer_judge_use(void *call)
{
	struct answer_judge_use *c = call;

	judge_use(&c->j, &c->r);
}

struct answer_judge_is_lone {
	bool result;
	struct judge_state j;
};

static void answer_judge_is_lone(void *call)
{
	struct answer_judge_is_lone *c = call;

	c->result = judge_is_lone(&c->j);
}

struct answer_judge_silence {
	struct judge_state j;
};

static void answer_judge_silence(void *call)
{
	struct answer_judge_silence *c = call;

	judge_silence(&c->j);
}

struct answer_judge_cut_made {
	struct judge_state j;
};

static void answer_judge_cut_made(void *call)
{
	struct answer_judge_cut_made *c = call;

	judge_cut_made(&c->j);
}

struct answer_judge_count_anew {
	struct judge_state j;
	u32 ratio;
};

static void answer_judge_count_anew(void *call)
{
	struct answer_judge_count_anew *c = call;

	judge_count_anew(&c->j, c->ratio);
}

struct answer_judge_count {
	struct judge_state j;
	u64 expected;
	u64 lost;
};

static void answer_judge_count(void *call)
{
	struct answer_judge_count *c = call;

	judge_count(&c->j, c->expected, c->lost);
}

struct answer_judge_believe {
	struct judge_state j;
	u32 link;
};

static void answer_judge_believe(void *call)
{
	struct answer_judge_believe *c = call;

	judge_believe(&c->j, c->link);
}

struct answer_judge_doubt {
	u32 result;
	u32 link;
};

static void answer_judge_doubt(void *call)
{
	struct answer_judge_doubt *c = call;

	c->result = judge_doubt(c->link);
}

struct answer_judge_see {
	struct judge_state j;
	struct judge_round r;
	u32 sent;
};

static void answer_judge_see(void *call)
{
	struct answer_judge_see *c = call;

	judge_see(&c->j, &c->r, c->sent);
}

struct answer_judge_stays {
	bool result;
	struct judge_state j;
	u64 expected;
	u64 lost;
};

static void answer_judge_stays(void *call)
{
	struct answer_judge_stays *c = call;

	c->result = judge_stays(&c->j, c->expected, c->lost);
}

struct answer_judge_test_link {
	bool result;
	struct judge_state j;
	struct judge_round r;
	u32 sent;
};

static void answer_judge_test_link(void *call)
{
	struct answer_judge_test_link *c = call;

	c->result = judge_test_link(&c->j, &c->r, c->sent);
}

struct answer_judge_is_over {
	bool result;
	struct judge_state j;
	struct judge_round r;
};

static void answer_judge_is_over(void *call)
{
	struct answer_judge_is_over *c = call;

	c->result = judge_is_over(&c->j, &c->r);
}

struct answer_judge_is_excess {
	bool result;
	struct judge_state j;
	struct judge_round r;
	u32 sent;
};

static void answer_judge_is_excess(void *call)
{
	struct answer_judge_is_excess *c = call;

	c->result = judge_is_excess(&c->j, &c->r, c->sent);
}

struct answer_judge_is_full {
	bool result;
	struct judge_state j;
	struct judge_round r;
	u32 sent;
};

static void answer_judge_is_full(void *call)
{
	struct answer_judge_is_full *c = call;

	c->result = judge_is_full(&c->j, &c->r, c->sent);
}

struct answer_judge_end_losses {
	enum judge_answer result;
	struct judge_state j;
	struct judge_round r;
};

static void answer_judge_end_losses(void *call)
{
	struct answer_judge_end_losses *c = call;

	c->result = judge_end_losses(&c->j, &c->r);
}

struct answer_judge_is_costly {
	bool result;
	struct judge_round r;
};

static void answer_judge_is_costly(void *call)
{
	struct answer_judge_is_costly *c = call;

	c->result = judge_is_costly(&c->r);
}

struct answer_judge_cwnd {
	u32 result;
	struct judge_state j;
	enum judge_answer answer;
	struct judge_round r;
	u32 prior_cwnd;
};

static void answer_judge_cwnd(void *call)
{
	struct answer_judge_cwnd *c = call;

	c->result = judge_cwnd(&c->j, c->answer, &c->r, c->prior_cwnd);
}

struct answer_shake_before {
	bool result;
	u32 a;
	u32 b;
};

static void answer_shake_before(void *call)
{
	struct answer_shake_before *c = call;

	c->result = shake_before(c->a, c->b);
}

struct answer_shake_is_far {
	bool result;
	u32 a;
	u32 b;
};

static void answer_shake_is_far(void *call)
{
	struct answer_shake_is_far *c = call;

	c->result = shake_is_far(c->a, c->b);
}

struct answer_shake_raise {
	u32 number;
	u32 to;
};

static void answer_shake_raise(void *call)
{
	struct answer_shake_raise *c = call;

	shake_raise(&c->number, c->to);
}

struct answer_shake_count_up {
	u16 count;
};

static void answer_shake_count_up(void *call)
{
	struct answer_shake_count_up *c = call;

	shake_count_up(&c->count);
}

struct answer_shake_ends_forget {
	struct shake_ends e;
	u32 high;
};

static void answer_shake_ends_forget(void *call)
{
	struct answer_shake_ends_forget *c = call;

	shake_ends_forget(&c->e, c->high);
}

struct answer_shake_ends_begin {
	struct shake_ends e;
	u32 number;
};

static void answer_shake_ends_begin(void *call)
{
	struct answer_shake_ends_begin *c = call;

	shake_ends_begin(&c->e, c->number);
}

struct answer_shake_ends_knows {
	bool result;
	struct shake_ends e;
	u8 path;
};

static void answer_shake_ends_knows(void *call)
{
	struct answer_shake_ends_knows *c = call;

	c->result = shake_ends_knows(&c->e, c->path);
}

struct answer_shake_ends_raise {
	struct shake_ends e;
	u8 path;
	u32 to;
};

static void answer_shake_ends_raise(void *call)
{
	struct answer_shake_ends_raise *c = call;

	shake_ends_raise(&c->e, c->path, c->to);
}

struct answer_shake_sends_next {
	bool result;
	struct shake_sends s;
	u8 path;
	u32 seq;
	u32 end;
	bool syn;
	u32 m_al;
};

static void answer_shake_sends_next(void *call)
{
	struct answer_shake_sends_next *c = call;

	c->result = shake_sends_next(&c->s, c->path, c->seq, c->end, c->syn,
				     &c->m_al);
}

struct answer_shake_hole_is_open {
	bool result;
	struct shake_hole hole;
};

static void answer_shake_hole_is_open(void *call)
{
	struct answer_shake_hole_is_open *c = call;

	c->result = shake_hole_is_open(&c->hole);
}

struct answer_shake_hole_is_told {
	bool result;
	struct shake_hole hole;
};

static void answer_shake_hole_is_told(void *call)
{
	struct answer_shake_hole_is_told *c = call;

	c->result = shake_hole_is_told(&c->hole);
}

struct answer_shake_hole_undecided {
	enum shake_fate result;
	struct shake_hole hole;
	u8 mode;
	u32 threshold;
	struct shake_flow_counts counts;
};

static void answer_shake_hole_undecided(void *call)
{
	struct answer_shake_hole_undecided *c = call;

	c->result = shake_hole_undecided(&c->hole, c->mode, c->threshold,
					 &c->counts);
}

struct answer_shake_hole_unneeded {
	enum shake_fate result;
	struct shake_hole hole;
	u8 mode;
	struct shake_flow_counts counts;
};

static void answer_shake_hole_unneeded(void *call)
{
	struct answer_shake_hole_unneeded *c = call;

	c->result = shake_hole_unneeded(&c->hole, c->mode, &c->counts);
}

struct answer_shake_hole_needed {
	enum shake_fate result;
	struct shake_hole hole;
	u8 mode;
	struct shake_flow_counts counts;
};

static void answer_shake_hole_needed(void *call)
{
	struct answer_shake_hole_needed *c = call;

	c->result = shake_hole_needed(&c->hole, c->mode, &c->counts);
}

struct answer_shake_hole_explains {
	bool result;
	struct shake_hole hole;
	struct shake_dupack a;
};

static void answer_shake_hole_explains(void *call)
{
	struct answer_shake_hole_explains *c = call;

	c->result = shake_hole_explains(&c->hole, &c->a);
}

struct answer_shake_path_after {
	s32 result;
	u32 a;
	u32 b;
};

static void answer_shake_path_after(void *call)
{
	struct answer_shake_path_after *c = call;

	c->result = shake_path_after(c->a, c->b);
}

struct answer_shake_path_took {
	u32 result;
	u32 at;
	u32 hold;
	u64 now;
};

static void answer_shake_path_took(void *call)
{
	struct answer_shake_path_took *c = call;

	c->result = shake_path_took(c->at, c->hold, c->now);
}

struct answer_shake_repair_place {
	u32 result;
	u32 number;
};

static void answer_shake_repair_place(void *call)
{
	struct answer_shake_repair_place *c = call;

	c->result = shake_repair_place(c->number);
}

struct answer_shake_repair_look {
	struct shake_repair r;
	u64 seen;
	u64 now;
};

static void answer_shake_repair_look(void *call)
{
	struct answer_shake_repair_look *c = call;

	shake_repair_look(&c->r, c->seen, c->now);
}

struct answer_shake_repair_keep {
	bool result;
	struct shake_repair r;
	u32 counter;
	u64 rate;
	u64 now;
	u32 place;
};

static void answer_shake_repair_keep(void *call)
{
	struct answer_shake_repair_keep *c = call;

	c->result = shake_repair_keep(&c->r, c->counter, c->rate, c->now,
				      &c->place);
}

struct answer_shake_repair_covers {
	bool result;
	struct shake_repair r;
};

static void answer_shake_repair_covers(void *call)
{
	struct answer_shake_repair_covers *c = call;

	c->result = shake_repair_covers(&c->r);
}

struct answer_shake_repair_is_lost {
	bool result;
	struct shake_repair r;
	struct shake_kept kept;
	u32 behind;
	u32 srtt;
	u64 now;
};

static void answer_shake_repair_is_lost(void *call)
{
	struct answer_shake_repair_is_lost *c = call;

	c->result = shake_repair_is_lost(&c->r, &c->kept, c->behind, c->srtt,
					 c->now);
}

struct answer_shake_repair_is_old {
	bool result;
	struct shake_kept kept;
	u32 srtt;
	u64 now;
};

static void answer_shake_repair_is_old(void *call)
{
	struct answer_shake_repair_is_old *c = call;

	c->result = shake_repair_is_old(&c->kept, c->srtt, c->now);
}

struct answer_shake_repair_learn {
	struct shake_repair r;
	struct shake_kept kept;
	u32 least;
	u64 now;
};

static void answer_shake_repair_learn(void *call)
{
	struct answer_shake_repair_learn *c = call;

	shake_repair_learn(&c->r, &c->kept, c->least, c->now);
}

struct answer_shake_repair_is_ahead {
	bool result;
	struct shake_repair r;
	u32 place;
	u32 echo;
};

static void answer_shake_repair_is_ahead(void *call)
{
	struct answer_shake_repair_is_ahead *c = call;

	c->result = shake_repair_is_ahead(&c->r, c->place, c->echo);
}

struct answer_shake_repair_judge {
	enum shake_copy result;
	struct shake_repair r;
	u32 place;
	u32 echo;
	u64 seen;
	u32 srtt;
	u32 least;
	u64 now;
};

static void answer_shake_repair_judge(void *call)
{
	struct answer_shake_repair_judge *c = call;

	c->result = shake_repair_judge(&c->r, c->place, c->echo, c->seen,
				       c->srtt, c->least, c->now);
}

struct answer_shake_repair_next {
	bool result;
	struct shake_repair r;
	u32 number;
};

static void answer_shake_repair_next(void *call)
{
	struct answer_shake_repair_next *c = call;

	c->result = shake_repair_next(&c->r, &c->number);
}

struct answer_shake_repair_close {
	struct shake_repair r;
	u32 place;
};

static void answer_shake_repair_close(void *call)
{
	struct answer_shake_repair_close *c = call;

	shake_repair_close(&c->r, c->place);
}

struct answer_shake_replay_full {
	u64 result;
	struct shake_replay r;
	u32 low;
};

static void answer_shake_replay_full(void *call)
{
	struct answer_shake_replay_full *c = call;

	c->result = shake_replay_full(&c->r, c->low);
}

struct answer_shake_replay_check {
	bool result;
	struct shake_replay r;
	u64 counter;
};

static void answer_shake_replay_check(void *call)
{
	struct answer_shake_replay_check *c = call;

	c->result = shake_replay_check(&c->r, c->counter);
}

struct answer_shake_replay_update {
	struct shake_replay r;
	u64 counter;
};

static void answer_shake_replay_update(void *call)
{
	struct answer_shake_replay_update *c = call;

	shake_replay_update(&c->r, c->counter);
}

struct answer_shake_replay_behind {
	u64 result;
	struct shake_replay r;
	u64 counter;
};

static void answer_shake_replay_behind(void *call)
{
	struct answer_shake_replay_behind *c = call;

	c->result = shake_replay_behind(&c->r, c->counter);
}

struct answer_shake_sched_init {
	struct shake_sched s;
};

static void answer_shake_sched_init(void *call)
{
	struct answer_shake_sched_init *c = call;

	shake_sched_init(&c->s);
}

struct answer_shake_sched_log2 {
	u32 result;
	u32 x;
};

static void answer_shake_sched_log2(void *call)
{
	struct answer_shake_sched_log2 *c = call;

	c->result = shake_sched_log2(c->x);
}

struct answer_shake_sched_exp2 {
	u32 result;
	u64 x;
};

static void answer_shake_sched_exp2(void *call)
{
	struct answer_shake_sched_exp2 *c = call;

	c->result = shake_sched_exp2(c->x);
}

struct answer_sscop_segment_init {
	struct sscop_segment s;
};

static void answer_sscop_segment_init(void *call)
{
	struct answer_sscop_segment_init *c = call;

	sscop_segment_init(&c->s);
}

struct answer_sscop_segment_index {
	u32 result;
	u32 frame;
};

static void answer_sscop_segment_index(void *call)
{
	struct answer_sscop_segment_index *c = call;

	c->result = sscop_segment_index(c->frame);
}

struct answer_sscop_segment_next {
	u32 result;
	u32 left;
};

static void answer_sscop_segment_next(void *call)
{
	struct answer_sscop_segment_next *c = call;

	c->result = sscop_segment_next(&c->left);
}

struct answer_sscop_segment_log {
	u32 result;
	u32 lost;
	u32 sent;
};

static void answer_sscop_segment_log(void *call)
{
	struct answer_sscop_segment_log *c = call;

	c->result = sscop_segment_log(c->lost, c->sent);
}

struct answer_sscop_segment_shrink {
	struct sscop_segment_class c;
	u32 sent;
};

static void answer_sscop_segment_shrink(void *call)
{
	struct answer_sscop_segment_shrink *c = call;

	sscop_segment_shrink(&c->c, c->sent);
}

struct answer_sscop_segment_test {
	bool result;
	struct sscop_segment s;
};

static void answer_sscop_segment_test(void *call)
{
	struct answer_sscop_segment_test *c = call;

	c->result = sscop_segment_test(&c->s);
}

struct answer_sscop_segment_forget {
	struct sscop_segment s;
};

static void answer_sscop_segment_forget(void *call)
{
	struct answer_sscop_segment_forget *c = call;

	sscop_segment_forget(&c->s);
}

struct answer_sscop_segment_decay {
	struct sscop_segment s;
	u32 full;
};

static void answer_sscop_segment_decay(void *call)
{
	struct answer_sscop_segment_decay *c = call;

	sscop_segment_decay(&c->s, c->full);
}

struct answer_sscop_segment_merge {
	struct sscop_segment s;
};

static void answer_sscop_segment_merge(void *call)
{
	struct answer_sscop_segment_merge *c = call;

	sscop_segment_merge(&c->s);
}

struct answer_sscop_segment_plot {
	struct sscop_segment s;
	struct sscop_segment_plot plot;
};

static void answer_sscop_segment_plot(void *call)
{
	struct answer_sscop_segment_plot *c = call;

	sscop_segment_plot(&c->s, &c->plot);
}

struct answer_sscop_segment_omit {
	bool result;
	struct sscop_segment_plot plot;
};

static void answer_sscop_segment_omit(void *call)
{
	struct answer_sscop_segment_omit *c = call;

	c->result = sscop_segment_omit(&c->plot);
}

struct answer_sscop_segment_slope {
	u32 result;
	s64 numerator;
	u64 denominator;
};

static void answer_sscop_segment_slope(void *call)
{
	struct answer_sscop_segment_slope *c = call;

	c->result = sscop_segment_slope(c->numerator, c->denominator);
}

struct answer_sscop_segment_fit {
	u32 result;
	struct sscop_segment_plot plot;
};

static void answer_sscop_segment_fit(void *call)
{
	struct answer_sscop_segment_fit *c = call;

	c->result = sscop_segment_fit(&c->plot);
}

struct answer_sscop_segment_doubt {
	u32 result;
	struct sscop_segment s;
};

static void answer_sscop_segment_doubt(void *call)
{
	struct answer_sscop_segment_doubt *c = call;

	c->result = sscop_segment_doubt(&c->s);
}

struct answer_sscop_segment_hazard {
	u32 result;
	struct sscop_segment s;
};

static void answer_sscop_segment_hazard(void *call)
{
	struct answer_sscop_segment_hazard *c = call;

	c->result = sscop_segment_hazard(&c->s);
}

struct answer_sscop_segment_review {
	struct sscop_segment s;
};

static void answer_sscop_segment_review(void *call)
{
	struct answer_sscop_segment_review *c = call;

	sscop_segment_review(&c->s);
}

struct answer_sscop_segment_outcome {
	struct sscop_segment s;
	u32 frame;
	bool lost;
};

static void answer_sscop_segment_outcome(void *call)
{
	struct answer_sscop_segment_outcome *c = call;

	sscop_segment_outcome(&c->s, c->frame, c->lost);
}

struct answer_sscop_segment_best {
	u32 result;
	u32 h;
	u32 overhead;
};

static void answer_sscop_segment_best(void *call)
{
	struct answer_sscop_segment_best *c = call;

	c->result = sscop_segment_best(c->h, c->overhead);
}

struct answer_sscop_segment_is_more {
	bool result;
	struct sscop_segment s;
	u32 packet;
	u32 n;
};

static void answer_sscop_segment_is_more(void *call)
{
	struct answer_sscop_segment_is_more *c = call;

	c->result = sscop_segment_is_more(&c->s, c->packet, c->n);
}

struct answer_sscop_segment_try {
	u32 result;
	struct sscop_segment s;
	u32 packet;
	u32 n;
	u32 least;
};

static void answer_sscop_segment_try(void *call)
{
	struct answer_sscop_segment_try *c = call;

	c->result = sscop_segment_try(&c->s, c->packet, c->n, c->least);
}

struct answer_sscop_segment_choose {
	u32 result;
	struct sscop_segment s;
	u32 packet;
	u32 overhead;
	u32 limit;
};

static void answer_sscop_segment_choose(void *call)
{
	struct answer_sscop_segment_choose *c = call;

	c->result = sscop_segment_choose(&c->s, c->packet, c->overhead,
					 c->limit);
}

struct answer_star_holds {
	bool result;
	struct star_window w;
};

static void answer_star_holds(void *call)
{
	struct answer_star_holds *c = call;

	c->result = star_holds(&c->w);
}

struct answer_star_cwnd {
	u32 result;
	struct star_window w;
};

static void answer_star_cwnd(void *call)
{
	struct answer_star_cwnd *c = call;

	c->result = star_cwnd(&c->w);
}

struct answer_star_queue_stands {
	bool result;
	u32 rtt_us;
	u32 rtt_min_us;
};

static void answer_star_queue_stands(void *call)
{
	struct answer_star_queue_stands *c = call;

	c->result = star_queue_stands(c->rtt_us, c->rtt_min_us);
}

struct answer_star_steps_cost {
	u64 result;
	u32 divisor;
	u32 steps;
};

static void answer_star_steps_cost(void *call)
{
	struct answer_star_steps_cost *c = call;

	c->result = star_steps_cost(c->divisor, c->steps);
}

struct answer_star_increase {
	struct star_window w;
	u32 divisor;
	u32 acked;
};

static void answer_star_increase(void *call)
{
	struct answer_star_increase *c = call;

	star_increase(&c->w, c->divisor, c->acked);
}

struct answer_star_waited {
	bool result;
	struct star_window w;
	u32 times;
};

static void answer_star_waited(void *call)
{
	struct answer_star_waited *c = call;

	c->result = star_waited(&c->w, c->times);
}

struct answer_star_try_failed {
	struct star_window w;
	bool costly;
};

static void answer_star_try_failed(void *call)
{
	struct answer_star_try_failed *c = call;

	star_try_failed(&c->w, c->costly);
}

struct answer_star_yield_growth {
	u32 result;
	struct star_window w;
	u32 cwnd;
};

static void answer_star_yield_growth(void *call)
{
	struct answer_star_yield_growth *c = call;

	c->result = star_yield_growth(&c->w, c->cwnd);
}

struct answer_star_yield_divisor {
	u32 result;
	struct star_window w;
};

static void answer_star_yield_divisor(void *call)
{
	struct answer_star_yield_divisor *c = call;

	c->result = star_yield_divisor(&c->w);
}

struct answer_star_is_clear {
	bool result;
	struct star_window w;
};

static void answer_star_is_clear(void *call)
{
	struct answer_star_is_clear *c = call;

	c->result = star_is_clear(&c->w);
}

struct answer_star_release {
	struct star_window w;
	u32 ssthresh;
	bool published;
};

static void answer_star_release(void *call)
{
	struct answer_star_release *c = call;

	star_release(&c->w, c->ssthresh, c->published);
}

struct answer_star_lwc {
	struct star_window w;
	u32 acked;
	u32 ssthresh;
	bool published;
	bool queue;
};

static void answer_star_lwc(void *call)
{
	struct answer_star_lwc *c = call;

	star_lwc(&c->w, c->acked, c->ssthresh, c->published, c->queue);
}

struct answer_star_set_cwnd {
	struct star_window w;
	u32 cwnd;
};

static void answer_star_set_cwnd(void *call)
{
	struct answer_star_set_cwnd *c = call;

	star_set_cwnd(&c->w, c->cwnd);
}

struct answer_star_respond {
	struct star_window w;
	u32 cwnd;
	u32 to;
	bool published;
};

static void answer_star_respond(void *call)
{
	struct answer_star_respond *c = call;

	star_respond(&c->w, c->cwnd, c->to, c->published);
}

struct answer_star_yield_least {
	u32 result;
	u32 cwnd;
	bool alone;
};

static void answer_star_yield_least(void *call)
{
	struct answer_star_yield_least *c = call;

	c->result = star_yield_least(c->cwnd, c->alone);
}

struct answer_star_yield {
	u32 result;
	u32 cwnd;
	u32 rtt_us;
	u32 rtt_min_us;
	bool alone;
};

static void answer_star_yield(void *call)
{
	struct answer_star_yield *c = call;

	c->result = star_yield(c->cwnd, c->rtt_us, c->rtt_min_us, c->alone);
}

struct answer_star_drain {
	u32 result;
	u32 cwnd;
	u32 rtt_us;
	u32 rtt_min_us;
	bool alone;
};

static void answer_star_drain(void *call)
{
	struct answer_star_drain *c = call;

	c->result = star_drain(c->cwnd, c->rtt_us, c->rtt_min_us, c->alone);
}

struct answer_star_watch {
	struct star_window w;
	bool queue;
	bool losses;
};

static void answer_star_watch(void *call)
{
	struct answer_star_watch *c = call;

	star_watch(&c->w, c->queue, c->losses);
}

struct answer_star_cws_ssthresh {
	u32 result;
	struct star_window w;
	u32 cwnd;
};

static void answer_star_cws_ssthresh(void *call)
{
	struct answer_star_cws_ssthresh *c = call;

	c->result = star_cws_ssthresh(&c->w, c->cwnd);
}

struct answer_star_cws_cwnd {
	u32 result;
	u32 cwnd;
	u32 ssthresh;
	u32 new_ssthresh;
};

static void answer_star_cws_cwnd(void *call)
{
	struct answer_star_cws_cwnd *c = call;

	c->result = star_cws_cwnd(c->cwnd, c->ssthresh, c->new_ssthresh);
}

struct answer_star_mark_cwnd {
	u32 result;
	u32 cwnd;
};

static void answer_star_mark_cwnd(void *call)
{
	struct answer_star_mark_cwnd *c = call;

	c->result = star_mark_cwnd(c->cwnd);
}

struct answer_star_pacing_rate {
	u64 result;
	u32 cwnd;
	u32 mss;
	u32 rtt_min_us;
	u32 gain;
};

static void answer_star_pacing_rate(void *call)
{
	struct answer_star_pacing_rate *c = call;

	c->result = star_pacing_rate(c->cwnd, c->mss, c->rtt_min_us, c->gain);
}

struct answer_star_first_rate {
	u64 result;
	u32 cwnd;
	u32 mss;
	u32 rtt_min_us;
};

static void answer_star_first_rate(void *call)
{
	struct answer_star_first_rate *c = call;

	c->result = star_first_rate(c->cwnd, c->mss, c->rtt_min_us);
}

struct answer_star_aen_verdict {
	enum star_verdict result;
	struct star_aen_evidence a;
};

static void answer_star_aen_verdict(void *call)
{
	struct answer_star_aen_verdict *c = call;

	c->result = star_aen_verdict(&c->a);
}

static const struct {
	void (*make)(void *call);
	u32 size;
} answer_calls[] = {
	{ answer_div_u64, sizeof(struct answer_div_u64) },
	{ answer_div_s64, sizeof(struct answer_div_s64) },
	{ answer_div64_u64, sizeof(struct answer_div64_u64) },
	{ answer_fls64, sizeof(struct answer_fls64) },
	{ answer_abe_interval_us, sizeof(struct answer_abe_interval_us) },
	{ answer_abe_rate, sizeof(struct answer_abe_rate) },
	{ answer_abe_bw, sizeof(struct answer_abe_bw) },
	{ answer_abe_restart_sample, sizeof(struct answer_abe_restart_sample) },
	{ answer_abe_elapsed_us, sizeof(struct answer_abe_elapsed_us) },
	{ answer_abe_epoch_over, sizeof(struct answer_abe_epoch_over) },
	{ answer_abe_take_sample, sizeof(struct answer_abe_take_sample) },
	{ answer_abe_correct_first, sizeof(struct answer_abe_correct_first) },
	{ answer_abe_sent_slowly, sizeof(struct answer_abe_sent_slowly) },
	{ answer_abe_skip, sizeof(struct answer_abe_skip) },
	{ answer_abe_ack, sizeof(struct answer_abe_ack) },
	{ answer_abe_window, sizeof(struct answer_abe_window) },
	{ answer_compound_base_near, sizeof(struct answer_compound_base_near) },
	{ answer_compound_base_update, sizeof(struct answer_compound_base_update) },
	{ answer_compound_period_ms, sizeof(struct answer_compound_period_ms) },
	{ answer_compound_phase_ms, sizeof(struct answer_compound_phase_ms) },
	{ answer_compound_period_start_ms, sizeof(struct answer_compound_period_start_ms) },
	{ answer_compound_period_begins, sizeof(struct answer_compound_period_begins) },
	{ answer_compound_dip_due, sizeof(struct answer_compound_dip_due) },
	{ answer_compound_dip_window, sizeof(struct answer_compound_dip_window) },
	{ answer_compound_dip_begin, sizeof(struct answer_compound_dip_begin) },
	{ answer_compound_dip_end, sizeof(struct answer_compound_dip_end) },
	{ answer_compound_dip_left, sizeof(struct answer_compound_dip_left) },
	{ answer_compound_dip_learn, sizeof(struct answer_compound_dip_learn) },
	{ answer_compound_dip_round, sizeof(struct answer_compound_dip_round) },
	{ answer_compound_log2, sizeof(struct answer_compound_log2) },
	{ answer_compound_exp2, sizeof(struct answer_compound_exp2) },
	{ answer_compound_power, sizeof(struct answer_compound_power) },
	{ answer_compound_increase, sizeof(struct answer_compound_increase) },
	{ answer_compound_diff, sizeof(struct answer_compound_diff) },
	{ answer_compound_crowded, sizeof(struct answer_compound_crowded) },
	{ answer_compound_delay_window, sizeof(struct answer_compound_delay_window) },
	{ answer_compound_held, sizeof(struct answer_compound_held) },
	{ answer_compound_loss_window, sizeof(struct answer_compound_loss_window) },
	{ answer_compound_fitted, sizeof(struct answer_compound_fitted) },
	{ answer_compound_sent, sizeof(struct answer_compound_sent) },
	{ answer_compound_follow, sizeof(struct answer_compound_follow) },
	{ answer_compound_loss, sizeof(struct answer_compound_loss) },
	{ answer_compound_loss_once, sizeof(struct answer_compound_loss_once) },
	{ answer_hstcp_row, sizeof(struct answer_hstcp_row) },
	{ answer_hstcp_increase, sizeof(struct answer_hstcp_increase) },
	{ answer_hstcp_ssthresh, sizeof(struct answer_hstcp_ssthresh) },
	{ answer_rtt_trend_units, sizeof(struct answer_rtt_trend_units) },
	{ answer_rtt_trend_time, sizeof(struct answer_rtt_trend_time) },
	{ answer_rtt_trend_distance, sizeof(struct answer_rtt_trend_distance) },
	{ answer_rtt_trend_sample, sizeof(struct answer_rtt_trend_sample) },
	{ answer_rtt_trend_about_means, sizeof(struct answer_rtt_trend_about_means) },
	{ answer_rtt_trend_abs, sizeof(struct answer_rtt_trend_abs) },
	{ answer_rtt_trend_shifted, sizeof(struct answer_rtt_trend_shifted) },
	{ answer_rtt_trend_r2, sizeof(struct answer_rtt_trend_r2) },
	{ answer_rtt_trend_critical_t2, sizeof(struct answer_rtt_trend_critical_t2) },
	{ answer_rtt_trend_critical_r2, sizeof(struct answer_rtt_trend_critical_r2) },
	{ answer_rtt_trend_verdict, sizeof(struct answer_rtt_trend_verdict) },
	{ answer_rtt_trend_change_us, sizeof(struct answer_rtt_trend_change_us) },
	{ answer_gentle_path_learn, sizeof(struct answer_gentle_path_learn) },
	{ answer_gentle_relevant, sizeof(struct answer_gentle_relevant) },
	{ answer_gentle_next_mode, sizeof(struct answer_gentle_next_mode) },
	{ answer_gentle_reno_credit, sizeof(struct answer_gentle_reno_credit) },
	{ answer_gentle_reduced, sizeof(struct answer_gentle_reduced) },
	{ answer_gentle_capacity, sizeof(struct answer_gentle_capacity) },
	{ answer_idle_cwnd, sizeof(struct answer_idle_cwnd) },
	{ answer_judge_share, sizeof(struct answer_judge_share) },
	{ answer_judge_above, sizeof(struct answer_judge_above) },
	{ answer_judge_rtt, sizeof(struct answer_judge_rtt) },
	{ answer_judge_is_empty, sizeof(struct answer_judge_is_empty) },
	{ answer_judge_queued, sizeof(struct answer_judge_queued) },
	{ answer_judge_adopt, sizeof(struct answer_judge_adopt) },
	{ answer_judge_is_path, sizeof(struct answer_judge_is_path) },
	{ answer_judge_is_still, sizeof(struct answer_judge_is_still) },
	{ answer_judge_see_queue, sizeof(struct answer_judge_see_queue) },
	{ answer_judge_is_near_top, sizeof(struct answer_judge_is_near_top) },
	{ answer_judge_is_rising, sizeof(struct answer_judge_is_rising) },
	{ answer_judge_end_rtt, sizeof(struct answer_judge_end_rtt) },
	{ answer_judge_begin_test, sizeof(struct answer_judge_begin_test) },
	{ answer_judge_end_test, sizeof(struct answer_judge_end_test) },
	{ answer_judge_test_due, sizeof(struct answer_judge_test_due) },
	{ answer_judge_dip, sizeof(struct answer_judge_dip) },
	{ answer_judge_calm, sizeof(struct answer_judge_calm) },
	{ answer_judge_use, sizeof(struct answer_judge_use) },
	{ answer_judge_is_lone, sizeof(struct answer_judge_is_lone) },
	{ answer_judge_silence, sizeof(struct answer_judge_silence) },
	{ answer_judge_cut_made, sizeof(struct answer_judge_cut_made) },
	{ answer_judge_count_anew, sizeof(struct answer_judge_count_anew) },
	{ answer_judge_count, sizeof(struct answer_judge_count) },
	{ answer_judge_believe, sizeof(struct answer_judge_believe) },
	{ answer_judge_doubt, sizeof(struct answer_judge_doubt) },
	{ answer_judge_see, sizeof(struct answer_judge_see) },
	{ answer_judge_stays, sizeof(struct answer_judge_stays) },
	{ answer_judge_test_link, sizeof(struct answer_judge_test_link) },
	{ answer_judge_is_over, sizeof(struct answer_judge_is_over) },
	{ answer_judge_is_excess, sizeof(struct answer_judge_is_excess) },
	{ answer_judge_is_full, sizeof(struct answer_judge_is_full) },
	{ answer_judge_end_losses, sizeof(struct answer_judge_end_losses) },
	{ answer_judge_is_costly, sizeof(struct answer_judge_is_costly) },
	{ answer_judge_cwnd, sizeof(struct answer_judge_cwnd) },
	{ answer_shake_before, sizeof(struct answer_shake_before) },
	{ answer_shake_is_far, sizeof(struct answer_shake_is_far) },
	{ answer_shake_raise, sizeof(struct answer_shake_raise) },
	{ answer_shake_count_up, sizeof(struct answer_shake_count_up) },
	{ answer_shake_ends_forget, sizeof(struct answer_shake_ends_forget) },
	{ answer_shake_ends_begin, sizeof(struct answer_shake_ends_begin) },
	{ answer_shake_ends_knows, sizeof(struct answer_shake_ends_knows) },
	{ answer_shake_ends_raise, sizeof(struct answer_shake_ends_raise) },
	{ answer_shake_sends_next, sizeof(struct answer_shake_sends_next) },
	{ answer_shake_hole_is_open, sizeof(struct answer_shake_hole_is_open) },
	{ answer_shake_hole_is_told, sizeof(struct answer_shake_hole_is_told) },
	{ answer_shake_hole_undecided, sizeof(struct answer_shake_hole_undecided) },
	{ answer_shake_hole_unneeded, sizeof(struct answer_shake_hole_unneeded) },
	{ answer_shake_hole_needed, sizeof(struct answer_shake_hole_needed) },
	{ answer_shake_hole_explains, sizeof(struct answer_shake_hole_explains) },
	{ answer_shake_path_after, sizeof(struct answer_shake_path_after) },
	{ answer_shake_path_took, sizeof(struct answer_shake_path_took) },
	{ answer_shake_repair_place, sizeof(struct answer_shake_repair_place) },
	{ answer_shake_repair_look, sizeof(struct answer_shake_repair_look) },
	{ answer_shake_repair_keep, sizeof(struct answer_shake_repair_keep) },
	{ answer_shake_repair_covers, sizeof(struct answer_shake_repair_covers) },
	{ answer_shake_repair_is_lost, sizeof(struct answer_shake_repair_is_lost) },
	{ answer_shake_repair_is_old, sizeof(struct answer_shake_repair_is_old) },
	{ answer_shake_repair_learn, sizeof(struct answer_shake_repair_learn) },
	{ answer_shake_repair_is_ahead, sizeof(struct answer_shake_repair_is_ahead) },
	{ answer_shake_repair_judge, sizeof(struct answer_shake_repair_judge) },
	{ answer_shake_repair_next, sizeof(struct answer_shake_repair_next) },
	{ answer_shake_repair_close, sizeof(struct answer_shake_repair_close) },
	{ answer_shake_replay_full, sizeof(struct answer_shake_replay_full) },
	{ answer_shake_replay_check, sizeof(struct answer_shake_replay_check) },
	{ answer_shake_replay_update, sizeof(struct answer_shake_replay_update) },
	{ answer_shake_replay_behind, sizeof(struct answer_shake_replay_behind) },
	{ answer_shake_sched_init, sizeof(struct answer_shake_sched_init) },
	{ answer_shake_sched_log2, sizeof(struct answer_shake_sched_log2) },
	{ answer_shake_sched_exp2, sizeof(struct answer_shake_sched_exp2) },
	{ answer_sscop_segment_init, sizeof(struct answer_sscop_segment_init) },
	{ answer_sscop_segment_index, sizeof(struct answer_sscop_segment_index) },
	{ answer_sscop_segment_next, sizeof(struct answer_sscop_segment_next) },
	{ answer_sscop_segment_log, sizeof(struct answer_sscop_segment_log) },
	{ answer_sscop_segment_shrink, sizeof(struct answer_sscop_segment_shrink) },
	{ answer_sscop_segment_test, sizeof(struct answer_sscop_segment_test) },
	{ answer_sscop_segment_forget, sizeof(struct answer_sscop_segment_forget) },
	{ answer_sscop_segment_decay, sizeof(struct answer_sscop_segment_decay) },
	{ answer_sscop_segment_merge, sizeof(struct answer_sscop_segment_merge) },
	{ answer_sscop_segment_plot, sizeof(struct answer_sscop_segment_plot) },
	{ answer_sscop_segment_omit, sizeof(struct answer_sscop_segment_omit) },
	{ answer_sscop_segment_slope, sizeof(struct answer_sscop_segment_slope) },
	{ answer_sscop_segment_fit, sizeof(struct answer_sscop_segment_fit) },
	{ answer_sscop_segment_doubt, sizeof(struct answer_sscop_segment_doubt) },
	{ answer_sscop_segment_hazard, sizeof(struct answer_sscop_segment_hazard) },
	{ answer_sscop_segment_review, sizeof(struct answer_sscop_segment_review) },
	{ answer_sscop_segment_outcome, sizeof(struct answer_sscop_segment_outcome) },
	{ answer_sscop_segment_best, sizeof(struct answer_sscop_segment_best) },
	{ answer_sscop_segment_is_more, sizeof(struct answer_sscop_segment_is_more) },
	{ answer_sscop_segment_try, sizeof(struct answer_sscop_segment_try) },
	{ answer_sscop_segment_choose, sizeof(struct answer_sscop_segment_choose) },
	{ answer_star_holds, sizeof(struct answer_star_holds) },
	{ answer_star_cwnd, sizeof(struct answer_star_cwnd) },
	{ answer_star_queue_stands, sizeof(struct answer_star_queue_stands) },
	{ answer_star_steps_cost, sizeof(struct answer_star_steps_cost) },
	{ answer_star_increase, sizeof(struct answer_star_increase) },
	{ answer_star_waited, sizeof(struct answer_star_waited) },
	{ answer_star_try_failed, sizeof(struct answer_star_try_failed) },
	{ answer_star_yield_growth, sizeof(struct answer_star_yield_growth) },
	{ answer_star_yield_divisor, sizeof(struct answer_star_yield_divisor) },
	{ answer_star_is_clear, sizeof(struct answer_star_is_clear) },
	{ answer_star_release, sizeof(struct answer_star_release) },
	{ answer_star_lwc, sizeof(struct answer_star_lwc) },
	{ answer_star_set_cwnd, sizeof(struct answer_star_set_cwnd) },
	{ answer_star_respond, sizeof(struct answer_star_respond) },
	{ answer_star_yield_least, sizeof(struct answer_star_yield_least) },
	{ answer_star_yield, sizeof(struct answer_star_yield) },
	{ answer_star_drain, sizeof(struct answer_star_drain) },
	{ answer_star_watch, sizeof(struct answer_star_watch) },
	{ answer_star_cws_ssthresh, sizeof(struct answer_star_cws_ssthresh) },
	{ answer_star_cws_cwnd, sizeof(struct answer_star_cws_cwnd) },
	{ answer_star_mark_cwnd, sizeof(struct answer_star_mark_cwnd) },
	{ answer_star_pacing_rate, sizeof(struct answer_star_pacing_rate) },
	{ answer_star_first_rate, sizeof(struct answer_star_first_rate) },
	{ answer_star_aen_verdict, sizeof(struct answer_star_aen_verdict) },
};

#endif /* _APOGEE_ANSWERS_CALLS_H */
