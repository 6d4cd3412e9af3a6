// SPDX-License-Identifier: GPL-2.0
/*
 * What an agent holds back from a leader whose paths have no room. A leader stops the queue of
 * its device; an agent's device has none, as one leader would hold up all, so that each leader has
 * a queue here: of several flows in turn, those that send little first (as RFC 8290), with CoDel
 * (RFC 8289) for each, whose times fit the paths.
 */
#include <linux/slab.h>
#include <net/codel.h>
#include <net/codel_impl.h>

#include "held.h"

#define FLOWS 64		/* of a leader; more share them */
#define QUANTUM 1500		/* octets of a flow in its turn */
#define FEW 16			/* packets that any leader may have */
#define MOST 1024		/* packets of a leader */
#define MOST_OF_ALL 16384	/* packets of all leaders of a device */

#define TARGET_LEAST 20		/* ms: CoDel's target, at least */
#define TARGET_PART 4		/* and this part of the longest round trip */
#define INTERVAL_LEAST 100	/* ms: its interval, at least, and the longest round trip */

/**
 * struct held_flow - packets of flows that share a hash
 * @node: in one of the lists of the queue, if there are any, or were in its last turn
 * @packets: the packets
 * @bytes: their octets
 * @deficit: octets that it may send in this turn
 * @opening: the last one came from TCP in its first slow start
 * @vars: CoDel's
 */
struct held_flow {
	struct list_head node;
	struct sk_buff_head packets;
	u32 bytes;
	int deficit;
	bool opening;
	struct codel_vars vars;
};

/**
 * struct shake_held - packets that wait for a leader
 * @lock: over what follows
 * @busy: bit 0: somebody sends
 * @count: packets
 * @fresh: flows that were empty
 * @others: flows that have had a turn
 * @params: CoDel's
 * @stats: CoDel's
 * @d: the device
 * @flows: by hash
 */
struct shake_held {
	spinlock_t lock;	/* over what follows */
	unsigned long busy;
	u32 count;
	struct list_head fresh;
	struct list_head others;
	struct codel_params params;
	struct codel_stats stats;
	struct shake_dev *d;
	struct held_flow flows[FLOWS];
};

/* What CoDel's functions get. */
struct held_context {
	struct shake_held *held;
	struct held_flow *flow;
};

/* When a packet came; in its control block. */
static codel_time_t *came_at(const struct sk_buff *skb)
{
	return (codel_time_t *)skb->cb;
}

static u32 length_of(const struct sk_buff *skb)
{
	return skb->len;
}

static codel_time_t time_of(const struct sk_buff *skb)
{
	return *came_at(skb);
}

static struct sk_buff *take_first_held(struct shake_held *held, struct held_flow *flow)
{
	struct sk_buff *skb = __skb_dequeue(&flow->packets);

	if (!skb)
		return NULL;
	WRITE_ONCE(flow->bytes, flow->bytes - skb->len);
	WRITE_ONCE(held->count, held->count - 1);
	atomic_dec(&held->d->held);
	return skb;
}

static struct sk_buff *codel_take(struct codel_vars *vars, void *context)
{
	struct held_context *c = context;

	return take_first_held(c->held, c->flow);
}

static void drop_held(struct sk_buff *skb, void *context)
{
	struct shake_dev *d = ((struct held_context *)context)->held->d;

	shake_count(d, SHAKE_DROP_HELD);
	dev_core_stats_tx_dropped_inc(d->dev);
	kfree_skb(skb);
}

/* The oldest packet of the flow that has most. */
static void drop_one(struct shake_held *held)
{
	struct held_context c = { .held = held, .flow = &held->flows[0] };
	struct sk_buff *skb;
	u32 i;

	for (i = 1; i < FLOWS; i++)
		if (held->flows[i].bytes > c.flow->bytes)
			c.flow = &held->flows[i];
	skb = take_first_held(held, c.flow);
	if (skb)
		drop_held(skb, &c);
}

/*
 * CoDel's times fit the longest round trip of paths or of data, which may wait for copies: TCP that
 * slows down by 3/10 leaves no path empty if the queues had as much. Its first slow start goes on
 * until all paths are full.
 */
static void fit_codel(struct shake_held *held, const struct held_flow *flow, u32 trip)
{
	u32 ticks;

	if (flow->opening)
		trip = max_t(u32, trip, USEC_PER_SEC);
	ticks = (u32)(((u64)trip * NSEC_PER_USEC) >> CODEL_SHIFT);
	held->params.target = MS2TIME(TARGET_LEAST) + ticks / TARGET_PART;
	held->params.interval = MS2TIME(INTERVAL_LEAST) + ticks;
}

/* The next packet, or NULL. */
static struct sk_buff *dequeue_held(struct shake_held *held, u32 trip)
{
	struct held_context c = { .held = held };
	struct list_head *list;
	struct sk_buff *skb;

