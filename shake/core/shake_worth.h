/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether TCP is better off without a SHAKE path that loses packets.
 *
 * One flow over several paths slows down for each loss that it sees on any of them. What it can
 * have of all is (M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance
 * Algorithm", 1997)
 *
 *	limit = MSS / (RTT sqrt(2 p / 3))
 *
 * with the longest round trip, and for p the share of packets lost on all paths, weighted by their
 * rates. Of that SHAKE_WORTH_PART is reckoned with: repair takes round trips, too. Of a share p
 * that is repaired p^3 is lost once more with both copies, and what is beyond SHAKE_LOSS_ANYWAY is
 * not repaired (shake_repair.h). Nor is anything on a path that has more under way than there are
 * copies.
 *
 * A path is not worth its losses if all paths together have less, by their rates and the limit,
 * than the others have. Paths that have no queue may carry more than is known of them: then their
 * limit alone counts if they carry a part of what the path does (shake_sched_may_leave()), as what
 * is hardly used loses nothing. Where nothing repairs it that is what TCP can have of it. What they
 * have without the path shows whether that was right.
 */
#ifndef _APOGEE_SHAKE_WORTH_H
#define _APOGEE_SHAKE_WORTH_H

#include "shake_repair.h"
#include "shake_sched.h"

/* MSS sqrt(3/2) 3/4 in octets, by 2^16 and us in a second. */
#define SHAKE_WORTH_SEGMENT	(1330ULL * 65536U * APOGEE_USEC_PER_SEC)
/* Octets of TCP's data that a path has copies of. */
#define SHAKE_WORTH_COPIES	(1330ULL * SHAKE_REPAIR_KEPT)
/* Shares that are less, in 2^-24, are not looked at: .2 %. */
#define SHAKE_WORTH_LEAST	(SHAKE_LOSS_ALL / 512)
/* Time in us that a path must have been not worth it, that it is left out without more evidence,
 * and that it stays in if that was wrong.
 */
#define SHAKE_WORTH_WAIT	(1ULL * APOGEE_USEC_PER_SEC)
#define SHAKE_WORTH_TRY		(5ULL * APOGEE_USEC_PER_SEC)
#define SHAKE_WORTH_PAUSE	(60ULL * APOGEE_USEC_PER_SEC)

/**
 * struct shake_worth - several paths together
 * @rate: what they carry, bytes/s
 * @lost: sum of rates and shares of what TCP sees to be lost
 * @trip: longest round trip in us
 * @full: all have a queue
 */
struct shake_worth {
	u64 rate;
	u64 lost;
	u32 trip;
	bool full;
};

/* The root of a number, rounded down. */
static inline u32 shake_worth_root(u32 x)
{
	u32 root = 0, bit;

	for (bit = 1U << 15; bit; bit >>= 1)
		if ((u64)(root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/* The share of packets that a path loses, but for those of full queues and those that come late. */
static inline u32 shake_worth_share(const struct shake_loss *l)
{
	return min(max(l->empty, l->brief), l->stays / 3 * 4);
}

/**
 * shake_worth_rest() - the share of packets that TCP sees to be lost
 * @share: of packets lost, in 2^-24, at most SHAKE_LOSS_ALL
 * @repaired: they are sent again
 */
static inline u32 shake_worth_rest(u32 share, bool repaired)
{
	u64 cube = ((((u64)share * share) >> 24) * share) >> 24;

	if (!repaired)
		return share;
	return (u32)cube + (share > SHAKE_LOSS_ANYWAY ? share - SHAKE_LOSS_ANYWAY : 0);
}

/* Whether there are copies of all that is under way on a path with a queue of the time @queue. */
static inline bool shake_worth_has_copies(const struct shake_path_est *est, u32 queue)
{
	u64 trip = (u64)shake_path_min_rtt(est) + min(queue, SHAKE_TIME_MAX);
	u64 rate = min_t(u64, shake_path_guess(est), SHAKE_RATE_MAX);

	return div_u64(rate * trip, APOGEE_USEC_PER_SEC) <= SHAKE_WORTH_COPIES;
}

/* One path more. */
static inline void shake_worth_add(struct shake_worth *w, const struct shake_path_est *est,
				   u32 queue, bool repaired)
{
	u32 least = shake_path_min_rtt(est), share = shake_worth_share(&est->loss);
	u64 rate = min_t(u64, shake_path_guess(est), SHAKE_RATE_MAX);

	repaired = repaired && shake_worth_has_copies(est, queue);
	w->rate += rate - ((rate * share) >> 24);
	w->lost += rate * shake_worth_rest(share, repaired);
	w->trip = max(w->trip, least + min(queue, SHAKE_TIME_MAX));
	w->full = w->full && est->intervals && est->rtt - min(est->rtt, least) >= queue / 2;
}

/**
 * shake_worth_limit() - what TCP can have of paths, by what it sees to be lost
 * @w: the paths
 * @flows: number of flows
 *
 * Return: bytes/s.
 */
static inline u64 shake_worth_limit(const struct shake_worth *w, u32 flows)
{
	u32 share = (u32)min_t(u64, div64_u64(w->lost, max_t(u64, w->rate, 1)), SHAKE_LOSS_ALL - 1);
	u32 root = shake_worth_root(share << 8);

	if (!root || !w->trip)
		return SHAKE_RATE_MAX;
	return min_t(u64, div64_u64(SHAKE_WORTH_SEGMENT, (u64)w->trip * root) * max(flows, 1U),
		     SHAKE_RATE_MAX);
}

/**
 * shake_worth_is_poor() - whether the others are better off without a path
 * @paths: paths that live
 * @count: their number; those beyond SHAKE_CHOICES_MAX do not count
 * @index: the path
 * @flows: number of flows
 * @queue: time that packets wait in front of the links, in us
 * @repaired: what they lose is sent again
 * @tries: what the others carry may be more than is known
 */
static inline bool shake_worth_is_poor(const struct shake_choice *paths, u32 count, u32 index,
				       u32 flows, u32 queue, bool repaired, bool tries)
{
	const struct shake_path_est *bad = paths[index].est;
	u32 part = bad->loss.out ? SHAKE_RETURN_PART : SHAKE_LEAVE_PART, other;
	struct shake_worth with = { .full = true }, without = { .full = true };
	u64 all, alone, rest;

	if (shake_worth_share(&bad->loss) < SHAKE_WORTH_LEAST || bad->loss.told < SHAKE_LOSS_FEW)
		return false;
	shake_worth_add(&with, bad, queue, repaired);
	alone = shake_path_rate(bad);
	if (!repaired || !shake_worth_has_copies(bad, queue))
		alone = min(alone, shake_worth_limit(&with, flows));
	for (other = 0; other < min(count, SHAKE_CHOICES_MAX); other++) {
		const struct shake_path_est *est = paths[other].est;

		if (other == index || !shake_path_srtt(est) ||
		    !shake_loss_is_better(&est->loss, &bad->loss))
			continue;
		shake_worth_add(&with, est, queue, repaired);
		shake_worth_add(&without, est, queue, repaired);
	}
	if (!without.rate || (tries && !without.full && part * without.rate < alone))
		return false;
	all = shake_worth_limit(&with, flows);
	if (all >= with.rate)
		return false;
	rest = shake_worth_limit(&without, flows);
	if (!tries || without.full)
		rest = min(rest, without.rate);
	return bad->loss.out ? all / 5 * 4 < rest : all < rest;
}

#endif /* _APOGEE_SHAKE_WORTH_H */
