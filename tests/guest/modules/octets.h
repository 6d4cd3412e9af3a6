/* SPDX-License-Identifier: GPL-2.0 */
/* Octets of a stream that its receiver can check, numbers in packets, and the guest's clock. */
#ifndef APOGEE_TEST_OCTETS_H
#define APOGEE_TEST_OCTETS_H

#include <err.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline unsigned int get16(const unsigned char *at)
{
	return at[0] << 8 | at[1];
}

static inline uint32_t get32(const unsigned char *at)
{
	return get16(at) << 16 | get16(at + 2);
}

static inline void set16(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static inline void set32(unsigned char *at, uint32_t value)
{
	set16(at, value >> 16);
	set16(at + 2, value);
}

/* s since the guest's start */
static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* A file that gets each line when it is written. */
static inline FILE *file_of_lines(const char *name)
{
	FILE *out = fopen(name, "w");

	if (!out)
		err(2, "%s", name);
	setlinebuf(out);
	return out;
}

/* The octets of a stream from @at on. */
static inline void fill(unsigned char *octets, size_t length, uint64_t at)
{
	for (size_t i = 0; i < length; i++) {
		uint64_t x = (at + i) / 4 * 0x9e3779b97f4a7c15;

		octets[i] = x >> (8 * ((at + i) % 4) + 24);
	}
}

/* How many of the octets from @at on are not the stream's; @wanted is room for @length. */
static inline uint64_t damaged_in(const unsigned char *octets, unsigned char *wanted,
				  size_t length, uint64_t at)
{
	uint64_t damaged = 0;

	fill(wanted, length, at);
	for (size_t i = 0; i < length; i++)
		damaged += octets[i] != wanted[i];
	return damaged;
}

#endif
