// SPDX-License-Identifier: GPL-2.0
/*
 * What can be loaded, and what is.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "apogee-bpf.h"

static int list_one(const struct algorithm *a)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = a->name);
	struct bpf_object *object;
	struct variables v;
	const void *elf;
	size_t size;

	elf = a->elf(&size);
	object = bpf_object__open_mem(elf, size, &opts);
	if (!object)
		return complain("%s: its object cannot be read: %s", a->name, strerror(errno));
	printf("%s, as %s%s\n", a->name, a->kernel_name, is_registered(a) > 0 ? ", loaded" : "");
	if (!object_variables(object, &v))
		for (size_t i = 0; i < v.count; i++)
			printf("  %-20s %s\n", v.params[i].name, v.params[i].text);
	bpf_object__close(object);
	return 0;
}

int list(void)
{
	int err = 0;

	for (size_t i = 0; i < algorithm_count; i++)
		err |= list_one(&algorithms[i]);
	return err;
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

/* What status() prints, all of one load; NULL after a line. */
static FILE *open_status(const struct algorithm *a, struct variables *v)
{
	FILE *sockets = NULL;

	if (lock_pins(LOCK_SH))
		return NULL;
	if (!open_variables(a, v)) {
		sockets = fopen(pin_path(a, "sockets"), "re");
		if (!sockets) {
			complain("%s: its sockets cannot be listed: %s", a->name, strerror(errno));
			close_variables(v);
		}
	}
	unlock_pins();
	return sockets;
}

int status(const struct algorithm *a)
{
	struct variables v;
	FILE *sockets;

	sockets = open_status(a, &v);
	if (!sockets)
		return -1;
	printf("%s, as %s:", a->name, a->kernel_name);
	for (size_t i = 0; i < v.count; i++) {
		const unsigned int *value = variable(&v, v.params[i].variable);

		if (value)
			printf(" %s=%u", v.params[i].name, *value);
	}
	putchar('\n');
	close_variables(&v);
	return list_sockets(a, sockets);
}
