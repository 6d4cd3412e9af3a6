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
 *             +-------+  loss   +--------+  congestion           +-------+
 *     init -->| START |-------->| CRUISE |---------------------->| YIELD |
 *             +-------+         +--------+<----------------------+-------+
 *                                ^  ^   |   none for long, and the
 *                                |  |   |   window is back at cwnd_abe
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
 *           ABE's share is held back: cwnd = cwnd_reno, growing as Reno's. In YIELD
 *           it tries now and then whether more has room. A mark leads to MARKED and
 *           congestion to YIELD from here, too, and a timeout back to YIELD.
 *   JUDGE   The window is the stack's. AEN reads the ACKs. A timeout with
 *           nothing to judge (AEN off, a mark known before, a second one) leads to
 *           SLOW at once. One in recovery, of a repair, changes nothing: that
 *           loss is answered.
 *
 * judge.h tells what congestion is, round trip by round trip: a full queue, or more losses
 * than the link causes. Where the answer shows that it was none it is taken back: as the
 * path is longer, or as the losses stay, and then YIELD ends at once if the window is at
 * least three quarters of cwnd_abe. The paper knows no congestion, and the letter
 * (coexist=0) no YIELD.
 *
 * Notable differences from the paper:
 *   o Bandwidth samples span a train of ACKs and pass a maximum filter over
 *     four round trips and more (coexist=1), or the larger of the last two
 *     counts (coexist=0); see abe.h. The paper divides by single gaps between
 *     ACKs and names no filter.
 *   o Until the first loss ssthresh follows cwnd_abe (coexist=1). The paper
 *     gives no initial ssthresh.
 *   o The whole window is compared with ssthresh, a standing queue slows the
 *     growth to one segment per round trip, and congestion is answered
 *     (coexist=1, see star.h and judge.h).
 *   o RTT_min is what the judgement takes for the path's own RTT: the least so far,
 *     or more where the path has become longer (coexist=1).
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

static unsigned int star_first_interval_us __read_mostly = 1000;
APOGEE_PARAM(first_interval_us, star_first_interval_us, 1, 1000000,
	     "interval given to the very first ACK, in us, 1 to 1000000 (default 1000)");

static unsigned int star_aen __read_mostly = 1;
APOGEE_PARAM(aen, star_aen, 0, 1,
	     "restore the window after timeouts caused by lost ACKs, 0 or 1 (default 1)");

static unsigned int star_pacing __read_mostly = 1;
APOGEE_PARAM(pacing, star_pacing, 0, 1,
	     "pace what is sent, 0 or 1 (default 1)");

static unsigned int star_coexist __read_mostly = 1;
APOGEE_PARAM(coexist, star_coexist, 0, 1,
	     "1: judge each round trip, and yield to other flows at congestion; 0: the paper's letter (default 1)");

/* The first window: a segment for each 25 ms of the round trip ... */
#define STAR_RTT_REFERENCE_US	25000U
/* ... up to what a receiver offers before it scales its window, 64 kB. */
#define STAR_CWND_BEGIN_MAX	45U
/* Segments of which the first train, and what limited transmit adds, is at most. */
#define STAR_TRAIN_MAX		(2 * STAR_CWND_BEGIN_MAX)
/* Losses by which a round may end early, if they are more than half of it. */
#define STAR_LOST_EARLY		32U

/**
 * struct star - per connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @abe: bandwidth estimation
 * @w: the window and the mode
 * @j: the judgement of RTT and losses
 * @una: snd_una at the last ACK; in JUDGE at the timeout
 * @p_seq: in JUDGE P_seq, end of the newest data sent before the timeout
 * @dsack_dups: in JUDGE tp->dsack_dups at the timeout
 * @round_end: else tp->delivered when the running round trip began
 * @round_lost: else tp->lost at that time
 * @prior_cwnd: window before the last reduction, in segments, for undo
 * @prior_ssthresh: ssthresh before it
 */
struct star {
	struct abe abe;
	struct star_window w;
	struct star_judge j;
	u32 una;
	union {
		struct {
			u32 p_seq;
			u32 dsack_dups;
		};
		struct {
			u32 round_end;
			u32 round_lost;
		};
	};
	u32 prior_cwnd;
	u32 prior_ssthresh;
};

/* Each round trip is judged; else it is the paper's letter. */
static bool star_judges(void)
{
	return READ_ONCE(star_coexist);
}

