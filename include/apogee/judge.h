/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What TCP-STAR makes of an RTT above the least and of losses (coexist=2), one
 * packet-timed round trip at a time.
 *
 * A high RTT is a queue's or a longer path's, a loss a full queue's or a bit
 * error's, and one look tells neither. What tells them apart is what follows when
 * the window falls: a queue becomes shorter and its losses end, a longer path and
 * bit errors stay as they are. So every cut is a test:
 *
 *   RTT     A queue stands where the least RTT of a round is a sixteenth above the
 *           path's and further than the RTT's own spread. After some such rounds
 *           the window is lowered for one. If the RTT does not move, neither down
 *           nor up, it is taken for the path's. So is an RTT that keeps to a
 *           thirty-second for many rounds: others' queues rise and fall.
 *   losses  Those beyond one segment in 40 are summed up (a CUSUM test, counted in
 *           segments so that the larger of two windows comes to the limit first),
 *           and the window is cut at the limit. If the share that is lost stays,
 *           it is the link's, and the cut is taken back. With a queue that others
 *           share few losses do, and more than one in five (four, on such a
 *           link) are answered whatever they come from: the window falls to what
 *           arrived.
 *   alone   What a flow sends, beside what ABE says that the path carries, tells
 *           whether there are others to make room for.
 *
 * docs/algorithms.md has the reasons and what was tried besides. Windows and
 * counts are in segments, times in us.
 */
#ifndef _APOGEE_JUDGE_H
#define _APOGEE_JUDGE_H

#include "int.h"

/* A queue stands a sixteenth above the path's RTT. */
#define JUDGE_QUEUE_SHIFT	4
/* Rounds with a queue after which it is tested, and rounds from test to test. */
#define JUDGE_STANDING		4U
#define JUDGE_REST		8U
/* Rounds of one and the same RTT that show a longer path. */
#define JUDGE_STILL		16U
/* The path's RTT is not taken to be more than this many times tcp_min_rtt(). */
#define JUDGE_LONGEST		4U

/* Bit errors at 1e-6 take one frame of 1514 bytes in 83; more than one segment in
 * 40 counts as excess, and more than 5 segments of it are too many.
 */
#define JUDGE_ONE_IN		40U
#define JUDGE_EXCESS		5U
/* One frame in 9 is lost at 1e-5: one in 5 of 200 segments is four standard
 * deviations more. Less than 16 losses tell nothing.
 */
#define JUDGE_OVER_IN		5U
#define JUDGE_OVER_LEAST	16U
/* Losses in a round that show a full queue: 3, and one segment in 64. */
#define JUDGE_FULL_LEAST	3U
#define JUDGE_FULL_SHIFT	6
/* Losses that the link would have caused until it is judged after a cut ... */
#define JUDGE_EXPECTED		32U
/* ... and, where the window is small, at 21/256, one in 12. */
#define JUDGE_EXPECTED_SMALL	96U
#define JUDGE_RATIO_SMALL	21U
/* Segments of a round by which the link is judged anew. */
#define JUDGE_LINK_LEAST	128U

/**
 * struct star_judge - what is known of the path's RTT and of the losses
 * @base_us: the path's RTT, ~0 without one
 * @least_us: least RTT of the running round, ~0: none yet
 * @last_us: least RTT of the round before; in a test, of that before the test
 * @excess: losses beyond one in JUDGE_ONE_IN, in 1/JUDGE_ONE_IN segments
 * @level: where the RTT has stayed, in 1/64 of @base_us above it
 * @still: rounds for which it has
 * @ratio: share lost before the cut, in 1/256, while a cut is a test; 0: it is not
 * @expected: losses since then if they were the link's
 * @lost: losses since then
 * @fall: by how much the RTT must fall in a test, in 1/256 of @last_us
 * @test: rounds until the RTT is to have answered, 0: no test
 * @standing: rounds with a queue, up to JUDGE_STANDING
 * @rest: rounds until the next test
 * @skip: rounds until losses may show what the last cut did
 * @dip: the window is lowered for this round
 * @queue: a queue stands
 * @alone: hardly anybody else sends
 * @large: three eighths of what the path carries are this flow's: it must be seen
 *	when its window falls
 * @link: the losses are the link's
 */
struct star_judge {
	u32 base_us;
	u32 least_us;
	u32 last_us;
	u16 excess;
	u16 level;
	u16 still;
	u8 ratio;
	u8 expected;
	u8 lost;
	u8 fall;
	u16 test : 2;
	u16 standing : 3;
	u16 rest : 4;
	u16 skip : 2;
	u16 dip : 1;
	u16 queue : 1;
	u16 alone : 1;
	u16 large : 1;
	u16 link : 1;
};

