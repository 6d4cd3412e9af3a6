// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-STAR: congestion control for satellite links (long delay, bit errors,
 * lost ACKs), changing the sender only.
 *
 * H. Obata, K. Taira, K. Ishida: "Implementation and Evaluation of TCP-STAR:
 * TCP Congestion Control Method for Satellite Internet" (in Japanese), IEICE
 * Transactions on Communications, 2007. First described in IEICE Trans.
 * Commun. E89-B(6), June 2006.
 *
 * The window is the sum of two shares, cwnd = cwnd_reno + cwnd_abe:
 *
 *   LWC  lifts the window by what ABE measures, cwnd_abe = BW * RTT_min / MSS,
 *        on every ACK of new data, so that it is full after two round trips.
 *   CWS  sets the window to cwnd_abe after a data loss instead of halving it.
 *   AEN  reads the first ACK after a retransmission timeout: if all data had
 *        arrived only ACKs were lost, and the window of before is restored.
 *
 * A connection is in one of these modes (enum star_mode); NONE, all zero, is
 * before star_init():
 *
 *             +-------+  loss   +--------+  loss with a queue    +-------+
 *     init -->| START |-------->| CRUISE |---------------------->| YIELD |
 *             +-------+         +--------+<----------------------+-------+
 *                                ^  ^   |   no queue for long
 *         slow start has passed  |  |   |  mark          +--------+
 *         ssthresh               |  |   +--------------->| MARKED |
 *             +------+           |  +--------------------+--------+
 *             | SLOW |-----------+       cwnd_reno has passed cwnd_abe
 *             +------+<-------------------------------+
 *              ^                          data lost   |
 *              |  long idle                      +-------+  only ACKs were lost:
 *     START or CRUISE              any --------->| JUDGE |--> the mode of before
 *                                      timeout   +-------+    (CRUISE for START
 *                                                             with an estimate)
 *
 *   START   LWC; ssthresh follows cwnd_abe, so that slow start ends when the
 *           window has been lifted. As in SLOW, two windows per RTT_min leave.
 *   CRUISE  LWC: cwnd = cwnd_reno + cwnd_abe. A data loss is answered by CWS.
 *   SLOW, MARKED, YIELD
 *           ABE's share is held back: cwnd = cwnd_reno, growing as Reno's. A mark
 *           leads to MARKED and a loss with a queue to YIELD from here, too.
 *   JUDGE   The window is the stack's. AEN reads the ACKs. A timeout with
 *           nothing to judge (AEN off, a mark known before, a second one) leads to
 *           SLOW at once. One in recovery, of a repair, changes nothing: that
 *           loss is answered.
 *
 * Notable differences from the paper:
 *   o Bandwidth samples span a train of ACKs and pass a maximum filter over
 *     four round trips and more (coexist=1), or the larger of the last two
 *     counts (coexist=0); see abe.h. The paper divides by single gaps between
 *     ACKs and names no filter.
 *   o Until the first loss ssthresh follows cwnd_abe (coexist=1). The paper
 *     gives no initial ssthresh.
 *   o The whole window is compared with ssthresh, a standing queue slows the
 *     growth to one segment per round trip, and a loss that comes with one is
 *     answered as congestion (coexist=1, see star.h).
 *   o The stack retransmits the oldest segment at a timeout, not the newest.
 *     The ACK that answers carries the same verdict if D-SACK or timestamps
 *     are consulted, and data loss costs no extra round trip.
 *   o On round trips above 250 ms the first window is larger than ten segments,
 *     one for each 25 ms, as Hybla's, where the connection was opened from this
 *     side: a peer that answers the SYN-ACK late looks like a long path.
 *   o Duplicate ACKs lift nothing: each lets one new segment go (RFC 3042). In
 *     recovery what is newly SACKed counts as acknowledged.
 *   o After an idle time the window falls as Reno's (RFC 5681 4.1), and slow
 *     start leads back.
 *   o Packets are paced, or a lifted window would leave as one burst.
 *   o After a timeout by data loss ABE's share is held back until slow start
 *     has passed ssthresh: the first ACK would otherwise lift the window to
 *     where it was lost.
 *   o ECN marks are congestion beyond doubt: the window falls to 0.8 (RFC 8511)
 *     and ABE's share is held back until it has grown again.
 *
 * The module owns the window by cong_control. That switches off the stack's
 * proportional rate reduction, its pacing rate and its restart after idle; all are
 * done here. In
 * recovery no more than the window CWS set is in flight, so that each segment
 * delivered or lost is replaced by one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/star.h>
