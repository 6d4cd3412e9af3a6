/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACKs that TCP's slow start does without.
 *
 * HyStart (RFC 9406, and CUBIC's in Linux) ends slow start when eight ACKs of a round came some ms
 * later than the least round trip: the link has a queue. When a flow begins to use a second,
 * longer way, all behind that comes later, too, as it is put in order, and the window stays at
 * what the first packets needed. So the end that sends the data lets only some fifth of the
 * largest window be acknowledged at a time, until its paths are full: then all ACKs tell what there
 * is.
 *
 * Not from the middle of a connection, nor when anything is sent again (but because of a path's
 * MTU), or TCP has to know more: of losses, congestion or its receiver's window. What is sent last
 * is acknowledged at once.
 */
#ifndef _APOGEE_SHAKE_OPENING_H
#define _APOGEE_SHAKE_OPENING_H

#include "shake_holes.h"

/* An ACK passes that tells of one in so many of a window. */
#define SHAKE_OPENING_PART	6U
/* After so many in a row of which none told of a larger window it does not grow. */
#define SHAKE_OPENING_SAME	(4 * SHAKE_OPENING_PART)

/**
 * struct shake_opening - a flow that has begun
 * @passed: highest number acknowledged to TCP
 * @seen: highest number acknowledged
 * @step: that of which an ACK tells, part of the largest window
 * @same: ACKs that have passed since that grew
 * @on: it is in its first slow start, as far as is known
 */
struct shake_opening {
	u32 passed;
	u32 seen;
	u32 step;
	u32 same;
	bool on;
};

/**
 * shake_opening_begin() - a SYN leaves
 * @o: the flow
 * @seq: its number
 */
static inline void shake_opening_begin(struct shake_opening *o, u32 seq)
{
	*o = (struct shake_opening){ .passed = seq + 1, .seen = seq + 1, .on = true };
}

/**
 * shake_opening_passes() - an ACK has come for a flow that is in its first slow start
 * @o: the flow
 * @high: first number not sent
 * @ack: its number
 *
 * Return: false if the next one tells as much.
 */
static inline bool shake_opening_passes(struct shake_opening *o, u32 high, u32 ack)
{
	if (shake_before(high, ack) || !shake_before(o->seen, ack))
		return true;
	o->seen = ack;
	if ((high - ack) / SHAKE_OPENING_PART > o->step) {
		o->step = (high - ack) / SHAKE_OPENING_PART;
		o->same = 0;
	}
	if (ack - o->passed < o->step && ack != high)
		return false;
	o->passed = ack;
	o->same++;
	return true;
}

/**
 * shake_opening_is_over() - whether the window has not grown for some round trips
 * @o: the flow
 */
static inline bool shake_opening_is_over(const struct shake_opening *o)
{
	return o->same >= SHAKE_OPENING_SAME;
}

#endif /* _APOGEE_SHAKE_OPENING_H */
