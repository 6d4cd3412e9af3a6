/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What libFuzzer calls, and numbers from its octets: of every size, and often at the edges.
 */
#ifndef _FUZZ_INPUT_H
#define _FUZZ_INPUT_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apogee/int.h>

int fuzz(const u8 *octets, size_t length) __asm__("LLVMFuzzerTestOneInput");

struct input {
	const u8 *octets;
	size_t length;
};

#define expect(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
		abort(); \
	} \
} while (0)

/* in memory that ends with them, so that a sanitizer sees what is read beyond */
static inline u8 *copy_of(const u8 *octets, size_t length)
{
	u8 *copy = malloc(length + !length);

	expect(copy);
	return memcpy(copy, octets, length);
}

static inline u8 next8(struct input *in)
{
	if (!in->length)
		return 0;
	in->length--;
	return *in->octets++;
}

/* 2 octets: a number of up to 32 bits with 11 significant ones, or with all above set */
static inline u32 next32(struct input *in)
{
	u32 low = next8(in), high = next8(in);
	u32 value = (low | 0x100 | (high & 3) << 9) >> 1;
	u32 shift = high >> 3;

	if (high == 0xff)
		return U32_MAX - low;
	if (high < 4)
		return low;
	return (high & 4 ? (1U << shift) | (value & ((1U << shift) - 1)) :
			   (u32)((u64)value << shift >> 5));
}

/* from 0 to @most */
static inline u32 next_to(struct input *in, u32 most)
{
	u32 value = next32(in);

	return most == U32_MAX ? value : value % (most + 1);
}

static inline u64 next64(struct input *in)
{
	u64 value = next32(in);

	return value << (next8(in) & 31);
}

static inline bool next_bool(struct input *in)
{
	return next8(in) & 1;
}

#endif /* _FUZZ_INPUT_H */
