/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How TCP-STAR evaluates RTTs and losses (coexist=1), once per packet-timed round
 * trip.
 *
 * A high RTT may be due to a queue or to a longer path, a loss to a full queue or to a
 * bit error. Delay tells which: losses while the queue is empty are the link's, losses
 * while it is not are congestion. So the path's own RTT must be known, and whether it
 * still is:
 *
 *   back    By how much the way back of an ACK is longer than at its shortest is known
 *           (judge_back.h). It is no part of the RTT that is evaluated, but of the time that
 *           the window has to fill.
 *   RTT     A queue stands if the minimum RTT of a round exceeds the path's by more
 *           than a sixteenth of it plus the RTT's own variation. After some such
 *           rounds a flow with a large part of the path reduces its window for one
 *           round. If the RTT then neither falls nor rises, it is taken as the path's.
 *           Any flow that has not seen the path's RTT for ten seconds reduces its
 *           window for three rounds, and takes their minimum.
 *   empty   The queue is empty if the RTT is within two packets of the path's, and no more
 *           is sent than the path carries.
 *   losses  The link's own loss rate is learned in rounds with an empty queue, a high
 *           one only if the smoothed RTT shows that, too. Losses beyond it are summed
 *           up (a CUSUM test, counted in segments, so that the larger of two windows
 *           reaches the limit first). At the limit the window is reduced. With a queue
 *           shared with other flows a few losses suffice. With an empty queue, or alone
 *           without one, no single burst does: it ends by itself, an overload does not.
 *           Alone or with an empty queue two rounds in a row that lose more than one
 *           segment in five reduce the window to what arrived, else one.
 *   alone   What a flow sends, compared with ABE's estimate of what the path carries,
 *           shows whether there are other flows. Beside a few of them in a short queue
 *           it does not.
 *
 * Each of these is formed anew in each round, but for the path's RTT, its way back, the loss rate
 * and the sum of losses, which a round may change in both directions. docs/algorithms.md gives the
 * reasons, each constant's origin, and what was tried. Windows and counts are in segments, times
 * in us.
 */
#ifndef _APOGEE_JUDGE_H
#define _APOGEE_JUDGE_H

#include "judge_back.h"

/* A queue stands if the RTT is a sixteenth above the path's. */
#define JUDGE_QUEUE_SHIFT	4
/* Rounds with a queue before a test, and minimum rounds between two tests. */
#define JUDGE_STANDING		4U
#define JUDGE_REST		8U
/* A queue is not tested while the RTT grows by more than an eighth per round. */
#define JUDGE_RISE_SHIFT	3
/* A queue is empty if the RTT is at most two packets, but no more than an eighth of the
 * path's RTT, or 0.5 ms above that.
 */
#define JUDGE_EMPTY_SHIFT	3
#define JUDGE_EMPTY_US		500U
/* What the stack sends at once: TSO packets of a millisecond. */
#define JUDGE_BURST_US		1000U
/* The path's RTT is measured anew after ten seconds (as in BBR), for three rounds: one
 * until the smaller window is in effect, one for the queue to drain, one to measure. After
 * sixteen rounds if these are longer, or it would be measured most of the time.
 */
#define JUDGE_RENEW_US		10000000U
#define JUDGE_RENEW_ROUNDS	3U
#define JUDGE_RENEW_SHIFT	4
/* When it was seen is kept in 131072 us. */
#define JUDGE_CLOCK_SHIFT	17
/* Bounds of the link's loss rate, in 1/1024: a bit error rate of 1e-6 loses one frame of
 * 1514 bytes in 83, 1e-5 one in 9.
 */
