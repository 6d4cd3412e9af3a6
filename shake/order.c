// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams with numbers: what waits for those before it, see core/shake_order.h. The room is
 * bounded by their number, the time by a timer.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include <compat/timer.h>

#include "order.h"
#include "up.h"

#define WAITING 8192		/* packets of a device that wait, ... */
#define WAITING_FEW 64		/* ... of which each leader may have so many in any case */
#define WAITING_STREAM 512	/* of a stream: to find a place among more would take too long */

/**
 * struct stream - packets of a stream that wait
 * @order: what came
 * @list: they, the least number first
 * @places: theirs, in the order in which they came
 */
struct stream {
	struct shake_order order;
	struct sk_buff_head list;
	struct list_head places;
};

/**
 * struct shake_orders - all streams from a peer
 * @lock: over all else
 * @peer: the peer
 * @timer: lets those go that have waited long enough
 * @waiting: packets that wait
 * @streams: by number
 */
struct shake_orders {
	spinlock_t lock;	/* over all else */
	struct shake_peer *peer;
	struct timer_list timer;
	u32 waiting;
	struct stream streams[SHAKE_STREAMS];
};

/**
 * struct place - of a packet that waits, in its control block
 * @list: in the stream's places
 * @at: us, when it came
 * @number: its number
 */
struct place {
	struct list_head list;
	u64 at;
	u32 number;
};

static struct place *order_place(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct place) > sizeof(skb->cb));
	return (struct place *)skb->cb;
}

/* --- what waits ---------------------------------------------------------------------------- */

static void put_waiting(struct shake_orders *orders, struct stream *stream, struct sk_buff *skb,
			u32 number, u64 now)
{
	struct shake_dev *d = orders->peer->d;
	struct place *place = order_place(skb);
	struct sk_buff *before;
	s32 after = 1;

	skb_queue_reverse_walk(&stream->list, before) {
		after = shake_order_after(number, order_place(before)->number);
		if (after >= 0)
			break;
	}
	if (!after) {
		shake_count(d, SHAKE_ORDER_REPEATED);
		consume_skb(skb);
		return;
	}
	place->at = now;
	place->number = number;
	list_add_tail(&place->list, &stream->places);
	__skb_queue_after(&stream->list, before, skb);
	orders->waiting++;
	atomic_inc(&d->waiting);
	shake_count(d, SHAKE_ORDER_WAITED);
}

static void drop_waiting(struct shake_dev *d, struct sk_buff *skb)
{
	dev_core_stats_rx_dropped_inc(d->dev);
	kfree_skb(skb);
}

static struct sk_buff *take_first_waiting(struct shake_orders *orders, struct stream *stream)
{
	struct sk_buff *skb = __skb_dequeue(&stream->list);

	if (skb) {
		list_del(&order_place(skb)->list);
		orders->waiting--;
		atomic_dec(&orders->peer->d->waiting);
		memset(skb->cb, 0, sizeof(skb->cb));
	}
	return skb;
}

/* The one that came first of those that wait: there are some. */
static struct place *oldest_waiting(struct stream *stream)
{
	return list_first_entry(&stream->places, struct place, list);
}

/*
 * Deliver those whose turn it is, as far as there is room; @give_up: also the one that came first,
 * and all before it.
 */
static void deliver_in_turn(struct shake_orders *orders, struct stream *stream, bool give_up,
			    u32 *room)
{
	struct shake_dev *d = orders->peer->d;
	u32 last = give_up ? oldest_waiting(stream)->number : 0, number;
	struct sk_buff *skb;

	while ((skb = skb_peek(&stream->list)) && *room) {
		number = order_place(skb)->number;
		if (!shake_order_next(&stream->order, number,
				      give_up && shake_order_after(number, last) <= 0))
			break;
		shake_give(d, take_first_waiting(orders, stream));
		--*room;
	}
	stream->order.waits = skb;
	if (skb)
		shake_order_reopen(&stream->order, oldest_waiting(stream)->at);
}

/*
 * The same with those that have waited long enough, or @all, of which one goes even without room.
 * Returns whether there was room for all.
 */
static bool settle_order(struct shake_orders *orders, struct stream *stream, bool all, u64 now)
{
	struct shake_dev *d = orders->peer->d;
	u32 had = shake_up_room(d), room = had ?: all;

	deliver_in_turn(orders, stream, false, &room);
	while (room && stream->order.waits && (all || !shake_order_left(&stream->order, now))) {
		shake_count(d, SHAKE_ORDER_GAVE_UP);
		deliver_in_turn(orders, stream, true, &room);
	}
	shake_up_count(d, had > room ? had - room : 0);
	return room;
}

/* What waits is of another sender. */
static void give_all(struct shake_orders *orders, struct stream *stream)
{
	struct shake_dev *d = orders->peer->d;
	u32 had = shake_up_room(d), room = had;
	struct sk_buff *skb;

	while ((skb = take_first_waiting(orders, stream))) {
		if (room) {
			shake_give(d, skb);
			room--;
		} else {
			drop_waiting(d, skb);
		}
	}
	shake_up_count(d, had - room);
}

