// SPDX-License-Identifier: GPL-2.0
/*
 * Gentle HighSpeed TCP: fills long fat pipes as HighSpeed TCP does, but grows
 * as Reno while a queue builds up, so that Reno flows keep their share.
 *
 * K. Tokuda, G. Hasegawa, M. Murata: "Performance Analysis of HighSpeed TCP and
 * its Improvement for High Throughput and Fairness against TCP Reno
 * Connections" (in Japanese), IEICE Technical Report, 2002. HighSpeed TCP:
 * RFC 3649.
 *
 *            own link full, ssthresh, loss          RTTs rise
 *   slow start ----------------------> HighSpeed -------------> Reno
 *        ^                               ^   |  <-------------    |
 *        |                               |   |  RTTs fall, loss   |
 *        +------------ timeout ----------+---+--------------------+
 *
 * Notable differences from the paper:
 *   o A trend of the RTTs counts only if it is relevant (hstcp_gentle.h).
 *     rise=0 fall=0 confirm=1 is as published.
 *   o In Reno mode a loss halves the window, as in Reno. share=0 is as published,
 *     b(w).
 *   o The response function is RFC 3649's; response=1 is as published.
 *   o After a loss in slow start ssthresh = w/2 and w = w/4, but data that was
 *     SACKed is not retransmitted: the stack retransmits what is missing, and
 *     proportional rate reduction brings the window to w/4.
 *   o One RTT sample per ACK, not per packet, since this is what the stack
 *     measures, and about 128 of them per window, since successive samples are
 *     nearly equal. samples=0 is one per ACK.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/hstcp_gentle.h>
#include <compat/param_range.h>
#include <kernel/bbr_info.h>
#include <kernel/bitfield.h>
#include <kernel/pacing.h>
#include <kernel/timeout.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_hstcp_gentle.h>

static unsigned int gentle_response __read_mostly = HSTCP_RFC3649;
APOGEE_PARAM(response, gentle_response, HSTCP_RFC3649, HSTCP_PAPER,
	     "response function: 0 RFC 3649's, 1 the paper's with W_low = 31 (default 0)");

static unsigned int gentle_level __read_mostly = RTT_TREND_5_PERCENT;
APOGEE_PARAM(level, gentle_level, RTT_TREND_10_PERCENT, RTT_TREND_TENTH_PERCENT,
	     "significance level of the trend test: 0 for 10 %, 1 for 5 %, 2 for 1 %, 3 for 0.1 % (default 1)");

static unsigned int gentle_rise __read_mostly = 20;
APOGEE_PARAM(rise, gentle_rise, 0, 1000,
	     "minimum queueing delay at which a rise of the RTT leads to Reno mode, in permille of the minimum RTT, 0 to 1000 (default 20)");

static unsigned int gentle_fall __read_mostly = 50;
APOGEE_PARAM(fall, gentle_fall, 0, 1000,
	     "minimum fall of the RTT that leads to HighSpeed mode, in permille of the minimum RTT, 0 to 1000 (default 50)");

static unsigned int gentle_confirm __read_mostly = 1;
APOGEE_PARAM(confirm, gentle_confirm, 1, 16,
	     "consecutive windows that must agree on a change of mode, 1 to 16 (default 1)");

static unsigned int gentle_samples __read_mostly = 128;
APOGEE_PARAM(samples, gentle_samples, 0, 65535,
	     "approximate number of RTTs evaluated per window, 0 to 65535, 0 for one per ACK (default 128)");

static unsigned int gentle_share __read_mostly = GENTLE_SHARE_HALVE;
APOGEE_PARAM(share, gentle_share, GENTLE_SHARE_PAPER, GENTLE_SHARE_GROW,
	     "Reno mode: 0 as published, 1 halve at a loss, 2 grow by 3 b / (2 - b) per round trip (default 1)");

static unsigned int gentle_early_exit __read_mostly;
APOGEE_PARAM(early_exit, gentle_early_exit, 0, 2,
	     "when the RTTs of a window rise in slow start, limit it to the capacity of the path: 0 no, 1 yes, 2 yes, and grow by a quarter per round trip from there (default 0)");

/* Reason for a change of mode. */
enum gentle_reason {
	GENTLE_BY_TREND,
	GENTLE_BY_LOSS,
	GENTLE_BY_TIMEOUT,
	GENTLE_BY_OWN_LINK,
	GENTLE_BY_SSTHRESH,
	GENTLE_BY_UNDO,
	GENTLE_BY_IDLE,
};

