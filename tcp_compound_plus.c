// SPDX-License-Identifier: GPL-2.0
/*
 * Compound TCP+: Compound TCP that also lowers its loss window where packets
 * wait, so that many senders behind one access point share it alike. And plain
 * Compound TCP, its baseline.
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
 * snd_cwnd is swnd = cwnd + dwnd. The stack sends, repairs (PRR) and paces by it;
 * whatever else moves it (undo, idle restart) is taken over before the next
 * round trip is judged.
 *
 * Notable differences from the paper:
 *   o A rule acts while dwnd = 0 and Diff >= gamma. The letter, dwnd = 0, is
 *     letter=1.
 *   o Rule (3) lowers a window with a fraction; by the letter it never would.
 *   o Slow start also ends by Diff >= gamma, for both algorithms: where ACKs are
 *     lost but no data, no loss would end it. Compound TCP+ sees that at the
 *     begin of a round trip, before the window doubles once more (fit).
 *   o Half a segment per round trip takes minutes to give up what is far too much;
 *     a part of what exceeds gamma goes as well. The letter is excess=0.
 *   o Flows behind one next hop dip together to learn baseRTT, which who comes
 *     later can't know (compound.h). The letter is relearn=0.
 *   o The RTT of a round trip is its smallest: bursts, delayed ACKs and media
 *     access make single RTTs longer, but packets that wait make all so.
 *   o What an application leaves unused says nothing of the path: such a round
 *     trip changes neither window.
 *   o cwnd grows by 1/swnd per segment acknowledged, not per ACK.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/neighbour.h>
#include <net/tcp.h>

#include <apogee/compound.h>
#include <compat/param_range.h>
#include <kernel/bbr_info.h>
#include <kernel/pacing.h>
#include <kernel/timeout.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_compound_plus.h>

/* Which of the two ends slow start early. */
enum compound_fit {
	COMPOUND_FIT_NONE,
	COMPOUND_FIT_PLUS,
	COMPOUND_FIT_BOTH,
};

static unsigned int compound_gamma __read_mostly = 30;
APOGEE_PARAM(gamma, compound_gamma, 1, 65535,
	     "packets that wait in queues from which on the path is congested, 1 to 65535 (default 30)");

static unsigned int compound_alpha __read_mostly = 125;
APOGEE_PARAM(alpha, compound_alpha, 1, 1000,
	     "factor of the delay window's increase, in permille, 1 to 1000 (default 125)");

static unsigned int compound_beta __read_mostly = 500;
APOGEE_PARAM(beta, compound_beta, 1, 999,
	     "share of the send window that a loss takes, in permille, 1 to 999 (default 500)");

static unsigned int compound_k __read_mostly = 750;
APOGEE_PARAM(k, compound_k, 1, 1000,
	     "exponent of the delay window's increase, in permille, 1 to 1000 (default 750)");

static unsigned int compound_zeta __read_mostly = 1000;
APOGEE_PARAM(zeta, compound_zeta, 1, 10000,
	     "part of the waiting packets by which the delay window gives way, in permille, 1 to 10000 (default 1000)");

static unsigned int compound_rule __read_mostly = COMPOUND_HALF_LESS;
APOGEE_PARAM(rule, compound_rule, COMPOUND_TWO_THIRDS, COMPOUND_HOLD,
	     "compound_plus's loss window per round trip without a delay window, 2 to 4: 2 two thirds, 3 half a segment less, 4 held (default 3)");

static unsigned int compound_letter __read_mostly;
APOGEE_PARAM(letter, compound_letter, 0, 1,
	     "the rule acts without a delay window: 0 or 1, 0 for only where packets wait, 1 for always (default 0)");

static unsigned int compound_excess __read_mostly = 500;
APOGEE_PARAM(excess, compound_excess, 0, 1000,
	     "part of the waiting packets beyond gamma by which compound_plus's loss window gives way, in permille, 0 to 1000 (default 500)");

