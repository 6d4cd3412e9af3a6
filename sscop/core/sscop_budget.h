/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many octets a lower device is given before it has sent those that it has: as few as
 * keep it busy. The rule is that of the kernel's dynamic queue limits
 * (lib/dynamic_queue_limits.c, which not every kernel has), in user space, too, but that it is
 * known whether there was more to give:
 *
 *   too few   All that was there is sent, and more could have been given: the limit grows
 *             by what would have been sent.
 *   too many  Never in a second was less left than this: the limit shrinks by it.
 *
 * So it is the octets that are sent from one completion to the next, whether the device
 * completes each frame or many together.
 */
#ifndef _APOGEE_SSCOP_BUDGET_H
#define _APOGEE_SSCOP_BUDGET_H

#include <apogee/int.h>

#define SSCOP_BUDGET_HOLD_US	1000000U
#define SSCOP_BUDGET_LATE	16U	/* frames after which a longer one is forgotten, about */
#define SSCOP_BUDGET_MAX	(16U << 20)

/**
 * struct sscop_budget - what is known of a device
 * @limit: octets that it may have before it is given a frame more
 * @given: octets given to it, modulo 2^32
 * @done: of these, octets that it has sent at the last look
 * @given_before: @given at the last look
 * @last: octets of the last frame given
 * @longest: octets of the longest frame given of late
 * @last_before: @last at the last look
 * @over_before: octets above the limit at the last look
 * @waits: there was more to give since the last look
 * @tight: it has refused a frame since @held_at
 * @slack: least octets that were too many since @held_at
 * @held_at: us
 */
struct sscop_budget {
	u32 limit;
	u32 given;
	u32 done;
	u32 given_before;
	u32 last;
	u32 longest;
	u32 last_before;
	u32 over_before;
	bool waits;
	bool tight;
	u32 slack;
	u64 held_at;
};

/**
 * sscop_budget_init() - nothing is known
 * @b: the state
 * @now: us
 *
 * The device has none of the frames counted from here on.
 */
static inline void sscop_budget_init(struct sscop_budget *b, u64 now)
{
	*b = (struct sscop_budget){ .slack = U32_MAX, .held_at = now };
}

/* @a - @b, of numbers that wrap; 0 if negative. */
static inline u32 sscop_budget_excess(u32 a, u32 b)
{
	return a - b <= U32_MAX / 2 ? a - b : 0;
}

/**
 * sscop_budget_give() - a frame is given to the device
 * @b: the state
 * @octets: its length
 */
static inline void sscop_budget_give(struct sscop_budget *b, u32 octets)
{
	b->given += octets;
	b->last = octets;
	b->longest = max(octets, b->longest - b->longest / SSCOP_BUDGET_LATE);
}

/**
 * sscop_budget_most() - below how many octets the device is given a frame more
 * @b: the state
 *
 * As in the kernel's rule it may have the limit and a frame. But it has two of the longest frames
 * unless it refuses them: one that it sends, and one that is there when it has.
 *
 * Return: octets.
 */
static inline u32 sscop_budget_most(const struct sscop_budget *b)
{
	return b->tight ? b->limit + 1 : max(b->limit + 1, 2 * b->longest);
}

/**
 * sscop_budget_wait() - there is more than the device may have
 * @b: the state
 */
static inline void sscop_budget_wait(struct sscop_budget *b)
{
	b->waits = true;
}

/**
 * sscop_budget_refused() - the device did not take a frame
 * @b: the state
 * @left: octets that it has
 * @now: us
 *
 * It is not given as much again for SSCOP_BUDGET_HOLD_US.
 */
static inline void sscop_budget_refused(struct sscop_budget *b, u32 left, u64 now)
{
	b->limit = left ? left - 1 : 0;
	b->over_before = 0;
	b->tight = true;
	b->held_at = now;
	b->slack = U32_MAX;
}

/* Too many octets were there: wait how many always are. */
static inline void sscop_budget_slack(struct sscop_budget *b, u32 sent, u64 now)
{
	u32 slack = sscop_budget_excess(b->limit + b->over_before, 2 * sent);
	u32 last = b->over_before ?
		sscop_budget_excess(b->last_before, b->over_before) : 0;

	b->slack = min3(b->slack, max_t(u32, slack, last), b->limit);
	if (now - b->held_at < SSCOP_BUDGET_HOLD_US)
		return;
	b->limit -= b->slack;
	b->held_at = now;
	b->slack = U32_MAX;
}

/**
 * sscop_budget_look() - see what the device has sent
 * @b: the state
 * @left: octets that it has not sent
 * @now: us
 *
 * To be called before it is given more, when it has sent something.
 */
static inline void sscop_budget_look(struct sscop_budget *b, u32 left, u64 now)
{
	u32 done = b->given - left, sent = done - b->done;
	u32 over = sscop_budget_excess(b->given - b->done, b->limit);
	u32 limit = b->limit;
	bool all_before = sscop_budget_excess(done, b->given_before) ||
			  done == b->given_before;

	if (now - b->held_at >= SSCOP_BUDGET_HOLD_US)
		b->tight = false;
	if (!sent)
		return;
	if (b->waits && !b->tight && ((over && !left) || (b->over_before && all_before))) {
		u32 more = sscop_budget_excess(done, b->given_before) + b->over_before;

		b->limit = min_t(u32, b->limit + more, SSCOP_BUDGET_MAX);
		b->held_at = now;
		b->slack = U32_MAX;
	} else if (left && b->given_before != b->done && !all_before) {
		sscop_budget_slack(b, sent, now);
	}
	b->over_before = b->limit == limit ? over : 0;
	b->last_before = b->last;
	b->waits = false;
	b->done = done;
	b->given_before = b->given;
}

#endif /* _APOGEE_SSCOP_BUDGET_H */
