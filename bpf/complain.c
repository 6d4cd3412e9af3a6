// SPDX-License-Identifier: GPL-2.0
/*
 * A line on standard error.
 */
#include <stdarg.h>
#include <stdio.h>

#include "complain.h"

const char *complain_at = "";

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "apogee-bpf: %s", complain_at);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return -1;
}
