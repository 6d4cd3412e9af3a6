/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control is called when a connection starts to send with nothing in
 * flight: up to Linux 7.0 through tcp_congestion_ops::cwnd_event with
 * CA_EVENT_TX_START, from 7.1 on through an operation of its own,
 * cwnd_event_tx_start.
 *
 * The first packet is already being sent then: a reduced window applies from the second
 * on (kernel/idle.h has the way to be earlier).
 *
 * APOGEE_TX_START(name) is the head of such a function; the body sees
 * `struct sock *sk`. APOGEE_TX_START_OP(name) is its initializer in the operations.
 */
#ifndef APOGEE_COMPAT_TX_START_H
#define APOGEE_COMPAT_TX_START_H

#include <net/tcp.h>

#ifdef APOGEE_HAS_TX_START
#define APOGEE_TX_START(name)						\
	static void name(struct sock *sk)
#define APOGEE_TX_START_OP(name)	.cwnd_event_tx_start = name
#else
#define APOGEE_TX_START(name)						\
	static void name(struct sock *sk);				\
	static void name##_event(struct sock *sk, enum tcp_ca_event event) \
	{								\
		if (event == CA_EVENT_TX_START)				\
			name(sk);					\
	}								\
	static void name(struct sock *sk)
#define APOGEE_TX_START_OP(name)	.cwnd_event = name##_event
#endif

#endif /* APOGEE_COMPAT_TX_START_H */
