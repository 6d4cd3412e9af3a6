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
#define likely(x)		(x)
#define unlikely(x)		(x)
#define WARN_ONCE(bad, ...)	((void)(bad))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define ULONG_MAX		(~0UL)

#define do_div(n, base) ({						\
	u32 _base = (base);						\
	u32 _rest = (n) % _base;					\
	(n) /= _base;							\
	_rest;								\
})
#define div64_long(n, base)	((s64)(n) / (base))
#define div64_ul(n, base)	((n) / (base))
#define swap(a, b)		\
	do { __typeof__(a) _a = (a); (a) = (b); (b) = _a; } while (0)
#define clamp(x, low, high)	min(max(x, low), high)

#define __init
#define __exit
#define __read_mostly
#define noinline	__attribute__((noinline))
#define __rcu

#define HZ			250
#define msecs_to_jiffies(ms)	((u32)(((u64)(ms) * HZ + 999) / 1000))
#define usecs_to_jiffies(us)	((u32)(((u64)(us) * HZ + 999999) / 1000000))
#define BITS_PER_TYPE(x)	(8 * sizeof(x))
#define IS_ENABLED(option)	0

#define MSEC_PER_SEC		1000L
#define USEC_PER_MSEC		1000L
#define USEC_PER_SEC		1000000L
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L

#endif /* _TEST_LINUX_KERNEL_H */
