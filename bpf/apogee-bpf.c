// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of apogee-bpf.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>

#include "choose.h"
#include "complain.h"
#include "file.h"
#include "find.h"
#include "foreign.h"
#include "load.h"
#include "params.h"
#include "pins.h"
#include "show.h"
#include "system.h"
#include "trace.h"

const char *argp_program_version = "apogee-bpf " VERSION;

/* The command line: a verb, names of algorithms, NAME=VALUE, a file instead of them, --all. */
struct command {
	const char *verb;
	const struct algorithm **names;
	size_t count;
	char **settings;
	size_t set;
	char **files;
	size_t listed;
	char **words;
	size_t said;
	enum form form;
	bool all;
};

static void add_setting(struct command *c, char *setting, struct argp_state *state)
{
	if (!strchr(setting, '=') || *setting == '=')
		argp_failure(state, EX_USAGE, 0, "%s: want NAME=VALUE", setting);
	c->settings[c->set++] = setting;
}

static void add_name(struct command *c, const char *name)
{
	const struct algorithm *a = find_algorithm(name);

	if (!a)
		exit(EX_USAGE);
	for (size_t i = 0; i < c->count; i++)
		if (c->names[i] == a)
			return;
	c->names[c->count++] = a;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case 'p':
		add_setting(c, arg, state);
		return 0;
	case 'f':
		c->files[c->listed++] = arg;
		return 0;
	case 'a':
		c->all = true;
		return 0;
	case 'v':
		verbose = true;
		return 0;
	case 'j':
		c->form = AS_JSON;
		return 0;
	case 'm':
		c->form = AS_METRICS;
		return 0;
	case ARGP_KEY_ARG:
		if (!c->verb)
			c->verb = arg;
		else if (!strcmp(c->verb, "choose"))
			c->words[c->said++] = arg;
		else if (strchr(arg, '='))
			add_setting(c, arg, state);
		else
			add_name(c, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "param", 'p', "NAME=VALUE", 0, "load: a parameter's value", 0 },
	{ "file", 'f', "FILE", 0,
	  "load: what a file lists, a line like 'star aen=0' each, or the *.conf of a folder; "
	  "-FILE may be missing", 0 },
	{ "json", 'j', NULL, 0, "list, status: as JSON", 0 },
	{ "metrics", 'm', NULL, 0, "status: as OpenMetrics text", 0 },
	{ "all", 'a', NULL, 0, "unload: all that are loaded", 0 },
	{ "verbose", 'v', NULL, 0, "load: what the kernel says of each program", 0 },
	{ 0 }
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "load NAME... [NAME=VALUE...]\nload --file FILE\nlist\nshow NAME...\n"
		    "status [NAME...]\n"
		    "set NAME NAME=VALUE...\n"
		    "unload NAME...\nunload --all\ntrace [NAME...]\nchoose DESTINATION NAME",
	.doc = "Load congestion controls as BPF programs, without a kernel module: Apogee's, and "
	       "those of other objects, by path or by name in " OBJECTS ".\v"
	       "load\tregister them; they stay until unload or the next boot\n"
	       "list\twhat can be loaded, with parameters, ranges and defaults\n"
	       "show\twhat one is for, and what its parameters mean\n"
	       "status\twhat is loaded, its parameters, and its sockets\n"
	       "set\tchange parameters while it runs\n"
	       "unload\tremove them; sockets that use them go on\n"
	       "trace\ta line per record of the tracepoints, until interrupted\n"
	       "choose\tone for new connections by the route to a prefix, or 'dev DEVICE'; "
	       "'none' takes it back\n",
};

/* Without names all that are wanted, and what was loaded from so many objects. */
static void take_wanted(struct command *c, int (*wanted)(const struct algorithm *), size_t objects)
{
	if (c->count)
		return;
	for (size_t i = 0; i < algorithm_count; i++)
		if (wanted(&algorithms[i]) > 0)
			c->names[c->count++] = &algorithms[i];
	c->count += loaded_objects(c->names + c->count, objects);
}

static int usage(void)
{
	complain("wrong arguments; see apogee-bpf --help");
	exit(EX_USAGE);
}

static int each(const struct command *c, int (*act)(const struct algorithm *))
{
	int err = 0;

	for (size_t i = 0; i < c->count; i++)
		err |= act(c->names[i]);
	return err;
}

