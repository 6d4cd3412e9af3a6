/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack's record of how much of the window is used (RFC 2861).
 */
#ifndef _KERNEL_CWND_STAMP_H
#define _KERNEL_CWND_STAMP_H

#include <net/tcp.h>

/* The window is new: what was used of it before says nothing. As tcp_cwnd_restart(). */
static inline void cwnd_stamp(struct tcp_sock *tp)
{
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_cwnd_used = 0;
}

#endif /* _KERNEL_CWND_STAMP_H */
