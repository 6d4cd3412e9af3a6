// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-STAR: congestion control for satellite links (long delay, bit errors,
 * lost ACKs). Only the sender is changed.
 *
 * H. Obata, K. Taira, K. Ishida: "Implementation and Evaluation of TCP-STAR:
 * TCP Congestion Control Method for Satellite Internet" (in Japanese), IEICE
 * Transactions on Communications, 2007. First described in IEICE Trans.
 * Commun. E89-B(6), June 2006.
 *
 * The window is the sum of two shares, cwnd = cwnd_reno + cwnd_abe:
 *
 *   LWC  Lift Window Control: every ACK of new data lifts the window by ABE's
 *        estimate, cwnd_abe = BW * RTT_min / MSS. The window fills the path
 *        after two round trips.
 *   CWS  Congestion Window Setting: a data loss sets the window to cwnd_abe
 *        instead of halving it.
 *   AEN  ACK Error Notification: evaluates the first ACKs after a
 *        retransmission timeout. If all data had arrived, only ACKs were lost,
 *        and the previous window is restored.
 *
 * A connection is in one of these modes (enum star_mode). NONE, zero, is the
 * mode before star_init():
 *
 *             +-------+ (1)     +--------+  congestion, a mark   +-------+
 *     init -->| START |-------->| CRUISE |---------------------->| YIELD |
 *             +-------+         +--------+<----------------------+-------+
 *                                   ^      no congestion for a while, and
 *         slow start has passed     |      the window is back at cwnd_abe
 *         ssthresh                  |
 *             +------+              |
 *             | SLOW |--------------+
 *             +------+<-------------------------------+
 *              ^                          data lost   |
 *              |  long idle                      +-------+  only ACKs were lost:
 *     START or CRUISE              any --------->| JUDGE |--> the previous mode
 *                                      timeout   +-------+    (CRUISE for START
 *                                                             with an estimate)
 *
 *   (1) The estimate no longer grows, or a loss before there is one; as published
 *       (coexist=0) any loss.
 *
 *   START   LWC; ssthresh follows cwnd_abe, so that slow start ends when the
 *           window has been lifted. Packets are paced at two windows per RTT_min,
 *           as in SLOW, and at 5/4 of one once there is an estimate and the window is
 *           filled. While that grows, a loss without a queue changes nothing (coexist=1).
 *   CRUISE  LWC: cwnd = cwnd_reno + cwnd_abe. CWS responds to a data loss.
 *   SLOW, YIELD
 *           ABE's share is held back: cwnd = cwnd_reno, which grows as in Reno. In
 *           YIELD the flow probes for more bandwidth from time to time. From SLOW and
 *           START, too, congestion and an ECN mark lead to YIELD. With coexist=1 YIELD
 *           stays after a timeout by data loss, and a loss in CRUISE before the window
 *           has been lifted to cwnd_abe leads to SLOW, too, for the rest of its round at
 *           most.
 *   JUDGE   The stack sets the window while AEN evaluates the ACKs. A timeout that
 *           AEN cannot judge (AEN off, a mark or loss already known, a second
 *           timeout) leads to SLOW at once. A timeout in recovery, of a
 *           retransmission, changes no window: that loss has been answered. If it
 *           was spurious, what it marks as lost does not count.
 *
 * judge.h decides once per round trip whether there is congestion: a full queue, or
 * more losses than the link has while its queue is empty. It reverts no reduction: what
 * a mistaken one costs comes back by growth. The paper has no such decision: as
 * published (coexist=0) only a mark leads to YIELD, until cwnd_reno has passed cwnd_abe.
 *
 * Notable differences from the paper:
 *   o A bandwidth sample spans several ACKs, and samples pass a maximum filter
 *     over at least four round trips (coexist=1), or the larger of the last two
 *     is taken (coexist=0); see abe.h. The paper divides by the interval between
 *     two ACKs and specifies no filter.
 *   o In START ssthresh follows cwnd_abe, and START ends when that no longer grows
 *     (coexist=1). The paper specifies no initial ssthresh.
 *   o The whole window is compared with ssthresh, a standing queue limits growth
 *     to one segment per round trip, and there is a response to congestion
 *     (coexist=1, see star.h and judge.h).
 *   o RTT_min is judge.h's estimate of the path's RTT: the minimum so far, or more
 *     if the path, or its way back, has become longer (coexist=1). The very first ACK
 *     alone is no estimate to send by.
 *   o At a timeout the stack retransmits the oldest segment, not the newest. With
 *     D-SACK or timestamps the ACK of it gives the same verdict, and data loss
 *     costs no extra round trip.
 *   o If the RTT is above 250 ms, the initial window is larger than ten segments:
 *     one per 25 ms, as in TCP Hybla. Only for active opens: on the passive side a
 *     late handshake ACK is indistinguishable from a long path. Nor if the route gives
 *     a window, or if the SYN was lost twice.
 *   o A duplicate ACK does not lift the window: it allows one new segment (RFC
 *     3042). In recovery newly SACKed data counts as acknowledged.
 *   o After an idle period of five minutes the window is reduced, and slow start leads
 *     back (RFC 7661). Without pacing, or as published, that happens after a timeout, as
 *     in Reno (RFC 5681 4.1).
 *   o Packets are paced. Without pacing a lifted window leaves as one burst.
 *   o After a timeout by data loss ABE's share is held back until slow start
 *     has passed ssthresh. Otherwise the first ACK would restore the window at
 *     which data was lost.
 *   o ECN marks indicate congestion: the window is reduced to 0.8 (RFC 8511), and
 *     YIELD begins.
 *
 * The module sets the window in cong_control. This disables the stack's
 * proportional rate reduction, pacing rate and restart after idle; the module has
 * its own. In recovery the data in flight is limited to the window that CWS has
 * set: each segment delivered or lost is replaced by one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/star.h>