/**
 * struct judge_round - a round trip that has ended
 * @delivered: segments delivered
 * @lost: segments lost
 * @cwnd: the window at its end
 * @path: segments that the path carries in the time of a round, 0: unknown
 * @rtt_us: smoothed RTT
 * @limited: the window is what limits the flow
 */
struct judge_round {
	u32 delivered;
	u32 lost;
	u32 cwnd;
	u32 path;
	u32 rtt_us;
	bool limited;
};

/* What the losses of a round ask for. */
enum judge_answer {
	JUDGE_STAY,		/* nothing */
	JUDGE_CUT,		/* too many are lost */
	JUDGE_FULL,		/* a queue that others share is full */
	JUDGE_OVER,		/* far too many are lost */
	JUDGE_TAKE_BACK,	/* the last cut: the losses are the link's */
};

/**
 * judge_share() - the part of a window that is under way and not in a queue
 * @cwnd: the window
 * @rtt_us: the RTT, 0: not known
 * @base_us: the path's RTT
 *
 * Return: @cwnd * @base_us / @rtt_us, at most @cwnd.
 */
static inline u32 judge_share(u32 cwnd, u32 rtt_us, u32 base_us)
{
	if (rtt_us <= base_us)
		return cwnd;
	return (u32)div_u64((u64)cwnd * base_us, rtt_us);
}

/* Is the RTT a sixteenth and @spread_us above the path's? */
static inline bool judge_above(const struct star_judge *j, u32 rtt_us,
			       u32 spread_us)
{
	return rtt_us > j->base_us &&
	       rtt_us - j->base_us >
		       (u64)(j->base_us >> JUDGE_QUEUE_SHIFT) + spread_us;
}

/**
 * judge_rtt() - take in the RTT of an ACK
 * @j: the judgement
 * @rtt_us: the RTT
 */
static inline void judge_rtt(struct star_judge *j, u32 rtt_us)
{
	j->base_us = min_t(u32, j->base_us, rtt_us);
	j->least_us = min_t(u32, j->least_us, rtt_us);
	if (!judge_above(j, rtt_us, 0))
		j->queue = 0;
}

/* The path has become longer. */
static inline void judge_adopt(struct star_judge *j)
{
	j->base_us = j->least_us;
	j->queue = 0;
	j->standing = 0;
	j->still = 0;
	j->rest = 0;
}

/* A queue answers to a smaller window, and one that others fill does not stay as
 * it is either.
 */
static inline bool judge_is_path(const struct star_judge *j)
{
	u32 due = (u32)(((u64)j->last_us * j->fall) >> 10);
	u32 moved = j->last_us > j->least_us ? j->last_us - j->least_us :
					       j->least_us - j->last_us;

	return j->least_us > j->base_us && moved < due;
}

/* Whether the RTT has kept to a thirty-second for JUDGE_STILL rounds. */
static inline bool judge_is_still(struct star_judge *j)
{
	u64 above = (u64)(j->least_us - j->base_us) << 6;
	u32 level = (u32)min_t(u64, div_u64(above, max_t(u32, j->base_us, 1)),
			       U16_MAX);

	if (!j->queue || level > j->level + 1U || level + 1U < j->level) {
		j->level = (u16)level;
		j->still = 0;
	} else if (j->still < JUDGE_STILL) {
		j->still++;
	}
	return j->still == JUDGE_STILL;
}

/**
 * judge_end_rtt() - a round has ended: is there a queue, is the path longer?
 * @j: the judgement
 * @srtt_us: smoothed RTT; what it is above the least is the RTT's own spread
 * @min_rtt_us: least RTT of the last minutes, tcp_min_rtt()
 *
 * Return: true if the path has become longer.
 */
static inline bool judge_end_rtt(struct star_judge *j, u32 srtt_us,
				 u32 min_rtt_us)
{
	u32 spread_us = srtt_us > j->least_us ? srtt_us - j->least_us : 0;
	bool longer = false;

	if (j->least_us == U32_MAX)
		return false;
	j->queue = judge_above(j, j->least_us, spread_us);
	if (!j->queue)
		j->standing = 0;
	else if (j->standing < JUDGE_STANDING)
		j->standing++;
	if (j->rest)
		j->rest--;
	if (j->test) {
		j->rest = JUDGE_REST;
		longer = !--j->test && judge_is_path(j);
	}
	j->dip &= j->test > 1;
	longer |= judge_is_still(j);
	longer &= j->least_us <= (u64)min_rtt_us * JUDGE_LONGEST;
	if (longer)
		judge_adopt(j);
	if (!j->test)
		j->last_us = j->least_us;
	j->least_us = U32_MAX;
	return longer;
}

