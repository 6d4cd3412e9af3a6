/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since when a connection has heard nothing, as the stack sees it.
 */
#ifndef _KERNEL_RETRANS_STAMP_H
#define _KERNEL_RETRANS_STAMP_H

#include <net/tcp.h>

#include <compat/skb_timestamp.h>

/* s: a tenth of the least time for which a connection is to be kept (RFC 1122, 4.2.3.5). */
#define RETRANS_STAMP_OLD 10

/**
 * retrans_stamp_renew() - a recovery begins: forget the time of those before
 * @sk: a socket in its set_state() with TCP_CA_Recovery
 *
 * From retrans_stamp the stack counts how long retransmissions have been in vain, up to
 * tcp_retries2. It keeps that time while any of them is under way. On a path that loses frames in
 * each round trip one always is, and after a quarter of an hour the second timeout of an outage
 * would end the connection. The new time is that at which the oldest data was sent last, as a later
 * one would let the echo of a retransmission pass for that of an original.
 */
static inline void retrans_stamp_renew(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *oldest = tcp_rtx_queue_head(sk);
	s32 age;

	if (!tp->retrans_stamp || !oldest)
		return;
	age = apogee_skb_timestamp(tp, oldest) - tp->retrans_stamp;
	if (age > (s32)(RETRANS_STAMP_OLD * apogee_timestamp_hz(tp)))
		tp->retrans_stamp += age;
}

#endif /* _KERNEL_RETRANS_STAMP_H */
