/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long TCP's data takes behind this end, and its ACK: what is held back in front of it has a
 * CoDel whose times have to fit this (RFC 8289, 4.3: the interval is that of the longest round
 * trips). Paths do not show it: data that comes behind a loss waits at the other end for a copy, a
 * round trip longer, or for what takes a longer way, and receivers delay ACKs.
 *
 * One segment of a flow is timed at once, as RFC 6298, section 3 has it; not if anything is sent
 * again meanwhile (Karn), as then TCP's own time would be in it.
 */
#ifndef _APOGEE_SHAKE_TIMED_H
#define _APOGEE_SHAKE_TIMED_H

#include "shake_holes.h"

/* us: no time counts for more. */
#define SHAKE_TIMED_MOST	(2U * APOGEE_USEC_PER_SEC)

/**
 * struct shake_timed - the segment of a flow that is timed
 * @at: us, when it left; 0: none is
 * @end: first number behind it
 */
struct shake_timed {
	u64 at;
	u32 end;
};

/**
 * struct shake_times - what they took, RFC 6298, section 2
 * @mean: SRTT, in us; 0: none was timed
 * @spread: RTTVAR, in us
 */
struct shake_times {
	u32 mean;
	u32 spread;
};

/**
 * shake_timed_sent() - a segment leaves
 * @t: the flow
 * @end: first number behind it
 * @again: it was sent before
 * @now: time in us
 */
static inline void shake_timed_sent(struct shake_timed *t, u32 end, bool again, u64 now)
{
	if (again) {
		t->at = 0;
	} else if (!t->at) {
		t->at = now;
		t->end = end;
	}
}

/**
 * shake_timed_acked() - an ACK has come
 * @t: the flow
 * @ack: its number
 * @times: of all flows
 * @now: time in us
 */
static inline void shake_timed_acked(struct shake_timed *t, u32 ack, struct shake_times *times,
				     u64 now)
{
	u32 took, off;

	if (!t->at || shake_before(ack, t->end))
		return;
	took = (u32)clamp_t(u64, now - t->at, 1, SHAKE_TIMED_MOST);
	t->at = 0;
	if (!times->mean) {
		*times = (struct shake_times){ .mean = took, .spread = took / 2 };
		return;
	}
	off = max(took, times->mean) - min(took, times->mean);
	times->spread = (3 * times->spread + off) / 4;
	times->mean = (7 * times->mean + took) / 8;
}

/**
 * shake_timed_longest() - the time in which an ACK has come as a rule
 * @times: what it took
 *
 * Return: us; 0 if nothing is known.
 */
static inline u32 shake_timed_longest(const struct shake_times *times)
{
	return times->mean + 4 * times->spread;
}

#endif /* _APOGEE_SHAKE_TIMED_H */
