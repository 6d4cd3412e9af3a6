/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_STRING_H
#define _TEST_LINUX_STRING_H

#include <string.h>

#define memzero_explicit(s, count) explicit_bzero(s, count)

/* The first octet that is another one, or NULL. */
static inline void *memchr_inv(const void *start, int c, size_t octets)
{
	const unsigned char *at = start;

	for (; octets--; at++)
		if (*at != (unsigned char)c)
			return (void *)at;
	return NULL;
}

#endif /* _TEST_LINUX_STRING_H */
