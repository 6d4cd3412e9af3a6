/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since when a connection has heard nothing, as the stack sees it: BPF may not write it.
 */
#ifndef _BPF_KERNEL_RETRANS_STAMP_H
#define _BPF_KERNEL_RETRANS_STAMP_H

static inline void retrans_stamp_renew(struct sock *sk)
{
}

#endif /* _BPF_KERNEL_RETRANS_STAMP_H */