static int run_load(struct command *c)
{
	int err;

	if (c->listed && (c->count || c->set))
		return usage();
	for (size_t i = 0; i < c->listed; i++)
		if (load_file(c->files[i]))
			return -1;
	if (c->listed)
		return 0;
	if (!c->count)
		return usage();
	err = check_system();
	for (size_t i = 0; !err && i < c->count; i++)
		err = load(c->names[i], c->settings);
	return err;
}

static int run_list(struct command *c)
{
	return c->count || c->form == AS_METRICS ? usage() : list_all(c->form);
}

static int run_show(struct command *c)
{
	return c->count ? each(c, show) : usage();
}

static int run_choose(struct command *c)
{
	return choose_for(c->said, c->words);
}

static int run_status(struct command *c)
{
	take_wanted(c, is_loaded, MOST_FOREIGN);
	return statuses(c->names, c->count, c->form);
}

static int each_setting(const struct command *c,
			int (*act)(const struct variables *v, const char *setting))
{
	int err = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct variables v;

		if (open_variables(c->names[i], &v))
			return -1;
		for (size_t k = 0; k < c->set; k++)
			err |= act(&v, c->settings[k]);
		close_variables(&v);
	}
	return err;
}

/* All of it or nothing. */
static int run_set(struct command *c)
{
	int err;

	if (!c->count || !c->set)
		return usage();
	if (lock_pins(LOCK_SH))
		return -1;
	err = each_setting(c, check_parameter) || each_setting(c, set_parameter);
	unlock_pins();
	return err;
}

static int run_unload(struct command *c)
{
	if (c->all ? c->count : !c->count)
		return usage();
	/* Also what an interrupted unload has left. */
	take_wanted(c, has_pins, MOST_FOREIGN);
	return each(c, unload);
}

static int run_trace(struct command *c)
{
	take_wanted(c, is_loaded, 0);
	return trace(c->names, c->count);
}

static const struct verb {
	const char *name;
	int (*run)(struct command *c);
	bool takes_settings;
	bool takes_file;
	bool takes_all;
	bool takes_form;
	bool needs_pins;
} verbs[] = {
	{ .name = "load", .run = run_load, .takes_settings = true, .takes_file = true },
	{ .name = "list", .run = run_list, .takes_form = true },
	{ .name = "show", .run = run_show },
	{ .name = "status", .run = run_status, .takes_form = true, .needs_pins = true },
	{ .name = "set", .run = run_set, .takes_settings = true, .needs_pins = true },
	{ .name = "unload", .run = run_unload, .takes_all = true, .needs_pins = true },
	{ .name = "trace", .run = run_trace, .needs_pins = true },
	{ .name = "choose", .run = run_choose, .needs_pins = true },
};

static int run(struct command *c)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct verb *v = &verbs[i];

		if (strcmp(v->name, c->verb))
			continue;
		if ((c->set && !v->takes_settings) || (c->listed && !v->takes_file) ||
		    (c->all && !v->takes_all) || (c->form && !v->takes_form))
			return usage();
		if (v->needs_pins && check_pins())
			return -1;
		return v->run(c);
	}
	return usage();
}

int main(int argc, char **argv)
{
	const size_t most = argc + algorithm_count + MOST_FOREIGN;
	struct command c = { .names = calloc(most, sizeof(*c.names)) };

	c.settings = calloc(argc + 1, sizeof(*c.settings));
	c.files = calloc(argc + 1, sizeof(*c.files));
	c.words = calloc(argc + 1, sizeof(*c.words));
	if (!c.names || !c.settings || !c.files || !c.words)
		return complain("out of memory") ? EXIT_FAILURE : EXIT_SUCCESS;
	argp_err_exit_status = EX_USAGE;
	libbpf_set_print(NULL);
	if (argp_parse(&argp, argc, argv, 0, NULL, &c))
		return EXIT_FAILURE;
	if (run(&c))
		return EXIT_FAILURE;
	if (fflush(stdout) || ferror(stdout))
		return complain("standard output: %s", strerror(errno)) ? EXIT_FAILURE :
									   EXIT_SUCCESS;
	return EXIT_SUCCESS;
}
