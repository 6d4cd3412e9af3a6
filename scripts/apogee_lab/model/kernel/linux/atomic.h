/* SPDX-License-Identifier: GPL-2.0 */
/* There is one CPU. */
#ifndef _TEST_LINUX_ATOMIC_H
#define _TEST_LINUX_ATOMIC_H

#include <linux/types.h>

#define atomic_t struct fuzz_atomic
#define atomic64_t struct fuzz_atomic64

struct fuzz_atomic {
	int value;
};

struct fuzz_atomic64 {
	u64 value;
};

#define atomic_set(number, to) ((number)->value = (to))

static inline int atomic_dec_if_positive(atomic_t *number)
{
	return number->value > 0 ? --number->value : -1;
}

#define atomic_read(number) ((number)->value)
#define atomic_sub(by, number) ((void)((number)->value -= (int)(by)))
#define atomic_inc(number) ((void)(number)->value++)
#define atomic_dec(number) ((void)(number)->value--)
#define atomic_inc_return(number) (++(number)->value)

#define atomic64_inc(number) ((number)->value++)
#define atomic64_read(number) ((number)->value)

#endif /* _TEST_LINUX_ATOMIC_H */