static unsigned int compound_relearn __read_mostly = 20;
APOGEE_PARAM(relearn, compound_relearn, 0, 600,
	     "compound_plus lowers its window together with others to learn baseRTT, at most every so many seconds, 0 to 600, 0 for never (default 20)");

static unsigned int compound_fit __read_mostly = COMPOUND_FIT_PLUS;
APOGEE_PARAM(fit, compound_fit, COMPOUND_FIT_NONE, COMPOUND_FIT_BOTH,
	     "slow start ends early, with the window that leaves gamma packets waiting, 0 to 2: 0 in neither, 1 in compound_plus, 2 in compound, too (default 1)");

/* So many RTTs tell of packets that wait in slow start: the first ones of a round
 * trip, before those that queue behind their own burst, and before the window
 * has doubled once more. As HyStart.
 */
#define COMPOUND_EARLY	8

/* What a round trip has led to. */
enum compound_act {
	COMPOUND_UNUSED,	/* nothing: the application had no more data */
	COMPOUND_SLOW_START,	/* nothing: slow start goes on */
	COMPOUND_LEFT,		/* slow start was left */
	COMPOUND_DELAY,		/* the delay window was set */
	COMPOUND_RULE,		/* and the rule applied to the loss window */
	COMPOUND_DIP,		/* a dip began or goes on */
	COMPOUND_DIPPED,	/* it is over */
};

/**
 * struct compound - per connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @windows: loss and delay window
 * @prior: both before the last reduction, for undo
 * @diff: Diff of the last round trip in 1/256 segment
 * @base: what is known of the empty path
 * @last_rtt_us: RTT of the last round trip in us, 0 if none
 * @rtt_us: smallest RTT of the running round trip in us, 0 if none
 * @end_seq: the round trip ends when more than this is acknowledged
 * @fit_seq: what was sent before this, slow start has sent that was ended early
 * @swnd: window at its begin, which its RTTs belong to, in segments
 * @last_swnd: window at the begin of the one before; in slow start its first RTTs
 *	belong to this, as the window has grown since
 * @fit_swnd: window before slow start was ended early, in segments
 * @phase_ms: by how much its periods are shifted
 * @samples: RTTs of the running round trip, up to COMPOUND_EARLY
 * @plus: Compound TCP+
 * @held: the loss window must not grow
 * @fitted: slow start was ended early, by the window that fits
 * @period: a period has begun since the last round trip
 * @unused: the application left a part of the window unused in it
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

/* Both windows or Diff have changed; asked for with every ACK. */
static void compound_note_held(struct compound *c)
{
	const struct compound_rules rules = compound_parameters(c);

	c->held = compound_held(&rules, c->windows.dwnd, c->diff);
}

/* A round trip begins: what is under way was sent by the window of now. */
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

static const void *compound_destination(const struct sock *sk,
					const struct dst_entry *dst)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (dst->ops->family == AF_INET6)
		return &sk->sk_v6_daddr;
#endif
	return &inet_sk(sk)->inet_daddr;
}

/* The last eight bytes of a neighbour's link address. Devices that resolve none
 * (loopback, tunnels) have only their own or none: 0.
 */
static u64 compound_address(const struct neighbour *n)
{
	char ha[MAX_ADDR_LEN];
	u64 address = 0;
	int i;

	if (READ_ONCE(n->nud_state) & NUD_NOARP)
		return 0;
	neigh_ha_snapshot(ha, n, n->dev);
	for (i = 0; i < n->dev->addr_len; i++)
		address = address << 8 | (u8)ha[i];
	return address;
}

/* The route and the neighbour may change at any time. As long as there is none,
 * the phase stays.
 */
static u32 compound_find_phase(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	const struct compound *c = inet_csk_ca(sk);
	u32 phase_ms = c->phase_ms;
	struct neighbour *n;

	if (!dst)
		return phase_ms;
	n = dst_neigh_lookup(dst, compound_destination(sk, dst));
	if (!n)
		return phase_ms;
	if (READ_ONCE(n->nud_state) & NUD_VALID)
		phase_ms = compound_phase_ms(compound_address(n));
	neigh_release(n);
	return phase_ms;
}

