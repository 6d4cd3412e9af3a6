/* SPDX-License-Identifier: GPL-2.0 */
/* The same functions, by RFC 7693: libsodium has only BLAKE2b. */
#ifndef _TEST_CRYPTO_BLAKE2S_H
#define _TEST_CRYPTO_BLAKE2S_H

#include <stddef.h>
#include <string.h>

#include <apogee/int.h>
#include <compat/unaligned.h>

#define BLAKE2S_BLOCK_SIZE 64

struct blake2s_state {
	u32 h[8];
	u64 t;
	u8 buf[BLAKE2S_BLOCK_SIZE];
	u32 buflen;
	u32 outlen;
};

static const u32 blake2s_start[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline u32 blake2s_turn(u32 word, int by)
{
	return word >> by | word << (32 - by);
}

static inline void blake2s_mix(u32 *v, int a, int b, int c, int d, u32 x, u32 y)
{
	v[a] = (u32)((u64)v[a] + v[b] + x);
	v[d] = blake2s_turn(v[d] ^ v[a], 16);
	v[c] = (u32)((u64)v[c] + v[d]);
	v[b] = blake2s_turn(v[b] ^ v[c], 12);
	v[a] = (u32)((u64)v[a] + v[b] + y);
	v[d] = blake2s_turn(v[d] ^ v[a], 8);
	v[c] = (u32)((u64)v[c] + v[d]);
	v[b] = blake2s_turn(v[b] ^ v[c], 7);
}

static inline void blake2s_block(struct blake2s_state *s, bool last)
{
	static const u8 sigma[10][16] = {
		{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
		{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
		{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
		{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
		{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
		{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
		{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
		{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
		{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
	};
	u32 v[16], m[16];

	for (int i = 0; i < 16; i++)
		m[i] = get_unaligned_le32(s->buf + 4 * i);
	memcpy(v, s->h, sizeof(s->h));
	memcpy(v + 8, blake2s_start, sizeof(blake2s_start));
	v[12] ^= (u32)s->t;
	v[13] ^= (u32)(s->t >> 32);
	v[14] ^= last ? ~0U : 0;
	for (int r = 0; r < 10; r++) {
		const u8 *o = sigma[r];

		for (int i = 0; i < 4; i++)
			blake2s_mix(v, i, 4 + i, 8 + i, 12 + i, m[o[2 * i]], m[o[2 * i + 1]]);
		for (int i = 0; i < 4; i++)
			blake2s_mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4,
				    m[o[8 + 2 * i]], m[o[9 + 2 * i]]);
	}
	for (int i = 0; i < 8; i++)
		s->h[i] ^= v[i] ^ v[8 + i];
}

static inline void blake2s_init_key(struct blake2s_state *s, size_t outlen, const void *key,
				    size_t keylen)
{
	memset(s, 0, sizeof(*s));
	memcpy(s->h, blake2s_start, sizeof(s->h));
	s->h[0] ^= 0x01010000 ^ (u32)keylen << 8 ^ (u32)outlen;
	s->outlen = (u32)outlen;
	if (!keylen)
		return;
	memcpy(s->buf, key, keylen);
	s->buflen = BLAKE2S_BLOCK_SIZE;
}

static inline void blake2s_init(struct blake2s_state *s, size_t outlen)
{
	blake2s_init_key(s, outlen, NULL, 0);
}

static inline void blake2s_update(struct blake2s_state *s, const u8 *in, size_t inlen)
{
	while (inlen) {
		size_t part = BLAKE2S_BLOCK_SIZE - s->buflen;

		if (!part) {	/* the last block waits, to be marked as such */
			s->t += BLAKE2S_BLOCK_SIZE;
			blake2s_block(s, false);
			s->buflen = 0;
			continue;
		}
		part = part < inlen ? part : inlen;
		memcpy(s->buf + s->buflen, in, part);
		s->buflen += (u32)part;
		in += part;
		inlen -= part;
	}
}

static inline void blake2s_final(struct blake2s_state *s, u8 *out)
{
	s->t += s->buflen;
	memset(s->buf + s->buflen, 0, BLAKE2S_BLOCK_SIZE - s->buflen);
	blake2s_block(s, true);
	for (int i = 0; i < 8; i++)
		put_unaligned_le32(s->h[i], s->buf + 4 * i);
	memcpy(out, s->buf, s->outlen);
}

#endif /* _TEST_CRYPTO_BLAKE2S_H */
