/* SPDX-License-Identifier: GPL-2.0 */
/* A sender's segments, and what all its files need to know of them. */
#ifndef _MODEL_SEGMENTS_H
#define _MODEL_SEGMENTS_H

#include "world.h"

#define NONE		U32_MAX
#define ISN		1U

/* State of a segment. */
#define F_SACKED	1
#define F_LOST		2
#define F_RETRANS	4	/* the retransmission is in flight */
#define F_EVER		8	/* it was retransmitted */

#define RTO_MIN_US	200000U
#define RTO_MAX_US	120000000U
#define TIMEOUT_MIN_US	2000U

static inline u32 sequence(u32 seg)
{
	return ISN + seg * MODEL_MSS;
}

static inline u32 jiffies_of(u64 us)
{
	return (u32)((us * HZ + USEC_PER_SEC - 1) / USEC_PER_SEC);
}

static inline u64 rto_us(const struct flow *f)
{
	return (u64)f->sk.icsk.icsk_rto * (USEC_PER_SEC / HZ);
}

static inline struct seg *seg_of(struct flow *f, u32 seg)
{
	return &f->snd.segs[ring(seg)];
}

static inline const struct tcp_congestion_ops *ops_of(const struct flow *f)
{
	return f->sk.icsk.icsk_ca_ops;
}

static inline void refresh_clock(struct flow *f)
{
	f->sk.tp.tcp_clock_cache = model_now;
	f->sk.tp.tcp_mstamp = now_us();
}

static inline void ca_event(struct flow *f, enum tcp_ca_event event)
{
	if (ops_of(f)->cwnd_event)
		ops_of(f)->cwnd_event(&f->sk, event);
}

static inline bool sent_after(u64 us1, u64 us2, u32 seg1, u32 seg2)
{
	return us1 > us2 || (us1 == us2 && seg1 > seg2);
}

#endif /* _MODEL_SEGMENTS_H */