static void compound_start(struct sock *sk, bool plus)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);

	memset(c, 0, sizeof(*c));
	c->plus = plus;
	compound_follow(&c->windows, tcp_snd_cwnd(tp));
	/* The handshake's, or all that a socket has seen that changes to this. */
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

/* What others have made of the window; in a dip it isn't that of both. */
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

/* The stack asks at each loss event, mark and timeout. A dip is over by that. */
static u32 compound_ssthresh(struct sock *sk)
{
	struct compound *c = inet_csk_ca(sk);

	compound_take_over(sk);
	compound_leave_dip(sk);
	c->prior = c->windows;
	/* What slow start has sent too much, its end has answered: a loss of that
	 * flight takes no more than from the window that has sent it.
	 */
	if (c->fitted)
		compound_loss_once(&c->windows, c->fit_swnd, READ_ONCE(compound_beta));
	else
		compound_loss(&c->windows, READ_ONCE(compound_beta));
	c->fitted = false;
	compound_note_held(c);
	return compound_sent(&c->windows);
}

/* A timeout: the stack goes on from cwnd = 1, in slow start. */
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
	/* In a dip the stack's window was not that of both. */
	swnd = max(tcp_reno_undo_cwnd(sk), compound_sent(&c->windows));
	compound_follow(&c->windows, swnd);
	compound_note_held(c);
	return swnd;
}

/* The stack sends by both windows; below ssthresh it would be back in slow start. */
static void compound_send_by(struct sock *sk, u32 swnd)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, min(swnd, tp->snd_cwnd_clamp));
	tp->snd_ssthresh = min(tp->snd_ssthresh, tcp_snd_cwnd(tp));
}

/* The loss window gives up what is more than @swnd leaves to it. */
static void compound_lower(struct sock *sk, u32 swnd)
{
	struct compound *c = inet_csk_ca(sk);

	if (swnd < compound_sent(&c->windows))
		compound_follow(&c->windows, swnd);
	compound_send_by(sk, compound_sent(&c->windows));
}

/* Packets wait: the window is large enough. It has doubled since those were sent
 * that tell so, which half a segment per round trip takes minutes to undo.
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

/* Does a dip begin? Not where too little waits to be this flow's. */
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

/* After a dip slow start leads to the window with which no more wait than gamma,
 * by what the dip has shown of baseRTT: many flows come back at once.
 */
static enum compound_act
compound_judge_dip(struct sock *sk, const struct compound_rules *rules)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *c = inet_csk_ca(sk);
	u32 swnd = compound_sent(&c->windows);

	if (!compound_dip_round(&c->base, c->rtt_us, compound_now_ms(sk))) {
		/* Less where the stack has lowered it meanwhile. */
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

/* Whether a period has begun, whatever becomes of this round trip. Those behind
 * another next hop began before.
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

/* The packets of a round trip are acknowledged. */
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

	/* What recovery leaves under way was sent by another rule. */
	if (inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder) {
		compound_begin_round(sk);
		return;
	}
	if (tp->app_limited)
		c->unused = true;
	/* This sample is the next round trip's already. */
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
		/* What has ended slow start is not to be answered twice. */
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

/* ss -ti shows, in the form bbr uses, swnd / RTT as bandwidth, baseRTT as
 * minimum RTT, the delay window as pacing_gain and Diff as cwnd_gain, both in
 * segments. The form made for it, Vegas's, ss does not print.
 */
static size_t compound_get_info(struct sock *sk, u32 ext, int *attr,
				union tcp_cc_info *info)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct compound *c = inet_csk_ca(sk);
	u64 bw = 0;

	BUILD_BUG_ON(BBR_INFO_UNIT != COMPOUND_SEGMENT);
	if (c->last_rtt_us)
		bw = div_u64((u64)tcp_snd_cwnd(tp) * tp->mss_cache *
			     USEC_PER_SEC, c->last_rtt_us);
	return bbr_info(ext, attr, info, bw, c->base.rtt_us, c->windows.dwnd,
			c->diff);
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
