// SPDX-License-Identifier: GPL-2.0
/*
 * Print what the programs decide: the records of the modules' tracepoints, by their BTF types.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "apogee-bpf.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct source {
	const struct algorithm *algorithm;
	struct variables variables;
};

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

/* Each record begins with its type and the time. */
static int print(void *context, void *record, size_t size)
{
	const struct source *s = context;
	const struct btf *btf = s->variables.btf;
	const struct btf_type *t = btf__type_by_id(btf, *(uint32_t *)record);
	unsigned long long ns = *(uint64_t *)((char *)record + 8);

	if (!t || !btf_is_struct(t) || t->size > size)
		return 0;
	printf("%llu.%06llu %s", ns / 1000000000, ns / 1000 % 1000000,
	       btf__name_by_offset(btf, t->name_off) + strlen("event_"));
	for (int i = 2; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		printf(" %s=%llu", btf__name_by_offset(btf, m->name_off),
		       number((char *)record + m->offset / 8, btf__resolve_size(btf, m->type)));
	}
	putchar('\n');
	return 0;
}

static void turn(const struct source *s, bool on)
{
	unsigned int *tracing = variable(&s->variables, "apogee_tracing");

	if (tracing)
		__atomic_store_n(tracing, on, __ATOMIC_RELAXED);
}

/* Add an algorithm's ring buffer to those that are read. */
static int follow(struct ring_buffer **rings, struct source *s)
{
	int fd, err = 0;

	if (open_variables(s->algorithm, &s->variables))
		return -1;
	fd = bpf_obj_get(pin_path(s->algorithm, "events"));
	if (fd >= 0 && !*rings)
		*rings = ring_buffer__new(fd, print, s, NULL);
	else if (fd >= 0)
		err = ring_buffer__add(*rings, fd, print, s);
	if (fd < 0 || !*rings || err)
		return complain("%s: its events cannot be read: %s", s->algorithm->name,
				strerror(errno));
	turn(s, true);
	return 0;
}

int trace(const struct algorithm *const *which, size_t count)
{
	const struct sigaction action = { .sa_handler = interrupt };
	struct source *sources = calloc(count + 1, sizeof(*sources));
	struct ring_buffer *rings = NULL;
	size_t followed = 0;
	int err = 0;

	if (!count || !sources) {
		free(sources);
		return complain("nothing is loaded");
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!err && followed < count) {
		sources[followed].algorithm = which[followed];
		err = follow(&rings, &sources[followed]);
		followed += !err;
	}
	while (!err && !interrupted && !ferror(stdout)) {
		if (ring_buffer__poll(rings, 100) < 0 && errno != EINTR)
			err = complain("the events cannot be read: %s", strerror(errno));
		fflush(stdout);
	}
	for (size_t i = 0; i < followed; i++) {
		turn(&sources[i], false);
		close_variables(&sources[i].variables);
	}
	ring_buffer__free(rings);
	free(sources);
	return err;
}
