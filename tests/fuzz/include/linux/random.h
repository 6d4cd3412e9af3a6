/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header: the same in every run.
 */
#ifndef _FUZZ_LINUX_RANDOM_H
#define _FUZZ_LINUX_RANDOM_H

#include <string.h>

static inline void get_random_bytes(void *to, size_t length)
{
	memset(to, 0x5a, length);
}

#endif /* _FUZZ_LINUX_RANDOM_H */
