/* SPDX-License-Identifier: GPL-2.0 */
/* The same functions, made by libsodium. */
#ifndef _TEST_CRYPTO_CURVE25519_H
#define _TEST_CRYPTO_CURVE25519_H

#include <apogee/int.h>
#include <sodium.h>

#define curve25519(out, secret, point) (!crypto_scalarmult_curve25519(out, secret, point))
#define curve25519_generate_public(public, secret) \
	(!crypto_scalarmult_curve25519_base(public, secret))

static inline void curve25519_clamp_secret(u8 secret[32])
{
	secret[0] &= 248;
	secret[31] = (secret[31] & 127) | 64;
}

#endif /* _TEST_CRYPTO_CURVE25519_H */
