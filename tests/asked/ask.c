// SPDX-License-Identifier: GPL-2.0
/*
 * ask OBJECT CALLS ANSWERS: make the calls of a file in BPF.
 *
 * CALLS and ANSWERS are what the module answers takes and gives back. The program call_N_NAME of
 * the object makes a call of function N in place, in the object's only variable;
 * bpf_prog_test_run_opts() runs it once for each. A program that the kernel refuses is named on the
 * standard output with the verifier's last words, and its calls are left out.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define FUNCTIONS 1024

struct answer_head {
	__u32 function;
	__u32 size;
};

static size_t padded(const struct answer_head *head)
{
	return (head->size + 7UL) / 8 * 8;
}

static struct function {
	const struct bpf_program *program;
	void *call;
	size_t room;
} functions[FUNCTIONS];
static char words[256];

/* Of the verifier's log: the line before "processed N insns", which says why. */
static int keep_words(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[1 << 20];
	char *line;

	if (level != LIBBPF_WARN || vsnprintf(text, sizeof(text), format, args) < 0)
		return 0;
	if (!strstr(text, "\nprocessed "))
		return 0;
	*strstr(text, "\nprocessed ") = 0;
	line = strrchr(text, '\n');
	snprintf(words, sizeof(words), "%.255s", line ? line + 1 : text);
	return 0;
}

/* Open the object, with one of its programs only; whether the kernel takes it. */
static bool open_one(const char *path, const char *name, struct function *function)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;
	struct bpf_map *variable;

	if (!object)
		err(1, "%s", path);
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	if (bpf_object__load(object)) {
		bpf_object__close(object);
		return false;
	}
	variable = bpf_object__find_map_by_name(object, ".bss");
	if (!variable)
		err(1, ".bss");
	function->program = bpf_object__find_program_by_name(object, name);
	function->room = bpf_map__value_size(variable);
	function->call = mmap(NULL, function->room, PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(variable), 0);
	if (function->call == MAP_FAILED)
		err(1, "mmap");
	return true;
}

/* Each in an object of its own, so that one that is refused keeps no other out. */
static void load(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;
	unsigned int function;

	if (!object)
		err(1, "%s", path);
	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);

		if (sscanf(name, "call_%u_", &function) != 1 || function >= FUNCTIONS)
			err(1, "%s", name);
		if (!open_one(path, name, &functions[function]))
			printf("%s: %s\n", name, words);
	}
	bpf_object__close(object);
}

static void make(const struct function *function, void *call, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (size > function->room)
		err(1, "room");
	memcpy(function->call, call, size);
	if (bpf_prog_test_run_opts(bpf_program__fd(function->program), &opts) || opts.retval)
		err(1, "%s", bpf_program__name(function->program));
	memcpy(call, function->call, size);
}

/* Read the next call; false at the end. */
static bool next(FILE *calls, struct answer_head *head, void *call, size_t room)
{
	if (fread(head, sizeof(*head), 1, calls) != 1)
		return false;
	if (head->function >= FUNCTIONS || padded(head) > room ||
	    fread(call, padded(head), 1, calls) != 1)
		err(1, "a call");
	return true;
}

static void answer(FILE *calls, FILE *answers)
{
	static __u64 call[8192];
	struct answer_head head;

	while (next(calls, &head, call, sizeof(call))) {
		const struct function *function = &functions[head.function];

		if (!function->program)
			continue;
		make(function, call, head.size);
		fwrite(&head, sizeof(head), 1, answers);
		fwrite(call, padded(&head), 1, answers);
	}
}

int main(int argc, char **argv)
{
	FILE *calls, *answers;

	if (argc != 4) {
		fprintf(stderr, "usage: ask OBJECT CALLS ANSWERS\n");
		return 2;
	}
	libbpf_set_print(keep_words);
	load(argv[1]);
	calls = fopen(argv[2], "rb");
	answers = fopen(argv[3], "wb");
	if (!calls || !answers)
		err(1, "a file");
	answer(calls, answers);
	if (fclose(answers))
		err(1, "%s", argv[3]);
	return 0;
}
