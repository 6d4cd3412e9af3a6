// SPDX-License-Identifier: GPL-2.0
/*
 * Compound TCP+: Compound TCP that also reduces its loss window while packets are
 * queued, so that many senders share an access point fairly. Plain Compound TCP,
 * its baseline, is here as well.
 *
 * H. Oda, H. Hisamatsu, H. Noborio: "Congestion Control Scheme of Compound TCP+
 * in Wireless LAN" (in Japanese), 2012. Compound TCP: K. Tan, J. Song, Q. Zhang,
 * M. Sridharan: "A Compound TCP Approach for High-Speed and Long Distance
 * Networks", INFOCOM 2006.
 *
 *		      Diff >= gamma, ssthresh, loss
 *	slow start ---------------------------------> congestion avoidance
 *	 dwnd = 0  <---------------------------------  once per round trip:
 *			   timeout, idle	        dwnd by Diff; then, if
 *						        dwnd = 0, cwnd by a rule
 *
 * snd_cwnd is swnd = cwnd + dwnd. The stack sends, retransmits (PRR) and paces by
 * it. Other changes of snd_cwnd (undo, idle restart) are taken over before the next
 * round trip is evaluated.
 *
 * Notable differences from the paper:
 *   o A rule applies while dwnd = 0 and Diff >= gamma. letter=1 is as published,
 *     dwnd = 0.
 *   o Rule (3) lowers a window that has a fraction; as published it never lowers a
 *     whole one.
 *   o Slow start also ends at Diff >= gamma, in both algorithms: if ACKs are lost
 *     but no data, no loss ends it. Compound TCP+ checks this at the start of a
 *     round trip, before the window doubles again (fit).
 *   o Half a segment per round trip takes minutes to reduce a window that is far
 *     too large; a part of the packets beyond gamma is subtracted as well. excess=0
 *     is as published.
 *   o Flows behind the same next hop dip together to measure baseRTT, since a flow
 *     that joins late mistakes the standing queue for path delay (compound.h).
 *     relearn=0 is as published.
 *   o The RTT of a round trip is its minimum: bursts, delayed ACKs and media access
 *     increase single RTTs, but queued packets increase all of them.
 *   o A round trip that is limited by the application changes neither window, since
 *     its RTT says nothing about the path.
 *   o cwnd grows by 1/swnd per segment acknowledged, not per ACK.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/compound.h>
#include <compat/param_range.h>
#include <kernel/bbr_info.h>
#include <kernel/bitfield.h>
#include <kernel/next_hop.h>
#include <kernel/pacing.h>
#include <kernel/timeout.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_compound_plus.h>

/* In which of the two algorithms slow start ends early. */
enum compound_fit {
	COMPOUND_FIT_NONE,
	COMPOUND_FIT_PLUS,
	COMPOUND_FIT_BOTH,
};

static unsigned int compound_gamma __read_mostly = 30;
APOGEE_PARAM(gamma, compound_gamma, 1, 65535,
	     "number of queued packets from which the path is congested, 1 to 65535 (default 30)");

static unsigned int compound_alpha __read_mostly = 125;
APOGEE_PARAM(alpha, compound_alpha, 1, 1000,
	     "factor of the delay window's increase, in permille, 1 to 1000 (default 125)");

static unsigned int compound_beta __read_mostly = 500;
APOGEE_PARAM(beta, compound_beta, 1, 999,
	     "decrease of the send window at a loss, in permille, 1 to 999 (default 500)");

static unsigned int compound_k __read_mostly = 750;
APOGEE_PARAM(k, compound_k, 1, 1000,
	     "exponent of the delay window's increase, in permille, 1 to 1000 (default 750)");

static unsigned int compound_zeta __read_mostly = 1000;
APOGEE_PARAM(zeta, compound_zeta, 1, 10000,
	     "part of the queued packets by which the delay window shrinks, in permille, 1 to 10000 (default 1000)");

static unsigned int compound_rule __read_mostly = COMPOUND_HALF_LESS;
APOGEE_PARAM(rule, compound_rule, COMPOUND_TWO_THIRDS, COMPOUND_HOLD,
	     "compound_plus's loss window per round trip without a delay window, 2 to 4: 2 two thirds, 3 half a segment less, 4 unchanged (default 3)");

static unsigned int compound_letter __read_mostly;
APOGEE_PARAM(letter, compound_letter, 0, 1,
	     "apply the rule while there is no delay window, 0 or 1: 0 only while gamma packets or more are queued, 1 always, as published (default 0)");

