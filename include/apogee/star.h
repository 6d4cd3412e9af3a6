/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP-STAR (Obata, Taira, Ishida 2007): LWC, Lift Window Control, CWS,
 * Congestion Window Setting, and AEN, ACK Error Notification.
 *
 * Figure and equation numbers are the paper's; docs/algorithms.md gives the
 * reason for each decision the paper leaves open.
 *
 * All windows are in segments. There are two variants:
 *
 *  - as published (coexist=0): slow start lasts while cwnd_reno < ssthresh, and
 *    in congestion avoidance cwnd_reno grows by one per cwnd_reno segments. After
 *    every loss this is a slow start on top of a full bandwidth-delay product.
 *  - the whole window (coexist=1): cwnd_reno + cwnd_abe is compared with
 *    ssthresh, and while a queue stands at the bottleneck the window grows by
 *    one segment per round trip, as in Reno. Slow start goes on while ABE's
 *    estimate grows, whatever single losses there are. judge.h detects congestion
 *    once per round trip. At a loss with a standing queue the window is reduced to
 *    the part of it that is not in the queue, and starts a little below, so that
 *    the queue drains. If the flow is alone and the loss was a bit error, this
 *    costs no throughput, since the reduced window still fills the path. ABE's
 *    share is held back until there has been no congestion for a while and the
 *    window is back at cwnd_abe; until then the flow probes for more from time to
 *    time.
 */
#ifndef _APOGEE_STAR_H
#define _APOGEE_STAR_H

#include "abe.h"
#include "judge.h"

/* Rounds without congestion after which ABE's share counts again, if the window has
 * reached it. On a path of 500 ms CUBIC takes as long to return to its previous
 * window.
 */
#define STAR_CLEAR		12U
/* Rounds without congestion before a flow probes for more bandwidth, growing by more
 * than a segment per round trip. Fewer if its window is below cwnd_abe. They double
 * with each of the last probes that ran into congestion, up to three. As for the number
 * above, a round with an empty queue counts twice.
 */
#define STAR_WAIT		8U
#define STAR_WAIT_MOST		64U
#define STAR_TRIES_MOST		3U
/* A probe grows by an eighth of the window per round trip, by half of it once there was no
 * congestion for twice STAR_CLEAR and the queue is empty, and by at most a quarter of what is
 * missing to cwnd_abe; if the flow is alone, by a sixteenth, also above cwnd_abe.
 */
#define STAR_TRY_SHIFT		3
#define STAR_TRY_EMPTY_SHIFT	1
#define STAR_TRY_MOST_SHIFT	2
#define STAR_TRY_ALONE_SHIFT	4
/* An excess of losses takes this number from the rounds without congestion. */
#define STAR_CLEAR_LOSS		4U
/* Segments a flow keeps in the queue of a shared path: 19 ms at 10 Mbit/s. */
#define STAR_QUEUED		16U
/* As published: a queue stands if the RTT is a sixteenth above its minimum. */
#define STAR_QUEUE_SHIFT	4
/* Steps of growth per ACK, enough for 32896 segments: the BPF verifier needs a bound. */
#define STAR_STEPS_MAX		256U
/* Rounds after which an estimate that has not grown by a quarter ends START, as in BBR. */
#define STAR_FLAT		3U
/* Minimum window: a single segment would wait for the delayed ACK. */
#define STAR_CWND_MIN		2U

/* Pacing gains in 1/256: in slow start two windows per RTT_min ... */
#define STAR_PACE_START		512U
/* ... 5/4 once ABE has lifted the window: an estimate that is too low is found out, and with
 * two windows again, while the queue is empty, what it should be ...
 */
#define STAR_PACE_LIFTED	320U
/* ... then 17/16 of a window. The queue must hold what is sent faster than the
 * bottleneck rate: with a gain of 5/4, on a path of 10 Mbit/s and 500 ms, that is
 * 80 segments, which a shorter queue would drop.
 */
#define STAR_PACE_CRUISE	272U

/* Mode of a connection. In SLOW and YIELD ABE's share of the window is held back. The
 * state diagram is in tcp_star.c.
 */
