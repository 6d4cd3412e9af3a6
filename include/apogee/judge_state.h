/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What star's judgement knows of a path, with judge_back.h (the way back of ACKs) and judge.h
 * (queues and losses).
 */
#ifndef _APOGEE_JUDGE_STATE_H
#define _APOGEE_JUDGE_STATE_H

#include "int.h"

/**
 * struct judge_state - state of the evaluation of RTTs and losses
 * @base_us: the path's RTT, ~0 if unknown
 * @least_us: minimum RTT of the current round, ~0 if none yet; while the path's RTT is
 *	measured anew, of these rounds
 * @last_us: minimum RTT of the previous round, ~0 if none; during a test of the RTT, of
 *	the round before the test
 * @low_us: smoothed minimum of the RTT: it falls at once and rises slowly; ~0 if none yet
 * @age: the least age of a timestamp, in 256 us, modulo 2^16
 * @back: by how much the way back is longer than at its shortest, smoothed, in 16 us
 * @seen: when @base_us was last seen, in 131072 us, modulo 2^8
 * @mark: @age at the last check of the receiver's clock, in 4096 us, modulo 2^8
 * @excess: losses beyond those of the link, in 1/JUDGE_SEGMENT segments
 * @link: loss rate of the link, in 1/1024
 * @fall: fall of the RTT expected in a test, in 1/256 of @last_us
 * @test: rounds until the test of the RTT is evaluated, 0: no test
 * @standing: rounds with a queue, up to JUDGE_STANDING
 * @skip: rounds whose losses are not evaluated: the last reduction shows no effect yet, or
 *	nothing arrived for a while
 * @dip: the window is reduced for this round
 * @rest: rounds until the next test may begin
 * @renew: rounds until @base_us has been measured anew, 0: it is not
 * @queue: a queue stands
 * @alone: no other flows are detected
 * @half: the half second of the last check of the receiver's clock, modulo 2
 * @large: this flow sends at least three eighths of what the path carries, so that a
 *	reduction of its window has a measurable effect
 * @empty: the queue was empty in the last round
 * @learns: and the smoothed RTT shows that, too
 * @over: far too many were lost in the last round
 * @ticks: the receiver's clock has the unit of a millisecond
 */
struct judge_state {
	u32 base_us;
	u32 least_us;
	u32 last_us;
	u32 low_us;
	u16 age;
	u16 back;
	u8 seen;
	u8 mark;
	u8 excess;
	u8 link;
	u8 fall;
	u8 test : 2;
	u8 standing : 3;
	u8 skip : 2;
	u8 dip : 1;
	u8 rest : 4;
	u8 renew : 2;
	u8 queue : 1;
	u8 alone : 1;
	u8 half : 1;
	u8 large : 1;
	u8 empty : 1;
	u8 learns : 1;
	u8 over : 1;
	u8 ticks : 1;
};

#endif /* _APOGEE_JUDGE_STATE_H */
