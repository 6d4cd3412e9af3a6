/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Noise Protocol Framework (revision 34), as far as SHAKE needs it: X25519, ChaCha20-Poly1305
 * and BLAKE2s. Names are the specification's. Bytes in, bytes out.
 *
 * A handshake's state is begun with the pattern's name and a prologue. Each token and payload of
 * its messages is then a call, by both ends in the same order. What went wrong is told at once:
 * the state is of no use then, and is forgotten by its owner.
 */
#ifndef _SHAKE_NOISE_H
#define _SHAKE_NOISE_H

#include <apogee/int.h>

#define SHAKE_KEY 32
#define SHAKE_TAG 16

/**
 * struct shake_noise - SymmetricState
 * @h: hash of all that was sent
 * @ck: chaining key
 * @k: cipher's key
 * @n: its next nonce
 */
struct shake_noise {
	u8 h[SHAKE_KEY];
	u8 ck[SHAKE_KEY];
	u8 k[SHAKE_KEY];
	u64 n;
};

/**
 * struct shake_octets - a piece of something that is hashed
 * @at: the octets
 * @length: how many
 */
struct shake_octets {
	const void *at;
	u32 length;
};

void shake_hash(u8 hash[SHAKE_KEY], const struct shake_octets *pieces, u32 count);
void shake_mac(u8 mac[SHAKE_TAG], const u8 key[SHAKE_KEY], const void *octets, u32 length);

void shake_noise_begin(struct shake_noise *n, const char *name, const void *prologue, u32 length);
void shake_noise_hash(struct shake_noise *n, const void *octets, u32 length);
void shake_noise_key(struct shake_noise *n, const u8 material[SHAKE_KEY]);
void shake_noise_psk(struct shake_noise *n, const u8 psk[SHAKE_KEY]);
void shake_noise_ephemeral(struct shake_noise *n, const u8 public[SHAKE_KEY]);
bool shake_noise_dh(struct shake_noise *n, const u8 secret[SHAKE_KEY], const u8 public[SHAKE_KEY]);
void shake_noise_encrypt(struct shake_noise *n, u8 *to, const void *text, u32 length);
bool shake_noise_decrypt(struct shake_noise *n, void *text, const u8 *from, u32 length);
void shake_noise_split(struct shake_noise *n, u8 first[SHAKE_KEY], u8 second[SHAKE_KEY]);
void shake_noise_forget(struct shake_noise *n);

void shake_secret_make(u8 secret[SHAKE_KEY], const u8 random[SHAKE_KEY]);
bool shake_public_of(u8 public[SHAKE_KEY], const u8 secret[SHAKE_KEY]);
bool shake_shared_of(u8 shared[SHAKE_KEY], const u8 secret[SHAKE_KEY], const u8 public[SHAKE_KEY]);

#endif /* _SHAKE_NOISE_H */
