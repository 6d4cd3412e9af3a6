/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer types and 64 bit arithmetic for the algorithms, both in the kernel and in
 * user space.
 */
#ifndef _APOGEE_INT_H
#define _APOGEE_INT_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#else

#include <stdbool.h>

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#define U8_MAX ((u8)0xff)
#define U16_MAX ((u16)0xffff)
#define U32_MAX ((u32)~0U)
#define U64_MAX ((u64)~0ULL)
#define S32_MAX ((s32)(U32_MAX >> 1))

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define min_t(type, x, y) ({ type _x = (x); type _y = (y); _x < _y ? _x : _y; })
#define max_t(type, x, y) ({ type _x = (x); type _y = (y); _x > _y ? _x : _y; })
/* not __auto_type, which the prover of tests/proof cannot read */
#define min(x, y) min_t(__typeof__((x) + 0 * (y)), x, y)
#define max(x, y) max_t(__typeof__((x) + 0 * (y)), x, y)
#define max3(x, y, z) max(max(x, y), z)
#define min3(x, y, z) min(min(x, y), z)
#define clamp_t(type, x, low, high) min_t(type, max_t(type, x, low), high)

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

#ifdef __bpf__
/* BPF has no signed division. */
static inline s64 div_s64(s64 dividend, s32 divisor)
{
	u64 n = dividend < 0 ? -(u64)dividend : (u64)dividend;
	u64 d = divisor < 0 ? -(u64)divisor : (u64)divisor;

	return (dividend < 0) == (divisor < 0) ? (s64)(n / d) : -(s64)(n / d);
}
#else
static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}
#endif

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* the position of the highest bit set, from 1; 0 for 0 */
#ifdef __bpf__
/* Without a branch: set all bits below the highest, and count them in parallel. */
static inline int fls64(u64 x)
{
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	x |= x >> 32;
	x -= x >> 1 & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + (x >> 2 & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (int)(x * 0x0101010101010101ULL >> 56);
}
#else
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}
#endif

#endif /* __KERNEL__ */

#define APOGEE_USEC_PER_SEC 1000000U

#endif /* _APOGEE_INT_H */