/**
 * judge_begin_test() - a cut begins to which a queue must answer
 * @j: the judgement
 * @rtt_us: RTT before it, ~0: unknown
 * @fall_us: by how much it is to fall
 * @rounds: in how many rounds, 1 to 3
 *
 * Where the answer would be too small to be seen among others' doings there is no
 * test.
 */
static inline void judge_begin_test(struct star_judge *j, u32 rtt_us,
				    u32 fall_us, u32 rounds)
{
	u32 seen = j->alone ? 2 : 3;

	if (!rtt_us || rtt_us == U32_MAX || !j->large ||
	    fall_us < (u64)rtt_us * seen / 32)
		return;
	j->fall = (u8)min_t(u64, div_u64((u64)fall_us << 8, rtt_us), U8_MAX);
	j->last_us = rtt_us;
	j->test = rounds;
}

/**
 * judge_test_due() - is it time to lower the window to see what the RTT answers?
 * @j: the judgement, at the end of a round
 */
static inline bool judge_test_due(const struct star_judge *j)
{
	return !j->test && !j->rest && j->standing == JUDGE_STANDING;
}

/**
 * judge_dip() - the window of a round that is to show what the RTT answers
 * @j: the judgement, @last_us being the RTT before it
 * @cwnd: the window
 *
 * The part that is not in the queue, at least half; with others in the queue three
 * quarters at most, or it would not be seen. Two segments at least, as one would
 * wait for the delayed ACK.
 *
 * Return: the window.
 */
static inline u32 judge_dip(const struct star_judge *j, u32 cwnd)
{
	u32 dip = max_t(u32, judge_share(cwnd, j->last_us, j->base_us),
			cwnd >> 1);

	if (!j->alone)
		dip = min_t(u32, dip, cwnd - cwnd / 4);
	return max_t(u32, dip, 2);
}

/**
 * judge_use() - how much of the path is this flow's?
 * @j: the judgement
 * @r: the round that has ended
 */
static inline void judge_use(struct star_judge *j, const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost, path = r->path;

	j->large = sent * 8 >= path * 3;
	j->alone = (u64)r->lost * JUDGE_OVER_IN <= sent &&
		   (j->queue ? sent * 16 >= path * 15 : sent * 8 >= path * 7);
}

/**
 * judge_cut_made() - the window has fallen: a round must pass before it shows
 * @j: the judgement
 */
static inline void judge_cut_made(struct star_judge *j)
{
	j->excess = 0;
	j->skip = 2;
}

static inline void judge_count_anew(struct star_judge *j, u32 ratio)
{
	j->ratio = (u8)min_t(u32, ratio, U8_MAX);
	j->expected = 0;
	j->lost = 0;
}

static inline void judge_count(struct star_judge *j, u64 expected, u64 lost)
{
	j->expected = (u8)min_t(u64, expected, U8_MAX);
	j->lost = (u8)min_t(u64, lost, U8_MAX);
}

/* Hardly any losses, or more sent than the path carries: what is lost beyond that
 * is lost in front of it.
 */
static inline bool judge_no_link(const struct judge_round *r, u32 sent)
{
	return sent >= JUDGE_LINK_LEAST &&
	       ((u64)r->lost * 64 < sent || (u64)sent * 16 > (u64)r->path * 17);
}

/* After a cut: the share that is lost has stayed, within five and 13 eighths. A
 * flow with too few losses in a round learns nothing in time.
 */
static inline bool judge_link(struct star_judge *j, u32 sent, u32 lost)
{
	u64 now = ((u64)sent * j->ratio) >> 8;
	u64 expected = j->expected + now, all = (u64)j->lost + lost;
	u32 least = JUDGE_EXPECTED / (j->ratio < 16 ? 8 : 4);

	if (now >= least && expected < JUDGE_EXPECTED) {
		judge_count(j, expected, all);
		return false;
	}
	j->link = now >= least && all * 8 >= expected * 5 &&
		  all * 8 <= expected * 13;
	judge_count_anew(j, 0);
	return j->link;
}

/* At any time: one in 12 to one in 6 is lost on and on, more than flows lose that
 * share a queue (some 3 % of ten). A round counts for a third at most, however
 * large the window.
 */
static inline bool judge_link_small(struct star_judge *j, u32 sent, u32 lost)
{
	u32 expected = (u32)(((u64)sent * JUDGE_RATIO_SMALL + 128) >> 8);
	u32 most = min_t(u32, expected, JUDGE_EXPECTED_SMALL / 3);

	if (most < expected)
		lost = (u32)div_u64((u64)lost * most, expected);
	judge_count(j, (u64)j->expected + most, (u64)j->lost + lost);
	if (j->expected < JUDGE_EXPECTED_SMALL)
		return false;
	j->link = j->lost >= j->expected && j->lost < 2U * j->expected;
	judge_count_anew(j, 0);
	return j->link;
}