#include <compat/cong_control.h>
#include <compat/param_range.h>
#include <compat/tx_start.h>
#include <kernel/bbr_info.h>
#include <kernel/bitfield.h>
#include <kernel/delivered.h>
#include <kernel/forget.h>
#include <kernel/idle.h>
#include <kernel/marked.h>
#include <kernel/recount.h>
#include <kernel/retrans_stamp.h>
#include <kernel/seldom.h>
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
	     "1: judge each round trip, and yield to other flows at congestion; 0: as published in the paper (default 1)");

/* Initial window: one segment per 25 ms of the round trip ... */
#define STAR_RTT_REFERENCE_US	25000U
/* ... up to the window a receiver offers before scaling, 64 kB. */
#define STAR_CWND_BEGIN_MAX	45U
/* Upper bound of the first train, with what limited transmit adds, in segments. */
#define STAR_TRAIN_MAX		(2 * STAR_CWND_BEGIN_MAX)
/* From this number of losses a round ends early if more than half of it is lost. */
#define STAR_LOST_EARLY		32U

/**
 * struct star - per-connection state, at most ICSK_CA_PRIV_SIZE (104) bytes
 * @abe: bandwidth estimation
 * @w: the window and the mode
 * @j: state of judge.h, queue and loss detection
 * @una: snd_una at the last ACK; in JUDGE at the timeout
 * @p_seq: in JUDGE: P_seq, end of the newest data sent before the timeout
 * @dsack_dups: in JUDGE: tp->dsack_dups at the timeout
 * @round_end: in other modes: tp->delivered at the start of the current round trip
 * @round_lost: in other modes: tp->lost at the same time
 * @prior_cwnd: window before the last reduction, in segments, for undo
 * @prior_ssthresh: ssthresh before the last reduction, in segments, for undo
 */
struct star {
	struct abe abe;
	struct star_window w;
	struct judge_state j;
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

/* Is judge.h in use? If not, the algorithm is as published. */
static bool star_judges(void)
{
	return READ_ONCE(star_coexist);
}

/* RTT_min: judge.h's estimate of the path's RTT, or the stack's minimum. */
static u32 star_rtt_min(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);

	return star_judges() ? judge_path_us(&s->j) : tcp_min_rtt(tcp_sk(sk));
}

static void star_set_first_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 max_rate = READ_ONCE(sk->sk_max_pacing_rate);

	WRITE_ONCE(sk->sk_pacing_rate,
		   min(star_first_rate(tcp_snd_cwnd(tp), tp->mss_cache,
				       tcp_min_rtt(tp)), max_rate));
}

/* On a long path a new connection starts with the window that it would have
 * reached on a path of 25 ms when the first ACK is back, as TCP Hybla does. The
 * window leaves as one train: ABE measures by how much the path spreads it.
 */
static void star_begin(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 rtt_min = tcp_min_rtt(tp);
	u32 cwnd = min(rtt_min / STAR_RTT_REFERENCE_US, STAR_CWND_BEGIN_MAX);
	/* The SYN has a sequence number, and was acknowledged: a SYN-ACK has arrived. */
	bool opener = tp->bytes_acked > 0;

	if (rtt_min == U32_MAX)
		return;
	/* Another window than the stack's own has its reason: the route's, or one segment
	 * after the SYN was lost twice (RFC 5681 3.1).
	 */
	if (opener && tcp_snd_cwnd(tp) == TCP_INIT_CWND &&
	    !idle_route_cwnd(sk) && cwnd > TCP_INIT_CWND)
		tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
	s->w.cwnd_reno = clamp_t(u32, tcp_snd_cwnd(tp), 1, ABE_WINDOW_MAX);
	star_set_first_rate(sk);
}

/* A round trip ends with the first ACK of data sent after its start. */
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
	/* No data was sent by another algorithm, but with the SYN. icsk_ca_initialized is
	 * no sign of a new connection: newer kernels clear it while an algorithm takes
	 * over from another one, too.
	 */
	bool begins = tp->data_segs_out <= bitfield(tp, syn_data);

	memset(s, 0, sizeof(*s));
	s->w.mode = tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH ? STAR_START :
								STAR_CRUISE;
	/* Selected after a timeout: the estimate must not lift the window. */
	if (s->w.mode == STAR_CRUISE &&
	    ca_state(sk) == TCP_CA_Loss)
		s->w.mode = STAR_SLOW;
	/* A route may give any window (initcwnd). */
	s->w.cwnd_reno = clamp_t(u32, tcp_snd_cwnd(tp), 1, ABE_WINDOW_MAX);
	s->una = tp->snd_una;
	judge_init(&s->j, tcp_min_rtt(tp), (u32)tp->tcp_mstamp, tp->rx_opt.rcv_tsval);
	star_begin_round(sk);
	s->prior_cwnd = tcp_snd_cwnd(tp);
	s->prior_ssthresh = tp->snd_ssthresh;
	s->w.prior_mode = s->w.mode;

	/* No rate yet: drop the one that another algorithm may have left. */
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	if (s->w.mode == STAR_START && begins)
		star_begin(sk);
}