/* RTT_min: the path's own, as far as the judgement knows. */
static u32 star_rtt_min(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);

	return star_judges() ? s->j.base_us : tcp_min_rtt(tcp_sk(sk));
}

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

/* A round trip begins: it ends with the first ACK of what is sent from now on. */
static void star_begin_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	s->round_end = tp->delivered;
	s->round_lost = tp->lost;
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
	s->j.base_us = tcp_min_rtt(tp);
	s->j.least_us = U32_MAX;
	s->j.last_us = U32_MAX;
	s->j.link = JUDGE_LINK_BEGIN;
	s->j.calm = U8_MAX;
	star_begin_round(sk);
	s->prior_cwnd = tcp_snd_cwnd(tp);
	s->prior_ssthresh = tp->snd_ssthresh;
	s->w.prior_mode = s->w.mode;

	/* No rate yet, and none left over from another algorithm. */
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	if (s->w.mode == STAR_START && begins)
		star_begin(sk);
}

/* The window is not the one of the running round trip any more, whose counts are
 * gone where it was JUDGE: the next one is the first to tell something. Nor is it
 * the one of a test, of the RTT or of the link.
 */
static void star_round_anew(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_begin_round(sk);
	judge_end_test(&s->j);
	s->j.skip = 1;
}

/* What was yielded to others stays theirs after a timeout. */
static bool star_yielded(const struct star *s)
{
	return s->w.prior_mode == STAR_YIELD && star_judges();
}

/* Slow start from the initial window (AEN, P_seq > ACK_seq), or the one of before
 * if that was smaller.
 */
static void star_start_again(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_round_anew(sk);
	s->w.mode = star_yielded(s) ? STAR_YIELD : STAR_SLOW;
	s->w.clear = 0;
	s->w.cwnd_reno = min(max(s->prior_cwnd, STAR_CWND_MIN), TCP_INIT_CWND);
	s->w.cwnd_cnt = 0;
}

/* A timeout: all that is known about it, before the stack forgets. */
static void star_timeout(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = min(s->w.asked ? s->prior_cwnd : star_cwnd(&s->w),
		       tp->snd_cwnd_clamp);

	if (s->w.mode == STAR_NONE || !timeout_seen(sk, s->w.asked, cwnd))
		return;
	/* In recovery it is a repair that was lost. The stack has not asked for
	 * ssthresh again: the loss is answered already, by CWS.
	 */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !s->w.asked)
		return;
	s->w.asked = 0;

	/* With a mark or a loss known before, the prior window is gone. A second
	 * timeout, before the verdict on the first, is data loss.
	 */
	if (!READ_ONCE(star_aen) ||
	    inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder) {
		if (s->w.mode == STAR_JUDGE)
			trace_star_aen(sk, s->p_seq, STAR_AEN_LOSS);
		star_start_again(sk);
		return;
	}
	s->w.mode = STAR_JUDGE;
	s->w.sack_hole = !!tp->sacked_out;
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

/* The window that a loss meets, without a test's dip. */
static u32 star_cwnd_before(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return s->j.dip && star_judges() ? max(star_cwnd(&s->w), cwnd) : cwnd;
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
		s->prior_cwnd = star_cwnd_before(sk);
		s->prior_ssthresh = tp->snd_ssthresh;
		s->w.prior_mode = s->w.mode;
	}
	s->w.asked = 1;
	if (star_yielded(s))
		return max(s->prior_cwnd - s->prior_cwnd / 4, STAR_CWND_MIN);
	return star_cws_ssthresh(&s->w, s->prior_cwnd);
}

