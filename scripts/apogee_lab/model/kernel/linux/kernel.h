/* SPDX-License-Identifier: GPL-2.0 */
/* One thread, and no C library: the 32-bit build has none. */
#ifndef _TEST_LINUX_KERNEL_H
#define _TEST_LINUX_KERNEL_H

#include <linux/types.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define BUILD_BUG_ON(bad)	_Static_assert(!(bad), #bad)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define cmpxchg(at, old, new)	__sync_val_compare_and_swap(at, old, new)
#define data_race(expr)		(expr)	/* nothing else runs */
#define barrier()		do { } while (0)
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define ULONG_MAX		(~0UL)

#define __init
#define __exit
#define __read_mostly
#define __rcu

#define HZ			250
#define USEC_PER_MSEC		1000L
#define USEC_PER_SEC		1000000L
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L

#endif /* _TEST_LINUX_KERNEL_H */
