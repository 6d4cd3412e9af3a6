/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel helpers that the modules use. */
#ifndef _MODEL_KERNEL_H
#define _MODEL_KERNEL_H

#include <linux/types.h>

/* The simulation has a single thread. */
#define READ_ONCE(x)		(x)
/* (as nothing else runs) */
#define data_race(expr)		(expr)
#define barrier()		do { } while (0)
#define WRITE_ONCE(x, value)	((x) = (value))
#define cmpxchg(at, old, new)	__sync_val_compare_and_swap(at, old, new)
#define BUILD_BUG_ON(bad)	static_assert(!(bad), #bad)
#define likely(x)		(x)
#define unlikely(x)		(x)
#define ULONG_MAX		(~0UL)

#define __init
#define __exit
#define __read_mostly
#define fallthrough		__attribute__((fallthrough))

#define USEC_PER_SEC		1000000L
#define NSEC_PER_SEC		1000000000L

#define KBUILD_MODNAME		"simulation"
#define pr_err(...)		fprintf(stderr, __VA_ARGS__)

static inline int kstrtouint(const char *text, unsigned int base,
			     unsigned int *num)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, base);
	if (errno || end == text || *end || *text == '-' || value > U32_MAX)
		return -EINVAL;
	*num = value;
	return 0;
}

#endif /* _MODEL_KERNEL_H */
