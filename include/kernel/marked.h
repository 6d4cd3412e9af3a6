/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ECN marks among what leads to a reduction.
 */
#ifndef _KERNEL_MARKED_H
#define _KERNEL_MARKED_H

#include <net/tcp.h>

/**
 * marked_reduction() - has a mark come with what the stack has asked ssthresh for?
 * @sk: a socket at the end of the ACK with which it has
 *
 * The ACK that begins recovery may carry the echo. The peer ends it, as CWR is sent
 * for the recovery: no other ACK tells of that mark. The stack knows it by the
 * threshold to undo to, which it has not noted.
 */
static inline bool marked_reduction(const struct sock *sk)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	return state == TCP_CA_CWR ||
	       (state == TCP_CA_Recovery && !tcp_sk(sk)->prior_ssthresh);
}

#endif /* _KERNEL_MARKED_H */
