/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data that the stack counts a second time.
 */
#ifndef _KERNEL_RECOUNT_H
#define _KERNEL_RECOUNT_H

#include <net/tcp.h>

#include <kernel/bitfield.h>

/**
 * stack_recounts() - may delivered data be counted a second time?
 * @sk: a socket in its cong_control()
 * @so_far: what this function said at the ACK before
 *
 * Without SACK each duplicate ACK counts as a delivered segment. A timeout makes the
 * stack forget them (tcp_reset_reno_sack()). The ACK that fills a hole then counts what
 * is behind it once more, up to a whole window at once, even if the timeout has been
 * undone meanwhile. The stack also forgets them at the end of a recovery, and at an ACK
 * of new data outside of one, which is not looked for here.
 *
 * Return: true until all data sent before the timeout, or before a loss in the meantime,
 * is acknowledged. The ACK of the last of it may count twice as well.
 */
static inline bool stack_recounts(const struct sock *sk, bool so_far)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (ca_state(sk) != TCP_CA_Loss && !(so_far && before(tp->snd_una, tp->high_seq)))
		return false;
	return !tcp_is_sack(tp);
}

#endif /* _KERNEL_RECOUNT_H */
