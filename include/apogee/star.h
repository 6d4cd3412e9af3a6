/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP-STAR (Obata, Taira, Ishida 2007): LWC, Lift Window Control, CWS,
 * Congestion Window Setting, and AEN, ACK Error Notification.
 *
 * Figure and equation numbers are the paper's; docs/algorithms.md has the
 * reason for each decision the paper leaves open.
 *
 * All windows are in segments. Two readings of the paper are kept:
 *
 *  - the letter (coexist=0): slow start is where cwnd_reno < ssthresh, and
 *    cwnd_reno grows by one per cwnd_reno ACKs. After every loss that is a
 *    slow start on top of a full bandwidth-delay product.
 *  - the whole window (coexist=1): cwnd_reno + cwnd_abe is compared with
 *    ssthresh, and as soon as a queue stands at the bottleneck the window
 *    grows by one segment per round trip, as Reno's does. judge.h tells what
 *    is congestion, round trip by round trip. At a loss that comes with a
 *    queue the window falls to the part of it that is not in the queue, and a
 *    little below it for a moment, so that the queue drains: on a path of one's
 *    own, where it may have been a bit error's loss, that costs nothing, as
 *    what is left fills the path. ABE's share stays out until there has been
 *    no congestion for a while and the window has come back to cwnd_abe.
 */
#ifndef _APOGEE_STAR_H
#define _APOGEE_STAR_H

#include "abe.h"
#include "judge.h"

/* Rounds without congestion after which ABE's share may count again, if the window
 * has come to it. CUBIC needs that long to be back at the window it had on a path of
 * 500 ms.
 */
#define STAR_CLEAR		12U
/* Such rounds from which on a flow takes more than a segment per round trip: a try of
 * whether there is room. It is less than this for who has less than the path, and twice
 * as long after each try that congestion answers.
 */
#define STAR_WAIT		8U
#define STAR_WAIT_MOST		64U
/* After a costly try all of them, however small the part of the path. */
#define STAR_WAIT_FULL		255U
/* A try takes an eighth of the window per round trip, up to an eighth of what is missing
 * to cwnd_abe; alone, where there is room beyond that, a sixteenth.
 */
#define STAR_TRY_SHIFT		3
#define STAR_TRY_ALONE_SHIFT	4
/* What losses take away from the rounds. */
#define STAR_CLEAR_LOSS		4U
/* Segments a flow keeps in the queue of a path it shares: 19 ms at 10 Mbit/s. */
#define STAR_QUEUED		16U
/* The letter's queue stands where the RTT is a sixteenth above its minimum. */
#define STAR_QUEUE_SHIFT	4
/* Steps of growth for one ACK, of 32896 segments and more: a BPF verifier wants a bound. */
#define STAR_STEPS_MAX		256U
/* No window below two segments: one would wait for the delayed ACK. */
#define STAR_CWND_MIN		2U

/* Pacing gains in 1/256: two windows per RTT_min in slow start ... */
#define STAR_PACE_START		512U
/* ... and a sixteenth more than one later. What leaves sooner than the path takes
 * it has to fit into the queue: with a quarter, on a path of 10 Mbit/s and 500 ms,
 * 80 segments, which are lost where the queue is shorter.
 */
#define STAR_PACE_CRUISE	272U

/* What a connection is doing. In SLOW, MARKED and YIELD ABE's share of the
 * window is held back; tcp_star.c draws what leads from one to the other.
 */
enum star_mode {
	STAR_NONE,	/* star_init() has not been called yet */
	STAR_START,	/* the path is unknown: ssthresh follows cwnd_abe */
	STAR_CRUISE,	/* cwnd = cwnd_reno + cwnd_abe */
	STAR_SLOW,	/* data lost, or long idle: until slow start passes ssthresh */
	STAR_MARKED,	/* ECN: until cwnd_reno has passed cwnd_abe */
	STAR_YIELD,	/* congestion: until there has been none for long */
	STAR_JUDGE,	/* a timeout: the window is the stack's until AEN's verdict */
};

