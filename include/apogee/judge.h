/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What TCP-STAR makes of an RTT above the least and of losses (coexist=1), one
 * packet-timed round trip at a time.
 *
 * A high RTT is a queue's or a longer path's, a loss a full queue's or a bit
 * error's, and one look tells neither. What tells them apart is what follows when
 * the window falls: a queue becomes shorter and its losses end, a longer path and
 * bit errors stay as they are. So every cut is a test:
 *
 *   RTT     A queue stands where the least RTT of a round is above the path's by more
 *           than a sixteenth of it and the RTT's own spread. After some such rounds
 *           the window is lowered for one. If the RTT does not move, neither down
 *           nor up, it is taken for the path's. A window too small for that takes
 *           an RTT that keeps to a thirty-second for many rounds: others' queues
 *           rise and fall.
 *   losses  What the link itself loses is believed to be some share, and what is lost
 *           beyond that is summed up (a CUSUM test, counted in segments so that the
 *           larger of two windows comes to the limit first). At the limit the window
 *           is cut. If the losses stay although less is sent than the path carries
 *           and its queue is empty, they are the link's: the belief rises, and the
 *           cut is taken back. If less than half of them stay, the belief falls to
 *           what is left, but not below where it began. With a queue that others
 *           share few losses do, and more than one in five are answered whatever
 *           they come from: the window falls to what arrived.
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
/* Rounds with a queue after which it is tested, and rounds from a test to the next. */
#define JUDGE_STANDING		4U
#define JUDGE_REST		8U
/* Rounds of one and the same RTT that show a longer path. */
#define JUDGE_STILL		16U
/* The path's RTT is not taken to be more than this many times tcp_min_rtt(). */
#define JUDGE_LONGEST		8U
/* A queue is empty where the smoothed RTT is a 64th and half a millisecond above the
 * least.
 */
#define JUDGE_EMPTY_SHIFT	6
#define JUDGE_EMPTY_US		500U

/* What the link is believed to lose, in 1/1024, before anything is known: bit errors at
 * 1e-6 take one frame of 1514 bytes in 83.
 */
#define JUDGE_LINK_BEGIN	12U
/* Losses in 1/1024 that count as excess, beyond one and a half times the belief. */
#define JUDGE_EXCESS_BASE	8U
/* More segments of it than 5, or a twelfth of a small window, are too many. */
#define JUDGE_EXCESS		5U
#define JUDGE_EXCESS_WINDOW	12U
/* Excess is counted in parts of a segment. */
#define JUDGE_SEGMENT		32U
/* One frame in 9 is lost at 1e-5: one in 5 and 4 segments more of 200 are five standard
 * deviations. Less than 16 losses tell nothing.
 */
#define JUDGE_OVER_SHARE	205U
#define JUDGE_OVER_IN		5U
#define JUDGE_OVER_SPREAD	4U
#define JUDGE_OVER_LEAST	16U
/* From so many losses on a try for more room was costly. */
#define JUDGE_COSTLY		32U
/* Losses in a round that show a full queue: 3, and one segment in 64. */
#define JUDGE_FULL_LEAST	3U
#define JUDGE_FULL_SHIFT	6
/* Losses that the link would have caused until it is judged after a cut, and fewer
 * where it is to lose less than one in 16. A round counts for half of them at most.
 */
#define JUDGE_EXPECTED		32U
#define JUDGE_EXPECTED_FEW	16U
/* Losses, and such that the belief expects in 1/8, by which it is looked at. */
#define JUDGE_SEEN		48U
#define JUDGE_SEEN_EXPECTED	128U
#define JUDGE_SEEN_ROUND	96U
/* Rounds of less segments are too small for a test. */
#define JUDGE_SMALL		128U
/* A belief in more than one in 26, bit errors at 3e-6, is doubted where there is a queue. */
#define JUDGE_LINK_DOUBT	40U
/* Shares in 1/1024 that a small window takes for the link's: one in 13 to one in 6. */
#define JUDGE_LINK_LOW		80U
#define JUDGE_LINK_HIGH		180U
/* Rounds alone after which a flow is taken to be, until there is a sign of others. */
#define JUDGE_LONE		4U
/* A loss is near the top of the queue from three quarters of the highest queue on that
 * was seen; what was seen falls by a thirty-second per round.
 */
