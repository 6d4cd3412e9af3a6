/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A timer is set up by hrtimer_init() up to Linux 6.14; hrtimer_setup() came with 6.13.
 *
 * apogee_hrtimer_setup() is for a timer of CLOCK_MONOTONIC with absolute times.
 */
#ifndef APOGEE_COMPAT_HRTIMER_H
#define APOGEE_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

static inline void
apogee_hrtimer_setup(struct hrtimer *timer,
		     enum hrtimer_restart (*function)(struct hrtimer *))
{
#ifdef APOGEE_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
#endif
}

#endif /* APOGEE_COMPAT_HRTIMER_H */
