// SPDX-License-Identifier: GPL-2.0
/*
 * What the device below has of us: octets that it has not sent yet, and how many keep it busy.
 */
#include <linux/etherdevice.h>

#include "below.h"

#define MANY 8U		/* frames */

/* Octets of a PDU that it takes */
u32 sscop_mtu_below(const struct sscop_dev *d)
{
	return d->lower ? READ_ONCE(d->lower->mtu) : READ_ONCE(d->udp.mtu);
}

/* Whether it carries frames, a STAT among them. */
bool sscop_runs_below(const struct sscop_dev *d)
{
	return !d->lower || (netif_running(d->lower) && netif_carrier_ok(d->lower) &&
			     sscop_mtu_below(d) >= SSCOP_LOWER_MTU_MIN);
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

/* Bottom halves must not be switched on again where interrupts are off: the round is then begun
 * behind the next one.
 */
static void schedule_anywhere(struct napi_struct *napi)
{
	if (irqs_disabled()) {
		napi_schedule(napi);
		return;
	}
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
}

/* The lower device frees a frame. It may hold locks: only a round is scheduled here. */
static void frame_gone(struct sk_buff *skb)
{
	struct sscop_under_way *under_way = skb_shinfo(skb)->destructor_arg;
	int octets = skb_shinfo(skb)->tskey;
	struct napi_struct *napi;
	int left, low;

	rcu_read_lock();
	left = give_back(under_way, octets);
	low = READ_ONCE(under_way->low);	/* behind that: see sscop_await_room() */
	if ((left <= low && left + octets > low) || left == 1) {
		napi = rcu_dereference(under_way->napi);
		if (napi)
			schedule_anywhere(napi);
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
	u32 most = sscop_budget_most(&d->budget);

	if (!d->settings.backlog)
		return most;
	return d->budget.tight ? min(most, d->settings.backlog) : d->settings.backlog;
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

/* See what the lower device has sent. */
void sscop_look_below(struct sscop_dev *d, u64 now)
{
	sscop_budget_look(&d->budget, octets_below(d), now);
}

/* The lower device is full. The next look is at its next frame or, if it has many, well before it
 * has sent all of them, which would be a sign that it had too little.
 *
 * Return: what it takes: a frame that went in between may have called for no round.
 */
enum sscop_room sscop_await_room(struct sscop_dev *d)
{
	u32 most = most_below(d);

	WRITE_ONCE(d->under_way->low, most > MANY * d->budget.longest ? most - most / 4 : most);
	smp_mb();	/* first told, then looked; frame_gone() counts first, and then reads */
	return sscop_room_below(d);
}

/* The lower device refused frames, or dropped others for them: it has as much as it takes. */
void sscop_refused(struct sscop_dev *d, u32 frames)
{
	d->refused += frames;
	sscop_budget_refused(&d->budget, octets_below(d), sscop_now());
	sscop_tx_refused(&d->s);
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