#define JUDGE_LINK_BEGIN	12U
#define JUDGE_LINK_MOST		96U
/* As long as a queue may be hidden: 1.6e-6 loses one in 52. */
#define JUDGE_LINK_FEW		20U
/* A round of this number of segments counts as much as all before. */
#define JUDGE_LEARN		128U
/* Losses beyond 1.5 times this rate plus this one, in 1/1024, are excess. */
#define JUDGE_EXCESS_BASE	8U
/* Limit of the excess: 5 segments, or a twelfth of a small window. */
#define JUDGE_EXCESS		5U
#define JUDGE_EXCESS_WINDOW	12U
/* A round without losses takes an eighth of it: a window of two segments has a way out, too. */
#define JUDGE_FORGET		8U
/* The excess is counted in 1/32 segment. */
#define JUDGE_SEGMENT		32U
/* A bit error rate of 1e-5 loses one frame in 9. More than one in five plus two
 * segments are too many, whatever the cause. Fewer than four losses are not evaluated.
 */
#define JUDGE_OVER_SHARE	205U
#define JUDGE_OVER_IN		5U
#define JUDGE_OVER_SPREAD	2U
#define JUDGE_OVER_LEAST	4U
/* Losses in a round that show a full queue: 3 plus one segment in 64. */
#define JUDGE_FULL_LEAST	3U
#define JUDGE_FULL_SHIFT	6

/**
 * struct judge_round - a round trip that has ended
 * @delivered: segments delivered
 * @lost: segments lost
 * @cwnd: the window at its end
 * @path: segments that the path carries in the time of a round, 0 if unknown
 * @rtt_us: smoothed RTT, whole
 * @now_us: its end, in us, modulo 2^32
 * @limited: the flow is limited by its window
 * @rests: the application has no more to send
 * @train: the round includes the connection's first train, sent at once
 */
struct judge_round {
	u32 delivered;
	u32 lost;
	u32 cwnd;
	u32 path;
	u32 rtt_us;
	u32 now_us;
	bool limited;
	bool rests;
	bool train;
};

/* Response to the losses of a round. */
enum judge_answer {
	JUDGE_STAY,		/* none */
	JUDGE_CUT,		/* reduce: losses exceed those of the link */
	JUDGE_FULL,		/* reduce: a queue is full that others share, or one not used */
	JUDGE_OVER,		/* reduce to what arrived: far too many losses */
};

/**
 * judge_init() - begin without knowledge of the path
 * @j: the state, zeroed
 * @base_us: the path's RTT as far as known, else ~0
 * @now_us: the time, in us, modulo 2^32
 * @tsval: the receiver's last timestamp, or 0
 */
static inline void judge_init(struct judge_state *j, u32 base_us, u32 now_us, u32 tsval)
{
	j->base_us = base_us;
	j->least_us = U32_MAX;
	j->last_us = U32_MAX;
	j->low_us = U32_MAX;
	j->age = judge_age(now_us, tsval);
	j->mark = (u8)(j->age >> JUDGE_MARK_SHIFT);
	j->half = judge_half(now_us);
	j->ticks = 1;
	j->link = JUDGE_LINK_BEGIN;
	j->seen = (u8)(now_us >> JUDGE_CLOCK_SHIFT);
}

/* The path's time for a packet. */
static inline u32 judge_packet_us(const struct judge_round *r)
{
	return r->rtt_us / max_t(u32, r->path, 1);
}

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

/* The smoothed RTT, less what the way back is longer. */
static inline u32 judge_mean_us(const struct judge_state *j, const struct judge_round *r)
{
	return r->rtt_us - min_t(u32, judge_back_us(j), r->rtt_us);
}

/* Is the RTT more than a sixteenth and @spread_us above the path's? */
static inline bool judge_above(const struct judge_state *j, u32 rtt_us,
			       u32 spread_us)
{
	return rtt_us > j->base_us &&
	       rtt_us - j->base_us > (j->base_us >> JUDGE_QUEUE_SHIFT) + (u64)spread_us;
}

/**
 * judge_is_empty() - is the queue empty at this RTT?
 * @j: the state
 * @rtt_us: the RTT
 * @packet_us: the path's time for a packet
 *
 * Return: true if the RTT is the path's, but for two packets.
 */