enum star_mode {
	STAR_NONE,	/* star_init() has not been called yet */
	STAR_START,	/* the path is unknown: ssthresh follows cwnd_abe */
	STAR_CRUISE,	/* cwnd = cwnd_reno + cwnd_abe */
	STAR_JUDGE,	/* after a timeout: the stack sets the window until AEN's verdict */
	STAR_SLOW,	/* until slow start passes ssthresh, or while w->held */
	STAR_YIELD,	/* after congestion or a mark, until there has been none for a while */
};

/**
 * struct star_window - the window and its two shares
 * @cwnd_reno: NewReno's share, at least 1
 * @cwnd_abe: ABE's share, 0 without an estimate
 * @cwnd_cnt: segments acknowledged towards the next increment of @cwnd_reno
 * @mode: an enum star_mode
 * @restarted: reduced after an idle time, of which the first packet is not yet sent
 * @flat: in START: rounds in which the estimate has not grown, up to STAR_FLAT
 * @tries: recent probes that ran into congestion, up to STAR_TRIES_MOST
 * @clear: rounds without congestion, up to STAR_WAIT_MOST
 * @grown: in START: star_scale() of the largest @cwnd_abe
 * @spurious: a timeout was, and what was lost since is not known until new data arrives
 * @alone: no other flows are detected
 * @prior_mode: mode before the last reduction
 * @asked: the stack has asked for ssthresh, and the response is pending
 * @sack_hole: in STAR_JUDGE: the scoreboard had a hole at the timeout
 * @held: in STAR_SLOW: after a loss, for its round trip at most; in STAR_YIELD: after a mark
 * @recounts: the stack may count data a second time (kernel/recount.h)
 */
struct star_window {
	u32 cwnd_reno;
	u32 cwnd_abe;
	u32 cwnd_cnt;
	u8 restarted : 1;
	u8 flat : 2;
	u8 tries : 2;
	u8 mode : 3;
	u8 clear;
	u8 grown : 7;
	u8 spurious : 1;
	u8 alone : 1;
	u8 prior_mode : 3;
	u8 asked : 1;
	u8 sack_hole : 1;
	u8 held : 1;
	u8 recounts : 1;
};

/**
 * star_holds() - is ABE's share of the window held back?
 * @w: the window
 *
 * Return: true in SLOW and YIELD.
 */
static inline bool star_holds(const struct star_window *w)
{
	return w->mode >= STAR_SLOW;
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
	/* The usual case is one comparison: this is asked for three times per ACK. */
	if (cwnd >= STAR_CWND_MIN && cwnd <= ABE_WINDOW_MAX)
		return (u32)cwnd;
	return cwnd < STAR_CWND_MIN ? STAR_CWND_MIN : ABE_WINDOW_MAX;
}

/**
 * star_queue_stands() - does the RTT show a standing queue? (as published)
 * @rtt_us: minimum RTT of the last sampling interval in us
 * @rtt_min_us: minimum RTT of the connection in us
 *
 * Only used for the pacing gain with coexist=0; otherwise see judge.h.
 *
 * Return: true if @rtt_us is more than a sixteenth above @rtt_min_us.
 */
static inline bool star_queue_stands(u32 rtt_us, u32 rtt_min_us)
{
	return rtt_us > rtt_min_us &&
	       rtt_us - rtt_min_us > rtt_min_us >> STAR_QUEUE_SHIFT;
}

/* What a number of steps of growth costs, in segments acknowledged. */
static inline u64 star_steps_cost(u32 divisor, u32 steps)
{
	return (2ULL * divisor + steps - 1) * steps / 2;
}

/* Add acked / divisor to cwnd_reno; the divisor grows by one with each step. The number of
 * steps is found by bisection: n steps cost divisor + (divisor + 1) + ... of them.
 */
