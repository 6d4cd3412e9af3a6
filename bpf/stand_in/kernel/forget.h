/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verifier follows each path through a program. What it knows of a flag keeps paths apart that
 * have met again, so that their number doubles with each flag.
 */
#ifndef _BPF_KERNEL_FORGET_H
#define _BPF_KERNEL_FORGET_H

#include <net/tcp.h>

/* Always 0, which the verifier does not know. */
static volatile u64 apogee_unknown SEC(".data");

/* The value, of which the verifier knows nothing. */
#define forget(value)							\
({									\
	typeof(value) forgotten = (value);				\
									\
	asm volatile("%0 += %1"						\
		     : "+r"(forgotten) : "r"(apogee_unknown));		\
	forgotten;							\
})

#endif /* _BPF_KERNEL_FORGET_H */
