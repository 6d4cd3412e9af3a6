// SPDX-License-Identifier: GPL-2.0
/*
 * An algorithm by its name: those that are compiled in come first.
 */
#include <string.h>

#include "complain.h"
#include "find.h"
#include "foreign.h"

struct searched {
	const char *name;
	const struct algorithm *found;
};

static bool has_name(const struct algorithm *a, void *data)
{
	struct searched *s = data;

	if (!strcmp(s->name, a->name))
		s->found = a;
	return s->found;
}

const struct algorithm *find_algorithm(const char *name)
{
	const struct algorithm *loaded[MOST_FOREIGN];
	struct searched s = { .name = name };
	size_t count;

	for (size_t i = 0; i < algorithm_count; i++)
		if (!strcmp(name, algorithms[i].name) || !strcmp(name, algorithms[i].kernel_name))
			return &algorithms[i];
	if (is_object(name))
		return open_object(name);
	/* What is loaded, whatever became of its file; then what could be. */
	count = loaded_objects(loaded, MOST_FOREIGN);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, loaded[i]->name))
			return loaded[i];
	each_object(has_name, &s);
	if (!s.found)
		complain("unknown algorithm %s; see apogee-bpf list", name);
	return s.found;
}