/* The window has changed within the round trip, the round's counters were overwritten in
 * JUDGE, or its losses are not the path's: only the next round is evaluated. A running
 * test or measurement of the RTT ends, since it is bound to the old window.
 */
static void star_round_anew(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_begin_round(sk);
	judge_end_test(&s->j);
	s->j.skip = 1;
	s->w.spurious = 0;
}

/* In YIELD other flows share the path: a timeout does not end that, not even a second one. */
static bool star_yielded(const struct star *s)
{
	u8 mode = s->w.mode == STAR_JUDGE ? s->w.prior_mode : s->w.mode;

	return mode == STAR_YIELD && star_judges();
}

/* Slow start from the initial window (AEN, P_seq > ACK_seq), or from the previous
 * window if that was smaller. That answers a loss found by the same ACK, too.
 */
static void star_start_again(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_round_anew(sk);
	s->w.asked = 0;
	s->w.mode = star_yielded(s) ? STAR_YIELD : STAR_SLOW;
	s->w.clear = 0;
	s->w.cwnd_reno = min(max(s->prior_cwnd, STAR_CWND_MIN), TCP_INIT_CWND);
	s->w.cwnd_cnt = 0;
}

/* At a timeout: record the state before the stack clears it. */
static void star_timeout(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = min(s->w.asked ? s->prior_cwnd : star_cwnd(&s->w),
		       tp->snd_cwnd_clamp);

	if (s->w.mode == STAR_NONE)
		return;
	/* A smaller MTU: what is marked lost says nothing about the path. */
	if (!timeout_seen(sk, s->w.asked, cwnd)) {
		star_round_anew(sk);
		return;
	}
	/* The end of a round is no reason to lift the window any more. */
	s->w.held = 0;
	/* In recovery a retransmission was lost. The stack does not ask for ssthresh
	 * again: CWS has already responded to this loss.
	 */
	if (ca_state(sk) == TCP_CA_Recovery && !s->w.asked)
		return;

	/* After an ECN mark or a known loss the previous window is not restored. A
	 * second timeout before AEN's verdict means data loss.
	 */
	if (!READ_ONCE(star_aen) ||
	    ca_state(sk) > TCP_CA_Disorder) {
		if (s->w.mode == STAR_JUDGE)
			trace_star_aen(sk, s->p_seq, STAR_AEN_LOSS);
		star_start_again(sk);
		return;
	}
	s->w.mode = STAR_JUDGE;
	s->w.asked = 0;
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
	else if (new_state == TCP_CA_Recovery)
		retrans_stamp_renew(sk);
}

/* The window at a loss, without the temporary reduction of a test. */
static u32 star_cwnd_before(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return s->j.dip && star_judges() ? max(star_cwnd(&s->w), cwnd) : cwnd;
}

/* The stack asks for ssthresh once per loss event, mark and timeout, before it
 * acts. A timeout keeps this value, so that slow start leads up to the window ABE
 * measured; in the other cases star_reduce() sets it again. In JUDGE the previous
 * window is the one before the first timeout.
 */
static u32 star_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	/* Timeout of a SYN, before star_init(). */
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

