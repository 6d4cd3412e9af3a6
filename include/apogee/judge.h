/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How TCP-STAR evaluates RTTs and losses (coexist=1), once per packet-timed round
 * trip.
 *
 * A high RTT may be due to a queue or to a longer path, a loss to a full queue or to
 * a bit error. A single measurement cannot distinguish them, but the response to a
 * smaller window can: a queue becomes shorter and its losses end, while a longer path
 * and bit errors remain. So every reduction of the window is also a test:
 *
 *   RTT     A queue stands if the minimum RTT of a round exceeds the path's by more
 *           than a sixteenth of it plus the RTT's own variation. After some such
 *           rounds the window is reduced for one round. If the RTT then neither falls
 *           nor rises, it is taken as the path's. A flow too small for this test
 *           takes an RTT that stays within a thirty-second for many rounds: queues of
 *           other flows vary.
 *   losses  The link's own loss rate is estimated, and losses beyond it are summed up
 *           (a CUSUM test, counted in segments, so that the larger of two windows
 *           reaches the limit first). At the limit the window is reduced. If the
 *           losses persist although less is sent than the path carries and its queue
 *           is empty, they are the link's: the estimate is raised, and the reduction
 *           reverted. If less than half of them persist, the estimate is lowered to
 *           these, but not below its initial value. With a queue shared with other
 *           flows a few losses suffice for a reduction. A loss of more than one
 *           segment in five reduces the window to what arrived, whatever the cause.
 *   alone   What a flow sends, compared with ABE's estimate of what the path carries,
 *           shows whether there are other flows.
 *
 * docs/algorithms.md gives the reasons, and the alternatives tried. Windows and
 * counts are in segments, times in us.
 */
#ifndef _APOGEE_JUDGE_H
#define _APOGEE_JUDGE_H

#include "int.h"

/* A queue stands if the RTT is a sixteenth above the path's. */
#define JUDGE_QUEUE_SHIFT	4
/* Rounds with a queue before a test, and minimum rounds between two tests. */
#define JUDGE_STANDING		4U
#define JUDGE_REST		8U
/* Rounds with a constant RTT after which it is taken as the path's. */
#define JUDGE_STILL		16U
/* Upper bound of the path's RTT, in multiples of tcp_min_rtt(). */
#define JUDGE_LONGEST		8U
/* A queue is empty if the smoothed RTT is at most a 64th and 0.5 ms above the path's
 * RTT.
 */
#define JUDGE_EMPTY_SHIFT	6
#define JUDGE_EMPTY_US		500U

/* Initial estimate of the link's loss rate, in 1/1024: a bit error rate of 1e-6 loses
 * one frame of 1514 bytes in 83.
 */
#define JUDGE_LINK_BEGIN	12U
/* Losses beyond 1.5 times this estimate plus this rate, in 1/1024, are excess. */
#define JUDGE_EXCESS_BASE	8U
/* Limit of the excess: 5 segments, or a twelfth of a small window. */
#define JUDGE_EXCESS		5U
#define JUDGE_EXCESS_WINDOW	12U
/* The excess is counted in 1/32 segment. */
#define JUDGE_SEGMENT		32U
/* A bit error rate of 1e-5 loses one frame in 9: one in 5 plus 4 segments, of 200, is
 * five standard deviations more. Fewer than 16 losses are not evaluated.
 */
#define JUDGE_OVER_SHARE	205U
#define JUDGE_OVER_IN		5U
#define JUDGE_OVER_SPREAD	4U
#define JUDGE_OVER_LEAST	16U
/* Number of losses from which a probe for more bandwidth is costly. */
#define JUDGE_COSTLY		32U
/* Losses in a round that show a full queue: 3 plus one segment in 64. */
#define JUDGE_FULL_LEAST	3U
#define JUDGE_FULL_SHIFT	6
/* Number of losses expected from the link before a reduction is evaluated, and the
 * same for a loss rate below one in 16. A round counts for about a third at most.
 */
#define JUDGE_EXPECTED		32U
#define JUDGE_EXPECTED_FEW	16U
/* The estimate is reviewed at this number of losses, or of expected losses in 1/8. A
 * round counts for at most JUDGE_SEEN_ROUND of the latter.
 */
