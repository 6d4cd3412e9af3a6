// SPDX-License-Identifier: GPL-2.0
/*
 * What can be loaded, and what is.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "complain.h"
#include "foreign.h"
#include "params.h"
#include "pins.h"
#include "show.h"
#include "system.h"

/* Names and numbers are plain; texts are the modules'. */
static void json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text >= ' ')
			putchar(*text);
	}
	putchar('"');
}

static void json_param(const struct apogee_param *p, const unsigned int *value, bool first)
{
	printf("%s{\"name\": \"%s\", \"from\": %u, \"to\": %u, ", first ? "" : ", ", p->name, p->lo,
	       p->hi);
	if (value)
		printf("\"value\": %u, ", *value);
	printf("\"text\": ");
	json_text(p->text);
	putchar('}');
}

struct listing {
	enum form form;
	bool begun;
	int err;
};

static bool list_one(const struct algorithm *a, void *data)
{
	bool loaded = is_registered(a) > 0;
	struct listing *l = data;
	struct bpf_object *object = open_elf(a);
	struct variables v;

	if (!object || object_variables(object, a, &v)) {
		l->err = complain("%s: its object cannot be read: %s", a->name, strerror(errno));
		bpf_object__close(object);
		return false;
	}
	if (l->form == AS_JSON)
		printf("%s{\"name\": \"%s\", \"kernel_name\": \"%s\", \"loaded\": %s, "
		       "\"params\": [", l->begun ? ",\n " : "", a->name, a->kernel_name,
		       loaded ? "true" : "false");
	else
		printf("%s, as %s%s\n", a->name, a->kernel_name, loaded ? ", loaded" : "");
	for (size_t i = 0; i < v.count; i++)
		if (l->form == AS_JSON)
			json_param(&v.params[i], variable(&v, v.params[i].variable), !i);
		else
			printf("  %-20s %s\n", v.params[i].name, v.params[i].text);
	if (l->form == AS_JSON)
		printf("]}");
	l->begun = true;
	bpf_object__close(object);
	return false;
}

int list_all(enum form form)
{
	struct listing l = { .form = form };

	if (form == AS_JSON)
		putchar('[');
	for (size_t i = 0; i < algorithm_count; i++)
		list_one(&algorithms[i], &l);
	l.err |= each_object(list_one, &l);
	if (form == AS_JSON)
		puts("]");
	return l.err;
}

int show(const struct algorithm *a)
{
	struct listing l = {};

	if (a->pinned) {
		printf("%s, as %s, loaded\n", a->name, a->kernel_name);
		return 0;
	}
	list_one(a, &l);
	if (a->about)
		printf("  for %s\n", a->about);
	return l.err;
}

/* The kernel writes all eight parts of an IPv6 address: print it as ss does. */
static void print_line(char *line)
{
	char *part, *end, text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	printf("  ");
	while ((part = strsep(&line, "["))) {
		end = strchr(part, ']');
		if (end)
			*end = '\0';
		if (!end || inet_pton(AF_INET6, part, &address) <= 0) {
			printf("%s", part);
			continue;
		}
		inet_ntop(AF_INET6, &address, text, sizeof(text));
		printf("[%s]%s", text, end + 1);
	}
}

/* A line per socket of this network namespace, from the program that lists them. */
static int list_sockets(const struct algorithm *a, FILE *sockets)
{
	char line[512];
	int err = 0;

	while (fgets(line, sizeof(line), sockets))
		print_line(line);
	if (ferror(sockets))
		err = complain("%s: its sockets cannot be listed: %s", a->name, strerror(errno));
	fclose(sockets);
	return err;
}

/* What status() prints, all of one load; -1 after a line. */
static int open_status(const struct algorithm *a, struct variables *v, FILE **sockets)
{
	int err;

	*sockets = NULL;
	if (lock_pins(LOCK_SH))
		return -1;
	err = open_variables(a, v);
	if (!err && !a->pinned && !a->foreign) {
		*sockets = fopen(pin_path(a, "sockets"), "re");
		if (!*sockets) {
			err = complain("%s: its sockets cannot be listed: %s", a->name,
				       strerror(errno));
			close_variables(v);
		}
	}
	unlock_pins();
	return err;
}

