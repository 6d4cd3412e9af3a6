/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data that the stack counts a second time.
 */
#ifndef _KERNEL_RECOUNT_H
#define _KERNEL_RECOUNT_H

#include <net/tcp.h>

/**
 * stack_recounts() - may delivered data be counted a second time?
 * @sk: a socket in its cong_control()
 *
 * Without SACK each duplicate ACK counts as a delivered segment. A timeout makes the
 * stack forget them (tcp_reset_reno_sack()). The ACK that fills a hole then counts what
 * is behind it once more, up to a whole window at once.
 *
 * Return: true until all data sent before the timeout is acknowledged. The ACK of the
 * last of it may count twice as well, though the state has changed.
 */
static inline bool stack_recounts(const struct sock *sk)
{
	return !tcp_is_sack(tcp_sk(sk)) &&
	       inet_csk(sk)->icsk_ca_state == TCP_CA_Loss;
}

#endif /* _KERNEL_RECOUNT_H */