/* The reduction was not justified: restore the previous window and mode. */
static void star_restore(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	star_round_anew(sk);
	s->w.mode = s->w.prior_mode;
	/* Without an estimate stay in START, which sets ssthresh. */
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

/* Judge the timeout by the ACK just processed (fig. 3). Returns true if data was
 * lost and this ACK is for data sent before the timeout: slow start then begins
 * with the next ACK.
 */
static seldom bool star_check_aen(struct sock *sk)
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
		.has_tstamp = bitfield(tp, rx_opt.saw_tstamp) && tp->rx_opt.rcv_tsecr,
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

/* A window held below the estimate yields samples of itself, not of the path. */
static bool star_held_below(const struct star *s)
{
	return star_judges() && star_holds(&s->w) &&
	       s->w.cwnd_reno < s->w.cwnd_abe;
}

/* As published: check for a standing queue once per sampling interval, which only
 * affects pacing. A test that was started with coexist=1 ends.
 */
static void star_published_sample(struct star *s, u32 rtt_min)
{
	if (s->j.least_us == U32_MAX)
		return;
	s->j.last_us = s->j.least_us;
	s->j.least_us = U32_MAX;
	s->j.queue = star_queue_stands(s->j.last_us, rtt_min);
	judge_end_test(&s->j);
}

/* When the newest segment delivered was sent. In the first train a retransmission says
 * nothing about how fast that train left.
 */
static u32 star_sent_us(const struct sock *sk, const struct rate_sample *rs)
{
	const struct star *s = inet_csk_ca(sk);

	if (rs->is_retrans && s->abe.started && !s->abe.samples)
		return s->abe.sent_us;
	return (u32)tcp_sk(sk)->first_tx_mstamp;
}

/* Does the application set the rate of the first train? Its estimate is then no reason
 * to end slow start.
 */
static bool star_is_slow_train(const struct sock *sk,
			       const struct rate_sample *rs)
{
	const struct star *s = inet_csk_ca(sk);

	return rs->is_app_limited &&
	       abe_sent_slowly(&s->abe, (u32)tcp_sk(sk)->tcp_mstamp,
			       star_sent_us(sk, rs));
}

/* The path's transmission time of a number of segments, in us. */
static u32 star_time_us(const struct sock *sk, u32 segments)
{
	const struct star *s = inet_csk_ca(sk);
	u64 bytes = (u64)segments * tcp_sk(sk)->mss_cache;

	return (u32)min_t(u64, div64_u64(bytes * USEC_PER_SEC,
					 max_t(u64, abe_bw(&s->abe), 1)),
			  U32_MAX);
}

/* The RTT of an ACK, 0 if unknown. That of a retransmission is known by its timestamp only, which
 * is up to a tick too short: it is no evidence of a shorter path.
 */
static u32 star_rtt_us(const struct sock *sk, const struct rate_sample *rs, bool published)
{
	const struct star *s = inet_csk_ca(sk);

	if (rs->rtt_us <= 0)
		return 0;
	if (!rs->is_retrans || s->j.base_us == U32_MAX || published)
		return (u32)rs->rtt_us;
	return max_t(u32, rs->rtt_us, s->j.base_us);
}

static seldom void star_see_clock(struct sock *sk, u32 most_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);

	judge_see_clock(&s->j, (u32)tp->tcp_mstamp, tp->rx_opt.rcv_tsval, most_us);
}

/* By how much the way back of an ACK with this RTT was longer than at its shortest; 0 if unknown.
 * As published, or without a timestamp, it is not known.
 */
static u32 star_late_us(struct sock *sk, u32 rtt_us, bool published)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 now_us = (u32)tp->tcp_mstamp, tsval = tp->rx_opt.rcv_tsval, most_us;

	if (published || !bitfield(tp, rx_opt.saw_tstamp)) {
		s->j.back = 0;
		return 0;
	}
	if (!rtt_us)
		return 0;
	most_us = rtt_us - min(rtt_us, s->j.base_us);
	if (!judge_in_time(&s->j, now_us, tsval, most_us))
		star_see_clock(sk, most_us);
	return judge_way_back(&s->j, now_us, tsval, most_us);
}

/* May what this ACK delivers be counted a second time? */
static bool star_recounts(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);
	bool so_far = s->w.recounts, again = stack_recounts(sk, so_far);

	if (again != so_far)
		s->w.recounts = again;
	return so_far || again;
}

/* What an ACK tells about the path's bandwidth. */
enum star_news {
	STAR_NO_NEWS,
	STAR_SLOW_TRAIN,	/* an estimate, but the application sets the rate */
	STAR_ESTIMATE,
};

/* Update the bandwidth estimate, and cwnd_abe with a new estimate. */
static seldom enum star_news star_sample(struct sock *sk, const struct rate_sample *rs,
					 u32 rtt_min, u32 late_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool first = !s->w.cwnd_abe, published = !star_judges();
	bool slow = star_is_slow_train(sk, rs);

	s->abe.recent = published;
	if (!abe_sample(&s->abe, (u32)tp->tcp_mstamp, star_sent_us(sk, rs), tp->mss_cache, rtt_min,
			READ_ONCE(star_first_interval_us),
			forget(rs->is_app_limited || star_held_below(s)), late_us))
		return STAR_NO_NEWS;

	if (published)
		star_published_sample(s, rtt_min);
	/* The first ACK has no predecessor: what it counts as is no estimate to send by. */
	if (rtt_min == U32_MAX || (!published && !s->abe.samples && !s->abe.bytes))
		return STAR_NO_NEWS;
	s->w.cwnd_abe = abe_window(abe_bw(&s->abe), rtt_min, tp->mss_cache);
	/* A connection that switched to star already has a full window. */
	if (first && s->prior_cwnd > TCP_INIT_CWND)
		star_set_cwnd(&s->w, tcp_snd_cwnd(tp));
	return slow ? STAR_SLOW_TRAIN : STAR_ESTIMATE;
}