static inline void star_increase(struct star_window *w, u32 divisor, u32 acked)
{
	u64 cnt = (u64)w->cwnd_cnt + acked;
	u32 room, steps = 0, bit;

	if (cnt < divisor) {
		w->cwnd_cnt = (u32)cnt;
		return;
	}
	/* Credit from a larger window is worth one segment at most. */
	divisor = max_t(u32, divisor, 1);
	cnt = (u64)min_t(u32, w->cwnd_cnt, divisor - 1) + acked;
	room = ABE_WINDOW_MAX - min_t(u32, w->cwnd_reno, ABE_WINDOW_MAX);
	room = min_t(u32, room, STAR_STEPS_MAX);
	for (bit = STAR_STEPS_MAX; bit; bit >>= 1) {
		u32 more = steps + bit;

		if (more <= room && star_steps_cost(divisor, more) <= cnt)
			steps = more;
	}
	cnt -= star_steps_cost(divisor, steps);
	w->cwnd_reno += steps;
	w->cwnd_cnt = (u32)min_t(u64, cnt, (u64)divisor + steps - 1);
}

/* Have @times the rounds before a probe passed? A smaller share of the path needs
 * proportionally fewer rounds, but at least two.
 */
static inline bool star_waited(const struct star_window *w, u32 times)
{
	u32 wait = (STAR_WAIT << w->tries) * times;

	return w->clear >= min_t(u32, wait, STAR_WAIT_MOST) ||
	       (w->clear >= 2 * times &&
		(u64)w->clear * w->cwnd_abe >= (u64)wait * star_cwnd(w));
}

/**
 * star_try_failed() - a probe has run into congestion
 * @w: the window
 */
static inline void star_try_failed(struct star_window *w)
{
	if (w->tries < STAR_TRIES_MOST)
		w->tries++;
}

/* Segments per round trip by which a window of @cwnd grows in YIELD: one as in Reno, or
 * more when probing. After a mark a queue that is not empty is kept short by marks, which
 * tell others to make room: no probe.
 */
static inline u32 star_yield_growth(const struct star_window *w, u32 cwnd, bool empty)
{
	u32 shift = empty && w->clear >= 2 * STAR_CLEAR ? STAR_TRY_EMPTY_SHIFT : STAR_TRY_SHIFT;

	if (w->alone && star_waited(w, 2))
		return (cwnd >> STAR_TRY_ALONE_SHIFT) + 1;
	if (cwnd < w->cwnd_abe && star_waited(w, 1) && (empty || !w->held))
		return min_t(u32, max_t(u32, cwnd >> shift, 2),
			     ((w->cwnd_abe - cwnd) >> STAR_TRY_MOST_SHIFT) + 1);
	return 1;
}

/* Divisor for this growth, at least 1. */
static inline u32 star_yield_divisor(const struct star_window *w, bool empty)
{
	u32 cwnd = star_cwnd(w);

	return cwnd / star_yield_growth(w, cwnd, empty);
}

/* Has there been no congestion for long enough, and is the window at cwnd_abe? As published only
 * marks lead to YIELD, and rounds are not judged: the window ends it.
 */
static inline bool star_is_clear(const struct star_window *w, bool published)
{
	return (published ? w->cwnd_abe > 0 : w->clear >= STAR_CLEAR) &&
	       w->cwnd_reno > w->cwnd_abe;
}

/* Release ABE's share once its hold has ended; the sum stays. */
static inline void star_release(struct star_window *w, u32 ssthresh,
				bool published)
{
	if (w->mode == STAR_SLOW && w->cwnd_reno < ssthresh)
		return;
	if (w->mode == STAR_YIELD && !star_is_clear(w, published))
		return;
	w->mode = STAR_CRUISE;
	if (w->tries)
		w->tries--;
	w->cwnd_reno -= min_t(u32, w->cwnd_abe, w->cwnd_reno - 1);
}

/**
 * star_lwc() - Lift Window Control for one ACK of new data (fig. 1)
 * @w: the window
 * @acked: segments newly delivered
 * @ssthresh: slow start threshold in segments
 * @published: compare cwnd_reno alone with @ssthresh, as published
 * @j: the judgement, of the queue at the bottleneck; ignored with @published
 *
 * Slow start adds one per segment up to @ssthresh, congestion avoidance
 * 1 / cwnd_reno per segment. With a queue, unless @published, it adds 1 / cwnd,
 * one segment per round trip as in Reno: the path is full, and only the queue grows.
 */