/**
 * struct gentle - per-connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @trend: RTTs of the current window
 * @path: RTT of the empty path
 * @packets: packets of the current window that were acknowledged
 * @end_seq: the window ends when this is acknowledged
 * @first_seq: first packet of the current window of slow start
 * @low_us: minimum RTT of the current window in us, ~0 if none
 * @sent_us: when the packet of the last RTT sample was sent, in us, modulo 2^32
 * @growing_cwnd: the window to which @credit and @increase apply, in segments
 * @credit: acknowledged packets per increment by @increase segments
 * @next: number of the window's packet with the next RTT sample
 * @increase: growth of the window in segments per round trip, or 1
 * @agreed: consecutive windows that asked for the other mode
 * @mode: enum gentle_mode
 * @prior_mode: the mode before the last reduction, for undo
 * @quarter: in recovery from a loss in slow start
 * @reduced: the window was reduced, and this was not undone
 * @careful: slow start has detected a queue, and grows by a quarter
 */
struct gentle {
	struct rtt_trend trend;
	struct gentle_path path;
	u32 packets;
	u32 end_seq;
	u32 first_seq;
	u32 low_us;
	u32 sent_us;
	u32 growing_cwnd;
	u32 credit;
	u32 next;
	u8 increase;
	u8 agreed;
	u8 mode:2;
	u8 prior_mode:2;
	u8 quarter:1;
	u8 reduced:1;
	u8 careful:1;
};

/* Start a window with the next packet to be sent. */
static void gentle_begin_window(struct sock *sk)
{
	struct gentle *g = inet_csk_ca(sk);

	memset(&g->trend, 0, sizeof(g->trend));
	g->next = 0;
	g->packets = 0;
	g->low_us = U32_MAX;
	g->end_seq = tcp_sk(sk)->snd_nxt;
}

static void gentle_enter(struct sock *sk, enum gentle_mode mode,
			 enum gentle_reason reason)
{
	struct gentle *g = inet_csk_ca(sk);

	g->agreed = 0;
	if (g->mode == mode)
		return;
	trace_hstcp_gentle_mode(sk, g->mode, mode, reason);
	g->mode = mode;
	g->growing_cwnd = 0;
	g->careful = 0;
}

static void gentle_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);

	memset(g, 0, sizeof(*g));
	g->mode = tcp_in_slow_start(tp) ? GENTLE_SLOW_START : GENTLE_HIGHSPEED;
	g->prior_mode = g->mode;
	g->path.rtt_us = tcp_min_rtt(tp);
	g->first_seq = tp->snd_nxt;
	gentle_begin_window(sk);
	pacing_begin(sk);
}

/* The stack asks for ssthresh once per loss event, mark and timeout. */
static u32 gentle_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);

	g->prior_mode = g->mode;
	g->reduced = 1;
	g->careful = 0;
	g->quarter = g->mode == GENTLE_SLOW_START;
	if (g->quarter)
		return max(tcp_snd_cwnd(tp) / 4, HSTCP_CWND_MIN);
	return gentle_reduced(READ_ONCE(gentle_response), g->mode,
			      tcp_snd_cwnd(tp), READ_ONCE(gentle_share));
}

/* ssthresh is half of the previous window, whatever ssthresh() has returned. */
static void gentle_timeout(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);

	tp->snd_ssthresh = max(tp->prior_cwnd / 2, HSTCP_CWND_MIN);
	g->quarter = 0;
	gentle_enter(sk, GENTLE_SLOW_START, GENTLE_BY_TIMEOUT);
	gentle_begin_window(sk);
}

static void gentle_set_state(struct sock *sk, u8 state)
{
	struct gentle *g = inet_csk_ca(sk);

	/* The packets in flight in recovery do not show whether the own link is full. */
	g->first_seq = tcp_sk(sk)->snd_nxt;
	/* A timeout during recovery, for which the stack has no event. */
	if (state == TCP_CA_Loss && tcp_in_cwnd_reduction(sk) &&
	    timeout_seen_by_cwnd(sk))
		gentle_timeout(sk);
}

/* Recovery has ended, with the window at ssthresh. After a loss in slow start that is
 * w/4, and slow start continues up to w/2.
 */
static void gentle_recovered(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);

	/* The event also follows an undo. */
	if (!g->reduced)
		return;
	if (g->quarter)
		tp->snd_ssthresh = 2 * tcp_snd_cwnd(tp);
	else
		gentle_enter(sk, GENTLE_HIGHSPEED, GENTLE_BY_LOSS);
	g->quarter = 0;
	gentle_begin_window(sk);
}

static void gentle_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_LOSS)
		gentle_timeout(sk);
	else if (event == CA_EVENT_COMPLETE_CWR)
		gentle_recovered(sk);
}

static u32 gentle_undo_cwnd(struct sock *sk)
{
	struct gentle *g = inet_csk_ca(sk);

	g->quarter = 0;
	g->reduced = 0;
	gentle_enter(sk, g->prior_mode, GENTLE_BY_UNDO);
	gentle_begin_window(sk);
	return tcp_reno_undo_cwnd(sk);
}