/* The reduction was wrong: back to the window and the mode of before. */
static void star_restore(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_round_anew(sk);
	s->w.mode = s->w.prior_mode;
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

	s->w.asked = 0;
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
	const struct star_aen_evidence evidence = {
		.una_after_mark = after(tp->snd_una, s->una),
		.covers_probe = !before(tp->snd_una, s->p_seq),
		.sack_hole = s->w.sack_hole ||
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
		star_start_again(sk);
	return verdict == STAR_AEN_LOSS && !evidence.covers_probe;
}

/* A window that is held below the estimate measures itself. */
static bool star_held_below(const struct star *s)
{
	return star_judges() && star_holds(&s->w) &&
	       s->w.cwnd_reno < s->w.cwnd_abe;
}

/* Only by the letter: a sampling interval tells whether a queue stands, for the pace. What
 * is left of a test that began with coexist=1 ends.
 */
static void star_letter_sample(struct star *s, u32 rtt_min)
{
	if (s->j.least_us == U32_MAX)
		return;
	s->j.last_us = s->j.least_us;
	s->j.least_us = U32_MAX;
	s->j.queue = star_queue_stands(s->j.last_us, rtt_min);
	judge_end_test(&s->j);
}

/* Take the ACK into the estimate; on a new one lift the window anew. Returns whether
 * there is one.
 */
static bool star_estimate(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool first = !s->w.cwnd_abe, queue = s->j.queue;
	bool letter = !star_judges();
	u32 rtt_min;

	if (rs->rtt_us > 0)
		judge_rtt(&s->j, rs->rtt_us);
	if (letter)
		s->j.queue = queue;
	rtt_min = star_rtt_min(sk);

	s->abe.recent = letter;
	if (!abe_ack(&s->abe, (u32)tp->tcp_mstamp, (u32)tp->first_tx_mstamp,
		     (u64)rs->acked_sacked * tp->mss_cache, tp->mss_cache,
		     rtt_min, READ_ONCE(star_first_interval_us),
		     rs->is_app_limited || star_held_below(s)))
		return false;

	if (letter)
		star_letter_sample(s, rtt_min);
	if (rtt_min == U32_MAX)
		return false;
	s->w.cwnd_abe = abe_window(abe_bw(&s->abe), rtt_min, tp->mss_cache);
	/* A connection that took up star later has a full window already. */
	if (first && s->w.cwnd_reno > TCP_INIT_CWND)
		star_set_cwnd(&s->w, tcp_snd_cwnd(tp));
	return true;
}

/* How long the path takes for so many segments. */
static u32 star_time_us(const struct sock *sk, u32 segments)
{
	const struct star *s = inet_csk_ca(sk);
	u64 bytes = (u64)segments * tcp_sk(sk)->mss_cache;

	return (u32)min_t(u64, div64_u64(bytes * USEC_PER_SEC,
					 max_t(u64, abe_bw(&s->abe), 1)),
			  U32_MAX);
}

/* To a smaller window, as others need room. */
static void star_yield_to(struct sock *sk, u32 cwnd, u32 begin, bool costly)
{
	struct star *s = inet_csk_ca(sk);

	if (s->w.mode == STAR_YIELD && star_waited(&s->w, 1))
		star_try_failed(&s->w, costly);
	s->w.mode = STAR_YIELD;
	s->w.clear = 0;
	star_set_cwnd(&s->w, begin);
	tcp_sk(sk)->snd_ssthresh = max(cwnd, STAR_CWND_MIN);
}

/* Where a queue has stood for some rounds: is it one? Alone the part of the window
 * that is in the queue is given up for good, nobody misses it. Returns whether the
 * window falls.
 */
static bool star_test_queue(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = star_cwnd(&s->w), dip = judge_dip(&s->j, cwnd);

	if (!judge_test_due(&s->j))
		return false;
	judge_begin_test(&s->j, s->j.last_us, star_time_us(sk, cwnd - dip), 2);
	if (!s->j.test)
		return false;
	if (s->j.alone)
		star_set_cwnd(&s->w, dip);
	else
		s->j.dip = 1;
	return true;
}

/* The losses are the link's: as if the window had not been cut for them. Only a window that
 * is then near cwnd_abe is lifted to it by CRUISE; a smaller one has got back what was cut,
 * and it is time to try whether there is more room.
 */
static void star_take_back(struct sock *sk, u32 cwnd)
{
	struct star *s = inet_csk_ca(sk);

	if (s->w.mode != STAR_YIELD)
		return;
	if (cwnd >= s->w.cwnd_abe - s->w.cwnd_abe / 4)
		s->w.mode = STAR_CRUISE;
	star_set_cwnd(&s->w, cwnd);
	s->w.clear = STAR_WAIT_MOST;
}

/* What the losses of a round ask for. Returns whether the window falls. */
static bool star_answer(struct sock *sk, const struct judge_round *r)
{
	struct star *s = inet_csk_ca(sk);
	enum judge_answer answer = judge_end_losses(&s->j, r);
	u32 cwnd = judge_cwnd(&s->j, answer, r, s->prior_cwnd);

	if (answer == JUDGE_TAKE_BACK)
		star_take_back(sk, cwnd);
	else if (cwnd < r->cwnd)
		star_yield_to(sk, cwnd, cwnd, judge_is_costly(r));
	return cwnd < r->cwnd;
}

/* A round trip has ended. Returns whether the window falls. */
static bool star_end_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 srtt = tp->srtt_us >> 3;
	const struct judge_round r = {
		.delivered = tp->delivered - s->round_end,
		.lost = tp->lost - s->round_lost,
		.cwnd = star_cwnd(&s->w),
		.path = abe_window(abe_bw(&s->abe), srtt, tp->mss_cache),
		.rtt_us = srtt,
		.min_rtt_us = tcp_min_rtt(tp),
		.limited = tcp_is_cwnd_limited(sk),
		.train = tp->delivered + tp->lost <= STAR_TRAIN_MAX,
	};
	bool longer = judge_end_rtt(&s->j, srtt, r.min_rtt_us);

	star_begin_round(sk);
	star_watch(&s->w, s->j.queue, s->j.excess >= JUDGE_SEGMENT);
	if (longer && s->w.mode == STAR_YIELD) {
		s->w.clear = STAR_CLEAR;
		s->w.cwnd_reno = max(s->w.cwnd_reno, s->w.cwnd_abe + 1);
	}
	judge_use(&s->j, &r);
	s->w.alone = s->j.alone;
	if (s->w.mode == STAR_SLOW)
		return false;
	if (s->w.mode != STAR_START && star_answer(sk, &r))
		return true;
	return star_test_queue(sk);
}

