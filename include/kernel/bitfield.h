/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bit-fields of the stack's structures. BPF programs read them in another way, since
 * their place differs between kernels: bpf/stand_in has a header of the same name.
 */
#ifndef _KERNEL_BITFIELD_H
#define _KERNEL_BITFIELD_H

#include <net/tcp.h>

#define bitfield(structure, name)	((structure)->name)

/* The state of the stack's loss recovery, enum tcp_ca_state. */
static inline u8 ca_state(const struct sock *sk)
{
	return bitfield(inet_csk(sk), icsk_ca_state);
}

#endif /* _KERNEL_BITFIELD_H */
