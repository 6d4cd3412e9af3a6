// SPDX-License-Identifier: GPL-2.0
/*
 * turns - preloaded into QEMU: its main loop and its virtual CPU take turns
 *
 * With -icount sleep=off the main loop moves the virtual clock to the next
 * timer as soon as it sees the CPU halted. The CPU's thread marks itself halted
 * before it has added the instructions it just executed to the clock, so that a
 * main loop which happens to look in between moves the clock too far, by
 * microseconds, once in some hundred thousand halts and more often on a busy
 * machine: two runs of one experiment then differ.
 *
 * While the CPU runs, the main loop has nothing to do that could not wait (its
 * timers are run by the CPU's thread). So after each poll the main loop is held
 * back until the CPU's thread sleeps on its condition variable, where all its
 * instructions are accounted for; for 20 ms at most, so that nothing can hang.
 *
 * QEMU must be started with -name debug-threads=on: the CPU's thread is known by
 * its name ("ALL CPUs/TCG", "CPU 0/TCG"), the big lock as the mutex of its waits.
 * TURNS_COUNT in the environment prints at the end how often they took turns.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOLD_NS	20000000	/* longest time the main loop is held back */

static atomic_uintptr_t big_lock;
static atomic_int parked;	/* the CPU's thread waits, or is about to, with the big lock held */
static long turns;		/* times the CPU's thread has waited */
static atomic_int polled;	/* the main loop has polled and not yet taken the big lock */
static __thread int role;	/* 0: not known yet */

enum { MAIN = 1, CPU, OTHER };

static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_lock)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

__attribute__((constructor)) static void init(void)
{
	/* The oldest version of pthread_cond_wait is another function. */
	real_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	real_ppoll = dlsym(RTLD_NEXT, "ppoll");
	if (!real_wait)
		real_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
}

__attribute__((destructor)) static void report(void)
{
	if (getenv("TURNS_COUNT"))
		fprintf(stderr, "turns: %ld\n", turns);
}

static int my_role(void)
{
	char name[16] = "";

	if (role)
		return role;
	if (getpid() == gettid())
		return role = MAIN;
	prctl(PR_GET_NAME, name);
	return role = strstr(name, "CPU") ? CPU : OTHER;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int ret;

	/* A thread may get its name only after its first lock, but before its first wait. */
	if (role == OTHER)
		role = 0;
	if (my_role() != CPU)
		return real_wait(cond, mutex);
	big_lock = (uintptr_t)mutex;
	turns++;
	parked = 1;
	syscall(SYS_futex, &parked, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	ret = real_wait(cond, mutex);
	parked = 0;
	return ret;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	int ret = real_ppoll(fds, n, timeout, mask);

	if (my_role() == MAIN)
		polled = 1;
	return ret;
}

/* Wait until the CPU's thread is parked, or until the time is over: then false. */
static int wait_parked(const struct timespec *start)
{
	struct timespec now, left = { 0 };

	while (!parked) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_nsec = HOLD_NS - (now.tv_sec - start->tv_sec) * 1000000000 -
			       (now.tv_nsec - start->tv_nsec);
		if (left.tv_nsec <= 0)
			return 0;
		syscall(SYS_futex, &parked, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
	}
	return 1;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct timespec start;
	int held, ret;

	if (!real_lock)		/* called before our constructor */
		init();
	if ((uintptr_t)mutex != big_lock || !polled || my_role() != MAIN)
		return real_lock(mutex);
	polled = 0;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		held = wait_parked(&start);
		ret = real_lock(mutex);
		/* The CPU may have been woken and gone on before we had the lock. */
		if (ret || parked || !held)
			return ret;
		real_unlock(mutex);
	}
}
