/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The round trip that TCP sees of several paths.
 *
 * A TCP that keeps about as much under way as comes in its least round trip, as BBR does, takes
 * that of the nearest path. A far one that carries most is never filled then, and all together
 * carry less than that one alone. If a user asks for it, the end that sends the data, which knows
 * when that left, gives TCP no ACK sooner than one of what came by the farthest path. Data does not
 * wait, but for a handshake: its round trip counts for BBR's next ten seconds.
 */
#ifndef _APOGEE_SHAKE_TRIP_H
#define _APOGEE_SHAKE_TRIP_H

#include "shake_holes.h"

/* Paths at most */
#define SHAKE_TRIP_PATHS	8U
/* Records of a flow, a power of two: together of two round trips. */
#define SHAKE_TRIP_RING		32U
#define SHAKE_TRIP_PART		16U
/* us: differences that do not matter, and the longest that TCP is made to see */
#define SHAKE_TRIP_LEAST	5000U
#define SHAKE_TRIP_MOST		APOGEE_USEC_PER_SEC
/* us, for which a path counts that is dead: TCP does not forget in a moment, either */
#define SHAKE_TRIP_KEPT		(10ULL * APOGEE_USEC_PER_SEC)

/**
 * struct shake_reach - a path
 * @trip: its least round trip, in us; 0: there is none
 * @rate: what it carries, in bytes/s; 0: unknown
 */
struct shake_reach {
	u32 trip;
	u64 rate;
};

/**
 * struct shake_reaches - the paths that are used
 * @path: each
 */
struct shake_reaches {
	struct shake_reach path[SHAKE_TRIP_PATHS];
};

/**
 * struct shake_left - when data left
 * @end: first number behind it
 * @at: us, modulo 2^32
 */
struct shake_left {
	u32 end;
	u32 at;
};

/**
 * struct shake_trip - what a flow has sent of late
 * @ring: some of it
 * @count: records written
 * @first: number behind its SYN
 * @again: the lowest that was sent again of late, and when the last was, if @has_again
 */
struct shake_trip {
	struct shake_left ring[SHAKE_TRIP_RING];
	u32 count;
	u32 first;
	struct shake_left again;
	bool has_again;
};

/* Whether the nearer ones carry three quarters of what all do, as far as is known. */
static inline bool shake_reach_is_spare(const struct shake_reaches *r, u32 index)
{
	u64 nearer = 0, all = 0;
	u32 other;

	for (other = 0; other < SHAKE_TRIP_PATHS; other++) {
		all += r->path[other].rate;
		nearer += r->path[other].trip < r->path[index].trip ? r->path[other].rate : 0;
	}
	return r->path[index].rate && nearer / 3 >= all / 4;
}

/**
 * shake_trip_of() - the round trip that TCP should see at least
 * @r: the paths
 *
 * There by the farthest that the others miss, or of which nobody knows what it carries, and back by
 * the nearest.
 *
 * Return: us; 0: any.
 */
static inline u32 shake_trip_of(const struct shake_reaches *r)
{
	u32 least = U32_MAX, most = 0, index;

	for (index = 0; index < SHAKE_TRIP_PATHS; index++) {
		u32 trip = r->path[index].trip;

		if (!trip)
			continue;
		least = min(least, trip);
		if (trip > most && !shake_reach_is_spare(r, index))
			most = trip;
	}
	if (most <= least || most - least < SHAKE_TRIP_LEAST)
		return 0;
	return min_t(u32, least + (most - least) / 2, SHAKE_TRIP_MOST);
}

/**
 * shake_trip_begin() - a SYN leaves
 * @t: the flow
 * @end: number behind it
 */
static inline void shake_trip_begin(struct shake_trip *t, u32 end)
{
	t->count = 0;
	t->first = end;
	t->has_again = false;
}

/**
 * shake_trip_sent() - new data leaves
 * @t: the flow, all zero at first
 * @end: first number behind it
 * @gap: least time between two records, in us
 * @now: us
 */
static inline void shake_trip_sent(struct shake_trip *t, u32 end, u32 gap, u32 now)
{
	if (t->count && now - t->ring[(t->count - 1) % SHAKE_TRIP_RING].at < gap)
		return;
	t->ring[t->count++ % SHAKE_TRIP_RING] = (struct shake_left){ .end = end, .at = now };
}

/**
 * shake_trip_again() - data leaves that was sent before
 * @t: the flow
 * @end: first number behind it
 * @trip: the round trip that TCP should see at least, in us
 * @now: us
 *
 * Timestamps tell TCP how long that took, too.
 */
static inline void shake_trip_again(struct shake_trip *t, u32 end, u32 trip, u32 now)
{
	if (!t->has_again || now - t->again.at >= trip || shake_before(end, t->again.end))
		t->again.end = end;
	t->again.at = now;
	t->has_again = true;
}

/**
 * shake_trip_rest() - an ACK has come
 * @t: the flow
 * @ack: its number
 * @trip: the round trip that TCP should see at least, in us
 * @now: us
 *
 * What lies between two records left no sooner than the first: that counts.
 *
 * Return: us that the ACK is too early.
 */
static inline u32 shake_trip_rest(const struct shake_trip *t, u32 ack, u32 trip, u32 now)
{
	u32 looked, most = min(t->count, SHAKE_TRIP_RING), rest = 0;

	if (t->has_again && now - t->again.at < trip && !shake_before(ack, t->again.end))
		rest = trip - (now - t->again.at);
	for (looked = 1; looked <= most; looked++) {
		const struct shake_left *left = &t->ring[(t->count - looked) % SHAKE_TRIP_RING];

		if (now - left->at >= trip)
			break;
		if (!shake_before(ack, left->end))
			return max(rest, trip - (now - left->at));
	}
	return rest;
}

#endif /* _APOGEE_SHAKE_TRIP_H */