static unsigned int compound_excess __read_mostly = 500;
APOGEE_PARAM(excess, compound_excess, 0, 1000,
	     "part of the queued packets beyond gamma by which compound_plus's loss window shrinks, in permille, 0 to 1000 (default 500)");

static unsigned int compound_relearn __read_mostly = 20;
APOGEE_PARAM(relearn, compound_relearn, 0, 600,
	     "longest interval at which compound_plus and other flows reduce their windows together to measure baseRTT, in seconds, 0 to 600, 0 for never (default 20)");

static unsigned int compound_fit __read_mostly = COMPOUND_FIT_PLUS;
APOGEE_PARAM(fit, compound_fit, COMPOUND_FIT_NONE, COMPOUND_FIT_BOTH,
	     "slow start ends early, with the window that leaves gamma packets queued, 0 to 2: 0 in neither, 1 in compound_plus, 2 in compound, too (default 1)");

/* Number of RTTs after which slow start checks for queued packets: the first ones of a
 * round trip, not those that queue behind their own burst, and before the window has
 * doubled again. As in HyStart.
 */
#define COMPOUND_EARLY	8

/* Result of a round trip. */
enum compound_act {
	COMPOUND_UNUSED,	/* none: limited by the application */
	COMPOUND_SLOW_START,	/* none: slow start continues */
	COMPOUND_LEFT,		/* slow start was left */
	COMPOUND_DELAY,		/* the delay window was set */
	COMPOUND_RULE,		/* the rule was applied to the loss window as well */
	COMPOUND_DIP,		/* a dip has begun or continues */
	COMPOUND_DIPPED,	/* a dip has ended */
};

/**
 * struct compound - per-connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @windows: loss and delay window
 * @prior: both before the last reduction, for undo
 * @diff: Diff of the last round trip in 1/256 segment
 * @base: RTT of the empty path
 * @last_rtt_us: RTT of the last round trip in us, 0 if none
 * @rtt_us: minimum RTT of the current round trip in us, 0 if none
 * @end_seq: the round trip ends when more than this is acknowledged
 * @fit_seq: data before this was sent in slow start before its early end
 * @swnd: window at the start of the round trip, to which its RTTs belong, in segments
 * @last_swnd: window at the start of the previous round trip, in segments; in slow
 *	start the first RTTs belong to this, since the window has grown meanwhile
 * @fit_swnd: window before the early end of slow start, in segments
 * @phase_ms: offset of the dip periods, in ms
 * @samples: RTTs of the current round trip, up to COMPOUND_EARLY
 * @plus: Compound TCP+
 * @held: the loss window must not grow
 * @fitted: slow start has ended early, with the window that fits
 * @period: a period has begun since the last round trip
 * @unused: the application has not used the whole window in the round trip
 */
struct compound {
	struct compound_windows windows;
	struct compound_windows prior;
	u64 diff;
	struct compound_base base;
	u32 last_rtt_us;
	u32 rtt_us;
	u32 end_seq;
	u32 fit_seq;
	u32 swnd;
	u32 last_swnd;
	u32 fit_swnd;
	u32 phase_ms;
	u8 samples;
	bool plus:1;
	bool held:1;
	bool fitted:1;
	bool period:1;
	bool unused:1;
};

static bool compound_fits(const struct compound *c)
{
	return READ_ONCE(compound_fit) >= (c->plus ? COMPOUND_FIT_PLUS :
					    COMPOUND_FIT_BOTH);
}

static struct compound_rules compound_parameters(const struct compound *c)
{
	return (struct compound_rules) {
		.gamma = READ_ONCE(compound_gamma),
		.alpha = READ_ONCE(compound_alpha),
		.beta = READ_ONCE(compound_beta),
		.k = READ_ONCE(compound_k),
		.zeta = READ_ONCE(compound_zeta),
		.excess = READ_ONCE(compound_excess),
		.rule = c->plus ? READ_ONCE(compound_rule) : COMPOUND_PLAIN,
		.letter = READ_ONCE(compound_letter),
	};
}

/* Call after a change of the windows or of Diff; the result is read at each ACK. */
static void compound_note_held(struct compound *c)
{
	const struct compound_rules rules = compound_parameters(c);

	c->held = compound_held(&rules, c->windows.dwnd, c->diff);
}