/**
 * struct star_window - the window and its two shares
 * @cwnd_reno: NewReno's share, at least 1
 * @cwnd_abe: ABE's share, 0 without an estimate
 * @cwnd_cnt: segments acknowledged towards the next increment of @cwnd_reno
 * @mode: an enum star_mode
 * @clear: rounds without congestion, up to STAR_WAIT_MOST
 * @wait: such rounds to wait for until the next try, up to STAR_WAIT_MOST; less than
 *	STAR_WAIT is that; or STAR_WAIT_FULL
 * @alone: hardly anybody else sends
 * @prior_mode: mode before the last reduction
 * @asked: the stack has asked for ssthresh: an answer is due
 * @sack_hole: in STAR_JUDGE the scoreboard had a hole at the timeout
 */
struct star_window {
	u32 cwnd_reno;
	u32 cwnd_abe;
	u32 cwnd_cnt;
	u8 mode;
	u8 clear;
	u8 wait;
	u8 alone : 1;
	u8 prior_mode : 3;
	u8 asked : 1;
	u8 sack_hole : 1;
};

/**
 * star_holds() - is ABE's share of the window held back?
 * @w: the window
 */
static inline bool star_holds(const struct star_window *w)
{
	return w->mode == STAR_SLOW || w->mode == STAR_MARKED ||
	       w->mode == STAR_YIELD;
}

/**
 * star_cwnd() - cwnd = cwnd_reno + cwnd_abe (LWC, fig. 1)
 * @w: the window
 *
 * Return: the congestion window in segments, 2 to 2^30.
 */
static inline u32 star_cwnd(const struct star_window *w)
{
	u64 cwnd = w->cwnd_reno;

	if (!star_holds(w))
		cwnd += w->cwnd_abe;
	return (u32)min_t(u64, max_t(u64, cwnd, STAR_CWND_MIN), ABE_WINDOW_MAX);
}

/**
 * star_queue_stands() - does the RTT show a standing queue, by the letter?
 * @rtt_us: smallest RTT of the last sampling interval in us
 * @rtt_min_us: smallest RTT seen at all in us
 *
 * Only for the pace of coexist=0; else judge.h tells.
 *
 * Return: true if @rtt_us is more than a sixteenth above @rtt_min_us.
 */
static inline bool star_queue_stands(u32 rtt_us, u32 rtt_min_us)
{
	return rtt_us > rtt_min_us &&
	       rtt_us - rtt_min_us > rtt_min_us >> STAR_QUEUE_SHIFT;
}

/* Add acked / divisor to cwnd_reno, the divisor growing with each step. */
static inline void star_increase(struct star_window *w, u32 divisor, u32 acked)
{
	u32 steps;
	u64 cnt;

	/* Credit collected against a larger window is worth one at the most. */
	divisor = max_t(u32, divisor, 1);
	cnt = (u64)min_t(u32, w->cwnd_cnt, divisor - 1) + acked;
	for (steps = 0; steps < STAR_STEPS_MAX; steps++) {
		if (cnt < divisor || w->cwnd_reno >= ABE_WINDOW_MAX)
			break;
		cnt -= divisor++;
		w->cwnd_reno++;
	}
	w->cwnd_cnt = (u32)min_t(u64, cnt, divisor - 1);
}

/* Have @times the rounds passed after which a flow tries whether there is room? They are
 * fewer for a smaller part of the path, down to two.
 */
static inline bool star_waited(const struct star_window *w, u32 times)
{
	u32 wait = max_t(u32, w->wait, STAR_WAIT) * times;

	if (w->wait == STAR_WAIT_FULL)
		return w->clear >= STAR_WAIT_MOST;
	return w->clear >= min_t(u32, wait, STAR_WAIT_MOST) ||
	       (w->clear >= 2 * times &&
		(u64)w->clear * w->cwnd_abe >= (u64)wait * star_cwnd(w));
}

/**
 * star_try_failed() - congestion has answered while the window grew
 * @w: the window
 * @costly: and much was lost
 */
static inline void star_try_failed(struct star_window *w, bool costly)
{
	if (costly)
		w->wait = STAR_WAIT_FULL;
	else if (w->wait <= STAR_WAIT_MOST)
		w->wait = (u8)min_t(u32, 2 * max_t(u32, w->wait, STAR_WAIT),
			    STAR_WAIT_MOST);
}

