/* SPDX-License-Identifier: GPL-2.0 */
/* The same functions, made by libsodium. */
#ifndef _TEST_CRYPTO_POLY1305_H
#define _TEST_CRYPTO_POLY1305_H

#include <apogee/int.h>
#include <sodium.h>

#define POLY1305_BLOCK_SIZE 16

struct poly1305_desc_ctx {
	crypto_onetimeauth_poly1305_state state;
};

static inline void poly1305_init(struct poly1305_desc_ctx *desc, const u8 *key)
{
	crypto_onetimeauth_poly1305_init(&desc->state, key);
}

static inline void poly1305_update(struct poly1305_desc_ctx *desc, const u8 *src,
				   unsigned int nbytes)
{
	crypto_onetimeauth_poly1305_update(&desc->state, src, nbytes);
}

static inline void poly1305_final(struct poly1305_desc_ctx *desc, u8 *digest)
{
	crypto_onetimeauth_poly1305_final(&desc->state, digest);
}

#endif /* _TEST_CRYPTO_POLY1305_H */