/* Evaluate the RTT and what is delivered of an ACK. */
static enum star_news star_estimate(struct sock *sk, const struct rate_sample *rs, bool published)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool queue = published && s->j.queue;
	u32 rtt_us = star_rtt_us(sk, rs, published);
	u32 late_us = forget(star_late_us(sk, rtt_us, published));
	u32 rtt_min;

	if (rtt_us)
		judge_rtt(&s->j, rtt_us - late_us, star_cwnd(&s->w));
	if (queue)
		s->j.queue = 1;
	rtt_min = published ? tcp_min_rtt(tp) : judge_path_us(&s->j);

	if (star_recounts(sk)) {
		abe_skip(&s->abe, (u32)tp->tcp_mstamp, star_sent_us(sk, rs), late_us);
		return STAR_NO_NEWS;
	}
	if (!s->abe.started && !delivered_of_train(sk, s->una))
		return STAR_NO_NEWS;
	if (!abe_count(&s->abe, (u32)tp->tcp_mstamp, delivered_bytes(sk, rs, s->una), rtt_min))
		return STAR_NO_NEWS;
	return star_sample(sk, rs, rtt_min, late_us);
}

/* Enter YIELD: ssthresh becomes @cwnd, and the window starts from @begin. */
static void star_yield_to(struct sock *sk, u32 cwnd, u32 begin)
{
	struct star *s = inet_csk_ca(sk);

	if (s->w.mode == STAR_YIELD && star_waited(&s->w, 1))
		star_try_failed(&s->w);
	s->w.mode = STAR_YIELD;
	s->w.held = 0;
	s->w.clear = 0;
	star_set_cwnd(&s->w, begin);
	tcp_sk(sk)->snd_ssthresh = max(cwnd, STAR_CWND_MIN);
}

/* A queue has stood for some rounds: reduce the window to test whether it is one. A
 * flow that is alone keeps the reduced window: no other flow takes the bandwidth.
 * Returns true if the window falls.
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

/* Respond to the losses of a round. Returns true if the window falls. */
static bool star_answer(struct sock *sk, const struct judge_round *r)
{
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = judge_cwnd(&s->j, judge_end_losses(&s->j, r), r, s->prior_cwnd);

	if (cwnd < r->cwnd)
		star_yield_to(sk, cwnd, cwnd);
	return cwnd < r->cwnd;
}

/* A round of START: it ends once the estimate no longer grows, or with far too many losses.
 * Returns true if the window falls.
 */
static bool star_end_start(struct sock *sk, const struct judge_round *r)
{
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = r->cwnd;
	bool over, unused = judge_is_unused(&s->j, r);

	/* Not by the first train's estimate: one that is too high would never be outgrown. */
	if (s->w.cwnd_abe && s->abe.samples == ABE_SETTLE && r->limited)
		star_watch_start(&s->w);
	over = judge_is_too_many(&s->j, r);
	if (!over && !unused && s->w.flat < STAR_FLAT)
		return false;
	if (over || unused)
		cwnd = judge_cwnd(&s->j, over ? JUDGE_OVER : JUDGE_FULL, r, s->prior_cwnd);
	else
		s->w.mode = STAR_CRUISE;
	/* Not above: the verifier would follow one branch more, four times as long. */
	if (s->w.mode == STAR_CRUISE)
		tcp_sk(sk)->snd_ssthresh = max(s->w.cwnd_abe, STAR_CWND_MIN);
	judge_cut_made(&s->j);
	if (cwnd < r->cwnd)
		star_yield_to(sk, cwnd, cwnd);
	return cwnd < r->cwnd;
}

/*
 * A round trip has ended. Returns true if the window falls. In the module forget() is its argument.
 * In BPF it hides that from the verifier, which would follow what comes next once for each value.
 */
static seldom bool star_end_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 srtt = tp->srtt_us >> 3;
	const struct judge_round r = {
		.delivered = tp->delivered - s->round_end,
		.lost = tp->lost - s->round_lost,
		.cwnd = forget(star_cwnd(&s->w)),
		.path = forget(abe_window(abe_bw(&s->abe), srtt, tp->mss_cache)),
		.rtt_us = srtt,
		.now_us = (u32)tp->tcp_mstamp,
		.limited = forget(tcp_is_cwnd_limited(sk)),
		.rests = tp->write_seq - tp->snd_nxt < tp->mss_cache,
		.train = tp->delivered + tp->lost <= STAR_TRAIN_MAX,
	};
	u32 tested = s->j.test;
	u32 longer = forget((u32)judge_end_rtt(&s->j, &r));

	judge_use(&s->j, &r);
	s->w.alone = s->j.alone;
	star_begin_round(sk);
	star_watch(&s->w, s->j.queue && (s->j.large || r.lost), s->j.excess >= JUDGE_SEGMENT,
		   s->j.learns);
	/* A test has shown that the path is longer: fill it. */
	longer = forget(longer && tested && s->w.mode == STAR_YIELD);
	s->w.clear = max_t(u32, s->w.clear, longer * STAR_CLEAR);
	s->w.cwnd_reno = max(s->w.cwnd_reno, longer * (s->w.cwnd_abe + 1));
	if (s->w.mode == STAR_SLOW && !s->w.held)
		return false;
	if (s->w.mode == STAR_START ? star_end_start(sk, &r) : star_answer(sk, &r))
		return true;
	/* No congestion is seen: LWC goes on, unless the hold begins with this ACK. */
	if (s->w.mode == STAR_SLOW && !s->w.asked)
		star_release(&s->w, 0, false);
	return forget(star_test_queue(sk));
}

/* Minimum RTT of the current round, or of the previous one if there is none yet. */
static u32 star_rtt(const struct star *s)
{
	return s->j.least_us == U32_MAX ? s->j.last_us : s->j.least_us;
}

