/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an ACK delivers, and whether it says something about the path.
 */
#ifndef _KERNEL_DELIVERED_H
#define _KERNEL_DELIVERED_H

#include <net/tcp.h>

#include <kernel/bitfield.h>

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

/**
 * delivered_bytes() - bytes that an ACK delivers
 * @sk: a socket in its cong_control()
 * @rs: the ACK's
 * @una: snd_una before the ACK
 *
 * As full segments, since windows count segments. But where the stack probes for a larger
 * MTU, what is in flight when a probe has arrived is of smaller segments than the new
 * ones: then the bytes themselves are counted, as long as nothing is SACKed.
 *
 * Return: the number of bytes.
 */
static inline u64 delivered_bytes(const struct sock *sk,
				  const struct rate_sample *rs, u32 una)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 bytes = (u64)rs->acked_sacked * tp->mss_cache;

	if (!bitfield(inet_csk(sk), icsk_mtup.enabled) || tp->sacked_out)
		return bytes;
	return min_t(u64, bytes, tp->snd_una - una);
}

#endif /* _KERNEL_DELIVERED_H */
