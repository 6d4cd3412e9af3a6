/* SPDX-License-Identifier: GPL-2.0 */
/*
 * from_timer() became timer_container_of() in Linux 6.16; some stable kernels before have
 * both.
 */
#ifndef APOGEE_COMPAT_TIMER_H
#define APOGEE_COMPAT_TIMER_H

#include <linux/timer.h>

#ifndef timer_container_of
#define timer_container_of from_timer
#endif

#endif /* APOGEE_COMPAT_TIMER_H */