#define JUDGE_SEEN		48U
#define JUDGE_SEEN_EXPECTED	128U
#define JUDGE_SEEN_ROUND	96U
/* Rounds of fewer segments are too small for a test. */
#define JUDGE_SMALL		128U
/* Estimates above one in 26, a bit error rate of 3e-6, are lowered if there is a queue. */
#define JUDGE_LINK_DOUBT	40U
/* Loss rates in 1/1024 that a small window attributes to the link: 1/13 to 1/6. */
#define JUDGE_LINK_LOW		80U
#define JUDGE_LINK_HIGH		180U
/* Rounds alone before a flow counts as alone, until other flows are detected. */
#define JUDGE_LONE		4U
/* A loss is near the top of the queue at three quarters or more of the recent maximum
 * delay of the queue. This maximum decays by a thirty-second per round.
 */
#define JUDGE_TOP_SHIFT		5
/* A queue is not tested while the RTT grows by more than an eighth per round. */
#define JUDGE_RISE_SHIFT	3

/**
 * struct judge_state - state of the evaluation of RTTs and losses
 * @base_us: the path's RTT, ~0 if unknown
 * @least_us: minimum RTT of the current round, ~0 if none yet
 * @last_us: minimum RTT of the previous round; during a test of the RTT, of the round
 *	before the test
 * @excess: losses beyond those of the link, in 1/JUDGE_SEGMENT segments
 * @calm: smoothed RTT above the path's while the flow has hardly any queue of its own,
 *	in 1/256 of @base_us
 * @level: level at which the RTT has stayed, in 1/64 of @base_us above it
 * @still: number of rounds for which it has; not counted while @large is set
 * @ratio: loss rate before the reduction, in 1/1024, while its effect on losses is
 *	tested; else 0
 * @expected: losses expected since the reduction, by @ratio; only valid with @ratio
 * @lost: losses since the reduction; only valid with @ratio
 * @fall: fall of the RTT expected in a test, in 1/256 of @last_us
 * @link: estimated loss rate of the link, in 1/1024
 * @seen_expected: losses expected by @link since its last review, in 1/8, in the rounds
 *	that judge_see() counts
 * @seen: losses in these rounds
 * @test: rounds until the test of the RTT is evaluated, 0: no test
 * @standing: rounds with a queue, up to JUDGE_STANDING
 * @rest: rounds until the next test may begin
 * @skip: rounds until losses show the effect of the last reduction
 * @dip: the window is reduced for this round
 * @queue: a queue stands
 * @alone: no other flows are detected
 * @large: this flow sends at least three eighths of what the path carries, so that a
 *	reduction of its window has a measurable effect
 * @lone: rounds alone, up to JUDGE_LONE
 * @quiet: rounds whose losses are ignored, since nothing arrived for a while
 * @top: recent maximum delay of the queue, in 1/16 of @base_us
 */
