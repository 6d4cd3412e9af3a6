/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether what an ACK delivers says something about the path.
 */
#ifndef _KERNEL_DELIVERED_H
#define _KERNEL_DELIVERED_H

#include <net/tcp.h>

/**
 * delivered_of_train() - may a bandwidth estimation begin with this ACK?
 * @sk: a socket in its cong_control()
 * @una: snd_una before the ACK
 *
 * An interval is assumed for the first ACK, which is one of a full segment in a train. A
 * flight that leaves the window unused, or smaller segments, are the application's rate.
 * That the stack marks them as application-limited says nothing: it does so with each
 * first flight.
 *
 * Return: true if it may.
 */
static inline bool delivered_of_train(const struct sock *sk, u32 una)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_is_cwnd_limited(sk) &&
	       (tp->sacked_out || tp->snd_una - una >= tp->mss_cache);
}

#endif /* _KERNEL_DELIVERED_H */
