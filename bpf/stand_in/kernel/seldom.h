/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verifier would check a function that is not inlined once more for each call.
 */
#ifndef _BPF_KERNEL_SELDOM_H
#define _BPF_KERNEL_SELDOM_H

#define seldom

#endif /* _BPF_KERNEL_SELDOM_H */
