/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detection of ECN marks as the cause of a reduction.
 */
#ifndef _KERNEL_MARKED_H
#define _KERNEL_MARKED_H

#include <net/tcp.h>

#include <kernel/bitfield.h>

/* Bits of ecn_flags: TCP_ECN_OK, which newer kernels call TCP_ECN_MODE_RFC3168, and their
 * TCP_ECN_MODE_ACCECN. BPF programs are for any kernel.
 */
#define MARKED_ECN_MODES	0x11

/**
 * marked_reduction() - was an ECN mark among the causes of a reduction?
 * @sk: a socket at the end of the ACK at which the stack has asked for ssthresh
 *
 * The ACK that starts recovery may carry ECE. The CWR sent for the recovery ends the
 * echo, so no other ACK reports that mark. In this case the stack does not record a
 * prior_ssthresh for undo.
 *
 * A drop by the local queue looks like a mark in both states (tcp_enter_cwr()). Without
 * ECN it can be nothing else: a loss.
 *
 * Return: true if there was a mark.
 */
static inline bool marked_reduction(const struct sock *sk)
{
	u8 state = ca_state(sk);

	if (!(tcp_sk(sk)->ecn_flags & MARKED_ECN_MODES))
		return false;
	return state == TCP_CA_CWR ||
	       (state == TCP_CA_Recovery && !tcp_sk(sk)->prior_ssthresh);
}

#endif /* _KERNEL_MARKED_H */
