// SPDX-License-Identifier: GPL-2.0
/*
 * The queue above, where no queueing discipline keeps one: the kernel's queues by flow and its
 * CoDel, as in mac80211. The link's clock says what is long. Packets that wait for a repair are no
 * sign of congestion, so that CoDel's target is in round trips.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/codel.h>
#include <net/codel_impl.h>
#include <net/fq.h>
#include <net/fq_impl.h>

#include "above.h"

#define FLOWS 256
#define TARGET 3U		/* round trips that a packet may always have to wait */
#define INTERVAL 10U		/* round trips in which it need not once */
#define TARGET_LEAST 5000U	/* us, of RFC 8289: TCP's path is longer than the link, */
#define INTERVAL_LEAST 100000U	/* us, and mostly not longer than this */
#define FRAMES 3U		/* whose time a round trip contains */
#define DEFAULT_US 100000U	/* round trip while none is known */
#define MOST_US 6000000U		/* the longest: CoDel's times wrap */
#define MEMORY 4U		/* octets of memory for each that passes in the interval */
#define MEMORY_LEAST 65536U
#define MEMORY_MOST (32U << 20)

/* --- what the kernel's queues need of their owner ------------------------------------------ */

static struct sscop_above *of_tin(struct fq_tin *tin)
{
	return container_of(tin, struct sscop_above, tin);
}

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

static void drop(struct sk_buff *skb, void *context)
{
	struct sscop_above *above = context;

	above->dropped++;
	kfree_skb(skb);
}

static void drop_of_flow(struct fq *fq, struct fq_tin *tin, struct fq_flow *flow,
			 struct sk_buff *skb)
{
	drop(skb, of_tin(tin));
}

static struct sk_buff *next_of_vars(struct codel_vars *vars, void *context)
{
	struct sscop_above *above = context;

	return fq_flow_dequeue(&above->fq, &above->fq.flows[vars - above->vars]);
}

/* There is one tin: each flow is in the table. */
static struct sk_buff *next_of_flow(struct fq *fq, struct fq_tin *tin, struct fq_flow *flow)
{
	struct sscop_above *above = of_tin(tin);

	return codel_dequeue(above, &flow->backlog, &above->params,
			     &above->vars[flow - fq->flows], &above->stats, length_of, time_of,
			     drop, next_of_vars);
}

/* --- the queue ----------------------------------------------------------------------------- */

static codel_time_t codel_time(u32 us)
{
	return ((u64)us * NSEC_PER_USEC) >> CODEL_SHIFT;
}

/* The round trip that a repair takes, without the time of those frames that fill a slow link's:
 * each @takes a part of it, and a queue of few is as long.
 */
static u32 repair_us(u32 rtt, u32 takes)
{
	u32 us = rtt - min(rtt, FRAMES * takes) + takes / FRAMES;

	return us ? min(us, MOST_US) : DEFAULT_US;
}

/* How long is long: by @rate, octets per second, by @rtt, us, and by what one @packet @takes, us.
 * A flow of one packet is never too long.
 */
void sscop_above_know(struct sscop_above *above, u64 rate, u32 rtt, u64 takes, u32 packet)
{
	u32 us = repair_us(rtt, min_t(u64, takes, MOST_US));
	u32 interval = max(INTERVAL * us, INTERVAL_LEAST);
	u64 octets = div_u64(min_t(u64, rate, MEMORY_MOST) * interval, USEC_PER_SEC);

	above->params.mtu = packet;
	above->params.target = codel_time(max(TARGET * us, TARGET_LEAST));
	above->params.interval = codel_time(interval);
	above->fq.memory_limit = rate ? clamp_t(u64, MEMORY * octets, MEMORY_LEAST, MEMORY_MOST) :
					MEMORY_MOST;
}

/* Its memory. */
int sscop_above_init(struct sscop_above *above)
{
	int err;

	above->vars = kvcalloc(FLOWS, sizeof(*above->vars), GFP_KERNEL);
	if (!above->vars)
		return -ENOMEM;
	err = fq_init(&above->fq, FLOWS);
	if (err) {
		kvfree(above->vars);
		return err;
	}
	fq_tin_init(&above->tin);
	codel_params_init(&above->params);
	codel_stats_init(&above->stats);
	above->params.ecn = true;
	sscop_above_know(above, 0, 0, 0, 0);
	return 0;
}

void sscop_above_free(struct sscop_above *above)
{
	fq_reset(&above->fq, drop_of_flow);
	kvfree(above->vars);
}

/* Nothing waits. */
void sscop_above_purge(struct sscop_above *above)
{
	u32 i;

	spin_lock_bh(&above->fq.lock);
	fq_tin_reset(&above->fq, &above->tin, drop_of_flow);
	for (i = 0; i < FLOWS; i++)
		codel_vars_init(&above->vars[i]);
	spin_unlock_bh(&above->fq.lock);
}

void sscop_above_put(struct sscop_above *above, struct sk_buff *skb)
{
	u32 flow = fq_flow_idx(&above->fq, skb);

	lockdep_assert_held(&above->fq.lock);
	*came_at(skb) = codel_get_time();
	fq_tin_enqueue(&above->fq, &above->tin, flow, skb, drop_of_flow);
}

struct sk_buff *sscop_above_next(struct sscop_above *above)
{
	lockdep_assert_held(&above->fq.lock);
	return fq_tin_dequeue(&above->fq, &above->tin, next_of_flow);
}