/* More than one in five lost, and enough of them. Right after a cut only if it was
 * by far too small.
 */
static inline bool judge_is_over(struct star_judge *j,
				 const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost, lost = r->lost;

	if (lost * (JUDGE_OVER_IN - j->link) <= sent)
		return false;
	judge_count_anew(j, 0);
	if (lost < JUDGE_OVER_LEAST)
		return false;
	j->link = 0;
	return !j->skip ||
	       ((u64)r->delivered * 4 < r->cwnd && lost * 8 > sent * 5);
}

/* The CUSUM test. */
static inline bool judge_is_excess(struct star_judge *j, u32 sent, u32 lost)
{
	s64 excess = (s64)j->excess + (s64)lost * JUDGE_ONE_IN - (s64)sent;

	j->excess = (u16)(excess < 0 ? 0 : min_t(s64, excess, U16_MAX));
	return j->excess > JUDGE_EXCESS * JUDGE_ONE_IN;
}

/**
 * judge_end_losses() - a round has ended: what do its losses ask for?
 * @j: the judgement, after judge_end_rtt() and judge_use()
 * @r: the round
 *
 * Return: the answer; judge_cwnd() has the window.
 */
static inline enum judge_answer judge_end_losses(struct star_judge *j,
						 const struct judge_round *r)
{
	u32 sent = (u32)min_t(u64, (u64)r->delivered + r->lost, U32_MAX);

	if (judge_no_link(r, sent))
		j->link = 0;
	if (judge_is_over(j, r)) {
		judge_cut_made(j);
		return JUDGE_OVER;
	}
	if (j->skip) {
		j->skip--;
		return JUDGE_STAY;
	}
	if (j->ratio)
		return judge_link(j, sent, r->lost) ? JUDGE_TAKE_BACK :
						      JUDGE_STAY;
	/* A receiver's window that is shut by losses is nothing to cut for. */
	if (j->link || !r->limited || (u64)sent * 4 < (u64)r->cwnd * 3)
		return JUDGE_STAY;
	if (judge_link_small(j, sent, r->lost))
		return JUDGE_TAKE_BACK;
	if (j->queue && !j->alone &&
	    r->lost >= JUDGE_FULL_LEAST + (sent >> JUDGE_FULL_SHIFT)) {
		judge_cut_made(j);
		return JUDGE_FULL;
	}
	if (!judge_is_excess(j, sent, r->lost))
		return JUDGE_STAY;
	judge_cut_made(j);
	/* Alone on a path that is full the losses are its own queue's. */
	if (j->large &&
	    !(j->alone && (u64)r->delivered * 16 >= (u64)r->path * 15))
		judge_count_anew(j, max_t(u32, 1, div_u64((u64)r->lost << 8,
							  sent)));
	return JUDGE_CUT;
}

/**
 * judge_cwnd() - the window after an answer
 * @j: the judgement
 * @answer: what judge_end_losses() answered
 * @r: the round
 * @prior_cwnd: the window before the last loss event
 *
 * JUDGE_OVER: what arrived of the window, without a queue's part; between once and
 * twice what the round delivered, as losses are known late, and no more than before.
 * JUDGE_FULL: three quarters of the window before the losses, near CUBIC's answer
 * (RFC 9438 4.6). JUDGE_CUT: a fifth less; a sixteenth where it is likely the link's,
 * to see that.
 *
 * Return: the window.
 */
static inline u32 judge_cwnd(const struct star_judge *j,
			     enum judge_answer answer,
			     const struct judge_round *r, u32 prior_cwnd)
{
	u64 sent = max_t(u64, (u64)r->delivered + r->lost, 1);
	u32 lost = (u32)div64_u64((u64)r->cwnd * r->lost, sent);
	u32 share = judge_share(r->delivered, r->rtt_us, j->base_us);
	u32 kept = judge_share(r->cwnd - lost, r->rtt_us, j->base_us);

	switch (answer) {
	case JUDGE_OVER:
		kept = clamp_t(u32, kept, share,
			       min_t(u64, 2ULL * r->delivered, U32_MAX));
		return min_t(u32, r->cwnd, kept);
	case JUDGE_FULL:
		return min_t(u32, r->cwnd, prior_cwnd - prior_cwnd / 4);
	case JUDGE_CUT:
		if (j->alone && (u64)r->lost * 16 >= sent)
			return r->cwnd - r->cwnd / 16;
		kept = r->cwnd - r->cwnd / 5 - !!(r->cwnd % 5);
		return kept ? kept : r->cwnd;
	case JUDGE_TAKE_BACK:
		return (u32)min_t(u64, (u64)r->cwnd + r->cwnd / 6, U32_MAX);
	default:
		return r->cwnd;
	}
}

#endif /* _APOGEE_JUDGE_H */
