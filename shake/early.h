/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of a flow that came too early, in the order of their numbers.
 */
#ifndef _SHAKE_EARLY_H
#define _SHAKE_EARLY_H

#include <linux/rbtree.h>
#include <linux/skbuff.h>

/*
 * Packets of a flow that wait for others, and those of a table: a window of the 6 MB that tcp_rmem
 * has by default, and two of these.
 */
#define SHAKE_EARLY_MAX 4096
#define SHAKE_EARLY_ALL 8192
/* Packets of all tables of a device, beyond which a table has no more than a few. */
#define SHAKE_EARLY_DEVICE 16384
#define SHAKE_EARLY_FEW 64

/**
 * struct shake_early - packets by their numbers, also if somebody makes these up: a list of so many
 * would be walked for a millisecond
 * @tree: the packets; those of the same number as they came
 * @count: how many
 */
struct shake_early {
	struct rb_root_cached tree;
	u32 count;
};

/**
 * struct shake_early_place - of a packet that waits, in its control block
 * @dev: its device, whose place in the packet the tree takes
 * @number: what comes before it goes on before it
 * @until: us, modulo 2^32, when it goes on whatever is missing
 */
struct shake_early_place {
	struct net_device *dev;
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

/* The one with the lowest number; NULL: none. */
static inline struct sk_buff *shake_early_first(const struct shake_early *early)
{
	return rb_to_skb(rb_first_cached(&early->tree));
}

/* Time that the first packet may still wait, in us. There is one. */
static inline u32 shake_early_left(const struct shake_early *early, u32 now)
{
	s32 left = (s32)(shake_early_place(shake_early_first(early))->until - now);

	return max(left, 0);
}

/* Whether packets wait whose number is before this one. */
static inline bool shake_early_before(const struct shake_early *early, u32 number)
{
	const struct sk_buff *first = shake_early_first(early);

	return first && (s32)(shake_early_number(first) - number) < 0;
}

static inline bool shake_early_less(struct rb_node *a, const struct rb_node *b)
{
	return (s32)(shake_early_number(rb_to_skb(a)) - shake_early_number(rb_to_skb(b))) < 0;
}

/* Put a packet in its place, behind those of the same number. */
static inline void shake_early_put(struct shake_early *early, struct sk_buff *skb, u32 number,
				   u32 until)
{
	BUILD_BUG_ON(sizeof(struct shake_early_place) > sizeof(skb->cb));
	*shake_early_place(skb) = (struct shake_early_place){
		.dev = skb->dev, .number = number, .until = until,
	};
	rb_add_cached(&skb->rbnode, &early->tree, shake_early_less);
	early->count++;
}

/*
 * Take the first packet if its number is before @turn, or its time is over, or whatever it is.
 * Returns NULL if there is none.
 */
static inline struct sk_buff *shake_early_take(struct shake_early *early, u32 turn, u32 now,
					       bool all)
{
	struct sk_buff *skb = shake_early_first(early);

	if (!skb || (!all && !shake_early_before(early, turn) && shake_early_left(early, now)))
		return NULL;
	rb_erase_cached(&skb->rbnode, &early->tree);
	early->count--;
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = shake_early_place(skb)->dev;
	return skb;
}

#endif /* _SHAKE_EARLY_H */
