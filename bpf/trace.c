// SPDX-License-Identifier: GPL-2.0
/*
 * Print what the programs decide: the records of the modules' tracepoints, by their BTF types.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "complain.h"
#include "params.h"
#include "pins.h"
#include "trace.h"

/* How long the programs go on without hearing from here, and how often they do. */
#define PATIENCE_NS	2000000000ULL
#define RENEWAL_US	500000

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

/**
 * struct source - an algorithm that is traced
 * @algorithm: which one
 * @variables: its variables
 * @since: when that began, in ns; what is left of an earlier trace is older
 * @until: of the programs: when they stop writing records, in ns
 * @lapsed: for how many ns they had stopped, as this program had been stopped for longer than
 *	PATIENCE_NS
 * @dropped: records that had not fitted when that began
 * @lock: open folder of its pins, locked: a ring buffer has one reader
 */
struct source {
	const struct algorithm *algorithm;
	struct variables variables;
	unsigned long long since;
	unsigned long long *until;
	unsigned long long lapsed;
	unsigned long long dropped;
	int lock;
};

/* Those that are read. */
static struct source *sources;
static size_t followed;

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Handler of a timer: puts the deadline off, also while the main loop is blocked in a write. */
static void renew(int signal)
{
	unsigned long long now = now_ns();

	(void)signal;
	for (size_t i = 0; i < followed; i++) {
		unsigned long long until = __atomic_load_n(sources[i].until, __ATOMIC_RELAXED);

		if (until && now > until)
			sources[i].lapsed += now - until;
		__atomic_store_n(sources[i].until, now + PATIENCE_NS, __ATOMIC_RELAXED);
	}
}

static int start_renewal(void)
{
	const struct sigaction action = { .sa_handler = renew, .sa_flags = SA_RESTART };
	const struct timeval often = { .tv_usec = RENEWAL_US };
	const struct itimerval timer = { .it_interval = often, .it_value = often };

	renew(0);
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
		return complain("no timer: %s", strerror(errno));
	return 0;
}

static void stop_renewal(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval) {}, NULL);
	signal(SIGALRM, SIG_IGN);
}

/* Is a member's type a signed integer? */
static bool is_signed(const struct btf *btf, unsigned int id)
{
	const struct btf_type *t = btf__type_by_id(btf, btf__resolve_type(btf, id));

	return t && btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED;
}

static long long signed_number(const char *at, size_t size)
{
	switch (size) {
	case 1:
		return *(const int8_t *)at;
	case 2:
		return *(const int16_t *)at;
	case 4:
		return *(const int32_t *)at;
	default:
		return *(const int64_t *)at;
	}
}

static unsigned long long number(const char *at, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	case 8:
		return *(const uint64_t *)at;
	default:
		return 0;
	}
}

static void print_member(const struct btf *btf, const struct btf_member *m, const char *record)
{
	const char *name = btf__name_by_offset(btf, m->name_off), *at = record + m->offset / 8;
	size_t size = btf__resolve_size(btf, m->type);

	if (is_signed(btf, m->type))
		printf(" %s=%lld", name, signed_number(at, size));
	else
		printf(" %s=%llu", name, number(at, size));
}

/* Each record begins with its type and the time. While more come than are printed, libbpf does
 * not return by itself.
 */
static int print(void *context, void *record, size_t size)
{
	const struct source *s = context;
	const struct btf *btf = s->variables.btf;
	const struct btf_type *t = btf__type_by_id(btf, *(uint32_t *)record);
	unsigned long long ns = *(uint64_t *)((char *)record + 8);

	if (interrupted || ferror(stdout))
		return -EINTR;
	if (!t || !btf_is_struct(t) || t->size > size || ns < s->since)
		return 0;
	printf("%llu.%06llu %s", ns / 1000000000, ns / 1000 % 1000000,
	       btf__name_by_offset(btf, t->name_off) + strlen("event_"));
	for (int i = 2; i < btf_vlen(t); i++)
		print_member(btf, &btf_members(t)[i], record);
	putchar('\n');
	return 0;
}

