// SPDX-License-Identifier: GPL-2.0
/*
 * A line on standard error.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "complain.h"

const char *complain_at = "";

/* One line, whatever a name or a path has in it. */
int complain(const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fprintf(stderr, "apogee-bpf: %s%s\n", complain_at, text);
	return -1;
}
