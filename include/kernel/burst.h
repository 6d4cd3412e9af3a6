/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much the stack hands down at once.
 */
#ifndef _KERNEL_BURST_H
#define _KERNEL_BURST_H

#include <net/tcp.h>

/* What the stack begins with: what it sends in 2^-10 s. */
#define BURST_SHIFT	10

/**
 * burst_set() - limit what is handed down at once
 * @sk: a socket
 * @shift: to what it sends in 2^-shift s, BURST_SHIFT or more
 *
 * A driver that aggregates frames sets a lower shift (sk_pacing_shift_update()): that stays.
 */
static inline void burst_set(struct sock *sk, u8 shift)
{
	u8 now = READ_ONCE(sk->sk_pacing_shift);

	if (now >= BURST_SHIFT && now != shift)
		WRITE_ONCE(sk->sk_pacing_shift, shift);
}

#endif /* _KERNEL_BURST_H */