#include <compat/cong_control.h>
#include <compat/param_range.h>
#include <compat/tx_start.h>
#include <kernel/bbr_info.h>
#include <kernel/idle.h>
#include <kernel/marked.h>
#include <kernel/timeout.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_star.h>

static unsigned int first_interval_us __read_mostly = 1000;
APOGEE_PARAM(first_interval_us, 1, 1000000,
	     "interval given to the very first ACK, in us, 1 to 1000000 (default 1000)");

static unsigned int aen __read_mostly = 1;
APOGEE_PARAM(aen, 0, 1,
	     "restore the window after timeouts caused by lost ACKs, 0 or 1 (default 1)");

static unsigned int pacing __read_mostly = 1;
APOGEE_PARAM(pacing, 0, 1,
	     "pace what is sent, 0 or 1 (default 1)");

static unsigned int coexist __read_mostly = 1;
APOGEE_PARAM(coexist, 0, 1,
	     "yield to other flows where a queue stands, or 0: the paper's letter; 0 or 1 (default 1)");

/* The first window: a segment for each 25 ms of the round trip ... */
#define STAR_RTT_REFERENCE_US	25000U
/* ... up to what a receiver offers before it scales its window, 64 kB. */
#define STAR_CWND_BEGIN_MAX	45U

/**
 * struct star - per connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @abe: bandwidth estimation
 * @w: the window and the mode
 * @rtt_us: smallest RTT of the running ABE sample, in us, ~0 if none
 * @sample_rtt_us: smallest RTT of the last ABE sample, in us
 * @una: snd_una at the last ACK; in JUDGE at the timeout
 * @p_seq: P_seq, end of the newest data sent before the timeout
 * @dsack_dups: tp->dsack_dups at the timeout
 * @prior_cwnd: window before the last reduction, in segments, for undo
 * @prior_ssthresh: ssthresh before it
 * @prior_mode: mode before it
 * @asked: the stack has asked for ssthresh: star_reduce() is to answer
 * @sack_hole: the scoreboard had a hole at the timeout
 * @queue: a queue stands at the bottleneck
 */
struct star {
	struct abe abe;
	struct star_window w;
	u32 rtt_us;
	u32 sample_rtt_us;
	u32 una;
	u32 p_seq;
	u32 dsack_dups;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	u8 prior_mode;
	u8 asked:1,
	   sack_hole:1,
	   queue:1;
};

static void star_set_first_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 max_rate = READ_ONCE(sk->sk_max_pacing_rate);

	WRITE_ONCE(sk->sk_pacing_rate,
		   min(star_first_rate(tcp_snd_cwnd(tp), tp->mss_cache,
				       tcp_min_rtt(tp)), max_rate));
}

/* A new connection on a long path begins with what it would have sent on a
 * path of 25 ms by the time the first ACK is back, as Hybla does. It leaves as
 * one train: ABE measures the path by how far the path spreads it.
 */
static void star_begin(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_min = tcp_min_rtt(tp);
	u32 cwnd = min(rtt_min / STAR_RTT_REFERENCE_US, STAR_CWND_BEGIN_MAX);
	/* Established, and no algorithm yet: it is the SYN-ACK that has come. */
	bool opener = sk->sk_state == TCP_ESTABLISHED &&
		      !inet_csk(sk)->icsk_ca_initialized;

	if (rtt_min == U32_MAX)
		return;
	if (opener && cwnd > tcp_snd_cwnd(tp))
		tcp_snd_cwnd_set(tp, cwnd);
	star_set_first_rate(sk);
}

static void star_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	/* The handshake has just ended, or another algorithm has sent nothing. */
	bool begins = !inet_csk(sk)->icsk_ca_initialized || !tp->data_segs_out;

	memset(s, 0, sizeof(*s));
	s->w.mode = tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH ? STAR_START :
								STAR_CRUISE;
	/* Taken up after a timeout: no estimate is to lift the window. */
	if (s->w.mode == STAR_CRUISE &&
	    inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		s->w.mode = STAR_SLOW;
	s->w.cwnd_reno = max_t(u32, tcp_snd_cwnd(tp), 1);
	s->una = tp->snd_una;
	s->rtt_us = U32_MAX;
	s->prior_cwnd = tcp_snd_cwnd(tp);
	s->prior_ssthresh = tp->snd_ssthresh;
	s->prior_mode = s->w.mode;

	/* No rate yet, and none left over from another algorithm. */
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	if (s->w.mode == STAR_START && begins)
		star_begin(sk);
}

