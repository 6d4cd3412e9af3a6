/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock taken twice or let go twice aborts, and so does who
 * would sleep with one. What another CPU does just before one is taken can be told.
 */
#ifndef _TEST_LINUX_SPINLOCK_H
#define _TEST_LINUX_SPINLOCK_H

#include <stdbool.h>
#include <stdlib.h>

struct spinlock {
	bool taken;
};

#define spinlock_t struct spinlock

__attribute__((weak)) unsigned int fuzz_locks_taken;
__attribute__((weak)) void (*fuzz_before_lock)(void);	/* called once */

#define spin_lock_init(lock) ((lock)->taken = false)

static inline void spin_lock_bh(spinlock_t *lock)
{
	void (*before)(void) = fuzz_before_lock;

	fuzz_before_lock = NULL;
	if (before)
		before();
	if (lock->taken)
		abort();
	lock->taken = true;
	fuzz_locks_taken++;
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	if (!lock->taken)
		abort();
	lock->taken = false;
	fuzz_locks_taken--;
}

static inline void might_sleep(void)
{
	if (fuzz_locks_taken)
		abort();
}

#define spin_lock(lock) spin_lock_bh(lock)
#define spin_unlock(lock) spin_unlock_bh(lock)

/* Locks of one bit: the other one is let go, or nobody waits. */
static inline bool test_and_set_bit_lock(int bit, unsigned long *bits)
{
	bool was = *bits >> bit & 1;

	*bits |= 1UL << bit;
	return was;
}

#define clear_bit_unlock(bit, bits) ((void)(*(bits) &= ~(1UL << (bit))))

#endif /* _TEST_LINUX_SPINLOCK_H */
