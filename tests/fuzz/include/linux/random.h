/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header: the same in every run. A world that
 * needs other octets each time has its own.
 */
#ifndef _FUZZ_LINUX_RANDOM_H
#define _FUZZ_LINUX_RANDOM_H

#include <asm/types.h>
#include <string.h>

__attribute__((weak)) void get_random_bytes(void *to, size_t length)
{
	memset(to, 0x5a, length);
}

static inline __u16 get_random_u16(void)
{
	__u16 number;

	get_random_bytes(&number, sizeof(number));
	return number;
}

#endif /* _FUZZ_LINUX_RANDOM_H */