/* @had_room: else those that wait are looked at in the next jiffy. */
static void wake_order(struct shake_orders *orders, const struct stream *stream, bool had_room,
		       u64 now)
{
	u32 left = had_room ? shake_order_left(&stream->order, now) : 0;

	if (stream->order.waits)
		timer_reduce(&orders->timer, jiffies + usecs_to_jiffies(left));
}

static void order_expired(struct timer_list *timer)
{
	struct shake_orders *orders = timer_container_of(orders, timer, timer);
	struct stream *stream;
	bool room;
	u64 now;
	u32 i;

	spin_lock(&orders->lock);
	now = shake_now();
	for (i = 0; i < SHAKE_STREAMS; i++) {
		stream = &orders->streams[i];
		if (!stream->order.waits)
			continue;
		room = settle_order(orders, stream, false, now);
		wake_order(orders, stream, room, now);
	}
	spin_unlock(&orders->lock);
}

/* --- streams ------------------------------------------------------------------------------- */

/* What another instance of this peer has sent before must not look like what is sent now. */
void shake_streams_init(struct shake_peer *peer)
{
	u32 i;

	for (i = 0; i < SHAKE_STREAMS; i++)
		atomic_set(&peer->streams[i].number, get_random_u32());
}

/* Returns those of a peer, or NULL without memory. */
static struct shake_orders *orders_of(struct shake_peer *peer)
{
	struct shake_orders *orders = READ_ONCE(peer->orders), *other;
	u32 i;

	if (orders)
		return orders;
	orders = kzalloc(sizeof(*orders), GFP_ATOMIC | __GFP_NOWARN);
	if (!orders)
		return NULL;
	orders->peer = peer;
	spin_lock_init(&orders->lock);
	timer_setup(&orders->timer, order_expired, 0);
	for (i = 0; i < SHAKE_STREAMS; i++) {
		__skb_queue_head_init(&orders->streams[i].list);
		INIT_LIST_HEAD(&orders->streams[i].places);
	}
	other = cmpxchg(&peer->orders, NULL, orders);
	if (!other)
		return orders;
	kfree(orders);
	return other;
}

/* Whether more wait of a stream, or of its leader, than may. */
static bool are_many(const struct shake_orders *orders, const struct stream *stream)
{
	int left = WAITING - atomic_read(&orders->peer->d->waiting);

	return skb_queue_len(&stream->list) > WAITING_STREAM ||
	       !shake_has_share(orders->waiting, WAITING_FEW, left);
}

/* A datagram with a number has come: deliver it, now or later, or drop it. Under RCU. */
void shake_order_take(struct shake_peer *peer, struct sk_buff *skb, u32 number)
{
	struct shake_orders *orders = orders_of(peer);
	struct shake_dev *d = peer->d;
	struct stream *stream;
	bool room = true;
	u64 now;

	if (!orders) {
		shake_give(d, skb);
		return;
	}
	stream = &orders->streams[shake_order_stream(number)];
	spin_lock_bh(&orders->lock);
	now = shake_now();	/* under the lock: no other CPU has a later one */
	switch (shake_order_in(&stream->order, number, now)) {
	case SHAKE_ORDER_TWICE:
		shake_count(d, SHAKE_ORDER_REPEATED);
		consume_skb(skb);
		break;
	case SHAKE_ORDER_LATE:
		if (number & SHAKE_ORDERED)
			shake_count(d, SHAKE_ORDER_OVERTAKEN);
		shake_give(d, skb);
		break;
	case SHAKE_ORDER_WAIT:
		put_waiting(orders, stream, skb, number, now);
		room = settle_order(orders, stream, are_many(orders, stream), now);
		break;
	case SHAKE_ORDER_ANEW:
		give_all(orders, stream);
		shake_give(d, skb);
		break;
	case SHAKE_ORDER_NOW:
		shake_give(d, skb);
		room = settle_order(orders, stream, false, now);
		break;
	}
	wake_order(orders, stream, room, now);
	spin_unlock_bh(&orders->lock);
}

/* Drop what waits. */
static void purge_order(struct shake_orders *orders)
{
	struct shake_dev *d = orders->peer->d;
	struct stream *stream;
	struct sk_buff *skb;
	u32 i;

	spin_lock_bh(&orders->lock);
	for (i = 0; i < SHAKE_STREAMS; i++) {
		stream = &orders->streams[i];
		while ((skb = take_first_waiting(orders, stream)))
			drop_waiting(d, skb);
		stream->order.waits = false;
	}
	spin_unlock_bh(&orders->lock);
}

/* The device goes down. */
void shake_orders_stop(struct shake_peer *peer)
{
	if (!peer->orders)
		return;
	timer_delete_sync(&peer->orders->timer);
	purge_order(peer->orders);
}

/* The peer goes: nothing of it is delivered later. */
void shake_orders_shutdown(struct shake_peer *peer)
{
	if (peer->orders)
		timer_shutdown_sync(&peer->orders->timer);
}

/* Nobody uses the peer any more. Its timer was never set, or is shut down. */
void shake_orders_free(struct shake_peer *peer)
{
	if (!peer->orders)
		return;
	timer_shutdown_sync(&peer->orders->timer);
	purge_order(peer->orders);
	kfree(peer->orders);
}
