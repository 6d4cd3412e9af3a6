/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gentle HighSpeed TCP (section 5.1): which mode a flow is in, and what its
 * window does in it.
 *
 *	slow start      doubles; ends at ssthresh, at a loss, or when the
 *			sender's own link is full
 *	HighSpeed mode	a(w) per round trip: the link has room
 *	Reno mode	one segment per round trip: a queue builds up
 *
 * In congestion avoidance each window's RTTs decide (rtt_trend.h): if they rise,
 * Reno mode; if they fall, HighSpeed mode; after a loss, HighSpeed mode.
 *
 * To the letter every significant trend counts. Queues remember: one sample's
 * delay is nearly the next one's, and of thousands of such samples some line is
 * always significant. So the trend must also be relevant: a rise counts where a
 * queue stands, a fall if the fitted line falls by some part of the smallest RTT
 * over the window, and both may have to be confirmed by further windows.
 *
 * A queue is what exceeds the smallest RTT. Where the path becomes longer, that
 * of before would say for ever that one stands, and nothing falls: so in Reno mode
 * an RTT that does not follow the window is taken for the path's (gentle_path).
 */
#ifndef _APOGEE_HSTCP_GENTLE_H
#define _APOGEE_HSTCP_GENTLE_H

#include "hstcp.h"
#include "rtt_trend.h"

enum gentle_mode {
	GENTLE_SLOW_START,
	GENTLE_HIGHSPEED,
	GENTLE_RENO,
};

/* How Reno mode keeps to Reno's share. */
enum gentle_share {
	GENTLE_SHARE_PAPER,	/* one segment per round trip, b(w) at a loss */
	GENTLE_SHARE_HALVE,	/* half at a loss */
	GENTLE_SHARE_GROW,	/* 3 b / (2 - b) segments per round trip */
};

/* Grown by this part of what counts as a rise, a window tells whether a queue
 * stands: a queue follows it, even if only an eighth of that is the flow's. It
 * does so two round trips later, which few segments would not show.
 */
#define GENTLE_GROWN		2
#define GENTLE_GROWN_LEAST	12
#define GENTLE_FOLLOWS		8
/* In slow start a rise by this part of the smallest RTT is a queue. */
#define GENTLE_QUEUE_PART	32
/* After it slow start grows by this part of the window per round trip, as RFC
 * 9406's conservative slow start does.
 */
#define GENTLE_CAREFUL		4

/**
 * struct gentle_rules - when a trend changes the mode
 * @level: chance of a false alarm of the test
 * @rise: least queueing delay with which a rise counts, in permille of the
 *	smallest RTT; letter: 0
 * @fall: least relevant fall, likewise; letter: 0
 * @confirm: windows in succession that must agree; letter: 1
 */
struct gentle_rules {
	enum rtt_trend_level level;
	u32 rise;
	u32 fall;
	u32 confirm;
};

/**
 * struct gentle_path - what is known of the empty path
 * @rtt_us: smallest RTT, since the path was found to be longer, in us; ~0 if none
 * @mark_cwnd: window at the mark in Reno mode, in segments, 0 if there is none
 * @mark_us: smallest RTT of that window, in us
 */
struct gentle_path {
	u32 rtt_us;
	u32 mark_cwnd;
	u32 mark_us;
};

/**
 * gentle_path_learn() - learn the RTT of the empty path, once per window
 * @path: what is known
 * @rules: when a trend counts
 * @mode: the mode
 * @cwnd: the window, in segments
 * @low_us: its smallest RTT, in us, ~0 if none
 *
 * In Reno mode, once the window has grown by half of @rules->rise since the mark, and
 * by 12 segments: a queue would have made the RTT rise by as much, if all of it were
 * the flow's or grew alike, and fall where others give way. Where the RTT has done neither, not
 * by an eighth of that, no queue stands, and it is the path's. What the window
 * cannot explain sets the mark anew.
 */
static inline void gentle_path_learn(struct gentle_path *path,
				     const struct gentle_rules *rules,
				     enum gentle_mode mode, u32 cwnd, u32 low_us)
{
	u64 part, change_us, least;

	path->rtt_us = min(path->rtt_us, low_us);
	if (mode != GENTLE_RENO) {
		path->mark_cwnd = 0;
		return;
	}
	if (low_us == U32_MAX)
		return;
	if (path->mark_cwnd && cwnd >= path->mark_cwnd) {
		least = div_u64((u64)rules->rise * path->mark_cwnd,
				GENTLE_GROWN * 1000);
		least = max_t(u64, least, GENTLE_GROWN_LEAST);
		change_us = (u64)(max(low_us, path->mark_us) -
				  min(low_us, path->mark_us)) *
			    GENTLE_GROWN * 1000;
		part = (u64)rules->rise * path->mark_us;
		if (change_us <= part && cwnd - path->mark_cwnd < least)
			return;
		if (change_us * GENTLE_FOLLOWS <= part)
			path->rtt_us = low_us;
	}
	path->mark_cwnd = cwnd;
	path->mark_us = low_us;
}