struct judge_state {
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
 * @path: segments that the path carries in the time of a round, 0 if unknown
 * @rtt_us: smoothed RTT
 * @min_rtt_us: minimum RTT of the last minutes, tcp_min_rtt()
 * @limited: the flow is limited by its window
 * @train: the round includes the connection's first train, sent at once
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

/* Response to the losses of a round. */
enum judge_answer {
	JUDGE_STAY,		/* none */
	JUDGE_CUT,		/* reduce: losses exceed those of the link */
	JUDGE_FULL,		/* reduce: a queue shared with other flows is full */
	JUDGE_OVER,		/* reduce to what arrived: far too many losses */
	JUDGE_TAKE_BACK,	/* revert the last reduction: the losses are the link's */
};

/**
 * judge_share() - the part of a window that is in flight and not in a queue
 * @cwnd: the window
 * @rtt_us: the RTT, 0 if unknown
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

/* Is the RTT more than a sixteenth and @spread_us above the path's? */
static inline bool judge_above(const struct judge_state *j, u32 rtt_us,
			       u32 spread_us)
{
	return rtt_us > j->base_us &&
	       rtt_us - j->base_us >
		       (u64)(j->base_us >> JUDGE_QUEUE_SHIFT) + spread_us;
}

/**
 * judge_rtt() - evaluate the RTT of an ACK
 * @j: the state
 * @rtt_us: the RTT
 */
static inline void judge_rtt(struct judge_state *j, u32 rtt_us)
{
	j->base_us = min_t(u32, j->base_us, rtt_us);
	j->least_us = min_t(u32, j->least_us, rtt_us);
	if (j->queue && !judge_above(j, rtt_us, 0))
		j->queue = 0;
}

/* Does the smoothed RTT show an empty queue? @calm is its distance from the path's
 * without a queue, in 1/256 of that.
 */
static inline bool judge_is_empty(u32 rtt_us, u32 base_us, u32 calm)
{
	return rtt_us <= (u64)base_us + (base_us >> JUDGE_EMPTY_SHIFT) +
				 JUDGE_EMPTY_US + (((u64)base_us * calm) >> 8);
}

/* Delay of the queue: RTT above the path's, in 1/16 of it, up to 255. */
static inline u32 judge_queued(const struct judge_state *j, u32 rtt_us)
{
	u64 above_us = rtt_us > j->base_us ? rtt_us - j->base_us : 0;

	return (u32)min_t(u64, div_u64(above_us << 4,
				       max_t(u32, j->base_us, 1)), U8_MAX);
}

/* The path has become longer: part of the known queue delay belongs to the path. */
static inline void judge_adopt(struct judge_state *j)
{
	j->top -= (u8)min_t(u32, j->top, judge_queued(j, j->least_us));
	j->base_us = j->least_us;
	j->queue = 0;
	j->standing = 0;
	j->still = 0;
	j->rest = 0;
}

/* In a test, the RTT is the path's if it changes by less than a quarter of the expected
 * fall: the flow's own queue would become shorter, and one that others fill varies.
 */
static inline bool judge_is_path(const struct judge_state *j)
{
	u32 due = (u32)(((u64)j->last_us * j->fall) >> 10);
	u32 moved = j->last_us > j->least_us ? j->last_us - j->least_us :
					       j->least_us - j->last_us;

	return j->least_us > j->base_us && moved < due;
}

/* Has the RTT stayed within a thirty-second for JUDGE_STILL rounds? For flows too small
 * for a test: a queue shared with other flows varies. A large flow has tests, so its
 * rounds are not counted, and those counted before are discarded.
 */
static inline bool judge_is_still(struct judge_state *j)
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

static inline void judge_see_queue(struct judge_state *j)
{
	u32 fallen = j->top - ((j->top + (1U << JUDGE_TOP_SHIFT) - 1) >>
			       JUDGE_TOP_SHIFT);

	j->top = (u8)max_t(u32, judge_queued(j, j->least_us), fallen);
}

/**
 * judge_is_near_top() - is the queue near its recent maximum?
 * @j: the state
 * @rtt_us: the RTT
 *
 * A loss in a shorter queue is a bit error, or due to other flows.
 *
 * Return: true if the delay is at least three quarters of that maximum.
 */
static inline bool judge_is_near_top(const struct judge_state *j, u32 rtt_us)
{
	return judge_queued(j, rtt_us) * 4 >= j->top * 3U;
}

/* Has the RTT grown by more than an eighth since the previous round? */
static inline bool judge_is_rising(const struct judge_state *j)
{
	return j->least_us > (u64)j->last_us + (j->last_us >> JUDGE_RISE_SHIFT);
}

/**
 * judge_end_rtt() - evaluate the RTT at the end of a round
 * @j: the state
 * @srtt_us: smoothed RTT; its distance from the minimum is the RTT's own variation
 * @min_rtt_us: minimum RTT of the last minutes, tcp_min_rtt()
 *
 * Return: true if the path has become longer.
 */
static inline bool judge_end_rtt(struct judge_state *j, u32 srtt_us,
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
 * judge_begin_test() - begin a test of the RTT with a reduction of the window
 * @j: the state
 * @rtt_us: RTT before it, ~0 if unknown
 * @fall_us: expected fall of the RTT
 * @rounds: rounds until the test is evaluated, 1 to 3
 *
 * There is no test if the effect would be too small to be distinguished from that of
 * other flows.
 */
static inline void judge_begin_test(struct judge_state *j, u32 rtt_us,
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
 * judge_end_test() - drop the tests, as the window has changed
 * @j: the state
 *
 * Later RTTs and losses are not due to the last reduction.
 */
static inline void judge_end_test(struct judge_state *j)
{
	j->test = 0;
	j->dip = 0;
	j->ratio = 0;
}

/**
 * judge_test_due() - is it time for a test of the RTT?
 * @j: the state, at the end of a round
 *
 * Return: true if the window should be reduced for a test.
 */
static inline bool judge_test_due(const struct judge_state *j)
{
	return !j->test && !j->rest && j->standing == JUDGE_STANDING;
}

/**
 * judge_dip() - the reduced window of a test of the RTT
 * @j: the state, @last_us being the RTT before the test
 * @cwnd: the window
 *
 * The part of the window that is not in the queue, at least half. Beside other flows
 * at most three quarters, or the effect would not be measurable. At least two
 * segments, as a single one would wait for the delayed ACK.
 *
 * Return: the window.
 */
static inline u32 judge_dip(const struct judge_state *j, u32 cwnd)
{
	u32 dip = max_t(u32, judge_share(cwnd, j->last_us, j->base_us),
			cwnd >> 1);

	if (!j->alone)
		dip = min_t(u32, dip, cwnd - cwnd / 4);
	return max_t(u32, dip, 2);
}

/* Update @calm, the distance of the smoothed RTT from the path's without a queue, as
 * jitter causes it. While the flow sends much, an increase is its own queue.
 */
static inline void judge_calm(struct judge_state *j, u32 rtt_us, bool little)
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
 * judge_use() - evaluate this flow's share of the path
 * @j: the state
 * @r: the round that has ended
 */
static inline void judge_use(struct judge_state *j, const struct judge_round *r)
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
 * judge_is_lone() - have no other flows been detected for JUDGE_LONE rounds?
 * @j: the state
 *
 * Return: true if none were.
 */
static inline bool judge_is_lone(const struct judge_state *j)
{
	return j->lone == JUDGE_LONE;
}

/**
 * judge_silence() - nothing has arrived for half a round: an outage of the link
 * @j: the state
 *
 * An overflowing queue delivers without a pause. Only if the flow is alone: in a queue
 * that other flows fill, pauses between its packets are normal.
 */
static inline void judge_silence(struct judge_state *j)
{
	if (judge_is_lone(j))
		j->quiet = 2;
}

/**
 * judge_cut_made() - the window was reduced: losses show the effect after a round
 * @j: the state
 */
static inline void judge_cut_made(struct judge_state *j)
{
	j->excess = 0;
	j->skip = 2;
}

static inline void judge_count_anew(struct judge_state *j, u32 ratio)
{
	j->ratio = (u8)min_t(u32, ratio, U8_MAX);
	j->expected = 0;
	j->lost = 0;
}

static inline void judge_count(struct judge_state *j, u64 expected, u64 lost)
{
	j->expected = (u8)min_t(u64, expected, U8_MAX);
	j->lost = (u8)min_t(u64, lost, U8_MAX);
}

/* Set the estimated loss rate of the link, and restart its review. */
static inline void judge_believe(struct judge_state *j, u32 link)
{
	j->link = (u8)min_t(u32, link, U8_MAX);
	j->seen_expected = 0;
	j->seen = 0;
}

/* If losses may be a queue's, a high estimate of the link's is lowered by an eighth. */
static inline u32 judge_doubt(u32 link)
{
	if (link <= JUDGE_LINK_DOUBT)
		return link;
	return link - (link - JUDGE_LINK_DOUBT + 7) / 8;
}

/* Review the estimated loss rate of the link. It falls if less than a third of the
 * expected losses occur, and rises back to its initial value. A flow that is not large
 * and has too few segments in a round for a test attributes more losses to the link.
 * Its rounds with losses count only if the queue was empty: the smoothed RTT is
 * compared with the stack's minimum, without an allowance for jitter. Beside other
 * flows and with a queue, an estimate that is confirmed is lowered: if all flows
 * attributed the queue's losses to the link, none would yield.
 */
static inline void judge_see(struct judge_state *j, const struct judge_round *r,
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

/* Have the losses persisted after the reduction? If the flow is alone, half of them
 * suffice, since losses in its own queue end; beside other flows five eighths, since
 * losses in their queue persist. More losses than the upper bound have another cause.
 */
static inline bool judge_stays(const struct judge_state *j, u64 expected,
			       u64 lost)
{
	if (judge_is_lone(j))
		return lost * 2 >= expected && lost <= expected * 2;
	return lost * 8 >= expected * 5 && lost * 8 <= expected * 13;
}

/* Evaluate the losses after a reduction. If they persist, they are the link's, and its
 * estimated loss rate is raised to them; if less than half persist, it is lowered to
 * these, but not below JUDGE_LINK_BEGIN. Only valid while the path is not full and the
 * smoothed RTT shows an empty queue. Beside other flows the test is dropped if the
 * losses per round are too few for a result in time.
 */
static inline bool judge_test_link(struct judge_state *j,
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

/* Were more than one in five lost, in sufficient number? Right after a reduction only if
 * that was far too small.
 */
static inline bool judge_is_over(struct judge_state *j,
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

/* The CUSUM test. If the flow is alone, a round counts for four segments at most:
 * neither one burst of losses nor two losses of a small window cause a reduction.
 */
static inline bool judge_is_excess(struct judge_state *j,
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

/* Do the losses show that a queue shared with other flows is full? */
static inline bool judge_is_full(const struct judge_state *j,
				 const struct judge_round *r, u32 sent)
{
	return j->queue && !j->alone &&
	       r->lost >= JUDGE_FULL_LEAST + (sent >> JUDGE_FULL_SHIFT) +
				  (((u64)sent * j->link) >> 10);
}

/**
 * judge_end_losses() - evaluate the losses at the end of a round
 * @j: the state, after judge_end_rtt() and judge_use()
 * @r: the round
 *
 * Return: the response; judge_cwnd() computes the window.
 */
static inline enum judge_answer judge_end_losses(struct judge_state *j,
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
	/* Not limited by cwnd, e.g. losses block the receiver's window: no reduction. */
	if (!r->limited || (u64)sent * 4 < (u64)r->cwnd * 3)
		return JUDGE_STAY;
	if (judge_is_full(j, r, sent)) {
		judge_cut_made(j);
		return JUDGE_FULL;
	}
	if (!judge_is_excess(j, r, sent))
		return JUDGE_STAY;
	/* Few losses although less is sent than the path carries: other flows fill it. */
	if ((u64)sent * 8 < (u64)r->path * 7 && (u64)r->lost * 16 < sent)
		j->lone = 0;
	judge_cut_made(j);
	if (j->large || judge_is_lone(j))
		judge_count_anew(j, max_t(u32, 1, (u32)div_u64((u64)r->lost << 10,
							       sent)));
	return JUDGE_CUT;
}

/**
 * judge_is_costly() - was more than one in eight lost in a round, but not in an outage?
 * @r: the round
 *
 * Return: true if so, with JUDGE_COSTLY losses or more.
 */
static inline bool judge_is_costly(const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost;

	return r->lost >= JUDGE_COSTLY && r->lost < r->delivered &&
	       (u64)r->lost * 8 > sent;
}

/**
 * judge_cwnd() - the window after a response
 * @j: the state
 * @answer: the response of judge_end_losses()
 * @r: the round
 * @prior_cwnd: the window before the last loss event
 *
 * JUDGE_OVER: the part of the window that arrived, less what was in the queue; at least
 * what the round delivered without the queue and at most twice what it delivered, as
 * losses are detected late; not above the current window.
 * JUDGE_FULL: three quarters of the window before the losses, similar to CUBIC
 * (RFC 9438 4.6). JUDGE_CUT: four fifths. JUDGE_TAKE_BACK: a sixth more.
 *
 * Return: the window.
 */
static inline u32 judge_cwnd(const struct judge_state *j,
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
