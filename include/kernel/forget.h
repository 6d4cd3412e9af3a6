/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For BPF: the verifier follows each path through a program. What it knows of a flag keeps paths
 * apart that have met again, so that their number doubles with each flag.
 */
#ifndef _KERNEL_FORGET_H
#define _KERNEL_FORGET_H

/* The value, of which the verifier knows nothing: bpf/stand_in has the one for BPF. */
#define forget(value)	(value)

#endif /* _KERNEL_FORGET_H */
