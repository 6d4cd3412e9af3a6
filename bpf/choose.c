// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control per destination: the attribute congctl of the routes there, by ip(8).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choose.h"
#include "complain.h"
#include "system.h"

#define MOST_WORDS	64

static const char usage[] = "choose: want PREFIX NAME, default NAME or dev DEVICE NAME; "
			    "NAME none takes it back";

/* ip with these words; with @out, what it prints, to be freed. Its exit status, or -1 after a
 * line.
 */
static int run_ip(const char *const words[], char **out)
{
	int ends[2], status = -1;
	size_t size = 0;
	ssize_t got = 0;
	FILE *from;
	pid_t child;

	if (pipe(ends))
		return complain("%s", strerror(errno));
	child = fork();
	if (!child) {
		if (out)
			dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execvp("ip", (char *const *)words);
		complain("ip: %s: apt-get install iproute2", strerror(errno));
		_exit(127);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	if (out && from) {
		*out = NULL;
		got = getdelim(out, &size, '\0', from);
		if (got < 0 && *out)
			**out = '\0'; /* it has printed nothing */
	}
	if (from)
		fclose(from);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    !from || (out && !*out))
		return complain("ip: has not run to its end");
	return WEXITSTATUS(status);
}

/* The name by which it is selected: of what is loaded, or of what the kernel has. */
static const char *selected(const char *name)
{
	const struct algorithm given = { .name = name, .kernel_name = name };
	int registered = is_registered(&given);

	for (size_t i = 0; registered >= 0 && i < algorithm_count; i++)
		if (!strcmp(name, algorithms[i].name) && is_registered(&algorithms[i]) > 0)
			return algorithms[i].kernel_name;
	if (registered > 0)
		return name;
	if (!registered)
		complain("%s is not loaded", name);
	return NULL;
}

static bool is_one_of(const char *word, const char *const list[])
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

/* A route as ip prints it, with another congctl, which comes before what is of a next hop. */
static int change(char *route, const char *family, const char *name)
{
	/* What tells of the route's state is no part of it. */
	static const char *const states[] = {
		"dead", "linkdown", "offload", "offload_failed", "pervasive", "rt_offload",
		"rt_offload_failed", "rt_trap", "trap", "unresolved", NULL
	};
	const char *words[MOST_WORDS + 3] = { "ip", family, "route", "replace" };
	size_t count = 4, before = 0;
	char *word;

	while ((word = strsep(&route, " \t\\"))) {
		if (!strcmp(word, "congctl") || !strcmp(word, "error")) {
			word = strsep(&route, " ");
			if (word && !strcmp(word, "lock"))
				strsep(&route, " ");
			continue;
		}
		if (!*word || is_one_of(word, states))
			continue;
		if (count == MOST_WORDS)
			return complain("choose: a route of more than %d words: "
					"set congctl by hand", MOST_WORDS - 4);
		if (!strcmp(words[count - 1], "expires")) /* in seconds, with the unit */
			word[strspn(word, "0123456789")] = '\0';
		if (!strcmp(word, "nexthop") && !before)
			before = count;
		words[count++] = word;
	}
	if (strcmp(name, "none")) {
		before = before ? before : count;
		memmove(&words[before + 2], &words[before], (count - before) * sizeof(*words));
		words[before] = "congctl";
		words[before + 1] = name;
	}
	return run_ip(words, NULL) ? -1 : 0;
}

/* ip leaves out the device that it was asked for. */
static int change_of_device(const char *route, const char *device, const char *family,
			    const char *name)
{
	char *whole;
	int err;

	if (asprintf(&whole, "%s dev %s", route, device) < 0)
		return complain("%s", strerror(errno));
	err = change(whole, family, name);
	free(whole);
	return err;
}

static int change_all(const char *by, const char *what, const char *family, const char *name)
{
	const char *const words[] = { "ip", "-o", family, "route", "show", by, what, NULL };
	char *routes = NULL, *rest, *line;
	int changed = 0, err = run_ip(words, &routes);

	rest = routes;
	while (!err && (line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		err = strcmp(by, "dev") ? change(line, family, name) :
			change_of_device(line, what, family, name);
		changed++;
	}
	free(routes);
	return err ? -1 : changed;
}

/* IPv4's and IPv6's */
static int change_both(const char *by, const char *what, const char *name)
{
	int four = change_all(by, what, "-4", name);
	int six = four < 0 ? -1 : change_all(by, what, "-6", name);

	return six < 0 ? -1 : four + six;
}

/* A prefix without a route of its own gets that of its first address. */
static int add(const char *prefix, const char *family, const char *name)
{
	char *found = NULL, *route = NULL, *rest, *end, address[64];
	const char *const words[] = { "ip", family, "route", "get", address, NULL };
	int err;

	snprintf(address, sizeof(address), "%.*s", (int)strcspn(prefix, "/"), prefix);
	err = run_ip(words, &found) ? -1 : 0;
	/* ADDRESS [via GATEWAY] dev DEVICE [src ADDRESS uid …] */
	if (!err) {
		found[strcspn(found, "\n")] = '\0';
		rest = strstr(found, " via ");
		rest = rest ? rest : strstr(found, " dev ");
		end = rest ? strstr(rest, " dev ") : NULL;
		if (!end || !strncmp(found, "local ", 6))
			err = complain("choose: no route to %s that another host is on", prefix);
	}
	if (!err) {
		end += 5;
		end[strcspn(end, " ")] = '\0';
		err = asprintf(&route, "%s%s", prefix, rest) < 0 ?
			complain("%s", strerror(errno)) : change(route, family, name);
	}
	free(route);
	free(found);
	return err;
}

int choose_for(int count, char *const words[])
{
	bool device = count == 3 && !strcmp(words[0], "dev");
	const char *name, *what, *family;
	int changed;

	if (count != 2 + device)
		return complain("%s", usage);
	what = words[device];
	if (*what == '-' || !*what)
		return complain("%s", usage);
	name = words[1 + device];
	name = strcmp(name, "none") ? selected(name) : name;
	if (!name)
		return -1;
	if (device || !strcmp(what, "default")) {
		changed = change_both(device ? "dev" : "exact", what, name);
		if (!changed)
			complain(device ? "choose: no route leaves by %s" :
				 "choose: there is no route: %s", what);
		return changed > 0 ? 0 : -1;
	}
	family = strchr(what, ':') ? "-6" : "-4";
	changed = change_all("exact", what, family, name);
	if (changed || !strcmp(name, "none"))
		return changed < 0 ? -1 : 0;
	return add(what, family, name);
}
