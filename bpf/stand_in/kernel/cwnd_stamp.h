/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack's record of how much of the window is used: BPF may not write it. The stack reads
 * it only under algorithms without a cong_control.
 */
#ifndef _BPF_KERNEL_CWND_STAMP_H
#define _BPF_KERNEL_CWND_STAMP_H

static inline void cwnd_stamp(struct tcp_sock *tp)
{
}

#endif /* _BPF_KERNEL_CWND_STAMP_H */
