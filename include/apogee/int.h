/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The integer types and the 64 by 32 bit division that the algorithms are
 * written in, in the kernel and in user space alike.
 */
#ifndef _APOGEE_INT_H
#define _APOGEE_INT_H

#ifdef __KERNEL__

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

#endif /* __KERNEL__ */

#define APOGEE_USEC_PER_SEC 1000000U

#endif /* _APOGEE_INT_H */
