/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams of SHAKE that have a number: which came twice, and in which order they are delivered.
 *
 * The sender puts each flow into one of SHAKE_STREAMS streams and numbers its packets there; the
 * number on the wire has
 *
 *	bit 31		the receiver should keep the order
 *	bits 24-30	the stream
 *	bits 0-23	the packet's number in it, modulo 2^24
 *
 * Those that go by two paths have a number for the second to be dropped; they do not wait.
 *
 * The receiver delivers what comes in order at once. What comes ahead waits for what is missing,
 * no longer than twice the time that this took of late in the same stream:
 *
 *	late = max(late - late / 128, how late a missing one came)
 *	wait = 2 late + SHAKE_ORDER_LEAST, at most SHAKE_ORDER_MOST
 *
 * so that a flow by one path, which keeps the order, hardly waits for what was lost there. What
 * comes after that is delivered when it comes, and late grows. Each time that nothing has come late
 * is a 32nd less. Numbers that are far from the one expected are of another sender, perhaps after a
 * restart, and begin anew.
 */
#ifndef _APOGEE_SHAKE_ORDER_H
#define _APOGEE_SHAKE_ORDER_H

#include <apogee/int.h>

#define SHAKE_STREAMS		128U
#define SHAKE_ORDERED		(1U << 31)
#define SHAKE_ORDER_BITS	24
#define SHAKE_ORDER_MASK	((1U << SHAKE_ORDER_BITS) - 1)
/* Numbers before the one expected of which it is known whether they came. */
#define SHAKE_ORDER_SEEN	64
/* Numbers behind it that are of the same sender. */
#define SHAKE_ORDER_AHEAD	4096
/* us that a packet waits, at least and at most. */
#define SHAKE_ORDER_LEAST	(APOGEE_USEC_PER_SEC / 200)
#define SHAKE_ORDER_MOST	(APOGEE_USEC_PER_SEC / 4)

enum shake_order_verdict {
	SHAKE_ORDER_NOW,	/* it is delivered, and what waits behind it */
	SHAKE_ORDER_WAIT,	/* others are missing */
	SHAKE_ORDER_LATE,	/* it is delivered, though later ones have been */
	SHAKE_ORDER_TWICE,	/* it is not delivered: it came before */
	SHAKE_ORDER_ANEW,	/* what waits is delivered, then this one */
};

/**
 * struct shake_order - a stream at its receiver
 * @next: number expected
 * @late: us by which missing ones came late, the latest of late
 * @seen: bit i: @next - 1 - i came
 * @open_at: us, since when others wait for a missing number
 * @gave_at: us, the same of one that was given up; 0: none
 * @gave: which one
 * @begun: a packet has come
 * @waits: a number is missing, and others wait for it
 */
struct shake_order {
	u32 next;
	u32 late;
	u64 seen;
	u64 open_at;
	u64 gave_at;
	u32 gave;
	bool begun;
	bool waits;
};

/* a - b of numbers */
static inline s32 shake_order_after(u32 a, u32 b)
{
	return (s32)((a - b) << (32 - SHAKE_ORDER_BITS)) >> (32 - SHAKE_ORDER_BITS);
}

/* The stream of a number on the wire. */
static inline u32 shake_order_stream(u32 number)
{
	return number >> SHAKE_ORDER_BITS & (SHAKE_STREAMS - 1);
}

/**
 * shake_order_number() - a number as it is on the wire
 * @ordered: the receiver should keep the order
 * @stream: the stream
 * @number: of the packet in it
 */
static inline u32 shake_order_number(bool ordered, u32 stream, u32 number)
{
	return (ordered ? SHAKE_ORDERED : 0) |
	       (stream & (SHAKE_STREAMS - 1)) << SHAKE_ORDER_BITS | (number & SHAKE_ORDER_MASK);
}

/**
 * shake_order_wait() - how long packets wait for a missing one
 * @o: the stream
 *
 * Return: us.
 */
static inline u32 shake_order_wait(const struct shake_order *o)
{
	return min_t(u32, 2 * min_t(u32, o->late, SHAKE_ORDER_MOST) + SHAKE_ORDER_LEAST,
		     SHAKE_ORDER_MOST);
}