/* Slow start from the initial window (AEN, P_seq > ACK_seq), or the one of before
 * if that was smaller.
 */
static void star_start_again(struct star *s)
{
	s->w.mode = STAR_SLOW;
	s->w.cwnd_reno = min(max(s->prior_cwnd, STAR_CWND_MIN), TCP_INIT_CWND);
	s->w.cwnd_cnt = 0;
}

/* A timeout: all that is known about it, before the stack forgets. */
static void star_timeout(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = min(s->asked ? s->prior_cwnd : star_cwnd(&s->w),
		       tp->snd_cwnd_clamp);

	if (s->w.mode == STAR_NONE || !timeout_seen(sk, s->asked, cwnd))
		return;
	/* In recovery it is a repair that was lost. The stack has not asked for
	 * ssthresh again: the loss is answered already, by CWS.
	 */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !s->asked)
		return;
	s->asked = 0;

	/* With a mark or a loss known before, the prior window is gone. A second
	 * timeout, before the verdict on the first, is data loss.
	 */
	if (!READ_ONCE(aen) ||
	    inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder) {
		if (s->w.mode == STAR_JUDGE)
			trace_star_aen(sk, s->p_seq, STAR_AEN_LOSS);
		star_start_again(s);
		return;
	}
	s->w.mode = STAR_JUDGE;
	s->sack_hole = !!tp->sacked_out;
	s->p_seq = tp->snd_nxt;
	s->una = tp->snd_una;
	s->dsack_dups = tp->dsack_dups;
	trace_star_aen(sk, s->p_seq, STAR_AEN_WAIT);
}

static void star_set_state(struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		star_timeout(sk);
}

/* The stack asks at each loss event, mark and timeout, before it acts. A
 * timeout keeps this answer: slow start has to find the way up to what ABE
 * measured. star_reduce() has the last word on the others. While AEN waits
 * the window of before is that of before the timeout.
 */
static u32 star_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	/* A SYN's timeout, before star_init(). */
	if (s->w.mode == STAR_NONE)
		return star_cws_ssthresh(&s->w, tcp_snd_cwnd(tp));
	if (s->w.mode != STAR_JUDGE) {
		s->prior_cwnd = tcp_snd_cwnd(tp);
		s->prior_ssthresh = tp->snd_ssthresh;
		s->prior_mode = s->w.mode;
	}
	s->asked = 1;
	return star_cws_ssthresh(&s->w, s->prior_cwnd);
}

/* The reduction was wrong: back to the window and the mode of before. */
static void star_restore(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	s->w.mode = s->prior_mode;
	/* Without an estimate nothing but START would end slow start. */
	if (s->w.mode == STAR_START &&
	    s->prior_ssthresh < TCP_INFINITE_SSTHRESH)
		s->w.mode = STAR_CRUISE;
	star_set_cwnd(&s->w, s->prior_cwnd);
	tcp_sk(sk)->snd_ssthresh = s->prior_ssthresh;
}

static u32 star_undo_cwnd(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	s->asked = 0;
	star_restore(sk);
	return star_cwnd(&s->w);
}

/* Judge the timeout by the ACK that has just been processed (fig. 3). Returns
 * true if it shows that data was lost: slow start then begins with the next
 * ACK, as this one is for what was sent before the timeout.
 */
static bool star_check_aen(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	const struct star_aen evidence = {
		.una_after_mark = after(tp->snd_una, s->una),
		.covers_probe = !before(tp->snd_una, s->p_seq),
		.sack_hole = s->sack_hole ||
			     (before(tp->snd_una, s->p_seq) && tp->sacked_out &&
			      tcp_is_sack(tp)),
		.has_sack = tcp_is_sack(tp),
		.dsack = tp->dsack_dups != s->dsack_dups,
		.has_tstamp = tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr,
		.echo_original = tp->retrans_stamp &&
				 before(tp->rx_opt.rcv_tsecr,
					tp->retrans_stamp),
	};
	enum star_verdict verdict = star_aen_verdict(&evidence);

	trace_star_aen(sk, s->p_seq, verdict);
	if (verdict == STAR_AEN_SPURIOUS)
		star_restore(sk);
	else if (verdict == STAR_AEN_LOSS)
		star_start_again(s);
	return verdict == STAR_AEN_LOSS && !evidence.covers_probe;
}

