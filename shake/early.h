/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of a flow that came too early, in the order of their numbers.
 */
#ifndef _SHAKE_EARLY_H
#define _SHAKE_EARLY_H

#include <linux/skbuff.h>

/*
 * Packets of a flow that wait for others, and those of a table: a window of the 6 MB that tcp_rmem
 * has by default, and two of these.
 */
#define SHAKE_EARLY_MAX 4096
#define SHAKE_EARLY_ALL 8192

/**
 * struct shake_early - a list of packets
 * @first: the one with the lowest number; NULL: none
 * @last: the one with the highest
 * @count: how many
 */
struct shake_early {
	struct sk_buff *first;
	struct sk_buff *last;
	u32 count;
};

/**
 * struct shake_early_place - of a packet that waits, in its control block
 * @number: what comes before it goes on before it
 * @until: us, modulo 2^32, when it goes on whatever is missing
 */
struct shake_early_place {
	u32 number;
	u32 until;
};

static inline struct shake_early_place *shake_early_place(const struct sk_buff *skb)
{
	return (struct shake_early_place *)skb->cb;
}

static inline u32 shake_early_number(const struct sk_buff *skb)
{
	return shake_early_place(skb)->number;
}

/* Time that the first packet may still wait, in us. There is one. */
static inline u32 shake_early_left(const struct shake_early *early, u32 now)
{
	s32 left = (s32)(shake_early_place(early->first)->until - now);

	return max(left, 0);
}

/* Whether packets wait whose number is before this one. */
static inline bool shake_early_before(const struct shake_early *early, u32 number)
{
	return early->first && (s32)(shake_early_number(early->first) - number) < 0;
}

/* Put a packet in its place, behind those of the same number. Most come near the end. */
static inline void shake_early_put(struct shake_early *early, struct sk_buff *skb, u32 number,
				   u32 until)
{
	struct sk_buff *before = early->last, *behind = NULL;

	*shake_early_place(skb) = (struct shake_early_place){ .number = number, .until = until };
	for (; before && (s32)(number - shake_early_number(before)) < 0; before = before->prev)
		behind = before;
	skb->prev = before;
	skb->next = behind;
	*(before ? &before->next : &early->first) = skb;
	*(behind ? &behind->prev : &early->last) = skb;
	early->count++;
}

/*
 * Take the first packet if its number is before @turn, or its time is over, or whatever it is.
 * Returns NULL if there is none.
 */
static inline struct sk_buff *shake_early_take(struct shake_early *early, u32 turn, u32 now,
					       bool all)
{
	struct sk_buff *skb = early->first;

	if (!skb || (!all && !shake_early_before(early, turn) && shake_early_left(early, now)))
		return NULL;
	early->first = skb->next;
	*(early->first ? &early->first->prev : &early->last) = NULL;
	early->count--;
	skb->next = NULL;
	return skb;
}

#endif /* _SHAKE_EARLY_H */
