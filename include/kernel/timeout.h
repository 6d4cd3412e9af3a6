/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of retransmission timeouts as the cause of TCP_CA_Loss.
 */
#ifndef _KERNEL_TIMEOUT_H
#define _KERNEL_TIMEOUT_H

#include <net/tcp.h>

#include <kernel/bitfield.h>

/**
 * timeout_seen_by_cwnd() - timeout_seen() for modules that leave the window to the stack
 * @sk: a socket in its set_state()
 *
 * At a timeout the stack sets the window to one packet more than is in flight. This may
 * also happen without a timeout, so the response must do no harm then.
 *
 * Return: true if it is a timeout.
 */
static inline bool timeout_seen_by_cwnd(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_snd_cwnd(tp) == tcp_packets_in_flight(tp) + 1;
}

/**
 * timeout_seen() - is a retransmission timeout the cause of TCP_CA_Loss?
 * @sk: a socket in its set_state(), before the state changes
 * @asked: the stack has asked for ssthresh since the last ACK
 * @cwnd: window after the last ACK, in segments
 *
 * A smaller MTU, and Fast Open data that was not accepted, also lead to this state
 * (tcp_non_congestion_loss_retransmit()): data is retransmitted, but there is no
 * congestion. At a timeout the stack asks for ssthresh, unless the response to a mark
 * or a loss is in progress. In that case only a timeout reduces the window, to what is
 * in flight and one packet more. A window that is less than @cwnd may also be one that
 * the module has set for a while.
 *
 * Return: true if it is a timeout.
 */
static inline bool timeout_seen(const struct sock *sk, bool asked, u32 cwnd)
{
	switch (ca_state(sk)) {
	case TCP_CA_Open:
	case TCP_CA_Disorder:
		return asked;
	case TCP_CA_Loss:
		return true;
	default:
		return tcp_snd_cwnd(tcp_sk(sk)) < cwnd &&
		       timeout_seen_by_cwnd(sk);
	}
}

#endif /* _KERNEL_TIMEOUT_H */