/* Start a round trip: the packets in flight were sent with the current window. */
static void compound_begin_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);

	c->fitted = c->fitted && before(tp->snd_una, c->fit_seq);
	c->rtt_us = 0;
	c->samples = 0;
	c->unused = tp->app_limited;
	c->last_swnd = c->swnd;
	c->swnd = tcp_snd_cwnd(tp);
	c->end_seq = tp->snd_nxt;
}

static u32 compound_now_ms(const struct sock *sk)
{
	return (u32)div_u64(tcp_sk(sk)->tcp_mstamp, USEC_PER_MSEC);
}

/* The route and the neighbour may change at any time. Without one the phase stays. */
static u32 compound_find_phase(struct sock *sk)
{
	const struct compound *c = inet_csk_ca(sk);
	u64 address;

	return next_hop_address(sk, &address) ? compound_phase_ms(address) :
						c->phase_ms;
}

static void compound_start(struct sock *sk, bool plus)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);

	memset(c, 0, sizeof(*c));
	c->plus = plus;
	compound_follow(&c->windows, tcp_snd_cwnd(tp));
	/* From the handshake, or if the socket has switched to this, all RTTs so far. */
	c->base.seen_ms = compound_now_ms(sk);
	if (tcp_min_rtt(tp) != ~0U)
		compound_base_update(&c->base, tcp_min_rtt(tp),
				     compound_now_ms(sk));
	c->swnd = tcp_snd_cwnd(tp);
	compound_begin_round(sk);
	pacing_begin(sk);
}

static void compound_plus_init(struct sock *sk)
{
	compound_start(sk, true);
}

static void compound_init(struct sock *sk)
{
	compound_start(sk, false);
}

/* Take over changes of snd_cwnd; in a dip it is not the sum of both windows. */
static void compound_take_over(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);

	if (!c->base.rounds)
		compound_follow(&c->windows, tcp_snd_cwnd(tcp_sk(sk)));
}

static void compound_leave_dip(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);

	if (c->base.rounds)
		compound_dip_end(&c->base, compound_now_ms(sk));
}

/* The stack asks for ssthresh once per loss event, mark and timeout. This ends a dip. */
static u32 compound_ssthresh(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);

	compound_take_over(sk);
	compound_leave_dip(sk);
	c->prior = c->windows;
	/* The early end of slow start has already answered a window that was too
	 * large: a loss in that flight reduces only the window it was sent with.
	 */
	if (c->fitted)
		compound_loss_once(&c->windows, c->fit_swnd, READ_ONCE(compound_beta));
	else
		compound_loss(&c->windows, READ_ONCE(compound_beta));
	c->fitted = false;
	compound_note_held(c);
	return compound_sent(&c->windows);
}

/* After a timeout the stack continues with cwnd = 1, in slow start. */
static void compound_set_state(struct sock *sk, u8 state)
{
	struct compound *c = inet_csk_ca(sk);

	if (state != TCP_CA_Loss || !timeout_seen_by_cwnd(sk))
		return;
	c->windows.dwnd = 0;
	compound_follow(&c->windows, tcp_snd_cwnd(tcp_sk(sk)));
	compound_note_held(c);
}

static u32 compound_undo_cwnd(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);
	u32 swnd;

	compound_leave_dip(sk);
	c->windows = c->prior;
	/* In a dip snd_cwnd was not the sum of both windows. */
	swnd = max(tcp_reno_undo_cwnd(sk), compound_sent(&c->windows));
	compound_follow(&c->windows, swnd);
	compound_note_held(c);
	return swnd;
}

/* Set snd_cwnd; ssthresh must not be above it, or slow start would begin again. */
static void compound_send_by(struct sock *sk, u32 swnd)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, min(swnd, tp->snd_cwnd_clamp));
	tp->snd_ssthresh = min(tp->snd_ssthresh, tcp_snd_cwnd(tp));
}

/* Reduce the loss window so that the sum is at most @swnd. */
static void compound_lower(struct sock *sk, u32 swnd)
{
	struct compound *c = inet_csk_ca(sk);

	if (swnd < compound_sent(&c->windows))
		compound_follow(&c->windows, swnd);
	compound_send_by(sk, compound_sent(&c->windows));
}

/* With packets queued the window is large enough. It has doubled since the packets that
 * show this were sent; half a segment per round trip would take minutes to undo that.
 */
