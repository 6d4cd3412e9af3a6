/* SPDX-License-Identifier: GPL-2.0 */
/* FNV-1a, keyed: tests don't need SipHash's strength. */
#ifndef _TEST_LINUX_SIPHASH_H
#define _TEST_LINUX_SIPHASH_H

#include <stddef.h>

#include <apogee/int.h>

struct siphash_key {
	u64 key[2];
};

#define siphash_key_t struct siphash_key

static inline u64 siphash(const void *data, size_t length, const siphash_key_t *key)
{
	u64 hash = 0xcbf29ce484222325ULL ^ key->key[0];
	const u8 *octets = data;

	while (length--)
		hash = (hash ^ *octets++) * 0x100000001b3ULL;
	return hash ^ key->key[1];
}

#endif /* _TEST_LINUX_SIPHASH_H */