/* Least RTT of the running round, or of the one before. */
static u32 star_rtt(const struct star *s)
{
	return s->j.least_us == U32_MAX ? s->j.last_us : s->j.least_us;
}

/* A first loss in a queue that is shorter than the path, and not as long as it has been
 * lately, is left to what the whole round says: it may be the link's.
 */
static bool star_leaves_queue(const struct star *s)
{
	u32 rtt = star_rtt(s);

	return s->w.mode != STAR_START && rtt / 2 < s->j.base_us &&
	       !judge_is_near_top(&s->j, rtt);
}

/* Answer a loss that came with a queue, unless an answer is under way. */
static void star_reduce_queue(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);
	u32 rtt = star_rtt(s);
	u32 cwnd = s->prior_cwnd, to;

	if (s->j.test) {
		star_set_cwnd(&s->w, cwnd);
		return;
	}
	to = star_yield(cwnd, rtt, s->j.base_us, s->j.alone);
	judge_begin_test(&s->j, rtt, star_time_us(sk, cwnd - min(cwnd, to)), 3);
	/* Too small an answer to be seen: a larger one, for a round. */
	if (!s->j.test && !s->j.rest) {
		judge_begin_test(&s->j, rtt, star_time_us(sk, cwnd / 4), 3);
		s->j.dip = s->j.test > 0;
	}
	star_yield_to(sk, to,
		      star_drain(cwnd, rtt, s->j.base_us, s->j.alone), false);
}

/* Answer the loss event or the mark for which the stack asked ssthresh. No
 * answer raises the window.
 */
static void star_reduce(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = s->prior_cwnd, ssthresh;
	bool queue = s->j.queue && star_judges();

	s->w.asked = 0;
	if (marked_reduction(sk)) {
		s->w.mode = STAR_MARKED;
		star_set_cwnd(&s->w, star_mark_cwnd(cwnd));
		tp->snd_ssthresh = star_cwnd(&s->w);
		return;
	}
	if (queue && !star_leaves_queue(s)) {
		star_reduce_queue(sk);
		return;
	}
	/* A bit error while others share the path: nothing to answer. Nor does
	 * slow start lead up again where a mark has ended it.
	 */
	if (queue || s->w.mode == STAR_YIELD || s->w.mode == STAR_MARKED) {
		tp->snd_ssthresh = max(cwnd, STAR_CWND_MIN);
		star_set_cwnd(&s->w, cwnd);
		return;
	}
	/* Two windows per RTT left. */
	if (s->w.mode == STAR_START || s->w.mode == STAR_SLOW)
		judge_cut_made(&s->j);
	if (s->w.mode == STAR_START)
		s->w.mode = STAR_CRUISE;
	ssthresh = star_cws_ssthresh(&s->w, cwnd);
	tp->snd_ssthresh = ssthresh;
	ssthresh = min(star_cws_cwnd(cwnd, s->prior_ssthresh, ssthresh), cwnd);
	star_set_cwnd(&s->w, ssthresh);
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
	star_round_anew(sk);
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

	return slow_start && !s->j.queue ? STAR_PACE_START : STAR_PACE_CRUISE;
}