/* Two readers would each miss what the other one gets. The lock ends with the process. */
static int lock_folder(struct source *s)
{
	s->lock = open(pin_path(s->algorithm, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock >= 0 && !flock(s->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (s->lock >= 0 && errno == EWOULDBLOCK)
		complain("%s is traced already", s->algorithm->name);
	else
		complain("%s: its pins cannot be locked: %s", s->algorithm->name, strerror(errno));
	if (s->lock >= 0)
		close(s->lock);
	return -1;
}

/* How many records have not fitted since the algorithm was loaded. */
static unsigned long long dropped(const struct source *s)
{
	const uint64_t *count = variable(&s->variables, "apogee_dropped");

	return count ? __atomic_load_n(count, __ATOMIC_RELAXED) : 0;
}

static void stop(struct source *s)
{
	unsigned long long lost = dropped(s) - s->dropped;

	__atomic_store_n(s->until, 0, __ATOMIC_RELAXED);
	if (lost)
		complain("%s: %llu records came too fast and are lost", s->algorithm->name, lost);
	if (s->lapsed)
		complain("%s: no records for %.1f s, while this program was stopped",
			 s->algorithm->name, s->lapsed / 1e9);
	close_variables(&s->variables);
	close(s->lock);
}

/* Add an algorithm's ring buffer to those that are read. */
static int follow_locked(struct ring_buffer **rings, struct source *s)
{
	int fd, err = 0;

	if (open_variables(s->algorithm, &s->variables))
		return -1;
	if (!s->variables.data)
		return complain("%s has no records: it is another's object", s->algorithm->name);
	s->until = variable(&s->variables, "apogee_tracing_until");
	if (!s->until)
		complain("%s was loaded by another version: unload it, and load it again",
			 s->algorithm->name);
	if (!s->until || lock_folder(s)) {
		close_variables(&s->variables);
		return -1;
	}
	/* Left by a trace that was killed: no pause of this one. */
	__atomic_store_n(s->until, 0, __ATOMIC_RELAXED);
	s->since = now_ns();
	s->dropped = dropped(s);
	fd = bpf_obj_get(pin_path(s->algorithm, "events"));
	if (fd >= 0 && !*rings)
		*rings = ring_buffer__new(fd, print, s, NULL);
	else if (fd >= 0)
		err = ring_buffer__add(*rings, fd, print, s);
	if (fd < 0 || !*rings || err) {
		complain("%s: its events cannot be read: %s", s->algorithm->name, strerror(errno));
		stop(s);
		return -1;
	}
	return 0;
}

static int follow_source(struct ring_buffer **rings, struct source *s)
{
	int err;

	if (lock_pins(LOCK_SH))
		return -1;
	err = follow_locked(rings, s);
	unlock_pins();
	return err;
}

/* nohup has a hangup ignored. Whoever started this may have blocked what it needs. */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	const struct sigaction action = { .sa_handler = interrupt };
	sigset_t needed;

	sigemptyset(&needed);
	sigaddset(&needed, SIGALRM);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct sigaction before;

		sigaddset(&needed, ends[i]);
		sigaction(ends[i], NULL, &before);
		if (ends[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &needed, NULL);
}

/* Print what comes until a signal or an error of standard output. A write that a signal ends has
 * dropped part of a record, so that the rest of it must not follow.
 */
static int read_rings(struct ring_buffer *rings)
{
	int err = 0;

	while (!err && !interrupted && !ferror(stdout)) {
		if (ring_buffer__poll(rings, 100) < 0 && errno != EINTR)
			err = complain("the events cannot be read: %s", strerror(errno));
		if (!ferror(stdout))
			fflush(stdout);
	}
	if (!interrupted || interrupted == SIGPIPE || !ferror(stdout))
		return err;
	__fpurge(stdout);
	clearerr(stdout);
	return complain("the reader has not taken the last records");
}

int trace(const struct algorithm *const *which, size_t count)
{
	struct ring_buffer *rings = NULL;
	int err = 0;

	sources = calloc(count + 1, sizeof(*sources));
	if (!count || !sources) {
		free(sources);
		return complain("nothing is loaded");
	}
	catch_signals();
	while (!err && followed < count) {
		sources[followed].algorithm = which[followed];
		err = follow_source(&rings, &sources[followed]);
		followed += !err;
	}
	err = err ? err : start_renewal();
	err = err ? err : read_rings(rings);
	stop_renewal();
	for (size_t i = 0; i < followed; i++)
		stop(&sources[i]);
	ring_buffer__free(rings);
	free(sources);
	/* `trace | head`: end as any other program does. */
	if (interrupted == SIGPIPE) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return err;
}