/* Respond to a loss with a standing queue, unless a test is running. */
static void star_reduce_queue(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);
	u32 rtt = star_rtt(s), whole = forget(judge_whole_us(&s->j, rtt));
	u32 path = judge_path_us(&s->j), cwnd = s->prior_cwnd, to;

	if (s->j.test) {
		star_respond(&s->w, cwnd, cwnd, false);
		return;
	}
	to = star_yield(cwnd, whole, path, s->j.alone);
	judge_begin_test(&s->j, rtt, star_time_us(sk, cwnd - min(cwnd, to)), 3);
	/* The response is too small to be measured: a larger one for one round. While the
	 * path's RTT is measured anew there is no test, and its dip stays.
	 */
	if (!s->j.test && !s->j.rest) {
		judge_begin_test(&s->j, rtt, star_time_us(sk, cwnd / 4), 3);
		s->j.dip |= s->j.test > 0;
	}
	star_yield_to(sk, to, star_drain(cwnd, whole, path, s->j.alone));
}

/* Respond to the loss event or mark for which the stack has asked for ssthresh.
 * The response never raises the window.
 */
static seldom void star_reduce(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 cwnd = s->prior_cwnd, ssthresh, to;
	bool published = !star_judges();

	if (marked_reduction(sk)) {
		to = star_mark_cwnd(cwnd);
		judge_end_test(&s->j);
		star_yield_to(sk, to, to);
		s->w.held = 1;
		return;
	}
	if (s->j.queue && !published) {
		star_reduce_queue(sk);
		return;
	}
	/* A bit error while other flows share the path: keep the window. */
	if (s->w.mode == STAR_YIELD) {
		star_respond(&s->w, cwnd, cwnd, published);
		tp->snd_ssthresh = max(cwnd, STAR_CWND_MIN);
		return;
	}
	/* The estimate still grows: a bit error is no reason to end that. */
	if (s->w.mode == STAR_START && !published && s->w.cwnd_abe &&
	    s->w.flat < STAR_FLAT) {
		star_respond(&s->w, cwnd, cwnd, published);
		tp->snd_ssthresh = max(s->w.cwnd_abe, STAR_CWND_MIN);
		return;
	}
	/* Sent at two windows per RTT: do not evaluate the losses of that. */
	if (s->w.mode == STAR_START || s->w.mode == STAR_SLOW)
		judge_cut_made(&s->j);
	if (s->w.mode == STAR_START)
		s->w.mode = STAR_CRUISE;
	ssthresh = star_cws_ssthresh(&s->w, cwnd);
	tp->snd_ssthresh = ssthresh;
	to = min(star_cws_cwnd(cwnd, s->prior_ssthresh, ssthresh), cwnd);
	star_respond(&s->w, cwnd, to, published);
}

/* Reduce the window after an idle period; slow start leads back. Returns true if it
 * falls.
 */
static bool star_shrink(struct sock *sk, u32 cwnd)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool known = s->w.mode != STAR_START || s->w.cwnd_abe;

	/* Keep the initial window: no data was sent before. */
	if (cwnd >= tcp_snd_cwnd(tp) || !tp->data_segs_out)
		return false;
	star_round_anew(sk);
	/* A pending response to a mark, or an undo, must not raise it again. */
	s->prior_cwnd = min(s->prior_cwnd, cwnd);
	/* Without an estimate START goes on: slow start has nothing to lead back to. */
	if (known)
		tp->snd_ssthresh = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH ?
					   tcp_current_ssthresh(sk) :
					   tcp_snd_cwnd(tp);
	if (known && !star_holds(&s->w))
		s->w.mode = STAR_SLOW;
	s->w.held = 0;
	star_set_cwnd(&s->w, cwnd);
	tcp_snd_cwnd_set(tp, star_cwnd(&s->w));
	return true;
}

/* An application that does not fill the window looks for no bandwidth. */
static u32 star_pace(const struct star *s, bool limited)
{
	bool slow_start = s->w.mode == STAR_START || s->w.mode == STAR_SLOW;

	if (s->w.mode == STAR_START && s->w.cwnd_abe && star_judges()) {
		if (!limited)
			return STAR_PACE_CRUISE;
		return s->j.learns && star_outgrows(&s->w) ? STAR_PACE_START : STAR_PACE_LIFTED;
	}
	return slow_start && !s->j.queue ? STAR_PACE_START : STAR_PACE_CRUISE;
}

static void star_set_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u64 max_rate = READ_ONCE(sk->sk_max_pacing_rate);
	u64 rate = max_rate;
	u32 rtt_min = star_rtt_min(sk);

	/* Without an estimate keep the initial rate. */
	if (!abe_bw(&s->abe) || rtt_min == U32_MAX)
		return;
	if (READ_ONCE(star_pacing)) {
		rate = star_pacing_rate(tcp_snd_cwnd(tp), tp->mss_cache, rtt_min,
					star_pace(s, tcp_is_cwnd_limited(sk)));
		if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NONE)
			cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
				SK_PACING_NEEDED);
	}
	WRITE_ONCE(sk->sk_pacing_rate, min(rate, max_rate));
}

