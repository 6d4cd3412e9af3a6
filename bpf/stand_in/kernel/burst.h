/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much the stack hands down at once: BPF may not write it.
 */
#ifndef _BPF_KERNEL_BURST_H
#define _BPF_KERNEL_BURST_H

#define BURST_SHIFT	10

static inline void burst_set(struct sock *sk, u8 shift)
{
}

#endif /* _BPF_KERNEL_BURST_H */
