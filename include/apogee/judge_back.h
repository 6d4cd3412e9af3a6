/* SPDX-License-Identifier: GPL-2.0 */
/*
 * By how much the way back of an ACK is longer than at its shortest, by jitter, slots or a queue
 * there: from the receiver's timestamps (RFC 7323). Times are in us.
 */
#ifndef _APOGEE_JUDGE_BACK_H
#define _APOGEE_JUDGE_BACK_H

#include "judge_state.h"

/* A timestamp (RFC 7323) is as old as its way back has taken, but for the difference of the two
 * clocks. Its unit is taken to be a millisecond: it looks older by up to one.
 */
#define JUDGE_TICK_US		1000U
/* The unit is checked twice a second: the clock may be off by a sixteenth. */
#define JUDGE_CHECK_SHIFT	19
#define JUDGE_CHECK_OFF		8
/* The mean of how much longer the way back is rises by an eighth, as in RFC 6298, and falls by a
 * thirty-second: ACKs that were held back for a while arrive at once, the first with all of it.
 */
#define JUDGE_BACK_RISE		3
#define JUDGE_BACK_FALL		5
/* The age of a timestamp is kept in 256 us, modulo 16.8 s, and for the check in 4096 us; by how
 * much the way back is longer in 16 us.
 */
#define JUDGE_AGE_SHIFT		8
#define JUDGE_AGE_MOST_US	8000000U
#define JUDGE_MARK_SHIFT	4
/* By so much a timestamp may look older that is not: a tick and a unit. */
#define JUDGE_LATE_LEAST	((JUDGE_TICK_US >> JUDGE_AGE_SHIFT) + 1)
#define JUDGE_BACK_SHIFT	4

/* The age of a timestamp, but for the difference of the clocks. */
static inline u16 judge_age(u32 now_us, u32 tsval)
{
	return (u16)((now_us - tsval * JUDGE_TICK_US) >> JUDGE_AGE_SHIFT);
}

/* The half second, modulo 2. */
static inline u8 judge_half(u32 now_us)
{
	return (now_us >> JUDGE_CHECK_SHIFT) & 1;
}

/* Has the least age of a timestamp stayed where it was for half a second? If it has grown, that is
 * known at once.
 */
static inline void judge_check_clock(struct judge_state *j, u32 now_us)
{
	u8 mark = (u8)(j->age >> JUDGE_MARK_SHIFT);
	u8 half = judge_half(now_us);
	u8 moved = (u8)(mark - j->mark);

	if (half != j->half) {
		j->ticks = (u8)(moved + JUDGE_CHECK_OFF) <= 2 * JUDGE_CHECK_OFF;
		j->half = half;
		j->mark = mark;
	} else if (moved > JUDGE_CHECK_OFF && moved <= U8_MAX / 2) {
		j->ticks = 0;
	}
}

/**
 * judge_back_us() - by how much the way back is longer than at its shortest, smoothed
 * @j: the state
 *
 * Return: the time in us, at most 1.05 s; 0 if it is unknown.
 */
static inline u32 judge_back_us(const struct judge_state *j)
{
	return (u32)j->back << JUDGE_BACK_SHIFT;
}

/**
 * judge_whole_us() - an RTT with what the way back is longer
 * @j: the state
 * @rtt_us: the RTT without that
 *
 * Return: the time in us, at most 2^32 - 1.
 */
static inline u32 judge_whole_us(const struct judge_state *j, u32 rtt_us)
{
	return rtt_us + min_t(u32, judge_back_us(j), U32_MAX - rtt_us);
}

/**
 * judge_path_us() - the path's RTT as it is now, without a queue on the way there
 * @j: the state
 *
 * Return: the path's RTT, with what the way back is longer; ~0 if unknown.
 */
static inline u32 judge_path_us(const struct judge_state *j)
{
	return judge_whole_us(j, j->base_us);
}

/* How much older a timestamp can be, with the tick, if the way back is longer by @most_us. */
static inline u16 judge_most(u32 most_us)
{
	return (u16)((min_t(u32, most_us, JUDGE_AGE_MOST_US) + JUDGE_TICK_US) >> JUDGE_AGE_SHIFT);
}

/* How much older than the youngest a timestamp is. */
static inline u16 judge_older(const struct judge_state *j, u32 now_us, u32 tsval)
{
	return (u16)(judge_age(now_us, tsval) - j->age);
}

/**
 * judge_in_time() - is judge_see_clock() not needed for an ACK?
 * @j: the state
 * @now_us: the time, in us, modulo 2^32
 * @tsval: the ACK's timestamp
 * @most_us: by how much the way back can be longer at most
 *
 * Return: true in the usual case: the timestamp fits, and the clock has been checked.
 */
static inline bool judge_in_time(const struct judge_state *j, u32 now_us, u32 tsval, u32 most_us)
{
	u16 older = judge_older(j, now_us, tsval);

	return (older < JUDGE_LATE_LEAST || older <= judge_most(most_us)) &&
	       judge_half(now_us) == j->half;
}

/**
 * judge_see_clock() - evaluate a timestamp that does not fit, and check the receiver's clock
 * @j: the state
 * @now_us: the time, in us, modulo 2^32
 * @tsval: the ACK's timestamp
 * @most_us: by how much the way back can be longer at most
 *
 * The way back is shorter than ever, or it has changed like its clock.
 */
static inline void judge_see_clock(struct judge_state *j, u32 now_us, u32 tsval, u32 most_us)
{
	u16 older = judge_older(j, now_us, tsval), most = judge_most(most_us);

	if (older > most)
		j->age = (u16)(judge_age(now_us, tsval) - (older > U16_MAX / 2 ? 0 : most));
	judge_check_clock(j, now_us);
}

/* The mean of by how much the way back is longer, after an ACK. */
static inline u16 judge_mean(const struct judge_state *j, u32 late_us)
{
	u32 mean_us = judge_back_us(j);

	if (late_us > mean_us)
		mean_us += (late_us - mean_us) >> JUDGE_BACK_RISE;
	else
		mean_us -= (mean_us - late_us + (1U << JUDGE_BACK_FALL) - 1) >> JUDGE_BACK_FALL;
	return (u16)min_t(u32, mean_us >> JUDGE_BACK_SHIFT, U16_MAX);
}

/**
 * judge_way_back() - evaluate an ACK's timestamp, one that is judge_in_time() or was seen
 * @j: the state
 * @now_us: the time, in us, modulo 2^32
 * @tsval: the timestamp
 * @most_us: by how much the way back can be longer at most
 *
 * Return: by how much it is longer than at its shortest, in us; 0 if the receiver's clock
 * has another unit.
 */
static inline u32 judge_way_back(struct judge_state *j, u32 now_us, u32 tsval, u32 most_us)
{
	u16 older = judge_older(j, now_us, tsval);
	u32 late_us = 0;

	if (older > JUDGE_LATE_LEAST && j->ticks)
		late_us = min_t(u32, (u32)older << JUDGE_AGE_SHIFT, most_us);
	if (late_us || j->back)
		j->back = judge_mean(j, late_us);
	return late_us;
}

#endif /* _APOGEE_JUDGE_BACK_H */