/* A number came that was missing since then. */
static inline void shake_order_came(struct shake_order *o, u64 since, u64 now)
{
	u64 late = now > since ? now - since : 0;

	o->late = max_t(u32, o->late - o->late / 128, (u32)min_t(u64, late, SHAKE_ORDER_MOST));
}

/* @number is expected from now on; those before it that did not come are given up. */
static inline void shake_order_expect(struct shake_order *o, u32 number)
{
	s32 by = shake_order_after(number, o->next);

	if (by <= 0)
		return;
	o->seen = by < SHAKE_ORDER_SEEN ? o->seen << by : 0;
	o->next = number & SHAKE_ORDER_MASK;
}

/**
 * shake_order_in() - a packet has come
 * @o: the stream
 * @number: its number, on the wire
 * @now: time in us
 *
 * With SHAKE_ORDER_WAIT nothing is noted: shake_order_next() follows when it is its turn.
 *
 * Return: what becomes of it.
 */
static inline enum shake_order_verdict shake_order_in(struct shake_order *o, u32 number, u64 now)
{
	s32 after = shake_order_after(number, o->next);
	u64 bit;

	if (!o->begun || after >= SHAKE_ORDER_AHEAD || after < -SHAKE_ORDER_AHEAD) {
		*o = (struct shake_order){
			.next = (number + 1) & SHAKE_ORDER_MASK,
			.late = o->late,
			.seen = 1,
			.begun = true,
		};
		return SHAKE_ORDER_ANEW;
	}
	if (after > 0 && number & SHAKE_ORDERED) {
		if (!o->waits)
			o->open_at = now;
		o->waits = true;
		return SHAKE_ORDER_WAIT;
	}
	if (after >= 0) {
		if (o->waits && !after)
			shake_order_came(o, o->open_at, now);
		shake_order_expect(o, number + 1);
		o->seen |= 1;
		return SHAKE_ORDER_NOW;
	}
	bit = after >= -SHAKE_ORDER_SEEN ? 1ULL << (-after - 1) : 0;
	if (o->seen & bit)
		return SHAKE_ORDER_TWICE;
	o->seen |= bit;
	if (o->gave_at && (number & SHAKE_ORDER_MASK) == o->gave) {
		shake_order_came(o, o->gave_at, now);
		o->gave_at = 0;
	}
	return SHAKE_ORDER_LATE;
}

/**
 * shake_order_next() - is it the turn of a packet that waits?
 * @o: the stream
 * @number: its number, the least that waits
 * @give_up: it, or one behind it, has waited long enough
 *
 * Return: true if it is; then it has been noted.
 */
static inline bool shake_order_next(struct shake_order *o, u32 number, bool give_up)
{
	s32 after = shake_order_after(number, o->next);

	if (after > 0 && !give_up)
		return false;
	if (after > 0) {
		o->late -= o->late / 32;
		if (!o->gave_at || o->open_at - o->gave_at > SHAKE_ORDER_MOST) {
			o->gave_at = o->open_at;
			o->gave = o->next;
		}
	}
	shake_order_expect(o, number + 1);
	if (after >= 0)
		o->seen |= 1;
	else if (after >= -SHAKE_ORDER_SEEN)
		o->seen |= 1ULL << (-after - 1);
	return true;
}

/**
 * shake_order_left() - how long those that wait will wait at most
 * @o: the stream
 * @now: time in us
 *
 * Return: us; 0: no longer.
 */
static inline u32 shake_order_left(const struct shake_order *o, u64 now)
{
	u64 until = o->open_at + shake_order_wait(o);

	return until > now ? (u32)min_t(u64, until - now, SHAKE_ORDER_MOST) : 0;
}

/**
 * shake_order_reopen() - others are missing now
 * @o: the stream
 * @since: us, when the first of those packets came that wait for them
 */
static inline void shake_order_reopen(struct shake_order *o, u64 since)
{
	o->waits = true;
	o->open_at = since;
}

#endif /* _APOGEE_SHAKE_ORDER_H */
