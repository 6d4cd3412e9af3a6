/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gentle HighSpeed TCP (section 5.1): the mode of a flow, and how its window changes
 * in each mode.
 *
 *	slow start      doubles; ends at ssthresh, at a loss, or when the
 *			sender's own link is full
 *	HighSpeed mode	a(w) per round trip: the link has room
 *	Reno mode	one segment per round trip: a queue builds up
 *
 * In congestion avoidance the RTTs of each window decide (rtt_trend.h): if they
 * rise, Reno mode; if they fall, HighSpeed mode; after a loss, HighSpeed mode.
 *
 * As published every significant trend counts. But successive samples of a queue's
 * delay are correlated, and among thousands of them there is nearly always a
 * significant trend. So the trend must also be relevant: a rise counts while a queue
 * stands, a fall if the fitted line falls by some part of the minimum RTT over the
 * window, and both may have to be confirmed by further windows.
 *
 * The queueing delay is the RTT above its minimum. If the path becomes longer, the
 * old minimum would show a standing queue for good, and no fall would follow. So in
 * Reno mode an RTT that does not follow the window is taken as the path's
 * (gentle_path).
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

/* How Reno mode keeps to Reno's share of the bandwidth. */
enum gentle_share {
	GENTLE_SHARE_PAPER,	/* one segment per round trip, b(w) at a loss */
	GENTLE_SHARE_HALVE,	/* half at a loss */
	GENTLE_SHARE_GROW,	/* 3 b / (2 - b) segments per round trip */
};

/* The window shows whether a queue stands after it has grown by this part of
 * rules->rise, since the queue follows it, even if only an eighth of the queue is the
 * flow's. This takes two round trips, and a minimum number of segments.
 */
#define GENTLE_GROWN		2
#define GENTLE_GROWN_LEAST	12
#define GENTLE_FOLLOWS		8
/* In slow start a rise by this part of the minimum RTT shows a queue. */
#define GENTLE_QUEUE_PART	32
/* After that slow start grows by this part of the window per round trip, as in
 * RFC 9406's conservative slow start.
 */
#define GENTLE_CAREFUL		4

/**
 * struct gentle_rules - when a trend changes the mode
 * @level: significance level of the test: probability of a false alarm
 * @rise: minimum queueing delay at which a rise counts, in permille of the minimum
 *	RTT; as published: 0
 * @fall: minimum relevant fall, likewise; as published: 0
 * @confirm: consecutive windows that must agree; as published: 1
 */
struct gentle_rules {
	enum rtt_trend_level level;
	u32 rise;
	u32 fall;
	u32 confirm;
};

/**
 * struct gentle_path - RTT of the empty path
 * @rtt_us: minimum RTT since the path was last found to be longer, in us; ~0 if none
 * @mark_cwnd: window at the mark in Reno mode, in segments, 0 if there is none
 * @mark_us: minimum RTT of that window, in us
 */
struct gentle_path {
	u32 rtt_us;
	u32 mark_cwnd;
	u32 mark_us;
};

/**
 * gentle_path_learn() - update the RTT of the empty path, once per window
 * @path: RTT of the empty path
 * @rules: when a trend counts
 * @mode: the mode
 * @cwnd: the window, in segments
 * @low_us: its minimum RTT, in us, ~0 if none
 *
 * In Reno mode, the RTT is compared with that at the mark once the window has grown
 * by half of @rules->rise since, and by 12 segments. In a queue the RTT would have
 * risen by as much, if all of the queue were the flow's or grew in the same way, and
 * fallen if other flows had backed off. If it has changed by less than an eighth of
 * that, no queue stands, and it is taken as the path's. The mark is set again after
 * that, and if the window does not explain the change of the RTT.
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
 * gentle_relevant() - does a trend count?
 * @rules: when a trend counts
 * @verdict: verdict of the test
 * @change_us: change of the fitted line over the window, in us
 * @queue_us: minimum queueing delay of the window, in us
 * @rtt_min_us: RTT of the empty path, in us
 *
 * A rise counts while a queue stands, a fall if it is large enough. Without a queue
 * the RTT cannot fall: the link has room, as after a fall.
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
 * @rules: number of windows that must agree
 * @mode: the current mode; slow start stays
 * @verdict: relevant trend of the window's RTTs
 * @agreed: consecutive windows that asked for the other mode, kept by the caller, 0
 *	at first
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
 * gentle_reno_credit() - acknowledged packets per increment by one segment in Reno
 *	mode
 * @response: HighSpeed TCP's table
 * @share: how Reno mode keeps to Reno's share
 * @cwnd: congestion window in segments, at least 1
 *
 * The window itself: one segment per round trip. A flow that grows so but is reduced
 * by only b of its window at a loss gets sqrt((2 - b) / 3 b) times the throughput of
 * Reno, twice as much at b = 0.22; with GENTLE_SHARE_GROW it therefore grows by
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
 * gentle_capacity() - capacity of the path, from a window of slow start
 * @packets: packets of the window
 * @sent_us: time in which they were sent, in us
 * @rise_us: rise of their RTT meanwhile, in us
 * @rtt_min_us: minimum RTT of the connection, in us
 *
 * The bottleneck takes @sent_us and @rise_us to forward the packets, longer than they
 * took to be sent. This gives its rate, and with the minimum RTT the window that fills
 * the path without a queue.
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