static enum compound_act
compound_judge_slow_start(struct sock *sk, const struct compound_rules *rules)
{
	struct compound *c = inet_csk_ca(sk);
	u64 diff;

	if (!compound_crowded(rules, c->diff))
		return COMPOUND_SLOW_START;
	if (!compound_fits(c)) {
		compound_lower(sk, tcp_snd_cwnd(tcp_sk(sk)));
		return COMPOUND_LEFT;
	}
	c->fit_seq = tcp_sk(sk)->snd_nxt;
	c->fit_swnd = tcp_snd_cwnd(tcp_sk(sk));
	c->fitted = true;
	diff = compound_diff(c->last_swnd, c->base.rtt_us, c->rtt_us);
	compound_lower(sk, compound_fitted(rules, c->last_swnd, diff));
	return COMPOUND_LEFT;
}

static enum compound_act
compound_judge_avoidance(struct sock *sk, const struct compound_rules *rules)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);
	struct compound_windows *windows = &c->windows;
	enum compound_act act = COMPOUND_DELAY;

	windows->dwnd = compound_delay_window(rules, windows->dwnd,
					      tcp_snd_cwnd(tp), c->diff,
					      tcp_is_cwnd_limited(sk));
	if (compound_held(rules, windows->dwnd, c->diff)) {
		windows->cwnd = compound_loss_window(rules, windows->cwnd,
						     c->diff);
		act = COMPOUND_RULE;
	}
	compound_send_by(sk, compound_sent(windows));
	return act;
}

/* Start a dip if due, but not if too few packets are queued to be this flow's. */
static bool compound_begin_dip(struct sock *sk, const struct compound_rules *rules)
{
	struct compound *c = inet_csk_ca(sk);
	u32 longest_ms = READ_ONCE(compound_relearn) * MSEC_PER_SEC;

	if (!c->plus || !longest_ms ||
	    !compound_dip_due(&c->base, c->rtt_us, compound_now_ms(sk),
			      compound_period_ms(&c->base, longest_ms),
			      c->period) ||
	    !compound_crowded(rules, c->diff * 2))
		return false;
	compound_send_by(sk, compound_dip_begin(&c->base, c->swnd, c->rtt_us));
	return true;
}

/* After a dip slow start leads to the window that leaves at most gamma packets queued,
 * by the baseRTT of the dip, since many flows return at the same time.
 */
static enum compound_act
compound_judge_dip(struct sock *sk, const struct compound_rules *rules)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);
	u32 swnd = compound_sent(&c->windows);

	if (!compound_dip_round(&c->base, c->rtt_us, compound_now_ms(sk))) {
		/* The stack may have reduced it meanwhile. */
		compound_send_by(sk, min(tcp_snd_cwnd(tp),
					 compound_dip_window(&c->base, swnd)));
		return COMPOUND_DIP;
	}
	c->diff = compound_diff(swnd, c->base.rtt_us, c->base.before_us);
	tp->snd_ssthresh = min(swnd, compound_fitted(rules, swnd, c->diff));
	c->windows.dwnd = 0;
	compound_follow(&c->windows, tcp_snd_cwnd(tp));
	return COMPOUND_DIPPED;
}

static enum compound_act
compound_judge_round(struct sock *sk, const struct compound_rules *rules)
{
	struct compound *c = inet_csk_ca(sk);
	bool slow_start = tcp_in_slow_start(tcp_sk(sk));

	if (slow_start)
		c->windows.dwnd = 0;
	compound_take_over(sk);
	if (c->unused)
		return COMPOUND_UNUSED;
	c->diff = compound_diff(c->swnd, c->base.rtt_us, c->rtt_us);
	if (slow_start)
		return compound_judge_slow_start(sk, rules);
	if (compound_begin_dip(sk, rules))
		return COMPOUND_DIP;
	return compound_judge_avoidance(sk, rules);
}

/* Record whether a period has begun, whatever the result of this round trip. After a
 * change of the next hop its periods have other offsets: that is no new period.
 */
static void compound_note_period(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);
	u32 longest_ms = READ_ONCE(compound_relearn) * MSEC_PER_SEC;
	u32 length_ms = compound_period_ms(&c->base, longest_ms);
	u64 now_ms = div_u64(ktime_get_real_ns(), NSEC_PER_MSEC);
	u32 phase_ms, start_ms;

	if (!c->plus || !longest_ms)
		return;
	phase_ms = compound_find_phase(sk);
	start_ms = compound_period_start_ms(now_ms, phase_ms, length_ms);
	c->period = compound_period_begins(&c->base, start_ms) &&
		    phase_ms == c->phase_ms;
	c->phase_ms = phase_ms;
}