/**
 * gentle_relevant() - which trend counts?
 * @rules: when a trend counts
 * @verdict: of the test
 * @change_us: change of the fitted line over the window, in us
 * @queue_us: smallest queueing delay of the window, in us
 * @rtt_min_us: RTT of the empty path, in us
 *
 * A rise counts where a queue stands, a fall if it is large. Where no queue
 * stands, nothing can fall: the link has room, as after a fall.
 *
 * Return: RTT_TREND_RISING, RTT_TREND_FALLING or RTT_TREND_NONE.
 */
static inline enum rtt_trend_verdict
gentle_relevant(const struct gentle_rules *rules,
		enum rtt_trend_verdict verdict, s32 change_us, u32 queue_us,
		u32 rtt_min_us)
{
	if ((u64)queue_us * 1000 < (u64)rules->rise * rtt_min_us)
		return RTT_TREND_FALLING;
	if (verdict == RTT_TREND_FALLING &&
	    rtt_trend_abs(change_us) * 1000 < (u64)rules->fall * rtt_min_us)
		return RTT_TREND_NONE;
	return verdict;
}

/**
 * gentle_next_mode() - the mode after a window (section 5.1.2)
 * @rules: how many windows must agree
 * @mode: the mode so far; slow start stays
 * @verdict: relevant trend of the window's RTTs
 * @agreed: windows that asked for the other mode in succession, kept by the
 *	caller, 0 at first
 *
 * Return: the mode of the next window.
 */
static inline enum gentle_mode gentle_next_mode(const struct gentle_rules *rules,
						enum gentle_mode mode,
						enum rtt_trend_verdict verdict,
						u8 *agreed)
{
	bool other = (mode == GENTLE_HIGHSPEED && verdict == RTT_TREND_RISING) ||
		     (mode == GENTLE_RENO && verdict == RTT_TREND_FALLING);

	if (!other) {
		*agreed = 0;
		return mode;
	}
	if (++*agreed < rules->confirm)
		return mode;
	*agreed = 0;
	return mode == GENTLE_RENO ? GENTLE_HIGHSPEED : GENTLE_RENO;
}

/**
 * gentle_reno_credit() - packets that must arrive for one segment more, in Reno
 *	mode
 * @response: HighSpeed TCP's table
 * @share: how Reno mode keeps to Reno's share
 * @cwnd: congestion window in segments, at least 1
 *
 * The window itself: one segment per round trip. A flow that grows so but gives
 * up only b of its window at a loss, gets sqrt((2 - b) / 3 b) times what Reno
 * gets, twice as much at b = 0.22; with GENTLE_SHARE_GROW it therefore grows by
 * 3 b / (2 - b) per round trip (S. Floyd, M. Handley, J. Padhye: "A Comparison
 * of Equation-Based and AIMD Congestion Control", 2000).
 *
 * Return: packets, at least @cwnd, at most 2^32 - 1.
 */
static inline u32 gentle_reno_credit(enum hstcp_response response,
				     enum gentle_share share, u32 cwnd)
{
	u32 b = hstcp_row(response, cwnd)->decrease;

	if (share != GENTLE_SHARE_GROW)
		return cwnd;
	return (u32)min_t(u64, div_u64((u64)cwnd * (512 - b), 3 * b), U32_MAX);
}

/**
 * gentle_reduced() - the window after a loss in congestion avoidance
 * @response: HighSpeed TCP's table
 * @mode: the mode
 * @cwnd: congestion window at the time of the loss, in segments
 * @share: how Reno mode keeps to Reno's share
 *
 * Return: w (1 - b(w)), or half of it, in segments, at least 2.
 */
static inline u32 gentle_reduced(enum hstcp_response response,
				 enum gentle_mode mode, u32 cwnd,
				 enum gentle_share share)
{
	if (share == GENTLE_SHARE_HALVE && mode == GENTLE_RENO)
		return max_t(u32, cwnd / 2, HSTCP_CWND_MIN);
	return hstcp_ssthresh(response, cwnd);
}

/**
 * gentle_capacity() - what the path holds, by a window of slow start
 * @packets: packets of the window
 * @sent_us: time in which they were sent, in us
 * @rise_us: how much their RTT has risen meanwhile, in us
 * @rtt_min_us: smallest RTT of the connection, in us
 *
 * They were sent faster than the bottleneck passes them on, which took @sent_us
 * and @rise_us: that is its rate, and times the smallest RTT, the window that
 * fills the path without a queue.
 *
 * Return: segments, at least 2.
 */
static inline u32 gentle_capacity(u32 packets, u32 sent_us, u32 rise_us,
				  u32 rtt_min_us)
{
	u64 passed_us = (u64)sent_us + rise_us;
	u64 cwnd;

	if (!passed_us)
		return U32_MAX;
	cwnd = div64_u64((u64)packets * rtt_min_us, passed_us);
	return (u32)min_t(u64, max_t(u64, cwnd, HSTCP_CWND_MIN), U32_MAX);
}

#endif /* _APOGEE_HSTCP_GENTLE_H */
