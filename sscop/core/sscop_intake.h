/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What comes in from the queue above before it can be sent.
 *
 * What waits behind a loss is delivered at once when it is repaired, is acknowledged at once, and
 * TCP sends as much at once: a queue above that is short for what the link holds would drop most of
 * it. So as much may wait as the link would have taken while it sent nothing, of two round trips at
 * most. To keep queues where a queueing discipline sees them, less may wait while it sends: as
 * frames are counted, not packets, this holds where much is sent again, too.
 *
 * Who takes packets and who sends frames hold no lock in common: both sides are values. Times are
 * us modulo 2^32.
 */
#ifndef _APOGEE_SSCOP_INTAKE_H
#define _APOGEE_SSCOP_INTAKE_H

#include <apogee/int.h>

#define SSCOP_INTAKE_ROUNDS 2U	/* round trips of silence that are made good */
#define SSCOP_INTAKE_DRAIN 16U	/* by this part of the rate less may wait while the link sends */
#define SSCOP_INTAKE_OCTETS (16U << 20)	/* that wait at most */
#define SSCOP_INTAKE_FRAME 1000000U	/* us that one frame takes at most */

/**
 * struct sscop_intake - what the link takes
 * @rate: octets per second, a part less; 0: not known
 * @most: us of silence that are made good
 */
struct sscop_intake {
	u32 rate;
	u32 most;
};

/**
 * sscop_intake() - of what is known of the link
 * @rate: octets per second
 * @base: us, its round trip, 60 s at most
 *
 * Return: what it takes.
 */
static inline struct sscop_intake sscop_intake(u64 rate, u32 base)
{
	return (struct sscop_intake){
		.rate = min_t(u64, rate - rate / SSCOP_INTAKE_DRAIN, U32_MAX),
		.most = SSCOP_INTAKE_ROUNDS * base,
	};
}

/**
 * sscop_intake_sent() - a frame is sent
 * @i: what the link takes
 * @at: when it would have sent what it was given before
 * @octets: of the frame
 * @now: the time
 *
 * Return: when it would have sent the frame, too.
 */
static inline u32 sscop_intake_sent(struct sscop_intake i, u32 at, u32 octets, u32 now)
{
	s32 ahead = (s32)(at - now), us;

	us = min_t(u64, div_u64(octets * 1000000ULL, max_t(u32, i.rate, 1)), SSCOP_INTAKE_FRAME);
	ahead = clamp_t(s32, ahead, -(s32)i.most, 0);
	return now + ahead + us;
}

/**
 * sscop_intake_may() - whether another packet may come in
 * @i: what the link takes
 * @at: when it would have sent what it was given
 * @waiting: octets that came in and are not begun
 * @now: the time
 *
 * Return: whether.
 */
static inline bool sscop_intake_may(struct sscop_intake i, u32 at, u32 waiting, u32 now)
{
	u32 silence = clamp_t(s32, (s32)(now - at), 0, (s32)i.most);

	return waiting < SSCOP_INTAKE_OCTETS && waiting * 1000000ULL < (u64)i.rate * silence;
}

#endif /* _APOGEE_SSCOP_INTAKE_H */
