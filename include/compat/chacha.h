/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ChaCha's state is an array of words up to Linux 6.15 and struct chacha_state, which holds
 * nothing else, since 6.16.
 */
#ifndef APOGEE_COMPAT_CHACHA_H
#define APOGEE_COMPAT_CHACHA_H

#include <crypto/chacha.h>
#include <linux/string.h>

/*
 * The next block of the keystream. Vector instructions make two in less than half the time of
 * a single one, which the library makes without them: there has to be room for two.
 */
static inline void apogee_chacha20_block(u32 words[CHACHA_STATE_WORDS],
					 u8 blocks[2 * CHACHA_BLOCK_SIZE])
{
	/* named so up to Linux 6.15, and since */
	unsigned int octets = IS_ENABLED(CONFIG_CRYPTO_ARCH_HAVE_LIB_CHACHA) ||
			      IS_ENABLED(CONFIG_CRYPTO_LIB_CHACHA_ARCH) ?
			      2 * CHACHA_BLOCK_SIZE : CHACHA_BLOCK_SIZE;

	memset(blocks, 0, octets);
	/* either type, without a cast that has to name one */
	chacha20_crypt((void *)words, blocks, blocks, octets);
}

#endif /* APOGEE_COMPAT_CHACHA_H */
