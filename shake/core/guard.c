// SPDX-License-Identifier: GPL-2.0
/*
 * What keeps HELLOs from costing much, see guard.h.
 */
#include <compat/unaligned.h>
#include <crypto/algapi.h>
#include <crypto/chacha20poly1305.h>
#include <linux/random.h>
#include <linux/string.h>

#include "guard.h"

/* By a port's last octet, too: one address's copies do not push out another's. */
static u32 place_of(const u8 *hello, const u8 source[SHAKE_SOURCE])
{
	u8 mixed = hello[SHAKE_HELLO_EPHEMERAL + SHAKE_KEY / 2] ^ source[SHAKE_SOURCE - 1];

	return mixed % SHAKE_ASKED;
}

/* With mac1: who knows the agent's public key may make a HELLO with another's ephemeral key. */
static u64 mark_of(const u8 *hello, u32 length)
{
	return get_unaligned_be64(hello + SHAKE_HELLO_EPHEMERAL) ^
	       get_unaligned_be64(hello + length - 2 * SHAKE_TAG);
}

/**
 * shake_guard_again() - whether the same HELLO passed a short time ago, from the same source
 * @g: the guard
 * @hello: it
 * @length: its octets
 * @source: address and port
 * @now: us
 *
 * Who has recorded a HELLO must not take the turns of new ones with it. Nor may a copy that is
 * faster than its leader, from elsewhere, take the leader's own.
 *
 * Return: whether it did.
 */
bool shake_guard_again(const struct shake_guard *g, const u8 *hello, u32 length,
		       const u8 source[SHAKE_SOURCE], u64 now)
{
	const struct shake_asked *asked = &g->asked[place_of(hello, source)];

	return asked->at && now - asked->at < SHAKE_ASKED_US &&
	       asked->mark == mark_of(hello, length) &&
	       !memcmp(asked->source, source, SHAKE_SOURCE);
}

/**
 * shake_guard_note() - remember a HELLO that passed
 * @g: the guard
 * @hello: it
 * @length: its octets
 * @source: address and port
 * @now: us
 */
void shake_guard_note(struct shake_guard *g, const u8 *hello, u32 length,
		      const u8 source[SHAKE_SOURCE], u64 now)
{
	struct shake_asked *asked = &g->asked[place_of(hello, source)];

	asked->at = now;
	asked->mark = mark_of(hello, length);
	memcpy(asked->source, source, SHAKE_SOURCE);
}

/**
 * shake_guard_loaded() - a HELLO came that may cost something
 * @g: the guard, which counts it
 * @now: us
 *
 * Return: whether so many come that they have to prove where they are from.
 */
bool shake_guard_loaded(struct shake_guard *g, u64 now)
{
	if (now - g->slot_at >= SHAKE_LOAD_US) {
		g->slot_at = now;
		g->slot_count = 0;
	}
	if (g->slot_count < SHAKE_LOAD)
		g->slot_count++;
	else
		g->loaded_until = now + SHAKE_LOADED_US;
	return now < g->loaded_until;
}

/**
 * shake_guard_cookie() - the cookie of an address
 * @g: the guard; its secret is renewed if it is old
 * @cookie: written
 * @source: address and port
 * @now: us
 */
void shake_guard_cookie(struct shake_guard *g, u8 cookie[SHAKE_TAG], const u8 source[SHAKE_SOURCE],
			u64 now)
{
	if (!g->secret_at || now - g->secret_at >= SHAKE_SECRET_US) {
		get_random_bytes(g->secret, SHAKE_KEY);
		g->secret_at = now;
	}
	shake_mac(cookie, g->secret, source, SHAKE_SOURCE);
}

/**
 * shake_guard_proves() - whether a HELLO has the mac2 of its address
 * @hello: it
 * @length: its octets
 * @cookie: of the address
 *
 * Return: whether it does.
 */
bool shake_guard_proves(const u8 *hello, u32 length, const u8 cookie[SHAKE_TAG])
{
	u8 key[SHAKE_KEY] = { 0 }, mac[SHAKE_TAG];

	memcpy(key, cookie, SHAKE_TAG);
	shake_mac(mac, key, hello, length - SHAKE_TAG);
	return !crypto_memneq(hello + length - SHAKE_TAG, mac, SHAKE_TAG);
}

/**
 * shake_guard_admits() - whether one more HELLO may come from a network
 * @g: the guard, which has a secret, and counts it
 * @source: address and port
 * @octets: of the address that are the network's
 * @now: us
 *
 * Networks whose hashes are the same share one share: the hash is by the secret.
 *
 * Return: whether it may.
 */
bool shake_guard_admits(struct shake_guard *g, const u8 source[SHAKE_SOURCE], u32 octets, u64 now)
{
	u64 *used, burst = SHAKE_SOURCE_BURST * SHAKE_SOURCE_US;
	u8 hash[SHAKE_TAG];

	shake_mac(hash, g->secret, source, octets);
	used = &g->sources[hash[0] % SHAKE_SOURCES];
	if (*used > now && *used - now > burst - SHAKE_SOURCE_US)
		return false;
	*used = max_t(u64, *used, now) + SHAKE_SOURCE_US;
	return true;
}

/**
 * shake_cookie_write() - answer a HELLO that does not prove where it is from
 * @packet: room for SHAKE_COOKIE_OCTETS
 * @hello: it
 * @length: its octets
 * @key: &struct shake_keys.cookie of the leader, or &struct shake_identity.cookie
 * @cookie: of its address
 * @nonce: random octets
 *
 * Return: octets written.
 */
u32 shake_cookie_write(u8 *packet, const u8 *hello, u32 length, const u8 key[SHAKE_KEY],
		       const u8 cookie[SHAKE_TAG], const u8 nonce[SHAKE_COOKIE_NONCE])
{
	struct shake_registration answer = {
		.type = SHAKE_TYPE_COOKIE,
		.path = hello[1],
	};

	memcpy(answer.echo, hello + SHAKE_HELLO_EPHEMERAL, SHAKE_ECHO);
	shake_registration_write(packet, &answer);
	memcpy(packet + SHAKE_COOKIE_AT, nonce, SHAKE_COOKIE_NONCE);
	xchacha20poly1305_encrypt(packet + SHAKE_COOKIE_AT + SHAKE_COOKIE_NONCE, cookie, SHAKE_TAG,
				  hello + length - 2 * SHAKE_TAG, SHAKE_TAG, nonce, key);
	return SHAKE_COOKIE_OCTETS;
}
