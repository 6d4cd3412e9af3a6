/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user wants of a SHAKE path: when it is used, and how much.
 *
 * Of the paths that live only those of the lowest rank are used. A rate is an upper limit for what
 * is sent, of data and all that is around it: until is when all that was sent would have left at
 * this rate, as in the virtual scheduling of ITU-T I.371:
 *
 *	until = max(until, now) + bytes / rate
 *
 * A path is over its limit while that is more than SHAKE_LIMIT_DEPTH ahead: so in a time T it
 * carries no more than rate * (T + SHAKE_LIMIT_DEPTH), and a packet.
 */
#ifndef _APOGEE_SHAKE_POLICY_H
#define _APOGEE_SHAKE_POLICY_H

#include <apogee/int.h>

/* us by which a path with a rate may be ahead of it. */
#define SHAKE_LIMIT_DEPTH	(APOGEE_USEC_PER_SEC / 10)
/* us that one packet, or all of them, can take at most. */
#define SHAKE_LIMIT_MOST	(60U * APOGEE_USEC_PER_SEC)
#define SHAKE_LOSS_LIMIT_MAX	100U

/**
 * struct shake_policy - what a user wants of a path
 * @rate: kbit/s that it carries at most; 0: any
 * @loss_limit: per cent of loss from which on it is left out; 0: the default
 * @backup: it is used only if no path without this lives
 * @metered: it is used only if all paths that live have this, and seldom probed otherwise
 */
struct shake_policy {
	u32 rate;
	u8 loss_limit;
	bool backup;
	bool metered;
};

/**
 * shake_policy_rank() - which paths come first
 * @p: the path
 *
 * Return: 0, 1 or 2. While a path lives, those with higher ranks are not used.
 */
static inline u32 shake_policy_rank(const struct shake_policy *p)
{
	return p->metered ? 2 : p->backup;
}

/**
 * shake_policy_is_same() - whether two policies are the same
 * @a: one
 * @b: the other
 */
static inline bool shake_policy_is_same(const struct shake_policy *a, const struct shake_policy *b)
{
	return a->rate == b->rate && a->loss_limit == b->loss_limit && a->backup == b->backup &&
	       a->metered == b->metered;
}

/**
 * shake_limit_is_over() - whether a path has carried all that it may by now
 * @until: us, when what was sent would have left
 * @now: time in us
 */
static inline bool shake_limit_is_over(u64 until, u64 now)
{
	return until > now && until - now > SHAKE_LIMIT_DEPTH;
}

/**
 * shake_limit_sent() - a packet leaves
 * @until: us, when what was sent before would have left
 * @rate: kbit/s; 0: any
 * @bytes: its length
 * @now: time in us
 *
 * Return: us, when it would have left, too.
 */
static inline u64 shake_limit_sent(u64 until, u32 rate, u32 bytes, u64 now)
{
	if (!rate)
		return 0;
	until = clamp_t(u64, until, now, now + SHAKE_LIMIT_MOST);
	return until + min_t(u64, div_u64((u64)bytes * 8000, rate), SHAKE_LIMIT_MOST);
}

#endif /* _APOGEE_SHAKE_POLICY_H */
