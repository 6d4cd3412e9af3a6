// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-J: the baseline for TCP-STAR.
 *
 * N. Sato, M. Kunishi, F. Teraoka: "TCP-J: New Transport Protocol for Wireless
 * Network Environments" (in Japanese), IPSJ Journal 43(12), 2002.
 *
 * The window grows as in NewReno. After a data loss it becomes the window that ABE
 * measures (CWS's rule, see star.h) instead of half; there is no LWC and no AEN. With
 * the settings of the TCP-STAR paper (footnote 1): ssthresh may grow to the
 * bandwidth-delay product, and a timeout restarts from the initial window.
 *
 * Notable differences from the papers:
 *   o ABE's samples and filter are those of abe.h.
 *   o As in tcp_star the module sets the window in cong_control, so that
 *     proportional rate reduction does not overrule "keep the window" (fig. 2).
 *     The restart after idle, which the stack then omits, is done here. Packets are
 *     not paced.
 *   o ECN marks indicate congestion: the window is reduced to 0.8 (RFC 8511).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/star.h>
#include <compat/cong_control.h>
#include <compat/tx_start.h>
#include <kernel/bbr_info.h>
#include <kernel/bitfield.h>
#include <kernel/delivered.h>
#include <kernel/idle.h>
#include <kernel/marked.h>
#include <kernel/pacing.h>
#include <kernel/recount.h>
#include <kernel/retrans_stamp.h>
#include <kernel/timeout.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_j.h>

/* Interval assumed for the first ACK, as in TCP-STAR. Until there are some full samples
 * ssthresh after a loss depends on it.
 */
#define J_FIRST_INTERVAL_US	1000

/**
 * struct j_state - per-connection state
 * @abe: bandwidth estimation
 * @cwnd_abe: window ABE measures, in segments, 0 without an estimate
 * @una: snd_una at the last ACK
 * @cwnd: window after the last ACK, in segments
 * @prior_cwnd: window before the last reduction, in segments
 * @prior_ssthresh: ssthresh before the last reduction
 * @reduced: the stack has asked for ssthresh, and the window is not yet set
 * @marked: there was a response to an ECN mark, and the window is not yet above
 *	@cwnd_abe again
 * @restarted: reduced after an idle time, of which the first packet is not yet sent
 * @recounts: the stack may count data a second time (kernel/recount.h)
 */
struct j_state {
	struct abe abe;
	u32 cwnd_abe;
	u32 una;
	u32 cwnd;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	bool reduced;
	bool marked;
	bool restarted;
	bool recounts;
};

/* The stack derives the size of TSO packets from the pacing rate. If the previous
 * algorithm has switched on pacing, that stays on: lift the rate.
 */
static void j_set_pacing_rate(struct sock *sk)
{
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED)
		WRITE_ONCE(sk->sk_pacing_rate,
			   READ_ONCE(sk->sk_max_pacing_rate));
	else
		pacing_begin(sk);
}

static void j_init(struct sock *sk)
{
	struct j_state *j = inet_csk_ca(sk);

	memset(j, 0, sizeof(*j));
	j->una = tcp_sk(sk)->snd_una;
	j_set_pacing_rate(sk);
}

static u32 j_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct j_state *j = inet_csk_ca(sk);
	const struct star_window w = { .cwnd_abe = j->cwnd_abe };

	j->prior_cwnd = tcp_snd_cwnd(tp);
	j->prior_ssthresh = tp->snd_ssthresh;
	j->reduced = true;
	return star_cws_ssthresh(&w, j->prior_cwnd);
}

/* After a timeout the stack has set the window to 1: replace it by the initial window,
 * or the previous one if that was smaller.
 */
static void j_set_state(struct sock *sk, u8 new_state)
{
	struct j_state *j = inet_csk_ca(sk);

	if (new_state == TCP_CA_Recovery)
		retrans_stamp_renew(sk);
	if (new_state != TCP_CA_Loss || !timeout_seen(sk, j->reduced, j->cwnd))
		return;
	j->reduced = false;
	tcp_snd_cwnd_set(tcp_sk(sk), min(max(j->prior_cwnd, STAR_CWND_MIN),
					 TCP_INIT_CWND));
}

static u32 j_undo_cwnd(struct sock *sk)
{
	struct j_state *j = inet_csk_ca(sk);

	j->reduced = false;
	return max(tcp_snd_cwnd(tcp_sk(sk)), j->prior_cwnd);
}

/* Respond to the loss event or mark for which the stack has asked for ssthresh. After
 * a mark the window may be below cwnd_abe: a loss does not raise it then.
 */