/* All packets of a round trip are acknowledged. */
static void compound_judge(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);
	const struct compound_rules rules = compound_parameters(c);
	enum compound_act act;

	if (!c->rtt_us)
		return;
	c->last_rtt_us = c->rtt_us;
	compound_note_period(sk);
	if (c->base.rounds) {
		act = compound_judge_dip(sk, &rules);
	} else {
		compound_base_update(&c->base, c->rtt_us, compound_now_ms(sk));
		act = compound_judge_round(sk, &rules);
	}
	compound_note_held(c);
	trace_compound_round(sk, &c->windows, c->diff, c->base.rtt_us,
			     c->rtt_us, act);
}

static void compound_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);

	/* The packets in flight in recovery were sent with another window. */
	if (ca_state(sk) > TCP_CA_Disorder) {
		compound_begin_round(sk);
		return;
	}
	if (tp->app_limited)
		c->unused = true;
	/* This sample already belongs to the next round trip. */
	if (after(tp->snd_una, c->end_seq)) {
		compound_judge(sk);
		compound_begin_round(sk);
	}
	if (sample->rtt_us <= 0)
		return;
	if (!c->rtt_us || sample->rtt_us < c->rtt_us)
		c->rtt_us = sample->rtt_us;
	if (c->samples < COMPOUND_EARLY && ++c->samples == COMPOUND_EARLY &&
	    tcp_in_slow_start(tp) && compound_fits(c)) {
		compound_judge(sk);
		/* Do not respond twice to the RTTs that have ended slow start. */
		if (!tcp_in_slow_start(tp))
			compound_begin_round(sk);
	}
}

static void compound_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);

	if (c->base.rounds || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		c->windows.dwnd = 0;
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	if (!c->held)
		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

/* ss -ti shows, in bbr's format, swnd / RTT as bandwidth, baseRTT as minimum RTT, the
 * delay window as pacing_gain and Diff as cwnd_gain, both in segments. ss does not
 * print Vegas's format, which is meant for these.
 */
static size_t compound_get_info(struct sock *sk, u32 ext, int *attr,
				union tcp_cc_info *info)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 window = (u64)info_cwnd(tp) * info_mss(tp);
	struct compound c;
	u64 bw = 0;

	BUILD_BUG_ON(BBR_INFO_UNIT != COMPOUND_SEGMENT);
	ca_snapshot(sk, &c, sizeof(c));
	if (c.last_rtt_us)
		bw = div_u64(window * USEC_PER_SEC, c.last_rtt_us);
	return bbr_info(ext, attr, info, bw, c.base.rtt_us, c.windows.dwnd,
			c.diff);
}

static struct tcp_congestion_ops tcp_compound_plus __read_mostly = {
	.name		= "compound_plus",
	.owner		= THIS_MODULE,
	.init		= compound_plus_init,
	.ssthresh	= compound_ssthresh,
	.set_state	= compound_set_state,
	.pkts_acked	= compound_pkts_acked,
	.cong_avoid	= compound_cong_avoid,
	.undo_cwnd	= compound_undo_cwnd,
	.get_info	= compound_get_info,
};

static struct tcp_congestion_ops tcp_compound __read_mostly = {
	.name		= "compound",
	.owner		= THIS_MODULE,
	.init		= compound_init,
	.ssthresh	= compound_ssthresh,
	.set_state	= compound_set_state,
	.pkts_acked	= compound_pkts_acked,
	.cong_avoid	= compound_cong_avoid,
	.undo_cwnd	= compound_undo_cwnd,
	.get_info	= compound_get_info,
};

static int __init compound_register(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct compound) > ICSK_CA_PRIV_SIZE);
	err = tcp_register_congestion_control(&tcp_compound_plus);
	if (err)
		return err;
	err = tcp_register_congestion_control(&tcp_compound);
	if (err)
		tcp_unregister_congestion_control(&tcp_compound_plus);
	return err;
}

static void __exit compound_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_compound);
	tcp_unregister_congestion_control(&tcp_compound_plus);
}

module_init(compound_register);
module_exit(compound_unregister);

MODULE_ALIAS("tcp_compound");
MODULE_DESCRIPTION("Compound TCP+ and Compound TCP congestion control");
MODULE_LICENSE("GPL");
