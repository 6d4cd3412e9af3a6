/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link address of a connection's next hop: a BPF program cannot look it up.
 */
#ifndef _BPF_KERNEL_NEXT_HOP_H
#define _BPF_KERNEL_NEXT_HOP_H

#include <net/tcp.h>

static inline bool next_hop_address(struct sock *sk, u64 *address)
{
	return false;
}

#endif /* _BPF_KERNEL_NEXT_HOP_H */