/* Without timestamps F-RTO is still finding out whether data was lost: a new segment, no
 * retransmission (RFC 5682 2.1). Once all is acknowledged it has ended, though its flag and,
 * without SACK, the state stay.
 */
static bool star_is_frto(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return ca_state(sk) == TCP_CA_Loss && bitfield(tp, frto) && tp->undo_marker &&
	       before(tp->snd_una, tp->high_seq) && !bitfield(tp, rx_opt.tstamp_ok);
}

/* Set the window for the stack to send by: at most @most segments. */
static __always_inline void star_set_window(struct sock *sk, u32 most)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u32 cwnd = star_cwnd(&s->w);

	if (s->j.dip && star_judges())
		cwnd = judge_dip(&s->j, cwnd);
	cwnd = min(cwnd, most);
	if (ca_state(sk) >= TCP_CA_Recovery) {
		u32 one_more = tcp_packets_in_flight(tp) + 1;

		/* The first retransmission must not wait for the window. */
		if (star_is_frto(sk))
			cwnd = min(cwnd, one_more);
		else if (ca_state(sk) == TCP_CA_Recovery && !tp->retrans_out)
			cwnd = max(cwnd, one_more);
	}
	tcp_snd_cwnd_set(tp, min(cwnd, tp->snd_cwnd_clamp));
}

/* The window after an idle period, and the rate at which it leaves. Returns true if it
 * falls.
 */
static bool star_restart(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);
	bool paced = forget(READ_ONCE(star_pacing) && star_judges() && s->w.cwnd_abe);

	/* A mark that was told of while nothing was in flight: no later ACK shows what it was. */
	if (s->w.asked && !tcp_sk(sk)->packets_out && marked_reduction(sk)) {
		star_reduce(sk);
		s->w.asked = 0;
		star_set_window(sk, s->prior_cwnd);
		star_set_pacing_rate(sk);
	}
	if (s->w.mode == STAR_NONE || !star_shrink(sk, idle_tx_start(sk, paced)))
		return false;
	/* An initial window leaves as one train again, a larger one is paced. */
	if (tcp_snd_cwnd(tcp_sk(sk)) <= TCP_INIT_CWND)
		star_set_first_rate(sk);
	else
		star_set_pacing_rate(sk);
	return true;
}

/* The stack asks before it sends, see kernel/idle.h. */
static u32 star_min_tso_segs(struct sock *sk)
{
	struct star *s = inet_csk_ca(sk);

	if (!s->w.restarted && idle_may_send(sk))
		s->w.restarted = star_restart(sk);
	return idle_min_tso_segs(sk);
}

/* A probe of the receiver's window is sent without asking. */
APOGEE_TX_START(star_tx_start)
{
	struct star *s = inet_csk_ca(sk);

	if (!s->w.restarted)
		star_restart(sk);
	s->w.restarted = 0;
}

/* Does the ACK lift the window? One of new data does, and in recovery with SACK any newly
 * delivered data. Without SACK a recovery may last hundreds of round trips, one for each
 * hole: a window that grew in all of them would leave as a burst at its end.
 */
static bool star_lifts(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);

	if (!rs->acked_sacked)
		return false;
	if (ca_state(sk) >= TCP_CA_Recovery && tcp_is_sack(tp))
		return true;
	return after(tp->snd_una, s->una) && ca_state(sk) != TCP_CA_Recovery;
}

/* A window that fills the path need not grow while the flow is alone. If another flow
 * has not been detected, this leaves room for it. In YIELD no window grows while losses exceed
 * the link's.
 */
static bool star_rests(const struct sock *sk)
{
	const struct star *s = inet_csk_ca(sk);

	if (s->w.mode != STAR_YIELD || !star_judges())
		return false;
	return s->j.excess >= JUDGE_SEGMENT ||
	       (s->j.alone && s->w.clear < 2 * STAR_CLEAR &&
		s->w.cwnd_reno >= max(s->w.cwnd_abe - s->w.cwnd_abe / 16,
				      tcp_sk(sk)->snd_ssthresh));
}

/* Has the round trip ended? One that suffices to show far too many losses ends early, as the
 * data sent until its end would be lost as well: once more was lost than arrived, and a quarter
 * of the window. Of a flow that is alone the second one suffices, and that may begin with the rest
 * of a burst: half of the window must have been lost or have arrived.
 *
 * After a spurious timeout an ACK may be for the original of a retransmission, and those sent
 * before it then seem to be lost. Only new data shows that this is over.
 */
static bool star_round_ends(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct star *s = inet_csk_ca(sk);
	u32 lost, delivered;

	if (s->w.mode == STAR_JUDGE || rs->delivered <= 0)
		return false;
	if (s->w.spurious) {
		if (!rs->is_retrans && !before(rs->prior_delivered, s->round_end))
			star_round_anew(sk);
		return false;
	}
	if (!before(rs->prior_delivered, s->round_end))
		return true;
	lost = tp->lost - s->round_lost;
	delivered = tp->delivered - s->round_end;
	if (lost < STAR_LOST_EARLY || lost <= delivered || !star_judges() || s->j.skip)
		return false;
	if (s->j.alone || s->j.empty)
		return s->j.over && lost + delivered >= star_cwnd(&s->w) / 2;
	return lost > star_cwnd(&s->w) / 4;
}