#define JUDGE_TOP_SHIFT		5
/* A queue that has grown by an eighth in a round is not to be tested yet. */
#define JUDGE_RISE_SHIFT	3

/**
 * struct star_judge - what is known of the path's RTT and of the losses
 * @base_us: the path's RTT, ~0 without one
 * @least_us: least RTT of the running round, ~0: none yet
 * @last_us: least RTT of the last round that has ended; in a test of the RTT, of that
 *	before the test
 * @excess: losses beyond what the link may cause, in 1/JUDGE_SEGMENT segments
 * @calm: what the smoothed RTT is above the path's with next to no queue of one's own, in
 *	1/256 of @base_us
 * @level: where the RTT has stayed, in 1/64 of @base_us above it
 * @still: rounds for which it has; with @large they are not counted
 * @ratio: share lost before the cut, in 1/1024, while a cut is a test; 0: it is not
 * @expected: losses since then if they were the link's; without @ratio of no meaning
 * @lost: losses since then, likewise
 * @fall: by how much the RTT must fall in a test, in 1/256 of @last_us
 * @link: share that the link is believed to lose, in 1/1024
 * @seen_expected: losses that this belief expected lately, in 1/8, in rounds that count
 *	for judge_see()
 * @seen: losses that there were in them
 * @test: rounds until the RTT is to have answered, 0: no test
 * @standing: rounds with a queue, up to JUDGE_STANDING
 * @rest: rounds until the next test
 * @skip: rounds until losses may show what the last cut did
 * @dip: the window is lowered for this round
 * @queue: a queue stands
 * @alone: hardly anybody else sends
 * @large: three eighths of what the path carries are this flow's: it must be seen
 *	when its window falls
 * @lone: rounds alone, up to JUDGE_LONE
 * @quiet: rounds whose losses tell nothing, as nothing arrived for a while
 * @top: the highest queue of late, in 1/16 of @base_us
 */
struct star_judge {
	u32 base_us;
	u32 least_us;
	u32 last_us;
	u16 level;
	u8 excess;
	u8 calm;
	u8 still;
	u8 ratio;
	u8 expected;
	u8 lost;
	u8 fall;
	u8 link;
	u8 seen_expected;
	u8 seen;
	u16 test : 2;
	u16 standing : 3;
	u16 rest : 4;
	u16 skip : 2;
	u16 dip : 1;
	u16 queue : 1;
	u16 alone : 1;
	u16 large : 1;
	u8 lone : 4;
	u8 quiet : 4;
	u8 top;
};

/**
 * struct judge_round - a round trip that has ended
 * @delivered: segments delivered
 * @lost: segments lost
 * @cwnd: the window at its end
 * @path: segments that the path carries in the time of a round, 0: unknown
 * @rtt_us: smoothed RTT
 * @min_rtt_us: least RTT of the last minutes, tcp_min_rtt()
 * @limited: the window is what limits the flow
 * @train: the connection's first train, which left at once
 */
struct judge_round {
	u32 delivered;
	u32 lost;
	u32 cwnd;
	u32 path;
	u32 rtt_us;
	u32 min_rtt_us;
	bool limited;
	bool train;
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
	if (j->queue && !judge_above(j, rtt_us, 0))
		j->queue = 0;
}

/* Does the smoothed RTT show an empty queue? @calm is what is above the least anyway, in
 * 1/256 of it.
 */
static inline bool judge_is_empty(u32 rtt_us, u32 base_us, u32 calm)
{
	return rtt_us <= (u64)base_us + (base_us >> JUDGE_EMPTY_SHIFT) +
				 JUDGE_EMPTY_US + (((u64)base_us * calm) >> 8);
}

/* What an RTT is above the path's, in 1/16 of it, up to 255. */
static inline u32 judge_queued(const struct star_judge *j, u32 rtt_us)
{
	u64 above_us = rtt_us > j->base_us ? rtt_us - j->base_us : 0;

	return (u32)min_t(u64, div_u64(above_us << 4,
				       max_t(u32, j->base_us, 1)), U8_MAX);
}

