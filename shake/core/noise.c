// SPDX-License-Identifier: GPL-2.0
/*
 * The Noise Protocol Framework, see noise.h.
 */
#include <compat/blake2s.h>
#include <crypto/chacha20poly1305.h>
#include <crypto/curve25519.h>
#include <linux/string.h>

#include "noise.h"

#define BLOCK BLAKE2S_BLOCK_SIZE

/**
 * shake_hash() - BLAKE2s of some pieces
 * @hash: written
 * @pieces: what is hashed
 * @count: how many
 */
void shake_hash(u8 hash[SHAKE_KEY], const struct shake_octets *pieces, u32 count)
{
	apogee_blake2s state;
	u32 i;

	blake2s_init(&state, SHAKE_KEY);
	for (i = 0; i < count; i++)
		blake2s_update(&state, pieces[i].at, pieces[i].length);
	blake2s_final(&state, hash);
	memzero_explicit(&state, sizeof(state));
}

/**
 * shake_mac() - BLAKE2s with a key, of 16 octets
 * @mac: written
 * @key: its key
 * @octets: what it is made over
 * @length: how many
 */
void shake_mac(u8 mac[SHAKE_TAG], const u8 key[SHAKE_KEY], const void *octets, u32 length)
{
	apogee_blake2s state;

	blake2s_init_key(&state, SHAKE_TAG, key, SHAKE_KEY);
	blake2s_update(&state, octets, length);
	blake2s_final(&state, mac);
	memzero_explicit(&state, sizeof(state));
}

/* HMAC (RFC 2104) with BLAKE2s. */
static void hmac(u8 mac[SHAKE_KEY], const u8 key[SHAKE_KEY], const u8 *octets, u32 length)
{
	u8 inner[BLOCK], outer[BLOCK];
	u32 i;

	memset(inner, 0x36, BLOCK);
	memset(outer, 0x5c, BLOCK);
	for (i = 0; i < SHAKE_KEY; i++) {
		inner[i] ^= key[i];
		outer[i] ^= key[i];
	}
	shake_hash(mac, (struct shake_octets[]){ { inner, BLOCK }, { octets, length } }, 2);
	shake_hash(mac, (struct shake_octets[]){ { outer, BLOCK }, { mac, SHAKE_KEY } }, 2);
	memzero_explicit(inner, BLOCK);
	memzero_explicit(outer, BLOCK);
}

/* HKDF of Noise: the first @count outputs, at most 3. */
static void hkdf(u8 (*out)[SHAKE_KEY], u32 count, const u8 ck[SHAKE_KEY], const u8 *material,
		 u32 length)
{
	u8 key[SHAKE_KEY], text[SHAKE_KEY + 1];
	u32 i;

	hmac(key, ck, material, length);
	for (i = 0; i < count; i++) {
		if (i)
			memcpy(text, out[i - 1], SHAKE_KEY);
		text[i ? SHAKE_KEY : 0] = i + 1;
		hmac(out[i], key, text, i ? SHAKE_KEY + 1 : 1);
	}
	memzero_explicit(key, sizeof(key));
	memzero_explicit(text, sizeof(text));
}

/**
 * shake_noise_begin() - Initialize(), up to the pre-messages
 * @n: written
 * @name: of the protocol, of more than 32 letters
 * @prologue: what both ends have to agree on
 * @length: its octets
 */
void shake_noise_begin(struct shake_noise *n, const char *name, const void *prologue, u32 length)
{
	shake_hash(n->h, (struct shake_octets[]){ { name, strlen(name) } }, 1);
	memcpy(n->ck, n->h, SHAKE_KEY);
	memset(n->k, 0, SHAKE_KEY);
	n->n = 0;
	shake_noise_hash(n, prologue, length);
}

/**
 * shake_noise_hash() - MixHash()
 * @n: the state
 * @octets: what is mixed in
 * @length: how many
 */
void shake_noise_hash(struct shake_noise *n, const void *octets, u32 length)
{
	shake_hash(n->h, (struct shake_octets[]){ { n->h, SHAKE_KEY }, { octets, length } }, 2);
}

/**
 * shake_noise_key() - MixKey()
 * @n: the state
 * @material: what is mixed in
 */
void shake_noise_key(struct shake_noise *n, const u8 material[SHAKE_KEY])
{
	u8 out[2][SHAKE_KEY];

	hkdf(out, 2, n->ck, material, SHAKE_KEY);
	memcpy(n->ck, out[0], SHAKE_KEY);
	memcpy(n->k, out[1], SHAKE_KEY);
	n->n = 0;
	memzero_explicit(out, sizeof(out));
}