static inline void star_lwc(struct star_window *w, u32 acked, u32 ssthresh,
			    bool published, const struct judge_state *j)
{
	u32 compared = published || star_holds(w) ? w->cwnd_reno : star_cwnd(w);

	if (compared < ssthresh) {
		u32 step = min_t(u32, acked, ssthresh - compared);

		step = min_t(u32, step, ABE_WINDOW_MAX - w->cwnd_reno);
		w->cwnd_reno += step;
		acked -= step;
	}
	if (star_holds(w))
		star_release(w, ssthresh, published);
	if (acked) {
		u32 divisor = w->cwnd_reno;

		if (w->mode == STAR_YIELD && !published)
			divisor = star_yield_divisor(w, j->learns && !j->queue);
		else if (j->queue && !published)
			divisor = star_cwnd(w);
		star_increase(w, divisor, acked);
	}
}

/**
 * star_set_cwnd() - split a given window into its two shares
 * @w: the window
 * @cwnd: the sum, in segments
 *
 * Sets cwnd_reno so that cwnd_reno + cwnd_abe is @cwnd, but to at least 1.
 */
static inline void star_set_cwnd(struct star_window *w, u32 cwnd)
{
	u32 abe = star_holds(w) ? 0 : w->cwnd_abe;

	w->cwnd_reno = cwnd > abe ? cwnd - abe : 1;
	w->cwnd_cnt = 0;
}

/**
 * star_respond() - set the window after a loss
 * @w: the window
 * @cwnd: congestion window at the time of the loss, in segments
 * @to: the new window, at most @cwnd
 * @published: as published
 *
 * A loss never raises the window. In CRUISE it is above cwnd_abe, except that an
 * estimate has risen and no ACK has lifted the window yet: ABE's share is then held
 * back until the round trip has ended or slow start has passed ssthresh. As published
 * the next ACK lifts the window.
 */
static inline void star_respond(struct star_window *w, u32 cwnd, u32 to,
				bool published)
{
	if (w->mode == STAR_CRUISE && cwnd <= w->cwnd_abe && !published) {
		w->mode = STAR_SLOW;
		w->held = 1;
	}
	star_set_cwnd(w, to);
}

/* Lower bound of the window after a response to a queue and a loss. */
static inline u32 star_yield_least(u32 cwnd, bool alone)
{
	return max_t(u32, alone ? cwnd >> 1 : cwnd - (cwnd >> 2), STAR_CWND_MIN);
}

/**
 * star_yield() - window after a loss that came with a standing queue
 * @cwnd: congestion window at the time of the loss, in segments
 * @rtt_us: minimum RTT of the current round in us
 * @rtt_min_us: the path's RTT in us
 * @alone: no other flows are detected
 *
 * The part of the window that is not in the queue, cwnd * RTT_min / RTT, plus a few
 * segments that stay in the queue; otherwise the path would run empty at the next
 * loss. This number depends little on the window, so that flows which respond to the
 * same losses converge to equal windows, as in FAST TCP (Wei, Jin, Low, Hegde 2006):
 * at least a thirty-second of that part, and up to 16 segments if these are less than
 * an eighth of it. The window is not reduced below half, Reno's response; beside
 * other flows not below three quarters, similar to CUBIC.
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
 * star_drain() - initial window after a loss with a standing queue
 * @cwnd: congestion window at the time of the loss, in segments
 * @rtt_us: minimum RTT of the current round in us
 * @rtt_min_us: the path's RTT in us
 * @alone: no other flows are detected
 *
 * For less than a round trip, until slow start has brought the window back to
 * star_yield(), the window is below the part not in the queue by as much as it was
 * above it. The queue drains, and a flow that joined while it stood measures the
 * path's own RTT. At most a quarter below, and not below star_yield()'s lower bound.
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
 * @queue: a queue stood during the last round, of a large flow or with losses
 * @losses: losses exceed what the link may cause
 * @empty: the smoothed RTT, too, showed an empty queue; that counts twice
 */
static inline void star_watch(struct star_window *w, bool queue, bool losses, bool empty)
{
	bool tried = w->mode == STAR_YIELD && star_waited(w, 1);

	if (queue)
		w->clear = 0;
	else if (losses)
		w->clear -= min_t(u8, w->clear, STAR_CLEAR_LOSS);
	else
		w->clear = (u8)min_t(u32, w->clear + 1U + empty, STAR_WAIT_MOST);
	if (tried && !star_waited(w, 1))
		star_try_failed(w);
}