/* The path has become longer. What is known of its queue was counted from the old RTT. */
static inline void judge_adopt(struct star_judge *j)
{
	j->top -= (u8)min_t(u32, j->top, judge_queued(j, j->least_us));
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

/* Whether the RTT has kept to a thirty-second for JUDGE_STILL rounds. That tells those who
 * have no tests: with others a queue does not keep. A large flow has tests, so its rounds
 * are not counted, nor does it take those counted before along.
 */
static inline bool judge_is_still(struct star_judge *j)
{
	u64 above = (u64)(j->least_us - j->base_us) << 6;
	u32 level = (u32)min_t(u64, div_u64(above, max_t(u32, j->base_us, 1)),
			       U16_MAX);

	if (!j->queue || j->large || level > j->level + 1U ||
	    level + 1U < j->level) {
		j->level = (u16)level;
		j->still = 0;
	} else if (j->still < JUDGE_STILL) {
		j->still++;
	}
	return j->still == JUDGE_STILL;
}

static inline void judge_see_queue(struct star_judge *j)
{
	u32 fallen = j->top - ((j->top + (1U << JUDGE_TOP_SHIFT) - 1) >>
			       JUDGE_TOP_SHIFT);

	j->top = (u8)max_t(u32, judge_queued(j, j->least_us), fallen);
}

/**
 * judge_is_near_top() - is the queue as long as when it was longest?
 * @j: the judgement
 * @rtt_us: the RTT
 *
 * A loss in a shorter queue is the link's, or another's doing.
 */
static inline bool judge_is_near_top(const struct star_judge *j, u32 rtt_us)
{
	return judge_queued(j, rtt_us) * 4 >= j->top * 3U;
}

/* Has the RTT grown by an eighth since the round before? */
static inline bool judge_is_rising(const struct star_judge *j)
{
	return j->least_us > (u64)j->last_us + (j->last_us >> JUDGE_RISE_SHIFT);
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
	if (!j->queue || judge_is_rising(j))
		j->standing = 0;
	else if (j->standing < JUDGE_STANDING)
		j->standing++;
	if (j->rest)
		j->rest--;
	if (j->test) {
		j->rest = JUDGE_REST;
		longer = !--j->test && judge_is_path(j);
	}
	judge_see_queue(j);
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
 * judge_end_test() - the window is not the one of a test any more
 * @j: the judgement
 *
 * Neither RTT nor losses answer to the last cut from now on.
 */
static inline void judge_end_test(struct star_judge *j)
{
	j->test = 0;
	j->dip = 0;
	j->ratio = 0;
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

/* What the smoothed RTT is above the path's with next to no queue of one's own: as jitter
 * has it. While much is sent it is one's own queue.
 */
static inline void judge_calm(struct star_judge *j, u32 rtt_us, bool little)
{
	u64 above_us = rtt_us > j->base_us ? rtt_us - j->base_us : 0;
	u32 now = (u32)min_t(u64, div_u64(above_us << 8,
					  max_t(u32, j->base_us, 1)), U8_MAX);

	if (now < j->calm)
		j->calm = (u8)now;
	else if (little)
		j->calm += (now - j->calm + 3) >> 2;
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
	judge_calm(j, r->rtt_us, sent * 4 < path * 3);
	if (j->queue && sent * 16 < path * 15)
		j->lone = 0;
	else if (!j->quiet && j->lone < JUDGE_LONE)
		j->lone = j->alone ? j->lone + 1 : 0;
}

/**
 * judge_is_lone() - has nobody been seen since the flow was alone?
 * @j: the judgement
 */
static inline bool judge_is_lone(const struct star_judge *j)
{
	return j->lone == JUDGE_LONE;
}

/**
 * judge_silence() - nothing has arrived for half a round: the path was dead
 * @j: the judgement
 *
 * A queue that overflows delivers all the time. Only where nobody else is: what others
 * leave of a full one comes with gaps.
 */
static inline void judge_silence(struct star_judge *j)
{
	if (judge_is_lone(j))
		j->quiet = 2;
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

/* A belief begins with nothing seen. */
static inline void judge_believe(struct star_judge *j, u32 link)
{
	j->link = (u8)min_t(u32, link, U8_MAX);
	j->seen_expected = 0;
	j->seen = 0;
}

/* Where losses may be a queue's, a belief in many of them falls by an eighth. */
static inline u32 judge_doubt(u32 link)
{
	if (link <= JUDGE_LINK_DOUBT)
		return link;
	return link - (link - JUDGE_LINK_DOUBT + 7) / 8;
}

/* What the belief expects of losses is compared with what there is. It falls where
 * hardly a third of it comes, and rises back to where it began. A flow that is not large
 * and has too few segments in a round for a test takes much more for the link's. Of its
 * rounds those with losses count only if the queue was empty: the smoothed RTT is compared
 * with the stack's minimum, and jitter is not allowed for. Who is not alone doubts a belief
 * that is met while there is a queue: if all took the queue's losses for the link's, nobody
 * would make room.
 */
static inline void judge_see(struct star_judge *j, const struct judge_round *r,
			     u32 sent)
{
	u64 now = ((u64)sent * j->link + 64) >> 7, lost = r->lost;
	bool empty = judge_is_empty(r->rtt_us, r->min_rtt_us, 0);
	bool small = !j->large && sent < JUDGE_SMALL;
	u32 expected, seen, ratio;

	if (small && lost && !empty)
		return;
	if (now > JUDGE_SEEN_ROUND) {
		lost = div64_u64(lost * JUDGE_SEEN_ROUND, now);
		now = JUDGE_SEEN_ROUND;
	}
	expected = j->seen_expected + (u32)now;
	seen = (u32)min_t(u64, j->seen + lost, U8_MAX);
	j->seen_expected = (u8)expected;
	j->seen = (u8)seen;
	if (expected < JUDGE_SEEN_EXPECTED &&
	    (seen < JUDGE_SEEN || expected < 8))
		return;
	ratio = seen * 8 * j->link / expected;
	if (seen * 24 < expected)
		judge_believe(j, j->link - j->link / 4);
	else if (small && ratio > JUDGE_LINK_LOW && ratio < JUDGE_LINK_HIGH)
		judge_believe(j, ratio);
	else if (seen * 8 > expected && j->link < JUDGE_LINK_BEGIN)
		judge_believe(j, j->link + 1U);
	else if (empty || j->alone || judge_is_lone(j))
		judge_believe(j, j->link);
	else
		judge_believe(j, judge_doubt(j->link));
}

/* Have the losses stayed as they were before the cut? Alone half of them need to, as
 * one's own end; beside others those of others stay. The upper bound is for what has
 * nothing to do with the cut.
 */
static inline bool judge_stays(const struct star_judge *j, u64 expected,
			       u64 lost)
{
	if (judge_is_lone(j))
		return lost * 2 >= expected && lost <= expected * 2;
	return lost * 8 >= expected * 5 && lost * 8 <= expected * 13;
}

/* After a cut: whose are the losses? If they stay, the link's, and the belief rises to
 * them; if less than half stay, it falls to these, not below JUDGE_LINK_BEGIN. Shown only
 * while the path is not full and the smoothed RTT is as low as with an empty queue. Where
 * others may send a flow with too few losses in a round learns nothing in time.
 */
static inline bool judge_test_link(struct star_judge *j,
				   const struct judge_round *r, u32 sent)
{
	bool few = j->ratio < 64;
	u32 want = few ? JUDGE_EXPECTED_FEW : JUDGE_EXPECTED;
	u64 now = ((u64)sent * j->ratio + 1023) >> 10, lost = r->lost;
	u32 link;
	bool stays;

	if (sent > r->path ||
	    !judge_is_empty(r->rtt_us, j->base_us, j->calm) ||
	    (!judge_is_lone(j) && now < want / 4)) {
		judge_count_anew(j, 0);
		return false;
	}
	if (now > want / 3 + 1) {
		lost = div64_u64(lost * (want / 3 + 1), now);
		now = want / 3 + 1;
	}
	judge_count(j, j->expected + now, j->lost + lost);
	if (j->expected < want)
		return false;
	stays = judge_stays(j, j->expected, j->lost);
	link = (u32)j->lost * j->ratio / j->expected;
	if (stays)
		judge_believe(j, max_t(u32, link, j->link));
	else if ((u32)j->lost * 2 < j->expected)
		judge_believe(j, clamp_t(u32, link,
					 min_t(u32, j->link, JUDGE_LINK_BEGIN),
					 j->link));
	judge_count_anew(j, 0);
	return stays;
}

/* More than one in five lost, and enough of them. Right after a cut only if it was
 * by far too small.
 */
static inline bool judge_is_over(struct star_judge *j,
				 const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost, lost = r->lost;

	if (lost * 1024 <= sent * (JUDGE_OVER_SHARE + j->link / 2U) +
				   JUDGE_OVER_SPREAD * 1024U)
		return false;
	judge_count_anew(j, 0);
	if (lost < JUDGE_OVER_LEAST || r->train)
		return false;
	return !j->skip ||
	       ((u64)r->delivered * 4 < r->cwnd && lost * 8 > sent * 5);
}

/* The CUSUM test. Alone a round counts for four segments at most: one burst of losses is
 * nothing to cut for, nor are two losses of a window of a few segments.
 */
static inline bool judge_is_excess(struct star_judge *j,
				   const struct judge_round *r, u32 sent)
{
	u32 share = j->link + j->link / 2U + JUDGE_EXCESS_BASE;
	u32 most = clamp_t(u32, r->cwnd / JUDGE_EXCESS_WINDOW,
			   1 + judge_is_lone(j), JUDGE_EXCESS);
	s64 excess = (s64)j->excess + (s64)r->lost * JUDGE_SEGMENT -
		     (s64)(((u64)sent * share) >> 5);

	if (judge_is_lone(j))
		excess = min_t(s64, excess,
			       (s64)j->excess +
				       (JUDGE_EXCESS - 1) * JUDGE_SEGMENT);
	j->excess = (u8)(excess < 0 ? 0 : min_t(s64, excess, U8_MAX));
	return j->excess > most * JUDGE_SEGMENT;
}

/* Losses in a queue that others share which show that it is full. */
static inline bool judge_is_full(const struct star_judge *j,
				 const struct judge_round *r, u32 sent)
{
	return j->queue && !j->alone &&
	       r->lost >= JUDGE_FULL_LEAST + (sent >> JUDGE_FULL_SHIFT) +
				  (((u64)sent * j->link) >> 10);
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

	if (j->quiet) {
		j->quiet--;
		return JUDGE_STAY;
	}
	if (judge_is_over(j, r)) {
		judge_cut_made(j);
		return JUDGE_OVER;
	}
	if (j->skip) {
		j->skip--;
		return JUDGE_STAY;
	}
	judge_see(j, r, sent);
	if (j->ratio)
		return judge_test_link(j, r, sent) ? JUDGE_TAKE_BACK :
						     JUDGE_STAY;
	/* A receiver's window that is shut by losses is nothing to cut for. */
	if (!r->limited || (u64)sent * 4 < (u64)r->cwnd * 3)
		return JUDGE_STAY;
	if (judge_is_full(j, r, sent)) {
		judge_cut_made(j);
		return JUDGE_FULL;
	}
	if (!judge_is_excess(j, r, sent))
		return JUDGE_STAY;
	/* Few losses, and the path is full although less is sent than it carries. */
	if ((u64)sent * 8 < (u64)r->path * 7 && (u64)r->lost * 16 < sent)
		j->lone = 0;
	judge_cut_made(j);
	if (j->large || judge_is_lone(j))
		judge_count_anew(j, max_t(u32, 1, (u32)div_u64((u64)r->lost << 10,
							       sent)));
	return JUDGE_CUT;
}

/**
 * judge_is_costly() - has a round lost much? One in eight, and not only by a dead path
 * @r: the round
 */
static inline bool judge_is_costly(const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost;

	return r->lost >= JUDGE_COSTLY && r->lost < r->delivered &&
	       (u64)r->lost * 8 > sent;
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
 * (RFC 9438 4.6). JUDGE_CUT: a fifth less.
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
		kept = r->cwnd - r->cwnd / 5 - !!(r->cwnd % 5);
		return kept ? kept : r->cwnd;
	case JUDGE_TAKE_BACK:
		return (u32)min_t(u64, (u64)r->cwnd + r->cwnd / 6, U32_MAX);
	default:
		return r->cwnd;
	}
}

#endif /* _APOGEE_JUDGE_H */
