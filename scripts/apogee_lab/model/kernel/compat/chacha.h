/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same block, made by libsodium. The state is
 * little-endian words: constants, key, 64 bits of counter and 64 of nonce.
 */
#ifndef _TEST_COMPAT_CHACHA_H
#define _TEST_COMPAT_CHACHA_H

#include <stdlib.h>

#include <apogee/int.h>
#include <compat/unaligned.h>
#include <sodium.h>

#define CHACHA_STATE_WORDS 16
#define CHACHA_BLOCK_SIZE 64

enum chacha_constants {
	CHACHA_CONSTANT_EXPA = 0x61707865U,
	CHACHA_CONSTANT_ND_3 = 0x3320646eU,
	CHACHA_CONSTANT_2_BY = 0x79622d32U,
	CHACHA_CONSTANT_TE_K = 0x6b206574U
};

static inline void apogee_chacha20_block(u32 words[CHACHA_STATE_WORDS], u8 *block)
{
	static const char constants[] = "expand 32-byte k";
	static const u8 zero[CHACHA_BLOCK_SIZE];
	u8 state[4 * CHACHA_STATE_WORDS];
	u64 counter = (u64)words[13] << 32 | words[12];

	for (int i = 0; i < CHACHA_STATE_WORDS; i++)
		put_unaligned_le32(words[i], state + 4 * i);
	if (sodium_memcmp(state, constants, 16))
		abort();
	crypto_stream_chacha20_xor_ic(block, zero, sizeof(zero), state + 56, counter, state + 16);
}

#endif /* _TEST_COMPAT_CHACHA_H */
