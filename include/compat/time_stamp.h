/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_time_stamp_ts() replaced tcp_time_stamp() in Linux 6.7, where a connection's timestamps may
 * be in microseconds.
 */
#ifndef APOGEE_COMPAT_TIME_STAMP_H
#define APOGEE_COMPAT_TIME_STAMP_H

#include <net/tcp.h>

/* Now, by the connection's timestamps. */
static inline u32 apogee_time_stamp(const struct tcp_sock *tp)
{
#ifdef APOGEE_HAS_TIME_STAMP_TS
	return tcp_time_stamp_ts(tp);
#else
	return tcp_time_stamp(tp);
#endif
}

/* How many units of them a second has. */
static inline u32 apogee_time_stamp_hz(const struct tcp_sock *tp)
{
#ifdef APOGEE_HAS_TIME_STAMP_TS
	return tp->tcp_usec_ts ? USEC_PER_SEC : TCP_TS_HZ;
#else
	return TCP_TS_HZ;
#endif
}

#endif /* APOGEE_COMPAT_TIME_STAMP_H */
