// SPDX-License-Identifier: GPL-2.0
/*
 * ACKs that came earlier than TCP should see them wait in line, see core/shake_trip.h.
 */
#include "early.h"
#include "soon.h"
#include "up.h"
#include "wake.h"

#define WAITING 4096	/* of a peer */

/**
 * struct place - of an ACK that waits, in its control block
 * @at: us, when it goes on
 */
struct place {
	u64 at;
};

static struct place *soon_place(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct place) > sizeof(skb->cb));
	return (struct place *)skb->cb;
}

void shake_soon_init(struct shake_peer *peer)
{
	skb_queue_head_init(&peer->soon);
}

/*
 * A segment has come. Returns whether it waits. None does for longer than the round trip that TCP
 * should see, also behind those of other flows.
 */
bool shake_soon_take(struct shake_peer *peer, const struct shake_segment *s, struct sk_buff *skb,
		     u64 now)
{
	struct sk_buff_head *list = &peer->soon;
	u32 rest = shake_flows_rest(&peer->flows, s, now);
	struct sk_buff *last;
	bool waits;

	if (!rest)
		return false;
	spin_lock_bh(&list->lock);
	waits = skb_queue_len(list) < WAITING &&
		atomic_read(&peer->d->early) < SHAKE_EARLY_DEVICE;
	if (waits) {
		dev_sw_netstats_rx_add(peer->d->dev, skb->len);
		shake_count(peer->d, SHAKE_ACK_HELD);
		last = skb_peek_tail(list);
		soon_place(skb)->at = max(now + rest, last ? soon_place(last)->at : 0);
		__skb_queue_tail(list, skb);
		atomic_inc(&peer->d->early);
		shake_peer_wake(peer, soon_place(skb)->at, now);
	}
	spin_unlock_bh(&list->lock);
	return waits;
}

/* The first that may go on; NULL: none. Writes when there is more. */
static struct sk_buff *take_first(struct shake_peer *peer, u64 *next, u64 now)
{
	struct sk_buff_head *list = &peer->soon;
	struct sk_buff *skb;

	spin_lock_bh(&list->lock);
	skb = skb_peek(list);
	*next = skb ? soon_place(skb)->at : U64_MAX;
	if (*next <= now)
		__skb_unlink(skb, list);
	else
		skb = NULL;
	spin_unlock_bh(&list->lock);
	return skb;
}

/* What has waited for long enough goes on, as far as there is room. Returns when there is more. */
u64 shake_soon_due(struct shake_peer *peer, u32 *room, u64 now)
{
	struct sk_buff *skb;
	u64 next = now;

	while (*room && (skb = take_first(peer, &next, now))) {
		atomic_dec(&peer->d->early);
		memset(skb->cb, 0, sizeof(skb->cb));
		gro_cells_receive(&peer->d->gro, skb);
		--*room;
	}
	return next;
}

/* Forget them: TCP's later ones tell as much. */
void shake_soon_purge(struct shake_peer *peer)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&peer->soon))) {
		atomic_dec(&peer->d->early);
		kfree_skb(skb);
	}
}
