// SPDX-License-Identifier: GPL-2.0
/*
 * defined CALLS DEFINED ANSWERS: of the calls in a file, those that C defines, and their answers.
 *
 * Random calls do not keep to what a function asks of its caller, and a division by zero or a shift
 * by 64 bits is one thing here and another in BPF. This is compiled so that undefined behaviour
 * traps; a call that does is left out.
 */
#include <err.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* as in tests/modules/answers.c, the arguments padded to eight bytes */
static struct {
	struct {
		u32 function;
		u32 size;
	} head;
	u64 call[8192];
} asked;

static u64 answer[ARRAY_SIZE(asked.call)];
static sigjmp_buf undefined;

static FILE *opened(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		err(1, "%s", path);
	return file;
}

static void leave(int signal)
{
	siglongjmp(undefined, signal);
}

/* Read the next call; the bytes of its arguments, 0 at the end. */
static size_t next(FILE *calls)
{
	size_t size;

	if (fread(&asked.head, sizeof(asked.head), 1, calls) != 1)
		return 0;
	size = (asked.head.size + 7UL) / 8 * 8;
	if (asked.head.function >= ARRAY_SIZE(answer_calls) || size > sizeof(asked.call) ||
	    fread(asked.call, size, 1, calls) != 1)
		errx(1, "not a file of calls");
	return size;
}

static bool make(size_t size)
{
	memcpy(answer, asked.call, size);
	if (sigsetjmp(undefined, 1))
		return false;
	answer_calls[asked.head.function].make(answer);
	return true;
}

int main(int argc, char **argv)
{
	FILE *calls, *defined, *answers;
	size_t size;

	if (argc != 4)
		errx(1, "usage: defined CALLS DEFINED ANSWERS");
	calls = opened(argv[1], "rb");
	defined = opened(argv[2], "wb");
	answers = opened(argv[3], "wb");
	signal(SIGILL, leave);
	while ((size = next(calls))) {
		if (!make(size))
			continue;
		fwrite(&asked, sizeof(asked.head) + size, 1, defined);
		fwrite(&asked.head, sizeof(asked.head), 1, answers);
		fwrite(answer, size, 1, answers);
	}
	if (fclose(defined) || fclose(answers))
		err(1, "cannot write");
	return 0;
}
