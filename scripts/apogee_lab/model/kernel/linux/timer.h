/* SPDX-License-Identifier: GPL-2.0 */
/* The time is fuzz_now, in us. */
#ifndef _TEST_LINUX_TIMER_H
#define _TEST_LINUX_TIMER_H

#include <linux/kernel.h>
#include <linux/spinlock.h>

#include <apogee/int.h>

#define FUZZ_JIFFY (1000000 / HZ)

extern u64 fuzz_now;

#define jiffies (fuzz_now / FUZZ_JIFFY)
#define time_after(a, b) ((s64)((b) - (a)) < 0)

struct timer_list {
	void (*function)(struct timer_list *timer);
	unsigned long expires;
	bool pending;
	bool shut;
};

#define timer_container_of(to, timer, member) container_of(timer, typeof(*(to)), member)

static inline void timer_setup(struct timer_list *timer,
			       void (*function)(struct timer_list *timer), unsigned int flags)
{
	*timer = (struct timer_list){ .function = function, .expires = flags };
}

__attribute__((weak)) struct timer_list *fuzz_timer;	/* the one that was set last */

static inline void mod_timer(struct timer_list *timer, unsigned long expires)
{
	fuzz_timer = timer;
	timer->pending = !timer->shut;
	timer->expires = max_t(unsigned long, expires, jiffies + 1);	/* at the next tick */
}

static inline void timer_reduce(struct timer_list *timer, unsigned long expires)
{
	if (!timer->pending || expires < timer->expires)
		mod_timer(timer, expires);
}

/* It waits for the function, which takes a lock. */
static inline void timer_delete_sync(struct timer_list *timer)
{
	might_sleep();
	timer->pending = false;
}

static inline void timer_shutdown_sync(struct timer_list *timer)
{
	timer_delete_sync(timer);
	timer->shut = true;
}

#endif /* _TEST_LINUX_TIMER_H */