/* Reno's one segment per round trip; more where it is time to try. */
static inline u32 star_yield_divisor(const struct star_window *w)
{
	u32 cwnd = star_cwnd(w), per_rtt = 1;

	if (w->alone && star_waited(w, 2))
		per_rtt = (cwnd >> STAR_TRY_ALONE_SHIFT) + 1;
	else if (cwnd < w->cwnd_abe && star_waited(w, 1))
		per_rtt = min_t(u32, max_t(u32, cwnd >> STAR_TRY_SHIFT, 2),
				((w->cwnd_abe - cwnd) >> STAR_TRY_SHIFT) + 1);
	return cwnd / per_rtt;
}

/* Have the others gone that an answer to congestion made room for? */
static inline bool star_is_clear(const struct star_window *w)
{
	return w->clear >= STAR_CLEAR && w->cwnd_reno > w->cwnd_abe;
}

/* Let ABE's share count again once its hold has ended; the sum stays. The letter knows
 * no YIELD: what coexist=1 has left of one ends at once.
 */
static inline void star_release(struct star_window *w, u32 ssthresh,
				bool letter)
{
	if (w->mode == STAR_SLOW && w->cwnd_reno < ssthresh)
		return;
	if (w->mode == STAR_MARKED && w->cwnd_reno <= w->cwnd_abe)
		return;
	if (w->mode == STAR_YIELD && !letter && !star_is_clear(w))
		return;
	w->mode = STAR_CRUISE;
	w->wait = min_t(u8, w->wait, STAR_WAIT_MOST) / 2;
	w->cwnd_reno -= min_t(u32, w->cwnd_abe, w->cwnd_reno - 1);
}

/**
 * star_lwc() - Lift Window Control for one ACK of new data (fig. 1)
 * @w: the window
 * @acked: segments newly delivered
 * @ssthresh: slow start threshold in segments
 * @letter: compare cwnd_reno alone with @ssthresh, as the paper writes it
 * @queue: a queue stands at the bottleneck; ignored with @letter
 *
 * Slow start adds one per segment up to @ssthresh, congestion avoidance
 * 1 / cwnd_reno per segment. With a queue and without @letter it is 1 / cwnd,
 * Reno's one segment per round trip: the path is full, only the queue grows.
 */
static inline void star_lwc(struct star_window *w, u32 acked, u32 ssthresh,
			    bool letter, bool queue)
{
	u32 compared = letter || star_holds(w) ? w->cwnd_reno : star_cwnd(w);

	if (compared < ssthresh) {
		u32 step = min_t(u32, acked, ssthresh - compared);

		step = min_t(u32, step, ABE_WINDOW_MAX - w->cwnd_reno);
		w->cwnd_reno += step;
		acked -= step;
	}
	if (star_holds(w))
		star_release(w, ssthresh, letter);
	if (acked) {
		u32 divisor = queue && !letter ? star_cwnd(w) : w->cwnd_reno;

		if (w->mode == STAR_YIELD)
			divisor = star_yield_divisor(w);
		star_increase(w, divisor, acked);
	}
}

/**
 * star_set_cwnd() - split a given window into its two shares
 * @w: the window
 * @cwnd: the sum wanted, in segments
 *
 * cwnd_reno restarts so that cwnd_reno + cwnd_abe is @cwnd, but at least 1.
 */
static inline void star_set_cwnd(struct star_window *w, u32 cwnd)
{
	u32 abe = star_holds(w) ? 0 : w->cwnd_abe;

	w->cwnd_reno = cwnd > abe ? cwnd - abe : 1;
	w->cwnd_cnt = 0;
}

/* No answer to a queue and a loss lowers the window further. */
static inline u32 star_yield_least(u32 cwnd, bool alone)
{
	return max_t(u32, alone ? cwnd >> 1 : cwnd - (cwnd >> 2), STAR_CWND_MIN);
}

