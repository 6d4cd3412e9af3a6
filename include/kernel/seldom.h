/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that few ACKs need: inlined, they would take registers from what each ACK runs.
 */
#ifndef _KERNEL_SELDOM_H
#define _KERNEL_SELDOM_H

/* bpf/stand_in has the one for BPF. */
#define seldom	noinline

#endif /* _KERNEL_SELDOM_H */