/**
 * shake_noise_psk() - token psk: MixKeyAndHash()
 * @n: the state
 * @psk: a key that both know
 */
void shake_noise_psk(struct shake_noise *n, const u8 psk[SHAKE_KEY])
{
	u8 out[3][SHAKE_KEY];

	hkdf(out, 3, n->ck, psk, SHAKE_KEY);
	memcpy(n->ck, out[0], SHAKE_KEY);
	shake_noise_hash(n, out[1], SHAKE_KEY);
	memcpy(n->k, out[2], SHAKE_KEY);
	n->n = 0;
	memzero_explicit(out, sizeof(out));
}

/**
 * shake_noise_ephemeral() - token e, of a pattern with a psk
 * @n: the state
 * @public: the sender's ephemeral key
 */
void shake_noise_ephemeral(struct shake_noise *n, const u8 public[SHAKE_KEY])
{
	shake_noise_hash(n, public, SHAKE_KEY);
	shake_noise_key(n, public);
}

/**
 * shake_noise_dh() - tokens ee, es, se, ss
 * @n: the state
 * @secret: one's own key
 * @public: the other's
 *
 * Return: false: the other's key is none, and nothing was mixed in.
 */
bool shake_noise_dh(struct shake_noise *n, const u8 secret[SHAKE_KEY], const u8 public[SHAKE_KEY])
{
	u8 shared[SHAKE_KEY];
	bool good = curve25519(shared, secret, public);

	if (good)
		shake_noise_key(n, shared);
	memzero_explicit(shared, sizeof(shared));
	return good;
}

/**
 * shake_noise_encrypt() - EncryptAndHash()
 * @n: the state, which has a key
 * @to: room for @length + SHAKE_TAG octets
 * @text: what is encrypted
 * @length: its octets
 */
void shake_noise_encrypt(struct shake_noise *n, u8 *to, const void *text, u32 length)
{
	chacha20poly1305_encrypt(to, text, length, n->h, SHAKE_KEY, n->n++, n->k);
	shake_noise_hash(n, to, length + SHAKE_TAG);
}

/**
 * shake_noise_decrypt() - DecryptAndHash()
 * @n: the state, which has a key
 * @text: room for @length octets
 * @from: @length + SHAKE_TAG octets
 * @length: octets of the text
 *
 * Return: whether it is right.
 */
bool shake_noise_decrypt(struct shake_noise *n, void *text, const u8 *from, u32 length)
{
	if (!chacha20poly1305_decrypt(text, from, length + SHAKE_TAG, n->h, SHAKE_KEY, n->n++,
				      n->k))
		return false;
	shake_noise_hash(n, from, length + SHAKE_TAG);
	return true;
}

/**
 * shake_noise_split() - Split()
 * @n: the state
 * @first: written: the initiator sends by it
 * @second: written: the responder does
 */
void shake_noise_split(struct shake_noise *n, u8 first[SHAKE_KEY], u8 second[SHAKE_KEY])
{
	u8 out[2][SHAKE_KEY];

	hkdf(out, 2, n->ck, NULL, 0);
	memcpy(first, out[0], SHAKE_KEY);
	memcpy(second, out[1], SHAKE_KEY);
	memzero_explicit(out, sizeof(out));
}

/**
 * shake_noise_forget() - the handshake is over
 * @n: zeroed
 */
void shake_noise_forget(struct shake_noise *n)
{
	memzero_explicit(n, sizeof(*n));
}

/**
 * shake_secret_make() - a secret key
 * @secret: written
 * @random: octets that nobody knows
 */
void shake_secret_make(u8 secret[SHAKE_KEY], const u8 random[SHAKE_KEY])
{
	memcpy(secret, random, SHAKE_KEY);
	curve25519_clamp_secret(secret);
}

/**
 * shake_public_of() - the public key of a secret one
 * @public: written
 * @secret: its secret
 *
 * Return: false: there is none.
 */
bool shake_public_of(u8 public[SHAKE_KEY], const u8 secret[SHAKE_KEY])
{
	return curve25519_generate_public(public, secret);
}

/**
 * shake_shared_of() - DH()
 * @shared: written
 * @secret: one's own key
 * @public: the other's
 *
 * Return: false: the other's key is none.
 */
bool shake_shared_of(u8 shared[SHAKE_KEY], const u8 secret[SHAKE_KEY], const u8 public[SHAKE_KEY])
{
	return curve25519(shared, secret, public);
}