static inline bool judge_is_empty(const struct judge_state *j, u32 rtt_us, u32 packet_us)
{
	u64 few_us = min_t(u64, 2ULL * packet_us, j->base_us >> JUDGE_EMPTY_SHIFT);

	return rtt_us <= j->base_us + max_t(u64, few_us, JUDGE_EMPTY_US);
}

/**
 * judge_rtt() - evaluate the RTT of an ACK
 * @j: the state
 * @rtt_us: the RTT, less judge_way_back()
 * @cwnd: the window
 */
static inline void judge_rtt(struct judge_state *j, u32 rtt_us, u32 cwnd)
{
	j->base_us = min(j->base_us, rtt_us);
	j->least_us = min(j->least_us, rtt_us);
	if (rtt_us <= j->low_us)
		j->low_us = rtt_us;
	else
		j->low_us += (rtt_us - j->low_us - 1) / max_t(u32, cwnd / 4, 8) + 1;
	if (j->queue && !judge_above(j, rtt_us, 0))
		j->queue = 0;
}

/* The path has become longer. */
static inline void judge_adopt(struct judge_state *j)
{
	j->base_us = j->least_us;
	j->queue = 0;
	j->standing = 0;
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

/* Has the RTT grown by more than an eighth since the previous round? */
static inline bool judge_is_rising(const struct judge_state *j)
{
	return j->least_us > (u64)j->last_us + (j->last_us >> JUDGE_RISE_SHIFT);
}

/* Is a queue standing, and for how long? */
static inline void judge_see_queue(struct judge_state *j, u32 spread_us)
{
	j->queue = judge_above(j, j->least_us, spread_us);
	if (!j->queue || judge_is_rising(j))
		j->standing = 0;
	else if (j->standing < JUDGE_STANDING)
		j->standing++;
}

/* After what time without it the path's RTT is measured anew, as it is kept. At most half of what
 * can be kept: the round in which it is over takes time, too.
 */
static inline u8 judge_renew_after(const struct judge_round *r)
{
	u32 rounds = r->rtt_us >> (JUDGE_CLOCK_SHIFT - JUDGE_RENEW_SHIFT);

	return (u8)clamp_t(u32, rounds, JUDGE_RENEW_US >> JUDGE_CLOCK_SHIFT, U8_MAX / 2);
}

/* The path's RTT has not been seen for a while, whatever the way back is longer, of which two
 * clocks that differ may make too much: begin to measure it anew. Where the smoothed RTT shows no
 * empty queue it is seen within a packet, as judge_may_learn() leaves no more room: else one that
 * is too short would stay so.
 */
static inline void judge_watch_base(struct judge_state *j, const struct judge_round *r)
{
	u32 packet_us = judge_packet_us(r) / (j->learns ? 1 : 2);
	u8 now = (u8)(r->now_us >> JUDGE_CLOCK_SHIFT);

	if (judge_is_empty(j, judge_whole_us(j, j->least_us), packet_us)) {
		j->seen = now;
	} else if ((u8)(now - j->seen) >= judge_renew_after(r)) {
		j->renew = JUDGE_RENEW_ROUNDS;
		j->dip = 1;
		j->seen = now;
	}
}

/* A round with a smaller window has ended. Returns true if it was the last one, and has
 * shown a longer path.
 */
static inline bool judge_renew(struct judge_state *j, const struct judge_round *r)
{
	j->dip = --j->renew > 0;
	if (j->renew)
		return false;
	j->seen = (u8)(r->now_us >> JUDGE_CLOCK_SHIFT);
	return j->least_us > j->base_us;
}

/* The smoothed RTT contains the way back, and falls four times faster: after a stall its mean is no
 * longer believed. Twice as much is, as ACKs that come in slots move the smoothed RTT more.
 */
static inline void judge_bound_back(struct judge_state *j, const struct judge_round *r)
{
	u32 above_us = r->rtt_us - min_t(u32, r->rtt_us, j->base_us);

	j->back = (u16)min_t(u32, j->back, above_us >> (JUDGE_BACK_SHIFT - 1));
}

/**
 * judge_end_rtt() - evaluate the RTT at the end of a round
 * @j: the state
 * @r: the round; the distance of its smoothed RTT from the minimum is the RTT's own
 *	variation
 *
 * Return: true if the path has become longer.
 */
static inline bool judge_end_rtt(struct judge_state *j, const struct judge_round *r)
{
	u32 rtt_us = judge_mean_us(j, r);
	u32 spread_us = rtt_us > j->least_us ? rtt_us - j->least_us : 0;
	bool longer = false;

	if (j->least_us == U32_MAX)
		return false;
	judge_see_queue(j, spread_us);
	judge_bound_back(j, r);
	if (j->rest)
		j->rest--;
	if (j->renew) {
		longer = judge_renew(j, r);
	} else if (j->test) {
		j->rest = JUDGE_REST;
		longer = !--j->test && judge_is_path(j);
		j->dip &= j->test > 1;
	} else {
		j->dip = 0;
	}
	if (longer)
		judge_adopt(j);
	if (!j->test && !j->renew)
		judge_watch_base(j, r);
	if (!j->test && (!j->renew || j->renew == JUDGE_RENEW_ROUNDS))
		j->last_us = j->least_us;
	if (!j->renew || j->renew == JUDGE_RENEW_ROUNDS)
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
	if (!rtt_us || rtt_us == U32_MAX || !j->large || j->renew ||
	    fall_us < (u64)rtt_us * 3 / 32)
		return;
	j->fall = (u8)min_t(u64, div_u64((u64)fall_us << 8, rtt_us), U8_MAX);
	j->last_us = rtt_us;
	j->test = rounds;
}

/**
 * judge_end_test() - drop a test and a measurement, as the window has changed
 * @j: the state
 *
 * Later RTTs are not due to the last reduction, and no later round is the second one with far
 * too many losses.
 */
static inline void judge_end_test(struct judge_state *j)
{
	j->test = 0;
	j->dip = 0;
	j->renew = 0;
	j->over = 0;
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
 * judge_dip() - the reduced window of a test of the RTT, or of its measurement
 * @j: the state, @last_us being the RTT before
 * @cwnd: the window
 *
 * The part of the window that is not in the queue, for a test at least half of it.
 * Beside other flows at most three quarters, or the effect would not be measurable; for
 * a measurement three quarters of that part, as all flows together must drain the queue,
 * and with half of what the way back is longer, as clocks that differ make that too much.
 * At least two segments, as a single one would wait for the delayed ACK.
 *
 * Return: the window.
 */
static inline u32 judge_dip(const struct judge_state *j, u32 cwnd)
{
	u32 back_us = judge_back_us(j) / (j->renew ? 2 : 1);
	u32 path_us = j->base_us + min_t(u32, back_us, U32_MAX - j->base_us);
	u32 dip = judge_share(cwnd, judge_whole_us(j, j->last_us), path_us);

	if (j->renew)
		dip -= j->alone ? dip >> 6 : dip >> 2;
	else
		dip = max_t(u32, dip, cwnd >> 1);
	if (!j->renew && !j->alone)
		dip = min_t(u32, dip, cwnd - cwnd / 4);
	return max_t(u32, dip, 2);
}

/* Does the smoothed RTT show an empty queue, too, but for what the flow sends at once, and
 * for two packets that a delayed ACK waits for? A short queue that others fill goes up and
 * down: its minimum does not show it.
 */
static inline bool judge_may_learn(const struct judge_state *j, const struct judge_round *r)
{
	u32 packet_us = judge_packet_us(r);

	return judge_mean_us(j, r) <= (u64)j->base_us + max_t(u32, packet_us, JUDGE_BURST_US) +
					       2ULL * packet_us;
}

/**
 * judge_use() - evaluate this flow's share of the path
 * @j: the state, after judge_end_rtt()
 * @r: the round that has ended
 */
static inline void judge_use(struct judge_state *j, const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost, path = r->path;

	j->large = sent * 8 >= path * 3;
	if ((u64)r->lost * JUDGE_OVER_IN <= sent)
		j->alone = j->queue ? sent * 16 >= path * 15 : sent * 8 >= path * 7;
	j->empty = sent <= path && judge_is_empty(j, j->low_us, judge_packet_us(r));
	j->learns = j->empty && judge_may_learn(j, r);
}

/**
 * judge_silence() - nothing has arrived for half a round: an outage of the link
 * @j: the state
 *
 * An overflowing queue delivers without a pause. Not if the flow has a small part of the
 * path: in a queue that other flows fill, pauses between its packets are normal.
 */
static inline void judge_silence(struct judge_state *j)
{
	if (j->large)
		j->skip = 2;
}

/**
 * judge_cut_made() - the window was reduced: losses show the effect after a round
 * @j: the state
 */
static inline void judge_cut_made(struct judge_state *j)
{
	j->excess = 0;
	j->over = 0;
	j->skip = 2;
}

/* Learn the link's loss rate. It falls in any round, and rises in rounds with an empty
 * queue. The more segments, the more a round counts. A high rate that the smoothed RTT does
 * not confirm is lowered by an eighth if there may be other flows: if all of them attributed
 * the queue's losses to the link, none would yield.
 */
static inline void judge_learn(struct judge_state *j, const struct judge_round *r, u32 sent)
{
	u32 rate = (u32)div_u64((u64)min_t(u32, r->lost, sent) << 10, max_t(u32, sent, 1));
	u32 link = (u32)div_u64((u64)j->link * JUDGE_LEARN + (u64)rate * sent,
				min_t(u64, (u64)sent + JUDGE_LEARN, U32_MAX));
	u32 most = JUDGE_LINK_MOST;

	if (!j->empty)
		link = min_t(u32, link, j->link);
	if (!j->learns) {
		most = max_t(u32, j->link, JUDGE_LINK_FEW);
		if (!j->alone)
			most -= (most - JUDGE_LINK_FEW + 7) / 8;
	}
	j->link = (u8)clamp_t(u32, link, JUDGE_LINK_BEGIN, most);
}

/* Were more than one in five lost, in sufficient number? */
static inline bool judge_is_too_many(const struct judge_state *j, const struct judge_round *r)
{
	u64 sent = (u64)r->delivered + r->lost;

	return r->lost >= JUDGE_OVER_LEAST && !r->train &&
	       (u64)r->lost * 1024 > sent * (JUDGE_OVER_SHARE + j->link / 2U) +
					     JUDGE_OVER_SPREAD * 1024U;
}

/* Was it so, and in two rounds if it may have been a burst of bit errors? */
static inline bool judge_is_over(struct judge_state *j, const struct judge_round *r)
{
	bool again = j->over;

	j->over = judge_is_too_many(j, r);
	return j->over && (again || !(j->alone || j->empty));
}

/* The CUSUM test. With an empty queue, or alone without one, a burst is one event; with an empty
 * queue two losses of a small window are none.
 */
static inline bool judge_is_excess(struct judge_state *j, const struct judge_round *r, u32 sent)
{
	u32 share = j->link + j->link / 2U + JUDGE_EXCESS_BASE;
	u32 most = clamp_t(u32, r->cwnd / JUDGE_EXCESS_WINDOW, 1U + j->empty, JUDGE_EXCESS);
	u32 past = r->lost ? j->excess : j->excess * (JUDGE_FORGET - 1) / JUDGE_FORGET;
	s64 excess = (s64)past + (s64)r->lost * JUDGE_SEGMENT -
		     (s64)(((u64)sent * share) >> 5);

	if (j->empty || (j->alone && !j->queue))
		excess = min_t(s64, excess, (s64)j->excess + most * JUDGE_SEGMENT);
	j->excess = (u8)clamp_t(s64, excess, 0, U8_MAX);
	return j->excess > most * JUDGE_SEGMENT;
}

/* Has the window limited the flow, and was most of it sent? */
static inline bool judge_is_filled(const struct judge_round *r, u32 sent)
{
	return r->limited && (u64)sent * 4 >= (u64)r->cwnd * 3;
}

/* Are clearly more lost than the link loses? */
static inline bool judge_is_loss(const struct judge_state *j, const struct judge_round *r, u32 sent)
{
	return r->lost >= JUDGE_FULL_LEAST + (sent >> JUDGE_FULL_SHIFT) +
				  (((u64)sent * j->link) >> 10);
}

/* Do the losses show that a queue shared with other flows is full? */
static inline bool judge_is_full(const struct judge_state *j, const struct judge_round *r,
				 u32 sent)
{
	return j->queue && !j->alone && judge_is_loss(j, r, sent);
}

/**
 * judge_is_unused() - was much lost of a window that the application does not fill?
 * @j: the state
 * @r: the round
 *
 * Such a window is not known to fit the path: it stays over idle time only while no more is lost
 * than the link loses (RFC 7661 4.4.2).
 *
 * Return: true if the window is too large.
 */
static inline bool judge_is_unused(const struct judge_state *j, const struct judge_round *r)
{
	u32 sent = (u32)min_t(u64, (u64)r->delivered + r->lost, U32_MAX);

	return r->rests && !r->train && !judge_is_filled(r, sent) && judge_is_loss(j, r, sent);
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
	enum judge_answer answer = JUDGE_STAY;

	if (j->skip) {
		j->skip--;
		return JUDGE_STAY;
	}
	if (judge_is_over(j, r)) {
		judge_cut_made(j);
		return JUDGE_OVER;
	}
	if (!r->train)
		judge_learn(j, r, sent);
	/* Not limited by cwnd, e.g. losses block the receiver's window: no reduction. */
	if (!judge_is_filled(r, sent)) {
		j->excess = 0;
		if (judge_is_unused(j, r))
			answer = JUDGE_FULL;
	} else if (judge_is_full(j, r, sent)) {
		answer = JUDGE_FULL;
	} else if (judge_is_excess(j, r, sent) && r->lost) {
		answer = JUDGE_CUT;
	}
	if (answer != JUDGE_STAY)
		judge_cut_made(j);
	return answer;
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
 * (RFC 9438 4.6). JUDGE_CUT: what arrived, half to four fifths.
 *
 * Return: the window.
 */
static inline u32 judge_cwnd(const struct judge_state *j, enum judge_answer answer,
			     const struct judge_round *r, u32 prior_cwnd)
{
	u64 sent = max_t(u64, (u64)r->delivered + r->lost, 1);
	u32 lost = (u32)div64_u64((u64)r->cwnd * r->lost, sent);
	u32 share = judge_share(r->delivered, r->rtt_us, judge_path_us(j));
	u32 kept = judge_share(r->cwnd - lost, r->rtt_us, judge_path_us(j));

	switch (answer) {
	case JUDGE_OVER:
		kept = clamp_t(u32, kept, share,
			       min_t(u64, 2ULL * r->delivered, U32_MAX));
		return min_t(u32, r->cwnd, kept);
	case JUDGE_FULL:
		return min_t(u32, r->cwnd, prior_cwnd - prior_cwnd / 4);
	case JUDGE_CUT:
		kept = r->cwnd - r->cwnd / 5 - !!(r->cwnd % 5);
		kept = clamp_t(u32, r->cwnd - lost, r->cwnd >> 1, kept);
		return kept ? kept : r->cwnd;
	default:
		return r->cwnd;
	}
}

#endif /* _APOGEE_JUDGE_H */