/* Take the ACK into the estimate; on a new one lift the window anew. */
static void star_estimate(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 rtt_min = tcp_min_rtt(tp);
	bool first = !s->w.cwnd_abe;

	if (rs->rtt_us > 0)
		s->rtt_us = min_t(u32, s->rtt_us, rs->rtt_us);

	s->abe.recent = !READ_ONCE(coexist);
	if (!abe_ack(&s->abe, tp->tcp_mstamp, (u32)tp->first_tx_mstamp,
		     (u64)rs->acked_sacked * tp->mss_cache, tp->mss_cache,
		     rtt_min, READ_ONCE(first_interval_us), rs->is_app_limited))
		return;

	if (s->rtt_us != U32_MAX) {
		s->sample_rtt_us = s->rtt_us;
		s->queue = star_queue_stands(s->rtt_us, rtt_min);
		star_watch_queue(&s->w, s->queue);
		s->rtt_us = U32_MAX;
	}

	if (rtt_min == U32_MAX)
		return;
	s->w.cwnd_abe = abe_window(abe_bw(&s->abe), rtt_min, tp->mss_cache);
	/* A connection that took up star later has a full window already. */
	if (first && s->w.cwnd_reno > TCP_INIT_CWND)
		star_set_cwnd(&s->w, tcp_snd_cwnd(tp));
}

/* Answer the loss event or the mark for which the stack asked ssthresh. No
 * answer raises the window.
 */
static void star_reduce(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = s->prior_cwnd, ssthresh;

	s->asked = 0;
	if (loss_is_marked(sk)) {
		s->w.mode = STAR_MARKED;
		star_set_cwnd(&s->w, star_mark_cwnd(cwnd));
		tp->snd_ssthresh = star_cwnd(&s->w);
		return;
	}
	if (s->queue && READ_ONCE(coexist)) {
		s->w.mode = STAR_YIELD;
		s->w.clear = 0;
		tp->snd_ssthresh = star_yield(cwnd, s->sample_rtt_us,
					      tcp_min_rtt(tp));
		star_set_cwnd(&s->w, star_drain(cwnd, s->sample_rtt_us,
						tcp_min_rtt(tp)));
		return;
	}
	/* A bit error while others share the path: nothing to answer. Nor does
	 * slow start lead up again where a mark has ended it.
	 */
	if (s->w.mode == STAR_YIELD || s->w.mode == STAR_MARKED) {
		tp->snd_ssthresh = max(cwnd, STAR_CWND_MIN);
		star_set_cwnd(&s->w, cwnd);
		return;
	}
	if (s->w.mode == STAR_START)
		s->w.mode = STAR_CRUISE;
	ssthresh = star_cws_ssthresh(&s->w, cwnd);
	tp->snd_ssthresh = ssthresh;
	star_set_cwnd(&s->w, min(star_cws_cwnd(cwnd, s->prior_ssthresh,
					       ssthresh), cwnd));
}

/* A window after idle: slow start leads back to what it was. Returns
 * whether it falls.
 */
static bool star_shrink(struct sock *sk, u32 cwnd)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	/* The first one stays: there was nothing to send until now. */
	if (cwnd >= tcp_snd_cwnd(tp) || !tp->data_segs_out)
		return false;
	/* Neither a mark to be answered nor an undo raises it again. */
	s->prior_cwnd = min(s->prior_cwnd, cwnd);
	tp->snd_ssthresh = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH ?
				   tcp_current_ssthresh(sk) :
				   tcp_snd_cwnd(tp);
	if (!star_holds(&s->w))
		s->w.mode = STAR_SLOW;
	star_set_cwnd(&s->w, cwnd);
	tcp_snd_cwnd_set(tp, star_cwnd(&s->w));
	return true;
}

static u32 star_pace(const struct star *s)
{
	bool slow_start = s->w.mode == STAR_START || s->w.mode == STAR_SLOW;

	return slow_start && !s->queue ? STAR_PACE_START : STAR_PACE_CRUISE;
}

static void star_set_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u64 max_rate = READ_ONCE(sk->sk_max_pacing_rate);
	u64 rate = max_rate;

	/* Nothing to pace by: what the connection began with. */
	if (!abe_bw(&s->abe) || tcp_min_rtt(tp) == U32_MAX)
		return;
	if (READ_ONCE(pacing)) {
		rate = star_pacing_rate(tcp_snd_cwnd(tp), tp->mss_cache,
					tcp_min_rtt(tp), star_pace(s));
		if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NONE)
			cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
				SK_PACING_NEEDED);
	}
	WRITE_ONCE(sk->sk_pacing_rate, min(rate, max_rate));
}