/* A rise in slow start shows a queue at the bottleneck: limit the window to the path's
 * capacity. A window that doubles puts half of itself into the queue on the way there,
 * which overflows a short one.
 */
static void gentle_limit_slow_start(struct sock *sk, s32 change)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);
	u32 rtt_min = g->path.rtt_us;
	u32 holds;

	if ((s64)change * GENTLE_QUEUE_PART <= rtt_min)
		return;
	holds = gentle_capacity(g->packets, g->sent_us - g->trend.first_us,
				change, rtt_min);
	tp->snd_ssthresh = min(tp->snd_ssthresh, holds);
	g->careful = READ_ONCE(gentle_early_exit) == 2;
}

/* All packets of a window are acknowledged: evaluate its RTTs, and start the next. */
static void gentle_judge_window(struct sock *sk)
{
	const struct gentle_rules rules = {
		.level = READ_ONCE(gentle_level),
		.rise = READ_ONCE(gentle_rise),
		.fall = READ_ONCE(gentle_fall),
		.confirm = READ_ONCE(gentle_confirm),
	};
	struct gentle *g = inet_csk_ca(sk);
	enum rtt_trend_verdict trend, verdict;
	enum gentle_mode mode;
	u32 rtt_min;
	s32 change;

	gentle_path_learn(&g->path, &rules, g->mode, tcp_snd_cwnd(tcp_sk(sk)),
			  g->low_us);
	rtt_min = g->path.rtt_us;
	trend = rtt_trend_verdict(&g->trend, rules.level);
	change = rtt_trend_change_us(&g->trend, g->sent_us);
	verdict = gentle_relevant(&rules, trend, change, g->low_us - rtt_min,
				  rtt_min);
	trace_hstcp_gentle_window(sk, g->mode, verdict, change, g->trend.n,
				  g->trend.n ? g->low_us : 0, rtt_min);

	mode = gentle_next_mode(&rules, g->mode, verdict, &g->agreed);
	if (mode != g->mode)
		gentle_enter(sk, mode, GENTLE_BY_TREND);
	if (mode == GENTLE_SLOW_START && trend == RTT_TREND_RISING &&
	    READ_ONCE(gentle_early_exit))
		gentle_limit_slow_start(sk, change);
	gentle_begin_window(sk);
}

static void gentle_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);
	u32 wanted = READ_ONCE(gentle_samples), rtt_us;

	if (ca_state(sk) > TCP_CA_Disorder)
		return;
	/* This sample already belongs to the next window. */
	if (after(tp->snd_una, g->end_seq))
		gentle_judge_window(sk);
	g->packets += sample->pkts_acked;
	if (g->packets < g->next || sample->rtt_us <= 0)
		return;
	g->next = g->packets + (wanted ? tcp_snd_cwnd(tp) / wanted : 0);
	rtt_us = sample->rtt_us;
	g->low_us = min(g->low_us, rtt_us);
	g->sent_us = (u32)tp->tcp_mstamp - rtt_us;
	rtt_trend_sample(&g->trend, g->sent_us, rtt_us);
}

/* The most segments that the stack holds back for a larger packet: less than the packet,
 * which has what is sent in a ms, and more on a short path (tcp_tso_autosize()), and less
 * than a third of the window (tcp_tso_should_defer()).
 */
static u32 gentle_held_back(const struct sock *sk)
{
	const struct netns_ipv4 *ipv4 = &sock_net(sk)->ipv4;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 most = READ_ONCE(sk->sk_gso_max_size);
	u32 short_of = tcp_min_rtt(tp) >> READ_ONCE(ipv4->sysctl_tcp_tso_rtt_log);
	u64 bytes = READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift);
	u32 packet;

	if (short_of < BITS_PER_TYPE(most))
		bytes += most >> short_of;
	packet = max((u32)min_t(u64, bytes, most) / tp->mss_cache,
		     (u32)READ_ONCE(ipv4->sysctl_tcp_min_tso_segs));
	return min(packet, tcp_snd_cwnd(tp) / 3);
}

/* The first packet of a window is acknowledged: has the whole window been sent by now,
 * but for what waits for a larger packet? If not, and neither data nor the receiver's
 * window limits the flow, the sender's own link is full (section 5.1.1). The limit by
 * the receiver's window is that before this ACK, which has moved the window. Less than
 * a packet of data may wait for more (Nagle).
 */
static bool gentle_own_link_full(struct sock *sk, u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);
	bool full;

	if (!after(tp->snd_una, g->first_seq))
		return false;
	full = tcp_packets_in_flight(tp) + acked + gentle_held_back(sk) <
		       tcp_snd_cwnd(tp) &&
	       tp->write_seq - tp->snd_nxt >= tp->mss_cache &&
	       bitfield(tp, chrono_type) != TCP_CHRONO_RWND_LIMITED;
	g->first_seq = tp->snd_nxt;
	return full;
}

