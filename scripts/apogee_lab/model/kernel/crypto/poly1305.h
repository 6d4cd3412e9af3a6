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

#define poly1305_init(desc, key) crypto_onetimeauth_poly1305_init(&(desc)->state, key)
#define poly1305_update(desc, src, nbytes) \
	crypto_onetimeauth_poly1305_update(&(desc)->state, src, nbytes)
#define poly1305_final(desc, digest) crypto_onetimeauth_poly1305_final(&(desc)->state, digest)

#endif /* _TEST_CRYPTO_POLY1305_H */