APOGEE_TX_START(star_tx_start)
{
	const struct star *s = inet_csk_ca(sk);

	if (s->w.mode == STAR_NONE || !star_shrink(sk, idle_tx_start(sk)))
		return;
	/* A first window leaves as one train again, a larger one paced. */
	if (tcp_snd_cwnd(tcp_sk(sk)) <= TCP_INIT_CWND)
		star_set_first_rate(sk);
	else
		star_set_pacing_rate(sk);
}

/* Whether an ACK is of new data. In recovery, where SACK tells what arrives, that
 * counts, too; a duplicate ACK elsewhere only says that something did.
 */
static bool star_is_new(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);

	if (!rs->acked_sacked)
		return false;
	return after(tp->snd_una, s->una) ||
	       (tcp_is_sack(tp) &&
		inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery);
}

/* The window after an ACK that the stack may act on. */
static void star_set_window(struct sock *sk, bool lift)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u32 cwnd = star_cwnd(&s->w);

	if (!lift)
		cwnd = min(cwnd, tcp_snd_cwnd(tp));
	/* The first retransmission goes out at once. */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !tp->retrans_out)
		cwnd = max(cwnd, tcp_packets_in_flight(tp) + 1);
	tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
}

APOGEE_CONG_CONTROL(star_cong_control)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool letter = !READ_ONCE(coexist);
	bool judged, lost = false, lift;

	/* The ACK of the SYN is processed before star_init() is called. */
	if (s->w.mode == STAR_NONE)
		return;

	lift = star_is_new(sk, rs);
	star_estimate(sk, rs);

	judged = s->w.mode == STAR_JUDGE;
	if (judged)
		lost = star_check_aen(sk);
	/* Until the verdict the stack's window of a timeout stays, and its rate is
	 * nothing to pace by.
	 */
	if (s->w.mode == STAR_JUDGE)
		goto out;

	if (s->asked && !(judged && s->w.mode == STAR_SLOW)) {
		star_reduce(sk);
		judged = true;
	} else if (lift && !lost &&
		   inet_csk(sk)->icsk_ca_state != TCP_CA_CWR &&
		   tcp_is_cwnd_limited(sk)) {
		star_lwc(&s->w, rs->acked_sacked, tp->snd_ssthresh, letter,
			 s->queue);
	}
	s->asked = 0;

	if (s->w.mode == STAR_START && !letter && s->w.cwnd_abe)
		tp->snd_ssthresh = max(s->w.cwnd_abe, STAR_CWND_MIN);

	star_set_window(sk, lift || judged);
	star_set_pacing_rate(sk);
	s->una = tp->snd_una;
out:
	trace_star_ack(sk, &s->w, abe_bw(&s->abe));
}

/* A third window for the repairs of a lossy path, beyond the usual two. */
static u32 star_sndbuf_expand(struct sock *sk)
{
	return 3;
}

/* ss -ti shows the estimate as bandwidth, and the window's part of it as gain. */
static size_t star_get_info(struct sock *sk, u32 ext, int *attr,
			    union tcp_cc_info *info)
{
	const struct star *s = inet_csk_ca(sk);
	u64 gain = (u64)tcp_snd_cwnd(tcp_sk(sk)) * BBR_INFO_UNIT;

	return bbr_info(ext, attr, info, abe_bw(&s->abe),
			tcp_min_rtt(tcp_sk(sk)), star_pace(s),
			s->w.cwnd_abe ? div_u64(gain, s->w.cwnd_abe) : 0);
}

static struct tcp_congestion_ops tcp_star __read_mostly = {
	.name		= "star",
	.owner		= THIS_MODULE,
	.init		= star_init,
	.ssthresh	= star_ssthresh,
	.set_state	= star_set_state,
	.cong_control	= star_cong_control,
	APOGEE_TX_START_OP(star_tx_start),
	.undo_cwnd	= star_undo_cwnd,
	.sndbuf_expand	= star_sndbuf_expand,
	.get_info	= star_get_info,
};

static int __init tcp_star_register(void)
{
	BUILD_BUG_ON(sizeof(struct star) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_star);
}

static void __exit tcp_star_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_star);
}

module_init(tcp_star_register);
module_exit(tcp_star_unregister);

MODULE_DESCRIPTION("TCP-STAR congestion control for satellite links");
MODULE_LICENSE("GPL");
