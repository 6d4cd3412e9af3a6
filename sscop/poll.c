// SPDX-License-Identifier: GPL-2.0
/*
 * The round of work: frames that arrived, what the machines report, what is to be sent,
 * and when to do so again.
 */
#include <linux/etherdevice.h>

#include "device.h"

#define STARVED_US 10000	/* from a lack of memory to the next try */

/* --- what the machines need of their owner --------------------------------------------- */

static void free_segment(void *context, void *segment)
{
	struct sscop_dev *d = context;

	if (sscop_forget(d, segment))
		return;
	d->stored -= ((struct sk_buff *)segment)->truesize;
	consume_skb(segment);
}

static void note_outcome(void *context, u32 frame, bool lost)
{
	struct sscop_dev *d = context;

	if (!d->settings.segment)
		sscop_segment_outcome(&d->auto_segment, ETH_HLEN + frame, lost);
}

static u32 draw(void *context)
{
	return get_random_u32();
}

const struct sscop_owner sscop_owner = {
	.free = free_segment,
	.outcome = note_outcome,
	.random = draw,
};

/* --- what the machines report ---------------------------------------------------------- */

/* The carrier is there if the lower device's is, and the connection. */
static void update_carrier(struct sscop_dev *d)
{
	bool up = d->lower_up && (d->s.state == SSCOP_READY || d->s.state == SSCOP_RESYNCING);

	if (up == netif_carrier_ok(d->dev))
		return;
	if (up)
		netif_carrier_on(d->dev);
	else
		netif_carrier_off(d->dev);
}

static const char *cause_of_reset(const struct sscop_counts *known,
				  const struct sscop_counts *counts)
{
	if (counts->reset_restart != known->reset_restart)
		return "begun anew by the peer";
	if (counts->reset_end != known->reset_end)
		return "ended by the peer";
	if (counts->reset_silence != known->reset_silence)
		return "given up: the peer is silent";
	if (counts->reset_asked != known->reset_asked)
		return "resynchronized on request";
	return "resynchronized after errors";
}

static void on_reset(struct sscop_dev *d)
{
	sscop_drop_pieces(d);
	d->cut = 0;	/* its last SD was not sent: the peer does not have this packet */
	d->packets_lost += d->freed;
	if (net_ratelimit())
		netdev_warn(d->dev, "connection %s; %u packets may be lost\n",
			    cause_of_reset(&d->known, &d->s.counts), d->freed);
	d->known = d->s.counts;
}

/* What the machines report, and the state of the lower device, is made known. */
void sscop_follow_events(struct sscop_dev *d)
{
	u32 events = sscop_events(&d->s);

	if (events & SSCOP_EVENT_RESET)
		on_reset(d);
	if (events & SSCOP_EVENT_REJECTED && net_ratelimit())
		netdev_warn(d->dev, "the peer speaks another version of the protocol\n");
	update_carrier(d);
}

/* --- the round ------------------------------------------------------------------------- */

enum hrtimer_restart sscop_timer(struct hrtimer *timer)
{
	struct sscop_dev *d = container_of(timer, struct sscop_dev, timer);

	napi_schedule(&d->napi);
	return HRTIMER_NORESTART;
}

/* Start a round from process context. */
void sscop_wake(struct sscop_dev *d)
{
	local_bh_disable();
	napi_schedule(&d->napi);
	local_bh_enable();
}

/* A timer that expires too early costs a round; setting it costs more. */
static void set_timer(struct sscop_dev *d, u64 now)
{
	u64 at = sscop_deadline(&d->s, sscop_room_below(d), sscop_has_more(d));

	if (d->starved)
		at = now + STARVED_US;
	if (!d->lower_up || at == U64_MAX)
		return;
	at = max(at, now);
	if (hrtimer_is_queued(&d->timer) && d->timer_at <= at)
		return;
	d->timer_at = at;
	hrtimer_start(&d->timer, ns_to_ktime(at * NSEC_PER_USEC), HRTIMER_MODE_ABS);
}

/* Hand up packets, and let frames out, without the lock. */
static void hand_over(struct sscop_dev *d, struct sk_buff_head *up, struct sk_buff_head *down)
{
	struct sk_buff *skb;
	u32 refused;

	while ((skb = __skb_dequeue(up)))
		napi_gro_receive(&d->napi, skb);
	refused = sscop_send(down);
	if (likely(!refused))
		return;
	spin_lock(&d->lock);
	sscop_refused(d, refused);
	spin_unlock(&d->lock);
}

int sscop_poll(struct napi_struct *napi, int budget)
{
	struct sscop_dev *d = container_of(napi, struct sscop_dev, napi);
	struct sk_buff_head up, down;
	bool more = false;
	int taken;
	u64 now;

	if (!budget)
		return 0;
	__skb_queue_head_init(&up);
	__skb_queue_head_init(&down);
	spin_lock(&d->lock);
	now = sscop_now();	/* not before: the machines' time never goes back */
	taken = sscop_take(d, budget, now, &up);
	if (d->lower_up)
		more = sscop_give(d, now, &down);
	set_timer(d, now);
	spin_unlock(&d->lock);
	hand_over(d, &up, &down);

	if (more || taken == budget)
		return budget;
	napi_complete_done(napi, taken);
	return taken;
}
