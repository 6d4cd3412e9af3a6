// SPDX-License-Identifier: GPL-2.0
/*
 * What the device below has of us: octets that it has not sent yet, and how many keep it busy.
 */
#include <linux/etherdevice.h>

#include "below.h"

#define MANY 8U		/* frames */

/* Whether it carries frames, a STAT among them. */
bool sscop_lower_runs(const struct net_device *lower)
{
	return netif_running(lower) && netif_carrier_ok(lower) &&
	       lower->mtu >= SSCOP_LOWER_MTU_MIN;
}

struct sscop_under_way *sscop_under_way_new(struct napi_struct *napi)
{
	struct sscop_under_way *under_way = kzalloc(sizeof(*under_way), GFP_KERNEL);

	if (!under_way)
		return NULL;
	if (!try_module_get(THIS_MODULE)) {
		kfree(under_way);
		return NULL;
	}
	atomic_set(&under_way->octets, 1);
	RCU_INIT_POINTER(under_way->napi, napi);
	return under_way;
}

/* Return: what is left. */
static int give_back(struct sscop_under_way *under_way, int octets)
{
	int left = atomic_sub_return(octets, &under_way->octets);

	if (!left) {
		kfree_rcu(under_way, rcu);
		module_put(THIS_MODULE);
	}
	return left;
}

/* The device no longer uses it. */
void sscop_under_way_put(struct sscop_under_way *under_way)
{
	RCU_INIT_POINTER(under_way->napi, NULL);
	synchronize_net();
	give_back(under_way, 1);
}

/* The lower device frees a frame. It may hold locks: only a round is scheduled here. */
static void frame_gone(struct sk_buff *skb)
{
	struct sscop_under_way *under_way = skb_shinfo(skb)->destructor_arg;
	int octets = skb_shinfo(skb)->tskey;
	int low = READ_ONCE(under_way->low);
	struct napi_struct *napi;
	int left;

	rcu_read_lock();
	left = give_back(under_way, octets);
	if ((left <= low && left + octets > low) || left == 1) {
		local_bh_disable();
		napi = rcu_dereference(under_way->napi);
		if (napi)
			napi_schedule(napi);
		local_bh_enable();
	}
	rcu_read_unlock();
}

/* Octets that the lower device has not sent yet */
static u32 octets_below(const struct sscop_dev *d)
{
	return atomic_read(&d->under_way->octets) - 1;
}

/* A frame more is given while it has less. */
static u32 most_below(const struct sscop_dev *d)
{
	return d->settings.backlog ? d->settings.backlog : sscop_budget_most(&d->budget);
}

enum sscop_room sscop_room_below(const struct sscop_dev *d)
{
	u32 octets = octets_below(d);

	if (!octets)
		return SSCOP_QUIET;
	return octets < most_below(d) ? SSCOP_ROOM : SSCOP_FULL;
}

/* What the lower device has is from before. */
void sscop_begin_budget(struct sscop_dev *d, u64 now)
{
	sscop_budget_init(&d->budget, now);
	sscop_budget_give(&d->budget, octets_below(d));
}

/* See what the lower device has sent. The next look is at its next frame or, if it has many, well
 * before it has sent all of them, which would be a sign that it had too little.
 */
void sscop_look_below(struct sscop_dev *d, u64 now)
{
	u32 most;

	sscop_budget_look(&d->budget, octets_below(d), now);
	most = most_below(d);
	WRITE_ONCE(d->under_way->low, most > MANY * d->budget.longest ? most - most / 4 : most);
}

/* The lower device has a frame until it frees it. */
void sscop_put_below(struct sscop_dev *d, struct sk_buff *skb)
{
	skb_shinfo(skb)->destructor_arg = d->under_way;
	skb_shinfo(skb)->tskey = skb->len;
	atomic_add(skb->len, &d->under_way->octets);
	sscop_budget_give(&d->budget, skb->len);
	skb->destructor = frame_gone;
}
