// SPDX-License-Identifier: GPL-2.0
/*
 * A congestion control per destination: the attribute congctl of the routes there, by ip(8).
 */
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

/* ip with these words; what it prints goes to @out, if there is such. Its exit status, or -1. */
static int run_ip(const char *const words[], char *out, size_t size)
{
	int ends[2], status = -1;
	size_t got = 0;
	ssize_t part;
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
	while (out && child > 0 && (part = read(ends[0], out + got, size - 1 - got)) > 0)
		got += part;
	if (out)
		out[got] = '\0';
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
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

/* A route as ip prints it, with another congctl. */
static int change(char *route, const char *family, const char *name)
{
	const char *words[MOST_WORDS] = { "ip", family, "route", "replace" };
	size_t count = 4;
	char *word;

	while ((word = strsep(&route, " \t\\"))) {
		/* What it has, and what tells of the route's state. */
		if (!strcmp(word, "congctl") || !strcmp(word, "expires")) {
			word = strsep(&route, " ");
			if (word && !strcmp(word, "lock"))
				strsep(&route, " ");
			continue;
		}
		if (!*word || !strcmp(word, "linkdown") || !strcmp(word, "dead"))
			continue;
		if (count > MOST_WORDS - 4)
			return complain("a route of more than %d words", MOST_WORDS);
		words[count++] = word;
	}
	if (strcmp(name, "none")) {
		words[count++] = "congctl";
		words[count++] = name;
	}
	return run_ip(words, NULL, 0) ? -1 : 0;
}

static int change_all(const char *by, const char *what, const char *family, const char *name)
{
	static char routes[1 << 16];
	const char *const words[] = { "ip", "-o", family, "route", "show", by, what, NULL };
	char *rest = routes, *line;
	int changed = 0;

	if (run_ip(words, routes, sizeof(routes)))
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		char route[1024];

		if (!*line)
			continue;
		/* ip leaves out the device that it was asked for. */
		snprintf(route, sizeof(route), "%s%s%s", line, strcmp(by, "dev") ? "" : " dev ",
			 strcmp(by, "dev") ? "" : what);
		if (change(route, family, name))
			return -1;
		changed++;
	}
	return changed;
}

/* A prefix without a route of its own gets that of its first address. */
static int add(const char *prefix, const char *family, const char *name)
{
	static char found[4096];
	char route[4096 + 64], address[64], *rest;
	const char *const words[] = { "ip", family, "route", "get", address, NULL };

	if (!strcmp(prefix, "default"))
		return complain("choose: there is no default route");
	snprintf(address, sizeof(address), "%.*s", (int)strcspn(prefix, "/"), prefix);
	if (run_ip(words, found, sizeof(found)))
		return -1;
	found[strcspn(found, "\n")] = '\0';
	/* ADDRESS [via GATEWAY] dev DEVICE [src ADDRESS uid …] */
	rest = strstr(found, " via ");
	rest = rest ? rest : strstr(found, " dev ");
	if (!rest || !strncmp(found, "local ", 6))
		return complain("choose: no route to %s that another host is on", prefix);
	for (char *end = strstr(rest, " dev "); end; end = NULL) {
		end += 5;
		end[strcspn(end, " ")] = '\0';
	}
	snprintf(route, sizeof(route), "%s%s", prefix, rest);
	return change(route, family, name);
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
	if (device) {
		int four = change_all("dev", what, "-4", name);
		int six = four < 0 ? -1 : change_all("dev", what, "-6", name);

		if (four < 0 || six < 0)
			return -1;
		return four + six ? 0 : complain("choose: no route leaves by %s", what);
	}
	family = strchr(what, ':') ? "-6" : "-4";
	changed = change_all("exact", what, family, name);
	if (changed || !strcmp(name, "none"))
		return changed < 0 ? -1 : 0;
	return add(what, family, name);
}