static void gentle_slow_start(struct sock *sk, u32 *acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct gentle *g = inet_csk_ca(sk);

	if (gentle_own_link_full(sk, *acked)) {
		tp->snd_ssthresh = tcp_snd_cwnd(tp);
		gentle_enter(sk, GENTLE_HIGHSPEED, GENTLE_BY_OWN_LINK);
		return;
	}
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (!g->careful) {
		*acked = tcp_slow_start(tp, *acked);
		return;
	}
	tcp_cong_avoid_ai(tp, GENTLE_CAREFUL, *acked);
	*acked = 0;
}

/* Set the growth for this window: it holds for hundreds of ACKs. */
static void gentle_set_growth(struct gentle *g, u32 cwnd)
{
	g->growing_cwnd = cwnd;
	g->credit = cwnd;
	g->increase = 1;
	if (g->mode == GENTLE_RENO)
		g->credit = gentle_reno_credit(READ_ONCE(gentle_response),
					       READ_ONCE(gentle_share), cwnd);
	else
		g->increase = hstcp_increase(READ_ONCE(gentle_response), cwnd);
}

static void gentle_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gentle *g = inet_csk_ca(sk);

	if (tcp_in_slow_start(tp)) {
		/* The stack has reduced the window after an idle period. */
		if (g->mode != GENTLE_SLOW_START) {
			gentle_enter(sk, GENTLE_SLOW_START, GENTLE_BY_IDLE);
			g->first_seq = tp->snd_nxt;
		}
		gentle_slow_start(sk, &acked);
	}
	if (tcp_in_slow_start(tp) || !tcp_is_cwnd_limited(sk) || !acked)
		return;

	if (g->mode == GENTLE_SLOW_START)
		gentle_enter(sk, GENTLE_HIGHSPEED, GENTLE_BY_SSTHRESH);
	if (tcp_snd_cwnd(tp) != g->growing_cwnd)
		gentle_set_growth(g, tcp_snd_cwnd(tp));
	tcp_cong_avoid_ai(tp, g->credit, acked * g->increase);
}

/* ss -ti shows, in bbr's format, cwnd / RTT as bandwidth, the part of the window that
 * remains after a loss as pacing_gain, and the growth in segments per round trip as
 * cwnd_gain: at most 1 in Reno mode, 0 in slow start.
 */
static size_t gentle_get_info(struct sock *sk, u32 ext, int *attr,
			      union tcp_cc_info *info)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = max(info_cwnd(tp), 1U);
	u32 srtt_us = READ_ONCE(tp->srtt_us), left;
	u64 bw = 0, growth = 0;
	struct gentle g;

	ca_snapshot(sk, &g, sizeof(g));
	left = gentle_reduced(READ_ONCE(gentle_response), g.mode, cwnd,
			      READ_ONCE(gentle_share));
	if (srtt_us)
		bw = div_u64((u64)cwnd * info_mss(tp) *
			     USEC_PER_SEC * 8, srtt_us);
	if (g.mode == GENTLE_HIGHSPEED)
		growth = (u64)hstcp_increase(READ_ONCE(gentle_response), cwnd) *
			 BBR_INFO_UNIT;
	else if (g.mode == GENTLE_RENO)
		growth = div_u64((u64)cwnd * BBR_INFO_UNIT,
				 gentle_reno_credit(READ_ONCE(gentle_response),
						    READ_ONCE(gentle_share), cwnd));
	return bbr_info(ext, attr, info, bw, g.path.rtt_us,
			div_u64((u64)left * BBR_INFO_UNIT, cwnd), growth);
}

static struct tcp_congestion_ops tcp_hstcp_gentle __read_mostly = {
	.name		= "hstcp_gentle",
	.owner		= THIS_MODULE,
	.init		= gentle_init,
	.ssthresh	= gentle_ssthresh,
	.set_state	= gentle_set_state,
	.cwnd_event	= gentle_cwnd_event,
	.pkts_acked	= gentle_pkts_acked,
	.cong_avoid	= gentle_cong_avoid,
	.undo_cwnd	= gentle_undo_cwnd,
	.get_info	= gentle_get_info,
};

static int __init hstcp_gentle_register(void)
{
	BUILD_BUG_ON(sizeof(struct gentle) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_hstcp_gentle);
}

static void __exit hstcp_gentle_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_hstcp_gentle);
}

module_init(hstcp_gentle_register);
module_exit(hstcp_gentle_unregister);

MODULE_DESCRIPTION("Gentle HighSpeed TCP congestion control for long fat pipes");
MODULE_LICENSE("GPL");
