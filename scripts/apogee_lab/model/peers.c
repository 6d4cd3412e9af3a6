// SPDX-License-Identifier: GPL-2.0
/* Competitors of star: Reno (RFC 5681) and CUBIC (RFC 9438, with Linux's HyStart). */
#include <math.h>

#include "world.h"

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 cwnd = min(tcp_snd_cwnd(tp) + acked, tp->snd_ssthresh);

	acked -= cwnd - tcp_snd_cwnd(tp);
	tcp_snd_cwnd_set(tp, cwnd);
	return acked;
}

/* One segment per `count` acknowledged. */
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 count, u32 acked)
{
	if (tp->snd_cwnd_cnt >= count) {
		tp->snd_cwnd_cnt = 0;
		tcp_snd_cwnd_set(tp, tcp_snd_cwnd(tp) + 1);
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= count) {
		u32 steps = tp->snd_cwnd_cnt / count;

		tp->snd_cwnd_cnt -= steps * count;
		tcp_snd_cwnd_set(tp, tcp_snd_cwnd(tp) + steps);
	}
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

static u32 reno_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) >> 1, 2U);
}

/* Slow start; returns the rest of an ACK for congestion avoidance. */
static u32 left_for_avoidance(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return 0;
	return tcp_in_slow_start(tp) ? tcp_slow_start(tp, acked) : acked;
}

static void reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	acked = left_for_avoidance(sk, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static struct tcp_congestion_ops reno = {
	.name = "reno",
	.ssthresh = reno_ssthresh,
	.cong_avoid = reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

#define CUBIC_C			0.4
#define CUBIC_BETA		0.7
/* 1 / alpha_cubic: inverse of Reno's increment with CUBIC's decrease (RFC 9438 4.3). */
#define CUBIC_FRIENDLY		((1 + CUBIC_BETA) / (3 * (1 - CUBIC_BETA)))
#define HYSTART_LOW_WINDOW	16
#define HYSTART_SAMPLES		8
#define HYSTART_ACK_GAP_US	2000
#define HYSTART_DELAY_MIN_US	4000U
#define HYSTART_DELAY_MAX_US	16000U

struct cubic {
	double w_max;		/* segments */
	double origin;
	double k_s;
	double friendly;	/* window of Reno */
	u64 epoch_us;		/* 0: begins with the next ACK */
	u64 round_us;
	u64 last_ack_us;
	u32 delay_min_us;
	u32 round_rtt_us;
	u32 round_end;
	u32 samples;
	bool found;
};

static void hystart_reset(struct sock *sk)
{
	struct cubic *c = inet_csk_ca(sk);

	c->round_us = tcp_sk(sk)->tcp_mstamp;
	c->last_ack_us = c->round_us;
	c->round_end = tcp_sk(sk)->snd_nxt;
	c->round_rtt_us = U32_MAX;
	c->samples = 0;
}

static void cubic_init(struct sock *sk)
{
	memset(inet_csk_ca(sk), 0, sizeof(struct cubic));
	BUILD_BUG_ON(sizeof(struct cubic) > ICSK_CA_PRIV_SIZE);
	hystart_reset(sk);
}

static void cubic_begin_epoch(struct cubic *c, u64 now_us, u32 cwnd)
{
	c->epoch_us = now_us;
	c->friendly = cwnd;
	c->origin = max_t(double, c->w_max, cwnd);
	c->k_s = cbrt((c->origin - cwnd) / CUBIC_C);
}

/* ACKs per increment by one segment. */
static double cubic_count(struct cubic *c, u64 now_us, u32 cwnd, u32 acked)
{
	double count = 100.0 * cwnd, target, t;

	if (!c->epoch_us)
		cubic_begin_epoch(c, now_us, cwnd);
	t = (double)(now_us - c->epoch_us + c->delay_min_us) / 1e6 - c->k_s;
	target = c->origin + CUBIC_C * t * t * t;
	if (target > cwnd)
		count = min(count, cwnd / (target - cwnd));
	/* Before the first loss: at least 5 % per round trip. */
	if (!c->w_max)
		count = min(count, 20.0);
	c->friendly += acked / (CUBIC_FRIENDLY * cwnd);
	if (c->friendly > cwnd)
		count = min(count, cwnd / (c->friendly - cwnd));
	return max(count, 2.0);
}

static void cubic_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *c = inet_csk_ca(sk);
	u32 count;

	(void)ack;
	acked = left_for_avoidance(sk, acked);
	if (!acked)
		return;
	count = (u32)cubic_count(c, tp->tcp_mstamp, tcp_snd_cwnd(tp), acked);
	tcp_cong_avoid_ai(tp, count, acked);
}

static u32 cubic_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));
	struct cubic *c = inet_csk_ca(sk);

	c->epoch_us = 0;
	/* Fast convergence: a window below the last one releases bandwidth. */
	c->w_max = cwnd < c->w_max ? cwnd * (1 + CUBIC_BETA) / 2 : cwnd;
	return max((u32)(cwnd * CUBIC_BETA), 2U);
}

static void cubic_set_state(struct sock *sk, u8 state)
{
	if (state == TCP_CA_Loss)
		cubic_init(sk);
}

static bool hystart_train(struct cubic *c, u64 now_us)
{
	if (now_us - c->last_ack_us > HYSTART_ACK_GAP_US)
		return false;
	c->last_ack_us = now_us;
	return now_us - c->round_us > c->delay_min_us / 2;
}

static bool hystart_delay(struct cubic *c, u32 rtt_us)
{
	u32 most = clamp_t(u32, c->delay_min_us >> 3, HYSTART_DELAY_MIN_US,
			   HYSTART_DELAY_MAX_US);

	c->round_rtt_us = min(c->round_rtt_us, rtt_us);
	if (c->samples < HYSTART_SAMPLES) {
		c->samples++;
		return false;
	}
	return c->round_rtt_us > c->delay_min_us + most;
}

static void hystart(struct sock *sk, u32 rtt_us)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *c = inet_csk_ca(sk);
	bool train, delay;

	if (after(tp->snd_una, c->round_end))
		hystart_reset(sk);
	if (tcp_snd_cwnd(tp) < HYSTART_LOW_WINDOW)
		return;
	train = hystart_train(c, tp->tcp_mstamp);
	delay = hystart_delay(c, rtt_us);
	if (!train && !delay)
		return;
	c->found = true;
	tp->snd_ssthresh = tcp_snd_cwnd(tp);
}

static void cubic_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *c = inet_csk_ca(sk);

	if (sample->rtt_us < 0)
		return;
	/* Just after a loss event. */
	if (c->epoch_us && tp->tcp_mstamp - c->epoch_us < USEC_PER_SEC)
		return;
	if (!c->delay_min_us || (u32)sample->rtt_us < c->delay_min_us)
		c->delay_min_us = max(sample->rtt_us, 1);
	if (!c->found && tcp_in_slow_start(tp))
		hystart(sk, sample->rtt_us);
}

static struct tcp_congestion_ops cubic = {
	.name = "cubic",
	.init = cubic_init,
	.ssthresh = cubic_ssthresh,
	.cong_avoid = cubic_cong_avoid,
	.set_state = cubic_set_state,
	.pkts_acked = cubic_pkts_acked,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static void __attribute__((constructor)) peers_register(void)
{
	tcp_register_congestion_control(&reno);
	/* The kernel's is in kernel_cubic.c. */
#ifndef MODEL_KERNEL
	tcp_register_congestion_control(&cubic);
#else
	(void)cubic;
#endif
}