/* Four times the binary logarithm, rounded down to the segments of a polygon: a number that
 * grows by a quarter or more has another one, up to 2^30.
 */
static inline u8 star_scale(u32 n)
{
	u32 shift = (u32)fls64(n | 4) - 3;

	return (u8)((shift << 2) + (n >> shift));
}

/**
 * star_watch_start() - does the estimate still grow?
 * @w: the window, in START
 */
static inline void star_watch_start(struct star_window *w)
{
	u8 now = star_scale(w->cwnd_abe);

	if (now > w->grown) {
		w->grown = now;
		w->flat = 0;
	} else if (w->flat < STAR_FLAT) {
		w->flat++;
	}
}

/**
 * star_outgrows() - has the estimate grown by a quarter since the last round began?
 * @w: the window, in START
 *
 * Return: true if it was too low when the window was lifted.
 */
static inline bool star_outgrows(const struct star_window *w)
{
	return w->grown && star_scale(w->cwnd_abe) > w->grown;
}

/**
 * star_cws_ssthresh() - slow start threshold after a data loss (CWS, fig. 2)
 * @w: the window
 * @cwnd: congestion window at the time of the loss, in segments
 *
 * Return: cwnd_abe, or half of @cwnd as in Reno while there is no estimate; at
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
 * @new_ssthresh: return value of star_cws_ssthresh()
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
 * 0.8 of it (RFC 8511), rounded down, so that every mark takes at least a segment.
 *
 * Return: the window, at least 2 segments.
 */
static inline u32 star_mark_cwnd(u32 cwnd)
{
	return max_t(u32, cwnd - cwnd / 5 - !!(cwnd % 5), STAR_CWND_MIN);
}

/**
 * star_pacing_rate() - pacing rate of a window
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
 * @cwnd: the initial window in segments
 * @mss: maximum segment size in bytes
 * @rtt_min_us: RTT of the handshake in us
 *
 * The stack's rate in slow start, two windows per RTT, from which the stack also
 * derives the size of TSO packets. But at least two segments per 1024 us, the longest
 * time for which it sizes TSO packets at two segments: on a long path the initial
 * window must leave as one train, which ABE measures. (fq paces what exceeds its
 * initial quantum.)
 *
 * Return: the rate in B/s.
 */
static inline u64 star_first_rate(u32 cwnd, u32 mss, u32 rtt_min_us)
{
	return max_t(u64, star_pacing_rate(cwnd, mss, rtt_min_us, STAR_PACE_START),
		     abe_rate(2 * (u64)mss, 1024));
}

/* AEN's verdict on a retransmission timeout. */
enum star_verdict {
	STAR_AEN_WAIT,		/* none yet */
	STAR_AEN_SPURIOUS,	/* all data had arrived, only ACKs were lost */
	STAR_AEN_LOSS,		/* data was lost */
};

/**
 * struct star_aen_evidence - what AEN knows when an ACK arrives after a timeout
 * @una_after_mark: ACK_seq is above snd_una at the timeout
 * @covers_probe: P_seq <= ACK_seq
 * @sack_hole: SACK blocks show a hole below P_seq, or the scoreboard did so
 *	before the timeout
 * @has_sack: SACK, and with it D-SACK, is in use
 * @dsack: a D-SACK has arrived since the timeout: the retransmission was spurious
 * @has_tstamp: timestamps are in use
 * @echo_original: the echoed timestamp is older than the retransmission: the ACK is
 *	for the original
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
 * The stack retransmits the oldest segment, not the newest. An ACK that covers
 * P_seq means that only ACKs were lost, unless only the oldest segment was missing
 * and its retransmission has filled the hole. D-SACK distinguishes the two cases. An
 * echoed timestamp older than the retransmission proves that the original arrived. A
 * newer one proves nothing, as a receiver also echoes the timestamp of a duplicate;
 * it counts as loss. Without SACK and timestamps the ACK alone decides, and the two
 * cases cannot be distinguished.
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
