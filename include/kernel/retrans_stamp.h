/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since when a connection has heard nothing, as the stack sees it.
 */
#ifndef _KERNEL_RETRANS_STAMP_H
#define _KERNEL_RETRANS_STAMP_H

#include <net/tcp.h>

#include <compat/time_stamp.h>

/* s: a tenth of the least time for which a connection is to be kept (RFC 1122, 4.2.3.5), and longer
 * than a round trip. What echoes a timestamp from before shows a spurious retransmission: none may.
 */
#define RETRANS_STAMP_MOST 10

/**
 * retrans_stamp_renew() - a recovery begins: forget the time of those before
 * @sk: a socket in its set_state() with TCP_CA_Recovery
 *
 * From retrans_stamp the stack counts how long retransmissions have been in vain, up to
 * tcp_retries2. It keeps that time while any of them is under way. On a path that loses frames in
 * each round trip one always is, and after a quarter of an hour the second timeout of an outage
 * would end the connection.
 */
static inline void retrans_stamp_renew(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 most = RETRANS_STAMP_MOST * apogee_time_stamp_hz(tp);
	u32 oldest = apogee_time_stamp(tp) - most;

	if (tp->retrans_stamp && before(tp->retrans_stamp, oldest))
		tp->retrans_stamp = oldest ? oldest : 1;
}

#endif /* _KERNEL_RETRANS_STAMP_H */