/**
 * star_yield() - window after a loss that came with a standing queue
 * @cwnd: congestion window at the time of the loss, in segments
 * @rtt_us: smallest RTT of the running round in us
 * @rtt_min_us: the path's RTT in us
 * @alone: hardly anybody else sends
 *
 * The sender's own share of the path, cwnd * RTT_min / RTT, and a few segments
 * that it keeps in the queue, or the path would run empty at the next loss.
 * Few and the same for everybody whatever the window, so that flows which yield
 * at the same losses come to equal windows, as FAST TCP's do (Wei, Jin, Low,
 * Hegde 2006): a thirty-second of the share at least, and up to 16 segments as
 * long as that is less than an eighth. Not below half, Reno's answer; beside others
 * not below three quarters, near CUBIC's.
 *
 * Return: the window, at least 2 segments.
 */
static inline u32 star_yield(u32 cwnd, u32 rtt_us, u32 rtt_min_us, bool alone)
{
	u32 share = judge_share(cwnd, rtt_us, rtt_min_us);

	share += max_t(u32, share >> 5, min_t(u32, share >> 3, STAR_QUEUED));
	share = min_t(u32, share, cwnd);
	return max_t(u32, share, star_yield_least(cwnd, alone));
}

/**
 * star_drain() - where the window begins after a loss with a standing queue
 * @cwnd: congestion window at the time of the loss, in segments
 * @rtt_us: smallest RTT of the running round in us
 * @rtt_min_us: the path's RTT in us
 * @alone: hardly anybody else sends
 *
 * For less than a round trip, until slow start has brought the window back
 * to star_yield(), it lies as far below the share as it lay above: the queue
 * drains, and a flow that came when it stood learns the path's own RTT. Not
 * more than a quarter below, and not below star_yield()'s bounds.
 *
 * Return: the window, at least 2 segments, not above star_yield().
 */
static inline u32 star_drain(u32 cwnd, u32 rtt_us, u32 rtt_min_us, bool alone)
{
	u32 share = judge_share(cwnd, rtt_us, rtt_min_us);
	u32 queued = min_t(u32, cwnd - share, share >> 2);

	return max_t(u32, share - queued, star_yield_least(cwnd, alone));
}

/**
 * star_watch() - count the rounds without congestion
 * @w: the window
 * @queue: a queue stood during the round that has just ended
 * @losses: there is an excess of losses
 */
static inline void star_watch(struct star_window *w, bool queue, bool losses)
{
	bool tried = w->mode == STAR_YIELD && star_waited(w, 1);

	if (queue)
		w->clear = 0;
	else if (losses)
		w->clear -= min_t(u8, w->clear, STAR_CLEAR_LOSS);
	else if (w->clear < STAR_WAIT_MOST)
		w->clear++;
	if (tried && !star_waited(w, 1))
		star_try_failed(w, false);
}

/**
 * star_cws_ssthresh() - slow start threshold after a data loss (CWS, fig. 2)
 * @w: the window
 * @cwnd: congestion window at the time of the loss, in segments
 *
 * Return: cwnd_abe; half of @cwnd, as Reno, while there is no estimate; at
 * least 2 segments.
 */
static inline u32 star_cws_ssthresh(const struct star_window *w, u32 cwnd)
{
	return max_t(u32, w->cwnd_abe ? w->cwnd_abe : cwnd >> 1, STAR_CWND_MIN);
}

/**
 * star_cws_cwnd() - congestion window after a data loss (CWS, fig. 2)
 * @cwnd: congestion window at the time of the loss, in segments
 * @ssthresh: slow start threshold at the time of the loss
 * @new_ssthresh: the answer of star_cws_ssthresh()
 *
 * Return: @cwnd below @ssthresh, else @new_ssthresh.
 */
static inline u32 star_cws_cwnd(u32 cwnd, u32 ssthresh, u32 new_ssthresh)
{
	return cwnd < ssthresh ? cwnd : new_ssthresh;
}

/**
 * star_mark_cwnd() - window after an ECN mark
 * @cwnd: congestion window at the time of the mark, in segments
 *
 * 0.8 of it (RFC 8511), rounded down: every mark takes a segment at least.
 *
 * Return: the window, at least 2 segments.
 */
