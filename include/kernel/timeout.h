/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timeouts among what leads a connection to TCP_CA_Loss.
 */
#ifndef _KERNEL_TIMEOUT_H
#define _KERNEL_TIMEOUT_H

#include <net/tcp.h>

/**
 * timeout_seen() - is it a retransmission timeout that leads to TCP_CA_Loss?
 * @sk: a socket in its set_state(), the old state still in place
 * @asked: the stack has asked for ssthresh since the last ACK
 * @cwnd: window that the last ACK left, in segments
 *
 * A smaller MTU and the data of a Fast Open that nobody took lead there, too
 * (tcp_non_congestion_loss_retransmit()): something is sent again, and there is
 * nothing to answer. At a timeout the stack asks for ssthresh, unless an answer to
 * a mark or a loss is under way. Then the timeout is known by the window, which it
 * alone lowers.
 */
static inline bool timeout_seen(const struct sock *sk, bool asked, u32 cwnd)
{
	switch (inet_csk(sk)->icsk_ca_state) {
	case TCP_CA_Open:
	case TCP_CA_Disorder:
		return asked;
	case TCP_CA_Loss:
		return true;
	default:
		return tcp_snd_cwnd(tcp_sk(sk)) < cwnd;
	}
}

/**
 * timeout_seen_by_cwnd() - the same, for modules that leave the window to the stack
 * @sk: a socket in its set_state()
 *
 * For a timeout the window has become one packet more than is under way. By chance
 * it may be so without one: what is done then must do no harm.
 *
 * Return: whether it is a timeout.
 */
static inline bool timeout_seen_by_cwnd(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_snd_cwnd(tp) == tcp_packets_in_flight(tp) + 1;
}

#endif /* _KERNEL_TIMEOUT_H */
