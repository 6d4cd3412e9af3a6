// SPDX-License-Identifier: GPL-2.0
/* The time of an exchange, and a timer that is exact. */
#include <time.h>
#include <sys/timerfd.h>

#include "exchange.h"

/*
 * Exchanges begin with a multiple of this. The kernel's timers are rounded up to multiples of up
 * to 512 jiffies, SYN cookies to 64 ms: so both are in the same place of each exchange.
 */
#define BEGIN_US	(512 * 4000LL)

static long long start_us;
static int timer;

static long long clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND_US + t.tv_nsec / 1000;
}

long long now_us(void)
{
	return clock_us() - start_us;
}

/* Return: a file that can be read from this time on. A timerfd has no slack. */
int clock_alarm(long long us)
{
	const long long at = start_us + us;
	const struct itimerspec when = {
		.it_value = { at / SECOND_US, at % SECOND_US * 1000 },
	};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		die("timerfd_settime");
	return timer;
}

/* The exchange is to begin at time 0: so many periods of BEGIN_US from now, the first cut short. */
void clock_begin(int periods)
{
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (timer < 0)
		die("timerfd_create");
	start_us = (clock_us() / BEGIN_US + periods) * BEGIN_US;
}
