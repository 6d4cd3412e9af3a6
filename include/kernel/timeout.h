/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is it for a timeout that the stack enters TCP_CA_Loss?
 */
#ifndef _KERNEL_TIMEOUT_H
#define _KERNEL_TIMEOUT_H

#include <net/tcp.h>

/**
 * lost_by_timeout() - does set_state(TCP_CA_Loss) tell of a timeout?
 * @sk: socket
 *
 * The stack takes this state, too, to send again what has become too long for the
 * path, or what a SYN of Fast Open has carried in vain: it asks for no ssthresh
 * then, and the window stays. For a timeout it has become that of one packet more
 * than is under way.
 *
 * Return: whether it does.
 */
static inline bool lost_by_timeout(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_snd_cwnd(tp) == tcp_packets_in_flight(tp) + 1;
}

#endif /* _KERNEL_TIMEOUT_H */