static void j_reduce(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct j_state *j = inet_csk_ca(sk);
	u32 cwnd = j->prior_cwnd;

	j->reduced = false;
	if (marked_reduction(sk)) {
		j->marked = true;
		cwnd = star_mark_cwnd(cwnd);
	} else if (!j->marked) {
		cwnd = star_cws_cwnd(cwnd, j->prior_ssthresh, tp->snd_ssthresh);
		tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
		return;
	}
	tp->snd_ssthresh = cwnd;
	tcp_snd_cwnd_set(tp, cwnd);
}

/* Reduce the window after an idle period; slow start leads back. Returns true if it
 * falls.
 */
static bool j_restart(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct j_state *j = inet_csk_ca(sk);
	u32 cwnd = idle_tx_start(sk, false);

	if (cwnd >= tcp_snd_cwnd(tp))
		return false;
	/* A pending response to a mark, or an undo, must not raise it again. */
	j->prior_cwnd = min(j->prior_cwnd, cwnd);
	tp->snd_ssthresh = tcp_current_ssthresh(sk);
	tcp_snd_cwnd_set(tp, cwnd);
	return true;
}

/* The stack asks before it sends, see kernel/idle.h. */
static u32 j_min_tso_segs(struct sock *sk)
{
	struct j_state *j = inet_csk_ca(sk);

	if (!j->restarted && idle_may_send(sk))
		j->restarted = j_restart(sk);
	return idle_min_tso_segs(sk);
}

/* A probe of the receiver's window is sent without asking. */
APOGEE_TX_START(j_tx_start)
{
	struct j_state *j = inet_csk_ca(sk);

	if (!j->restarted)
		j_restart(sk);
	j->restarted = false;
}

/* Update the bandwidth estimate with an ACK, unless the stack may have counted what it
 * delivers before. It begins with a flight that uses the window.
 */
static void j_estimate(struct sock *sk, const struct rate_sample *rs, u32 una)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct j_state *j = inet_csk_ca(sk);
	u32 sent_us = (u32)tp->first_tx_mstamp, rtt_min = tcp_min_rtt(tp);
	bool again = stack_recounts(sk, j->recounts), skip = again || j->recounts;

	j->recounts = again;
	if (skip)
		abe_skip(&j->abe, tp->tcp_mstamp, sent_us, 0);
	else if ((j->abe.started || delivered_of_train(sk, una)) &&
		 abe_ack(&j->abe, tp->tcp_mstamp, sent_us,
			 delivered_bytes(sk, rs, una), tp->mss_cache, rtt_min,
			 J_FIRST_INTERVAL_US, rs->is_app_limited, 0) &&
		 rtt_min != U32_MAX)
		j->cwnd_abe = abe_window(abe_bw(&j->abe), rtt_min,
					 tp->mss_cache);
}

APOGEE_CONG_CONTROL(j_cong_control)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct j_state *j = inet_csk_ca(sk);
	u32 acked = rs->acked_sacked;
	u8 state = ca_state(sk);
	u32 una = j->una;
	bool new_data = after(tp->snd_una, una);

	j->una = tp->snd_una;
	j_estimate(sk, rs, una);

	if (j->reduced)
		j_reduce(sk);
	else if (acked && new_data && state != TCP_CA_Recovery &&
		 state != TCP_CA_CWR)
		tcp_reno_cong_avoid(sk, tp->snd_una, acked);
	j->marked = j->marked && tcp_snd_cwnd(tp) <= j->cwnd_abe;
	j->cwnd = tcp_snd_cwnd(tp);
	j_set_pacing_rate(sk);
	trace_j_ack(sk, j->cwnd_abe, abe_bw(&j->abe));
}

/* ss -ti shows bandwidth and minimum RTT, in bbr's format. */
static size_t j_get_info(struct sock *sk, u32 ext, int *attr,
			 union tcp_cc_info *info)
{
	struct j_state j;

	ca_snapshot(sk, &j, sizeof(j));
	return bbr_info(ext, attr, info, abe_bw(&j.abe),
			info_min_rtt(tcp_sk(sk)), 0, 0);
}

static struct tcp_congestion_ops tcp_j __read_mostly = {
	.name		= "j",
	.owner		= THIS_MODULE,
	.init		= j_init,
	.ssthresh	= j_ssthresh,
	.set_state	= j_set_state,
	.cong_control	= j_cong_control,
	.min_tso_segs	= j_min_tso_segs,
	APOGEE_TX_START_OP(j_tx_start),
	.undo_cwnd	= j_undo_cwnd,
	.get_info	= j_get_info,
};

static int __init tcp_j_register(void)
{
	BUILD_BUG_ON(sizeof(struct j_state) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_j);
}

static void __exit tcp_j_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_j);
}

module_init(tcp_j_register);
module_exit(tcp_j_unregister);

MODULE_DESCRIPTION("TCP-J congestion control, the baseline of TCP-STAR");
MODULE_LICENSE("GPL");