static unsigned int lines_of(FILE *file)
{
	unsigned int lines = 0;
	int c;

	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static void status_json(const struct algorithm *a, const struct variables *v, FILE *sockets)
{
	printf("{\"name\": \"%s\", \"kernel_name\": \"%s\", \"default\": %s, ", a->name,
	       a->kernel_name, is_default(a) > 0 ? "true" : "false");
	if (sockets)
		printf("\"sockets\": %u, ", lines_of(sockets));
	printf("\"params\": [");
	for (size_t i = 0; i < v->count; i++)
		json_param(&v->params[i], variable(v, v->params[i].variable), !i);
	printf("]}");
}

static int status_text(const struct algorithm *a, const struct variables *v, FILE *sockets)
{
	printf("%s, as %s:", a->name, a->kernel_name);
	for (size_t i = 0; i < v->count; i++) {
		const unsigned int *value = variable(v, v->params[i].variable);

		if (value)
			printf(" %s=%u", v->params[i].name, *value);
	}
	putchar('\n');
	return sockets ? list_sockets(a, sockets) : 0;
}

/* OpenMetrics wants the samples of a family beside each other: a pass for each. */
static const char *const families[] = { "loaded", "default", "sockets", "parameter" };

static void status_metrics(const struct algorithm *a, const struct variables *v, FILE *sockets,
			   const char *family)
{
	if (!strcmp(family, "loaded"))
		printf("apogee_bpf_loaded{name=\"%s\"} 1\n", a->kernel_name);
	else if (!strcmp(family, "default"))
		printf("apogee_bpf_default{name=\"%s\"} %d\n", a->kernel_name, is_default(a) > 0);
	else if (!strcmp(family, "parameter"))
		for (size_t i = 0; i < v->count; i++) {
			const unsigned int *value = variable(v, v->params[i].variable);

			if (value)
				printf("apogee_bpf_parameter{name=\"%s\",parameter=\"%s\"} %u\n",
				       a->kernel_name, v->params[i].name, *value);
		}
	if (!sockets)
		return;
	if (!strcmp(family, "sockets"))
		printf("apogee_bpf_sockets{name=\"%s\"} %u\n", a->kernel_name, lines_of(sockets));
	else
		fclose(sockets);
}

/* @begun: of JSON's list, that it has a member */
static int status(const struct algorithm *a, enum form form, const char *family, bool *begun)
{
	struct variables v;
	FILE *sockets;
	int err = 0;

	if (open_status(a, &v, &sockets))
		return -1;
	if (form == AS_JSON) {
		printf("%s", *begun ? ",\n " : "");
		*begun = true;
		status_json(a, &v, sockets);
	}
	if (form == AS_METRICS)
		status_metrics(a, &v, sockets, family);
	if (form == AS_TEXT)
		err = status_text(a, &v, sockets);
	close_variables(&v);
	return err;
}

int statuses(const struct algorithm *const which[], size_t count, enum form form)
{
	size_t passes = form == AS_METRICS ? sizeof(families) / sizeof(families[0]) : 1;
	bool begun = false;
	int err = 0;

	if (form == AS_JSON)
		putchar('[');
	else if (form == AS_TEXT && !count)
		puts("nothing is loaded; see apogee-bpf list");
	for (size_t pass = 0; pass < passes; pass++) {
		if (form == AS_METRICS)
			printf("# TYPE apogee_bpf_%s gauge\n", families[pass]);
		for (size_t i = 0; i < count; i++)
			err |= status(which[i], form, families[pass], &begun);
	}
	if (form == AS_JSON)
		puts("]");
	else if (form == AS_METRICS)
		puts("# EOF");
	return err;
}
