/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_congestion_ops::cong_control has the arguments (sk, rs) up to Linux 6.9; from
 * 6.10 on also the ACK number and the ACK's flags.
 *
 * APOGEE_CONG_CONTROL(name) is the head of such a function; the body sees
 * `struct sock *sk` and `const struct rate_sample *rs`.
 */
#ifndef APOGEE_COMPAT_CONG_CONTROL_H
#define APOGEE_COMPAT_CONG_CONTROL_H

#include <net/tcp.h>

#ifdef APOGEE_HAS_CONG_CONTROL_ACK
#define APOGEE_CONG_CONTROL(name)					\
	static void name(struct sock *sk, u32 ack, int flag,		\
			 const struct rate_sample *rs)
#else
#define APOGEE_CONG_CONTROL(name)					\
	static void name(struct sock *sk, const struct rate_sample *rs)
#endif

#endif /* APOGEE_COMPAT_CONG_CONTROL_H */
