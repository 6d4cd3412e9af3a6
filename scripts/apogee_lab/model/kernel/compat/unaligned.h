/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_COMPAT_UNALIGNED_H
#define _TEST_COMPAT_UNALIGNED_H

#include <string.h>

#include <apogee/int.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "for little-endian machines"
#endif

#define FUZZ_UNALIGNED(bits)						\
static inline u##bits get_unaligned_be##bits(const void *p)		\
{									\
	u##bits value;							\
									\
	memcpy(&value, p, sizeof(value));				\
	return __builtin_bswap##bits(value);				\
}									\
									\
static inline void put_unaligned_be##bits(u##bits value, void *p)	\
{									\
	value = __builtin_bswap##bits(value);				\
	memcpy(p, &value, sizeof(value));				\
}									\
									\
static inline u##bits get_unaligned_le##bits(const void *p)		\
{									\
	u##bits value;							\
									\
	memcpy(&value, p, sizeof(value));				\
	return value;							\
}									\
									\
static inline void put_unaligned_le##bits(u##bits value, void *p)	\
{									\
	memcpy(p, &value, sizeof(value));				\
}

FUZZ_UNALIGNED(16)
FUZZ_UNALIGNED(32)
FUZZ_UNALIGNED(64)

#endif /* _TEST_COMPAT_UNALIGNED_H */