/* Was a timeout spurious that AEN does not judge? After the silence something arrives that was not
 * sent again, before an answer to what was (F-RTO, RFC 5682 3.1): of what the stack has marked as
 * lost not all is. In START it may well be most, as more is sent than the path is known to carry.
 */
static bool star_is_spurious(const struct sock *sk, const struct rate_sample *rs)
{
	const struct star *s = inet_csk_ca(sk);

	return ca_state(sk) == TCP_CA_Loss && inet_csk(sk)->icsk_retransmits &&
	       rs->delivered > 0 && !rs->is_retrans &&
	       s->w.mode != STAR_JUDGE && s->w.mode != STAR_START;
}

/* Detect that nothing has arrived for half a round trip. If nothing was on its way, since
 * the first to be delivered again was sent after the last ACK, the sender has paused. In
 * other states than Open data was lost on its way.
 */
static void star_look_for_silence(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	u32 last_us = s->abe.last_us;

	if ((u32)tp->tcp_mstamp - last_us <= tp->srtt_us >> 4)
		return;
	if (ca_state(sk) == TCP_CA_Open && (s32)((u32)tp->first_tx_mstamp - last_us) >= 0)
		return;
	if (star_is_spurious(sk, rs)) {
		star_round_anew(sk);
		s->w.spurious = 1;
	}
	if (rs->acked_sacked && star_cwnd(&s->w) >= STAR_QUEUED)
		judge_silence(&s->j);
}

APOGEE_CONG_CONTROL(star_cong_control)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct star *s = inet_csk_ca(sk);
	bool published = forget(!star_judges());
	u32 cwnd = tcp_snd_cwnd(tp), most;
	bool judged, lost = false, lift, round;
	enum star_news news;

	/* The ACK of the SYN arrives before star_init() is called. */
	if (s->w.mode == STAR_NONE)
		return;

	star_look_for_silence(sk, rs);
	news = forget(star_estimate(sk, rs, published));
	round = forget(star_round_ends(sk, rs));

	judged = s->w.mode == STAR_JUDGE;
	if (judged)
		lost = star_check_aen(sk);
	/* Until AEN's verdict the stack's window after a timeout stays. It is no
	 * basis for a pacing rate.
	 */
	if (s->w.mode == STAR_JUDGE)
		goto out;

	lift = star_lifts(sk, rs);
	most = lift || judged ? U32_MAX : cwnd;
	if (s->w.asked) {
		star_reduce(sk);
		most = s->prior_cwnd;
	} else if (lift && !lost &&
		   ca_state(sk) != TCP_CA_CWR &&
		   tcp_is_cwnd_limited(sk) && !star_rests(sk)) {
		star_lwc(&s->w, rs->acked_sacked, tp->snd_ssthresh, published, &s->j);
	}
	/* The end of a hold does not raise the window with an ACK that shows a loss. */
	if (rs->losses && s->w.mode == STAR_SLOW && s->w.held)
		most = forget(min(most, cwnd));
	/* As published only count rounds: coexist may be switched on later. */
	if (round) {
		if (published)
			star_begin_round(sk);
		else if (star_end_round(sk))
			most = U32_MAX;
	}
	s->w.asked = 0;

	if (news == STAR_ESTIMATE && s->w.mode == STAR_START && !published &&
	    s->w.cwnd_abe)
		tp->snd_ssthresh = max(s->w.cwnd_abe, STAR_CWND_MIN);

	star_set_window(sk, most);
	/* A change of the gain alone takes effect with the next sample. */
	if (news || tcp_snd_cwnd(tp) != cwnd)
		star_set_pacing_rate(sk);
	s->una = tp->snd_una;
out:
	trace_star_ack(sk, &s->w, &s->j, &s->abe);
}

/* Three windows: one more than usual, for retransmissions on a lossy path. */
static u32 star_sndbuf_expand(struct sock *sk)
{
	return 3;
}

/* ss -ti shows the estimate as bandwidth, and cwnd / cwnd_abe as cwnd_gain. */
static size_t star_get_info(struct sock *sk, u32 ext, int *attr,
			    union tcp_cc_info *info)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 gain = (u64)info_cwnd(tp) * BBR_INFO_UNIT;
	struct star s;

	ca_snapshot(sk, &s, sizeof(s));
	return bbr_info(ext, attr, info, abe_bw(&s.abe),
			star_judges() ? s.j.base_us : info_min_rtt(tp),
			star_pace(&s, tcp_is_cwnd_limited(sk)),
			s.w.cwnd_abe ? div_u64(gain, s.w.cwnd_abe) : 0);
}

static struct tcp_congestion_ops tcp_star __read_mostly = {
	.name		= "star",
	.owner		= THIS_MODULE,
	.init		= star_init,
	.ssthresh	= star_ssthresh,
	.set_state	= star_set_state,
	.cong_control	= star_cong_control,
	.min_tso_segs	= star_min_tso_segs,
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
