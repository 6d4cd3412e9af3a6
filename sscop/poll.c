// SPDX-License-Identifier: GPL-2.0
/*
 * The round of work: frames that arrived, what is to be sent, and when to do so again; and the end.
 */
#include <linux/etherdevice.h>

#include "below.h"
#include "downward.h"
#include "events.h"
#include "poll.h"
#include "upward.h"

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
		sscop_segment_outcome(&d->auto_segment, sscop_front(d) + frame, lost);
}

static u32 draw_random(void *context)
{
	return get_random_u32();
}

const struct sscop_owner sscop_owner = {
	.free = free_segment,
	.outcome = note_outcome,
	.random = draw_random,
};

/* --- the round ------------------------------------------------------------------------- */

enum hrtimer_restart sscop_timer(struct hrtimer *timer)
{
	struct sscop_dev *d = container_of(timer, struct sscop_dev, timer);

	napi_schedule(&d->napi);
	return HRTIMER_NORESTART;
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
	refused = sscop_send(d, down);
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

/* End the connection, and tell the peer. Return: packets that may be lost. */
u32 sscop_end(struct sscop_dev *d)
{
	struct sscop_output output;
	bool tell;
	u32 lost;

	spin_lock_bh(&d->lock);
	sscop_count_freed(d);
	tell = sscop_stop(&d->s, &output) && d->lower_up;
	sscop_drop_pieces(d);
	d->cut = 0;
	lost = d->freed;
	d->packets_lost += lost;
	spin_unlock_bh(&d->lock);
	if (tell)
		sscop_send_control(d, &output);
	return lost;
}
