/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_skb_timestamp_ts() replaced tcp_skb_timestamp() in Linux 6.7, where a connection's timestamps
 * may be in microseconds.
 */
#ifndef APOGEE_COMPAT_SKB_TIMESTAMP_H
#define APOGEE_COMPAT_SKB_TIMESTAMP_H

#include <net/tcp.h>

/* When a packet was sent last, by the connection's timestamps. */
static inline u32 apogee_skb_timestamp(const struct tcp_sock *tp, const struct sk_buff *skb)
{
#ifdef APOGEE_HAS_SKB_TIMESTAMP_TS
	return tcp_skb_timestamp_ts(tp->tcp_usec_ts, skb);
#else
	return tcp_skb_timestamp(skb);
#endif
}

/* How many units of the connection's timestamps a second has. */
static inline u32 apogee_timestamp_hz(const struct tcp_sock *tp)
{
#ifdef APOGEE_HAS_SKB_TIMESTAMP_TS
	return tp->tcp_usec_ts ? USEC_PER_SEC : TCP_TS_HZ;
#else
	return TCP_TS_HZ;
#endif
}

#endif /* APOGEE_COMPAT_SKB_TIMESTAMP_H */
