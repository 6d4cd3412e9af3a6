/* SPDX-License-Identifier: GPL-2.0 */
/* The same in every run. A world that needs other octets each time has its own. */
#ifndef _TEST_LINUX_RANDOM_H
#define _TEST_LINUX_RANDOM_H

#include <string.h>

#include <linux/types.h>

__attribute__((weak)) void get_random_bytes(void *to, size_t length)
{
	memset(to, 0x5a, length);
}

static inline u16 get_random_u16(void)
{
	u16 number;

	get_random_bytes(&number, sizeof(number));
	return number;
}

static inline u32 get_random_u32(void)
{
	u32 number;

	get_random_bytes(&number, sizeof(number));
	return number;
}

/* The simulation's. */
u32 prandom_u32_max(u32 below);

#endif /* _TEST_LINUX_RANDOM_H */
