/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bit-fields of the stack's structures, for BPF: libbpf looks up where the running kernel
 * has them.
 */
#ifndef _BPF_KERNEL_BITFIELD_H
#define _BPF_KERNEL_BITFIELD_H

#include <net/tcp.h>

#define bitfield(structure, name)	BPF_CORE_READ_BITFIELD(structure, name)

/* The state of the stack's loss recovery, enum tcp_ca_state. */
static inline u8 ca_state(const struct sock *sk)
{
	return bitfield(inet_csk(sk), icsk_ca_state);
}

#endif /* _BPF_KERNEL_BITFIELD_H */