static void star_set_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u64 max_rate = READ_ONCE(sk->sk_max_pacing_rate);
	u64 rate = max_rate;

	/* Nothing to pace by: what the connection began with. */
	if (!abe_bw(&s->abe) || star_rtt_min(sk) == U32_MAX)
		return;
	if (READ_ONCE(star_pacing)) {
		rate = star_pacing_rate(tcp_snd_cwnd(tp), tp->mss_cache,
					star_rtt_min(sk), star_pace(s));
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

	if (s->j.dip && star_judges())
		cwnd = judge_dip(&s->j, cwnd);
	if (!lift)
		cwnd = min(cwnd, tcp_snd_cwnd(tp));
	/* The first retransmission goes out at once. */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery && !tp->retrans_out)
		cwnd = max(cwnd, tcp_packets_in_flight(tp) + 1);
	tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
}

/* Where nobody else is a window that fills the path need not grow; if somebody is
 * after all, it leaves room.
 */
static bool star_rests(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);

	return s->w.mode == STAR_YIELD && star_judges() && s->j.alone &&
	       s->w.clear < 2 * STAR_CLEAR &&
	       s->w.cwnd_reno >= max(s->w.cwnd_abe - s->w.cwnd_abe / 16,
				     tcp_sk(sk)->snd_ssthresh);
}

/* Has the round trip ended? One of which more than half is lost ends early, as what is sent
 * meanwhile would be lost as well. Not alone: nobody else fills the path, and a link that
 * fails for a moment begins like that.
 */
static bool star_round_ends(const struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u32 lost = tp->lost - s->round_lost;

	if (s->w.mode == STAR_JUDGE || rs->delivered <= 0)
		return false;
	if (!before(rs->prior_delivered, s->round_end))
		return true;
	return lost >= STAR_LOST_EARLY && lost > tp->delivered - s->round_end &&
	       star_judges() && !s->j.skip && !judge_is_lone(&s->j);
}

/* Nothing has arrived for half a round trip. */
static void star_look_for_silence(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	if (rs->acked_sacked &&
	    (u32)tp->tcp_mstamp - s->abe.last_us > tp->srtt_us >> 4)
		judge_silence(&s->j);
}

APOGEE_CONG_CONTROL(star_cong_control)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool letter = !star_judges();
	u32 cwnd = tcp_snd_cwnd(tp);
	bool judged, lost = false, lift, round, estimated;

	/* The ACK of the SYN is processed before star_init() is called. */
	if (s->w.mode == STAR_NONE)
		return;

	lift = star_is_new(sk, rs);
	star_look_for_silence(sk, rs);
	estimated = star_estimate(sk, rs);
	round = star_round_ends(sk, rs);

	judged = s->w.mode == STAR_JUDGE;
	if (judged)
		lost = star_check_aen(sk);
	/* Until the verdict the stack's window of a timeout stays, and its rate is
	 * nothing to pace by.
	 */
	if (s->w.mode == STAR_JUDGE)
		goto out;

	if (s->w.asked && !(judged && s->w.mode == STAR_SLOW)) {
		star_reduce(sk);
		judged = true;
	} else if (lift && !lost &&
		   inet_csk(sk)->icsk_ca_state != TCP_CA_CWR &&
		   tcp_is_cwnd_limited(sk) && !star_rests(sk)) {
		star_lwc(&s->w, rs->acked_sacked, tp->snd_ssthresh, letter,
			 s->j.queue);
	}
	s->w.asked = 0;
	/* The letter only keeps the rounds going, for when it is switched on. */
	if (round && !letter)
		judged |= star_end_round(sk);
	else if (round)
		star_begin_round(sk);

	if (estimated && s->w.mode == STAR_START && !letter && s->w.cwnd_abe)
		tp->snd_ssthresh = max(s->w.cwnd_abe, STAR_CWND_MIN);

	star_set_window(sk, lift || judged);
	/* A new gain alone can wait for the next sample. */
	if (estimated || tcp_snd_cwnd(tp) != cwnd)
		star_set_pacing_rate(sk);
	s->una = tp->snd_una;
out:
	trace_star_ack(sk, &s->w, &s->j, abe_bw(&s->abe));
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
			star_rtt_min(sk), star_pace(s),
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
