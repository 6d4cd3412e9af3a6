/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_COMPAT_UNALIGNED_H
#define _TEST_COMPAT_UNALIGNED_H

#include <endian.h>
#include <string.h>

#include <apogee/int.h>

#define FUZZ_UNALIGNED(end, bits)					\
static inline u##bits get_unaligned_##end##bits(const void *p)		\
{									\
	u##bits value;							\
									\
	memcpy(&value, p, sizeof(value));				\
	return end##bits##toh(value);					\
}									\
									\
static inline void put_unaligned_##end##bits(u##bits value, void *p)	\
{									\
	value = hto##end##bits(value);					\
	memcpy(p, &value, sizeof(value));				\
}

FUZZ_UNALIGNED(be, 16)
FUZZ_UNALIGNED(be, 32)
FUZZ_UNALIGNED(be, 64)
FUZZ_UNALIGNED(le, 16)
FUZZ_UNALIGNED(le, 32)
FUZZ_UNALIGNED(le, 64)

#endif /* _TEST_COMPAT_UNALIGNED_H */
