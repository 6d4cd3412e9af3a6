// SPDX-License-Identifier: GPL-2.0
/*
 * The model's star, but that five seconds after its beginning a flow finds itself in any state of
 * its judgement and with any window: values of the documented ranges, drawn by the path's generator
 * of random numbers. In place of the model's star_module.c.
 */

/* The kernel is not built with these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include <math.h>

#include <linux/random.h>

#include "../../../tcp_star.c"

#include "path.h"
#include "star_module.h"

#define ANY_AT	(6 * NSEC_PER_SEC)	/* the model begins at 1 s */

/* 0 to most. */
static u32 any_to(u32 most)
{
	return prandom_u32_max(most + 1);
}

/* A part of a number, or several times that, each doubling being as probable. */
static u32 any_of(u32 n, double least, double most)
{
	return (u32)(n * least * pow(most / least, path_random()));
}

static void any_times(struct judge_state *j)
{
	u32 rtt_us = (u32)(world.path.rtt / NSEC_PER_USEC);

	j->base_us = any_of(rtt_us, 1.0 / 16, 2);
	j->least_us = any_to(1) ? j->base_us + any_to(2 * rtt_us) : U32_MAX;
	j->last_us = any_to(7) ? j->base_us + any_to(2 * rtt_us) : U32_MAX;
	j->low_us = any_to(3 * rtt_us);
	j->age = any_to(U16_MAX);
	j->back = any_of(1, 1, U16_MAX);
	j->seen = any_to(U8_MAX);
	j->mark = any_to(U8_MAX);
}

static void any_belief(struct judge_state *j)
{
	j->excess = any_to(U8_MAX);
	j->link = JUDGE_LINK_BEGIN + any_to(JUDGE_LINK_MOST - JUDGE_LINK_BEGIN);
	j->fall = any_to(U8_MAX);
	j->test = any_to(3);
	j->standing = any_to(JUDGE_STANDING);
	j->skip = any_to(2);
	j->dip = any_to(1);
	j->rest = any_to(JUDGE_REST);
	j->renew = j->test ? 0 : any_to(JUDGE_RENEW_ROUNDS);
	j->queue = any_to(1);
	j->alone = any_to(1);
	j->large = any_to(1);
	j->empty = any_to(1);
	j->learns = any_to(1);
	j->over = any_to(1);
	j->ticks = any_to(1);
	j->half = any_to(1);
}

static void any_window(struct sock *sk)
{
	struct star_window *w = &((struct star *)inet_csk_ca(sk))->w;
	u32 product = (u32)(world.path.rate * world.path.rtt / NSEC_PER_SEC / 8 / MODEL_FRAME) + 1;

	w->mode = any_to(1) ? STAR_CRUISE : STAR_YIELD;
	w->cwnd_reno = 1 + any_to(2 * product);
	w->clear = any_to(STAR_WAIT_MOST);
	w->tries = any_to(STAR_TRIES_MOST);
	tcp_sk(sk)->snd_ssthresh = STAR_CWND_MIN + any_to(2 * product);
}

static void any_cong_control(struct sock *sk, const struct rate_sample *rs)
{
	struct star *s = inet_csk_ca(sk);
	static bool done;

	star_cong_control(sk, rs);
	if (done || model_now < ANY_AT || s->w.mode == STAR_JUDGE)
		return;
	done = true;
	any_times(&s->j);
	any_belief(&s->j);
	any_window(sk);
}

static __attribute__((constructor)) void any_state(void)
{
	tcp_star.cong_control = any_cong_control;
}

void star_print(const struct sock *sk)
{
}
