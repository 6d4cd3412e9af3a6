/* SPDX-License-Identifier: GPL-2.0 */
/* The same functions, made by libsodium. */
#ifndef _TEST_CRYPTO_CHACHA20POLY1305_H
#define _TEST_CRYPTO_CHACHA20POLY1305_H

#include <stddef.h>
#include <string.h>

#include <apogee/int.h>
#include <compat/unaligned.h>
#include <sodium.h>

/* RFC 8439 has 96 bits of nonce; the kernel's 64 are the last of them. */
static inline void fuzz_nonce(u8 nonce[12], u64 value)
{
	memset(nonce, 0, 4);
	put_unaligned_le64(value, nonce + 4);
}

static inline void chacha20poly1305_encrypt(u8 *dst, const u8 *src, size_t src_len,
					    const u8 *ad, size_t ad_len, u64 nonce,
					    const u8 *key)
{
	u8 n[12];

	fuzz_nonce(n, nonce);
	crypto_aead_chacha20poly1305_ietf_encrypt(dst, NULL, src, src_len, ad, ad_len, NULL,
						  n, key);
}

static inline bool chacha20poly1305_decrypt(u8 *dst, const u8 *src, size_t src_len,
					    const u8 *ad, size_t ad_len, u64 nonce,
					    const u8 *key)
{
	u8 n[12];

	fuzz_nonce(n, nonce);
	return !crypto_aead_chacha20poly1305_ietf_decrypt(dst, NULL, NULL, src, src_len, ad,
							  ad_len, n, key);
}

#define xchacha20poly1305_encrypt(dst, src, src_len, ad, ad_len, nonce, key) \
	crypto_aead_xchacha20poly1305_ietf_encrypt(dst, NULL, src, src_len, ad, ad_len, NULL, \
						   nonce, key)
#define xchacha20poly1305_decrypt(dst, src, src_len, ad, ad_len, nonce, key) \
	(!crypto_aead_xchacha20poly1305_ietf_decrypt(dst, NULL, NULL, src, src_len, ad, ad_len, \
						     nonce, key))

#endif /* _TEST_CRYPTO_CHACHA20POLY1305_H */