static inline u32 star_mark_cwnd(u32 cwnd)
{
	return max_t(u32, cwnd - cwnd / 5 - !!(cwnd % 5), STAR_CWND_MIN);
}

/**
 * star_pacing_rate() - how fast a window leaves
 * @cwnd: congestion window in segments
 * @mss: maximum segment size in bytes
 * @rtt_min_us: the path's RTT in us
 * @gain: windows per RTT_min in 1/256, up to 512
 *
 * Return: cwnd * MSS / RTT_min * gain in B/s, at most 2^63.
 */
static inline u64 star_pacing_rate(u32 cwnd, u32 mss, u32 rtt_min_us, u32 gain)
{
	u64 rate = abe_rate((u64)cwnd * mss, rtt_min_us);

	return (min_t(u64, rate, U64_MAX >> 9) * gain) >> 8;
}

/**
 * star_first_rate() - pacing rate before there is an estimate
 * @cwnd: the first window in segments
 * @mss: maximum segment size in bytes
 * @rtt_min_us: RTT of the handshake in us
 *
 * What the stack would take in slow start, two windows per RTT, as the stack sizes
 * what it hands to the device by it. But at least two segments for each of its
 * 1024 us, the most for which it makes them of two segments: on a long path the
 * first window is to leave as one train, by which ABE measures (fq paces what is
 * beyond its initial quantum).
 *
 * Return: the rate in B/s.
 */
static inline u64 star_first_rate(u32 cwnd, u32 mss, u32 rtt_min_us)
{
	return max_t(u64, star_pacing_rate(cwnd, mss, rtt_min_us, STAR_PACE_START),
		     abe_rate(2 * (u64)mss, 1024));
}

/* What an ACK says about a retransmission timeout. */
enum star_verdict {
	STAR_AEN_WAIT,		/* nothing yet */
	STAR_AEN_SPURIOUS,	/* all data had arrived, only ACKs were lost */
	STAR_AEN_LOSS,		/* data was lost */
};

/**
 * struct star_aen_evidence - what AEN knows when an ACK arrives after a timeout
 * @una_after_mark: ACK_seq is beyond the oldest segment of the timeout
 * @covers_probe: P_seq <= ACK_seq
 * @sack_hole: SACK blocks show a hole below P_seq, or the scoreboard did
 *	before the timeout
 * @has_sack: SACK, and with it D-SACK, is in use
 * @dsack: a D-SACK has arrived since the timeout: the copy was not needed
 * @has_tstamp: timestamps are in use
 * @echo_original: the echo is older than the retransmission: the ACK answers
 *	the original
 */
struct star_aen_evidence {
	bool una_after_mark;
	bool covers_probe;
	bool sack_hole;
	bool has_sack;
	bool dsack;
	bool has_tstamp;
	bool echo_original;
};

/**
 * star_aen_verdict() - ACK Error Notification (fig. 3)
 * @a: the evidence
 *
 * The stack has retransmitted the oldest segment, not the newest. An ACK that
 * covers P_seq means that only ACKs were lost, unless the oldest segment alone
 * was missing and the retransmission has just filled its hole. D-SACK tells
 * the two apart. An echo older than the retransmission proves that the
 * original arrived; one that is not older proves nothing, as a receiver
 * echoes an unneeded copy as well, and counts as loss. Without SACK and
 * timestamps the ACK alone decides: the one case that can't be told.
 *
 * Return: the verdict.
 */
static inline enum star_verdict star_aen_verdict(const struct star_aen_evidence *a)
{
	if (a->sack_hole)
		return STAR_AEN_LOSS;
	if (!a->una_after_mark)
		return STAR_AEN_WAIT;
	if (a->has_tstamp && a->echo_original)
		return a->covers_probe ? STAR_AEN_SPURIOUS : STAR_AEN_WAIT;
	if (!a->covers_probe)
		return STAR_AEN_LOSS;
	if (a->has_sack)
		return a->dsack ? STAR_AEN_SPURIOUS : STAR_AEN_LOSS;
	return a->has_tstamp ? STAR_AEN_LOSS : STAR_AEN_SPURIOUS;
}

#endif /* _APOGEE_STAR_H */