	for (;;) {
		list = list_empty(&held->fresh) ? &held->others : &held->fresh;
		c.flow = list_first_entry_or_null(list, struct held_flow, node);
		if (!c.flow)
			return NULL;
		if (c.flow->deficit <= 0) {
			c.flow->deficit += QUANTUM;
			list_move_tail(&c.flow->node, &held->others);
			continue;
		}
		fit_codel(held, c.flow, trip);
		skb = codel_dequeue(&c, &c.flow->bytes, &held->params, &c.flow->vars,
				    &held->stats, length_of, time_of, drop_held, codel_take);
		if (skb)
			break;
		/* who is empty waits for its turn, or it would always be fresh */
		if (list == &held->fresh && !list_empty(&held->others))
			list_move_tail(&c.flow->node, &held->others);
		else
			list_del_init(&c.flow->node);
	}
	c.flow->deficit -= skb->len;
	return skb;
}

/* Returns a queue for a leader, or NULL without memory: then nothing is held back from it. */
struct shake_held *shake_held_make(struct shake_dev *d)
{
	struct shake_held *held = kvzalloc(sizeof(*held), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	u32 i;

	if (!held)
		return NULL;
	held->d = d;
	spin_lock_init(&held->lock);
	INIT_LIST_HEAD(&held->fresh);
	INIT_LIST_HEAD(&held->others);
	codel_params_init(&held->params);
	codel_stats_init(&held->stats);
	held->params.ecn = true;
	held->params.mtu = QUANTUM;
	for (i = 0; i < FLOWS; i++) {
		INIT_LIST_HEAD(&held->flows[i].node);
		__skb_queue_head_init(&held->flows[i].packets);
		codel_vars_init(&held->flows[i].vars);
	}
	return held;
}

/* Drop all. */
void shake_held_purge(struct shake_held *held)
{
	u32 i;

	if (!held)
		return;
	spin_lock_bh(&held->lock);
	for (i = 0; i < FLOWS; i++) {
		atomic_sub(skb_queue_len(&held->flows[i].packets), &held->d->held);
		__skb_queue_purge(&held->flows[i].packets);
		WRITE_ONCE(held->flows[i].bytes, 0);
	}
	WRITE_ONCE(held->count, 0);
	spin_unlock_bh(&held->lock);
}

void shake_held_free(struct shake_held *held)
{
	shake_held_purge(held);
	kvfree(held);
}

static struct held_flow *flow_of(struct shake_held *held, struct sk_buff *skb)
{
	return &held->flows[skb_get_hash(skb) % FLOWS];
}

/* A packet waits. Under RCU. Returns whether it is the only one. */
bool shake_held_put(struct shake_held *held, struct sk_buff *skb, bool opening)
{
	struct held_flow *flow = flow_of(held, skb);
	bool only;

	skb_dst_force(skb);	/* it outlives what it was given under */
	*came_at(skb) = codel_get_time();
	spin_lock_bh(&held->lock);
	flow->opening = opening;
	__skb_queue_tail(&flow->packets, skb);
	WRITE_ONCE(flow->bytes, flow->bytes + skb->len);
	WRITE_ONCE(held->count, held->count + 1);
	if (list_empty(&flow->node)) {
		flow->deficit = QUANTUM;
		list_add_tail(&flow->node, &held->fresh);
	}
	only = held->count == 1;
	/* leaders that fill what there is for all leave a few to each */
	if ((atomic_inc_return(&held->d->held) > MOST_OF_ALL && held->count > FEW) ||
	    held->count > MOST)
		drop_one(held);
	spin_unlock_bh(&held->lock);
	return only;
}

/* Packets that wait. */
u32 shake_held_count(const struct shake_held *held)
{
	return held ? READ_ONCE(held->count) : 0;
}

/* Whether packets wait. */
bool shake_held_waits(const struct shake_held *held)
{
	return shake_held_count(held);
}

/* Whether packets of a packet's flow wait, which it must not overtake. */
bool shake_held_has(struct shake_held *held, struct sk_buff *skb)
{
	return shake_held_waits(held) && READ_ONCE(flow_of(held, skb)->bytes);
}

/* Whoever is the first sends what is held back, until shake_held_end(). */
bool shake_held_begin(struct shake_held *held)
{
	return shake_held_waits(held) && !test_and_set_bit_lock(0, &held->busy);
}

/* The next packet; NULL: there is none. */
struct sk_buff *shake_held_take(struct shake_held *held, u32 trip)
{
	struct sk_buff *skb;

	spin_lock_bh(&held->lock);
	skb = dequeue_held(held, trip);
	spin_unlock_bh(&held->lock);
	if (skb)
		memset(skb->cb, 0, sizeof(skb->cb));
	return skb;
}

void shake_held_end(struct shake_held *held)
{
	clear_bit_unlock(0, &held->busy);
}
