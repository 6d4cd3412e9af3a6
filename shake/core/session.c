// SPDX-License-Identifier: GPL-2.0
/*
 * SHAKE's registration and sessions. See session.h for the messages and their keys.
 *
 * Packets that are only authenticated have the tag that ChaCha20-Poly1305 gives an empty
 * text with the packet as additional data. packet_tag() makes it of the library's parts with
 * fewer instructions than the library's own function, which hands over the padding and the
 * lengths one by one. DATA comes in pieces: shake_tag_add().
 */
#include <compat/chacha.h>
#include <compat/unaligned.h>
#include <crypto/algapi.h>
#include <crypto/chacha20poly1305.h>
#include <crypto/poly1305.h>
#include <linux/string.h>

#include "session.h"

#define SHARED_NAME "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s"
#define PUBLIC_NAME "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s"
#define PROLOGUE (sizeof(SHAKE_PROLOGUE) - 1)
#define FIXED 8			/* octets of a HELLO in front of its key */
#define MACS (2 * SHAKE_TAG)
#define RESET_RANGE 1000000U	/* a RESET names one of the last packets sent */

/**
 * shake_tag_begin() - begin the tag of a packet that is not encrypted
 * @t: written
 * @key: &struct shake_session.send or &struct shake_session.receive
 * @nonce: counter of the packet
 */
void shake_tag_begin(struct shake_tagger *t, const u8 key[SHAKE_KEY], u64 nonce)
{
	u32 words[CHACHA_STATE_WORDS] = {
		CHACHA_CONSTANT_EXPA, CHACHA_CONSTANT_ND_3,
		CHACHA_CONSTANT_2_BY, CHACHA_CONSTANT_TE_K,
	};
	u8 blocks[2 * CHACHA_BLOCK_SIZE];
	u32 i;

	for (i = 0; i < SHAKE_KEY / 4; i++)
		words[4 + i] = get_unaligned_le32(key + 4 * i);
	words[14] = (u32)nonce;
	words[15] = nonce >> 32;
	apogee_chacha20_block(words, blocks);

	poly1305_init(&t->poly, blocks);
	t->length = 0;
	t->held = 0;

	memzero_explicit(words, sizeof(words));
	memzero_explicit(blocks, SHAKE_KEY);	/* what was used of the keystream */
}

/**
 * shake_tag_add() - the packet's next octets
 * @t: shake_tag_begin() has written it
 * @octets: they
 * @length: how many
 *
 * What is short is held back, to be handed to Poly1305 together with what follows: a call
 * costs as much as several blocks.
 */
void shake_tag_add(struct shake_tagger *t, const u8 *octets, u32 length)
{
	u32 part;

	t->length += length;
	if (t->held + length <= SHAKE_HOLD) {
		memcpy(t->hold + t->held, octets, length);
		t->held += length;
		return;
	}
	if (t->held) {
		part = -t->held % POLY1305_BLOCK_SIZE;
		memcpy(t->hold + t->held, octets, part);
		poly1305_update(&t->poly, t->hold, t->held + part);
		octets += part;
		length -= part;
	}
	part = length % POLY1305_BLOCK_SIZE;
	poly1305_update(&t->poly, octets, length - part);
	memcpy(t->hold, octets + length - part, part);
	t->held = part;
}

/**
 * shake_tag_end() - the tag
 * @t: shake_tag_add() has had all octets
 * @tag: written
 */
void shake_tag_end(struct shake_tagger *t, u8 tag[SHAKE_TAG])
{
	u32 end = t->held + -t->held % POLY1305_BLOCK_SIZE;

	/* the last block, padded, and the lengths of the additional data and of the text */
	memset(t->hold + t->held, 0, end + POLY1305_BLOCK_SIZE - t->held);
	put_unaligned_le64(t->length, t->hold + end);
	poly1305_update(&t->poly, t->hold, end + POLY1305_BLOCK_SIZE);
	poly1305_final(&t->poly, tag);
}

/* The tag of a packet that is not encrypted, in one piece. */
static void packet_tag(u8 *tag, const u8 *octets, u32 length, u64 nonce, const u8 *key)
{
	struct shake_tagger t;

	shake_tag_begin(&t, key, nonce);
	shake_tag_add(&t, octets, length);
	shake_tag_end(&t, tag);
}

/**
 * shake_tag_compare() - whether a tag is right
 * @tag: of a packet that came in
 * @right: what it must be
 *
 * Return: SHAKE_TAKEN or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_tag_compare(const u8 *tag, const u8 *right)
{
	return crypto_memneq(tag, right, SHAKE_TAG) ? SHAKE_BAD_TAG : SHAKE_TAKEN;
}

/* --- keys ------------------------------------------------------------------------------------ */

static void label(u8 key[SHAKE_KEY], const char *text, const u8 *of)
{
	shake_hash(key, (struct shake_octets[]){ { text, strlen(text) }, { of, SHAKE_KEY } }, 2);
}

/**
 * shake_identity_set() - a device gets a key pair
 * @own: written
 * @secret: its secret key; zero: none
 *
 * Return: false: it is no key, and @own has none.
 */
bool shake_identity_set(struct shake_identity *own, const u8 secret[SHAKE_KEY])
{
	static const u8 none[SHAKE_KEY];

	memzero_explicit(own, sizeof(*own));
	if (!crypto_memneq(secret, none, SHAKE_KEY))
		return true;
	shake_secret_make(own->secret, secret);
	own->there = shake_public_of(own->public, own->secret);
	label(own->mac, "shake hello", own->public);
	label(own->cookie, "shake cookie", own->public);
	if (!own->there)
		memzero_explicit(own, sizeof(*own));
	return own->there;
}

static void settle_public(struct shake_keys *keys, const struct shake_identity *own,
			  bool is_leader)
{
	if (!own->there || !shake_shared_of(keys->ss, own->secret, keys->public))
		return;
	label(keys->hello, "shake hello", is_leader ? keys->public : own->public);
	label(keys->cookie, "shake cookie", is_leader ? keys->public : own->public);
	label(keys->welcome, "shake welcome", is_leader ? own->public : keys->public);
	keys->trust = SHAKE_PUBLIC;
}

/**
 * shake_keys_settle() - work out what follows from the keys that there are
 * @keys: with its psk and public key; the rest is written
 * @own: of the device
 * @auth: the device authenticates
 * @is_leader: it is a leader's
 */
void shake_keys_settle(struct shake_keys *keys, const struct shake_identity *own, bool auth,
		       bool is_leader)
{
	keys->trust = auth ? SHAKE_NO_KEY : SHAKE_OPEN;
	memzero_explicit(keys->ss, sizeof(keys->ss));
	if (!auth)
		return;
	if (keys->has_public) {
		settle_public(keys, own, is_leader);
	} else if (keys->has_psk) {
		label(keys->hello, "shake hello", keys->psk);
		label(keys->cookie, "shake cookie", keys->psk);
		label(keys->welcome, "shake welcome", keys->psk);
		keys->trust = SHAKE_SHARED;
	}
}

/* --- HELLO: the leader ----------------------------------------------------------------------- */

/* The handshake before its first message. */
static void begin(struct shake_noise *n, const u8 *hello, u8 kind, const u8 *agent)
{
	u8 prologue[PROLOGUE + FIXED];

	memcpy(prologue, SHAKE_PROLOGUE, PROLOGUE);
	memcpy(prologue + PROLOGUE, hello, FIXED);
	shake_noise_begin(n, kind == SHAKE_PUBLIC ? PUBLIC_NAME : SHARED_NAME, prologue,
			  sizeof(prologue));
	if (kind == SHAKE_PUBLIC)
		shake_noise_hash(n, agent, SHAKE_KEY);
}

/* Where the time of a HELLO of this kind stands. */
static u32 time_place(u8 kind)
{
	return shake_hello_octets(kind) - MACS - SHAKE_TAG - SHAKE_TIME;
}

/* The leader's first message, without mac1. Returns whether there is one. */
static bool write_first(struct shake_join *join, const struct shake_keys *keys,
			const struct shake_identity *own)
{
	u8 *hello = join->hello, *e = hello + SHAKE_HELLO_EPHEMERAL, time[SHAKE_TIME];
	struct shake_noise *n = &join->noise;

	put_unaligned_be64(join->time, time);
	if (keys->trust == SHAKE_OPEN) {
		memcpy(hello + time_place(SHAKE_OPEN), time, SHAKE_TIME);
		return true;
	}
	begin(n, hello, keys->trust, keys->public);
	if (keys->trust == SHAKE_SHARED)
		shake_noise_psk(n, keys->psk);
	shake_noise_ephemeral(n, e);
	if (keys->trust == SHAKE_PUBLIC) {
		if (!shake_noise_dh(n, join->secret, keys->public))
			return false;
		shake_noise_encrypt(n, hello + SHAKE_HELLO_STATIC, own->public, SHAKE_KEY);
		shake_noise_key(n, keys->ss);
	}
	shake_noise_encrypt(n, hello + time_place(keys->trust), time, SHAKE_TIME);
	return true;
}

/**
 * shake_hello_make() - leader: begin the registration of a path
 * @join: the path; what was asked before is forgotten
 * @keys: of the agent
 * @own: the leader's
 * @random: random octets
 * @time: ns since 1970; what is no later than the last one is made so
 *
 * Return: false: there is no key.
 */
bool shake_hello_make(struct shake_join *join, const struct shake_keys *keys,
		      const struct shake_identity *own, const u8 random[SHAKE_KEY], u64 time)
{
	struct shake_registration hello = {
		.type = SHAKE_TYPE_HELLO,
		.path = join->path,
		.kind = keys->trust,
		.id = keys->trust == SHAKE_PUBLIC ? 0 : join->id,
	};

	shake_join_forget(join);
	if (keys->trust == SHAKE_NO_KEY)
		return false;
	memset(join->hello, 0, sizeof(join->hello));
	shake_registration_write(join->hello, &hello);
	shake_secret_make(join->secret, random);
	join->length = shake_hello_octets(keys->trust);
	join->time = time > join->time ? time : join->time + (join->time < U64_MAX);
	join->wish = join->encrypt && keys->trust != SHAKE_OPEN;
	if (keys->trust == SHAKE_OPEN)
		memcpy(join->hello + SHAKE_HELLO_EPHEMERAL, random, SHAKE_KEY);
	else if (!shake_public_of(join->hello + SHAKE_HELLO_EPHEMERAL, join->secret))
		return false;
	if (!write_first(join, keys, own))
		return false;
	if (keys->trust != SHAKE_OPEN)
		shake_mac(join->hello + join->length - MACS, keys->hello, join->hello,
			  join->length - MACS);
	join->asked = true;
	return true;
}

/**
 * shake_hello_write() - leader: write the HELLO of a registration, the same each time but mac2
 * @packet: room for SHAKE_HELLO_MOST
 * @join: shake_hello_make() has made one
 * @now: ns of a clock that never goes back
 *
 * It is to be repeated at least until a slow answer can have come.
 *
 * Return: octets written.
 */
u32 shake_hello_write(u8 *packet, const struct shake_join *join, u64 now)
{
	u32 macs = join->length - SHAKE_TAG;

	memcpy(packet, join->hello, join->length);
	if (join->has_cookie && now - join->cookie_at < SHAKE_COOKIE_NS) {
		u8 key[SHAKE_KEY] = { 0 };

		memcpy(key, join->cookie, SHAKE_TAG);
		shake_mac(packet + macs, key, packet, macs);
	}
	return join->length;
}

/**
 * shake_join_forget() - a registration came to its end
 * @join: its secrets are zeroed, and the cookie stays
 */
void shake_join_forget(struct shake_join *join)
{
	join->asked = false;
	memzero_explicit(join->secret, sizeof(join->secret));
	shake_noise_forget(&join->noise);
}

/**
 * shake_cookie_read() - leader: an agent under load wants to see where a HELLO is from
 * @packet: its COOKIE
 * @cookie: what shake_registration_read() took from it
 * @join: the path that has asked
 * @keys: of the agent
 * @now: ns of the clock that shake_hello_write() has
 *
 * Return: SHAKE_TAKEN, SHAKE_STALE or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_cookie_read(const u8 *packet, const struct shake_registration *cookie,
				     struct shake_join *join, const struct shake_keys *keys,
				     u64 now)
{
	const u8 *nonce = packet + SHAKE_COOKIE_AT, *mac1 = join->hello + join->length - MACS;
	u8 text[SHAKE_TAG];

	if (!join->asked || keys->trust < SHAKE_SHARED || cookie->path != join->path ||
	    memcmp(cookie->echo, join->hello + SHAKE_HELLO_EPHEMERAL, SHAKE_ECHO))
		return SHAKE_STALE;
	if (!xchacha20poly1305_decrypt(text, nonce + SHAKE_COOKIE_NONCE, 2 * SHAKE_TAG, mac1,
				       SHAKE_TAG, nonce, keys->cookie))
		return SHAKE_BAD_TAG;
	memcpy(join->cookie, text, SHAKE_TAG);
	join->has_cookie = true;
	join->cookie_at = now;
	return SHAKE_TAKEN;
}

/* --- HELLO: the agent ------------------------------------------------------------------------ */

/**
 * shake_hello_check() - agent: whether a HELLO is from somebody who may send one, as it seems
 * @packet: it; shake_registration_read() took it
 * @length: its octets
 * @key: &struct shake_keys.hello of the leader, or &struct shake_identity.mac
 *
 * It may be a recorded one, or by anybody who knows the agent's public key.
 *
 * Return: SHAKE_TAKEN or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_hello_check(const u8 *packet, u32 length, const u8 key[SHAKE_KEY])
{
	u8 mac[SHAKE_TAG];

	shake_mac(mac, key, packet, length - MACS);
	return shake_tag_compare(packet + length - MACS, mac);
}

/**
 * shake_hello_who() - agent: who has sent a HELLO with public keys
 * @packet: it; shake_hello_check() took it
 * @own: the agent's
 * @noise: written; for shake_hello_open()
 * @public: written: the leader's key. That it has the secret one is not known yet.
 *
 * Costs a multiplication.
 *
 * Return: SHAKE_TAKEN or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_hello_who(const u8 *packet, const struct shake_identity *own,
				   struct shake_noise *noise, u8 public[SHAKE_KEY])
{
	const u8 *e = packet + SHAKE_HELLO_EPHEMERAL;

	begin(noise, packet, SHAKE_PUBLIC, own->public);
	shake_noise_ephemeral(noise, e);
	if (!shake_noise_dh(noise, own->secret, e) ||
	    !shake_noise_decrypt(noise, public, packet + SHAKE_HELLO_STATIC, SHAKE_KEY))
		return SHAKE_BAD_TAG;
	return SHAKE_TAKEN;
}

/**
 * shake_hello_open() - agent: read a HELLO
 * @packet: it
 * @hello: what shake_registration_read() took from it
 * @keys: of the leader
 * @noise: with public keys by shake_hello_who(), else written
 * @time: written if the HELLO is good
 *
 * A good HELLO may be a recorded one. Who has no key cannot use what comes of it.
 *
 * Return: SHAKE_TAKEN, SHAKE_STRANGER or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_hello_open(const u8 *packet, const struct shake_registration *hello,
				    const struct shake_keys *keys, struct shake_noise *noise,
				    u64 *time)
{
	const u8 *from = packet + time_place(hello->kind);
	u8 text[SHAKE_TIME];

	if (keys->trust == SHAKE_NO_KEY || hello->kind != keys->trust)
		return SHAKE_STRANGER;
	if (keys->trust == SHAKE_OPEN) {
		*time = get_unaligned_be64(from);
		return SHAKE_TAKEN;
	}
	if (keys->trust == SHAKE_SHARED) {
		begin(noise, packet, SHAKE_SHARED, NULL);
		shake_noise_psk(noise, keys->psk);
		shake_noise_ephemeral(noise, packet + SHAKE_HELLO_EPHEMERAL);
	} else {
		shake_noise_key(noise, keys->ss);
	}
	if (!shake_noise_decrypt(noise, text, from, SHAKE_TIME))
		return SHAKE_BAD_TAG;
	*time = get_unaligned_be64(text);
	return SHAKE_TAKEN;
}

/* --- WELCOME --------------------------------------------------------------------------------- */

/* A new session by the handshake's keys. */
static void session_init(struct shake_session *s, struct shake_noise *noise, bool auth,
			 bool is_leader)
{
	memset(s, 0, sizeof(*s));
	s->counter = 1;
	s->auth = auth;
	s->taking = is_leader;
	if (auth && is_leader)
		shake_noise_split(noise, s->send, s->receive);
	else if (auth)
		shake_noise_split(noise, s->receive, s->send);
}

/**
 * shake_welcome_begin() - agent: make the session that a HELLO asks for
 * @hello: it; shake_hello_open() took it
 * @keys: of the leader
 * @noise: as that left it; for shake_welcome_write()
 * @random: random octets
 * @ephemeral: written; for shake_welcome_write()
 * @session: written; may neither send nor receive before CONFIRM
 *
 * Costs two multiplications, three with public keys.
 *
 * Return: SHAKE_TAKEN or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_welcome_begin(const u8 *hello, const struct shake_keys *keys,
				       struct shake_noise *noise, const u8 random[SHAKE_KEY],
				       u8 ephemeral[SHAKE_KEY], struct shake_session *session)
{
	bool auth = keys->trust != SHAKE_OPEN, good = true;
	u8 secret[SHAKE_KEY];

	memcpy(ephemeral, random, SHAKE_KEY);
	if (auth) {
		shake_secret_make(secret, random);
		good = shake_public_of(ephemeral, secret);
		shake_noise_ephemeral(noise, ephemeral);
		good = good && shake_noise_dh(noise, secret, hello + SHAKE_HELLO_EPHEMERAL);
		if (keys->trust == SHAKE_PUBLIC) {
			good = good && shake_noise_dh(noise, secret, keys->public);
			shake_noise_psk(noise, keys->psk);
		}
		memzero_explicit(secret, sizeof(secret));
	}
	session_init(session, noise, auth, false);
	if (!good)
		shake_session_forget(session);
	return good ? SHAKE_TAKEN : SHAKE_BAD_TAG;
}

/**
 * shake_welcome_write() - agent: answer a HELLO
 * @packet: room for SHAKE_WELCOME_OCTETS
 * @hello: what shake_registration_read() took from it
 * @keys: of the leader
 * @noise: as shake_welcome_begin() left it; forgotten
 * @ephemeral: by that
 * @index: of the session; 0: there is none, as the HELLO's time was not later than @time
 * @time: the latest that was taken for this path; with an index it says nothing
 *
 * Return: octets written.
 */
u32 shake_welcome_write(u8 *packet, const struct shake_registration *hello,
			const struct shake_keys *keys, struct shake_noise *noise,
			const u8 ephemeral[SHAKE_KEY], u16 index, u64 time)
{
	struct shake_registration welcome = *hello;
	u8 body[SHAKE_BODY] = { 0 };

	welcome.type = SHAKE_TYPE_WELCOME;
	memset(packet, 0, SHAKE_WELCOME_OCTETS);
	shake_registration_write(packet, &welcome);
	memcpy(packet + SHAKE_WELCOME_EPHEMERAL, ephemeral, SHAKE_KEY);
	put_unaligned_be16(index, body);
	put_unaligned_be64(index ? 0 : time, body + SHAKE_BODY - SHAKE_TIME);
	if (keys->trust == SHAKE_OPEN) {
		memcpy(packet + SHAKE_WELCOME_BODY, body, SHAKE_BODY);
	} else {
		shake_noise_encrypt(noise, packet + SHAKE_WELCOME_BODY, body, SHAKE_BODY);
		shake_mac(packet + SHAKE_WELCOME_MAC, keys->welcome, packet, SHAKE_WELCOME_MAC);
	}
	shake_noise_forget(noise);
	return SHAKE_WELCOME_OCTETS;
}

/**
 * shake_welcome_check() - leader: whether a WELCOME answers a HELLO, as it seems
 * @packet: it
 * @welcome: what shake_registration_read() took from it
 * @join: the path that may have asked
 * @keys: of the agent
 *
 * Return: SHAKE_TAKEN, SHAKE_STRANGER, SHAKE_STALE or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_welcome_check(const u8 *packet, const struct shake_registration *welcome,
				       const struct shake_join *join,
				       const struct shake_keys *keys)
{
	u8 mac[SHAKE_TAG];

	if (keys->trust == SHAKE_NO_KEY || welcome->kind != keys->trust ||
	    welcome->path != join->path)
		return SHAKE_STRANGER;
	if (!join->asked ||
	    memcmp(welcome->echo, join->hello + SHAKE_HELLO_EPHEMERAL, SHAKE_ECHO))
		return SHAKE_STALE;
	if (keys->trust == SHAKE_OPEN)
		return SHAKE_TAKEN;
	shake_mac(mac, keys->welcome, packet, SHAKE_WELCOME_MAC);
	return shake_tag_compare(packet + SHAKE_WELCOME_MAC, mac);
}

/* The agent's message. Returns whether it is good. */
static bool read_second(const u8 *packet, struct shake_join *join, const struct shake_keys *keys,
			const struct shake_identity *own, u8 *body)
{
	const u8 *e = packet + SHAKE_WELCOME_EPHEMERAL;
	struct shake_noise *n = &join->noise;

	shake_noise_ephemeral(n, e);
	if (!shake_noise_dh(n, join->secret, e))
		return false;
	if (keys->trust == SHAKE_PUBLIC) {
		if (!shake_noise_dh(n, own->secret, e))
			return false;
		shake_noise_psk(n, keys->psk);
	}
	return shake_noise_decrypt(n, body, packet + SHAKE_WELCOME_BODY, SHAKE_BODY);
}

/**
 * shake_welcome_open() - leader: an agent answered
 * @packet: its WELCOME; shake_welcome_check() took it
 * @join: a copy of the path's registration, as it may not be the right one: what becomes of it
 * @keys: of the agent
 * @own: the leader's
 * @session: written if the WELCOME is taken; may receive at once, and send when READY came
 *
 * Costs a multiplication, two with public keys.
 *
 * Return: SHAKE_TAKEN, SHAKE_BEHIND with a later time in @join, or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_welcome_open(const u8 *packet, struct shake_join *join,
				      const struct shake_keys *keys,
				      const struct shake_identity *own,
				      struct shake_session *session)
{
	bool auth = keys->trust != SHAKE_OPEN;
	u8 body[SHAKE_BODY];
	u64 time;
	u16 index;

	if (!auth)
		memcpy(body, packet + SHAKE_WELCOME_BODY, SHAKE_BODY);
	else if (!read_second(packet, join, keys, own, body))
		return SHAKE_BAD_TAG;
	index = get_unaligned_be16(body);
	time = get_unaligned_be64(body + SHAKE_BODY - SHAKE_TIME);
	if (index) {
		session_init(session, &join->noise, auth, true);
		session->peer_index = index;
		session->wish = join->wish;
		session->encrypt = join->wish;
	} else if (time > join->time) {
		join->time = time;
	}
	shake_join_forget(join);
	return index ? SHAKE_TAKEN : SHAKE_BEHIND;
}

/* --- CONFIRM and READY ----------------------------------------------------------------------- */

/**
 * shake_final_write() - write the CONFIRM or READY of a session, the same each time
 * @packet: room for SHAKE_READY_OCTETS + SHAKE_TAG
 * @session: the leader's, or an agent's that was confirmed
 * @type: SHAKE_TYPE_CONFIRM by a leader, SHAKE_TYPE_READY by an agent
 *
 * Return: octets written, with tag.
 */
u32 shake_final_write(u8 *packet, const struct shake_session *session, u8 type)
{
	struct shake_head head = {
		.type = type,
		.index = session->peer_index,
	};
	bool encrypt = type == SHAKE_TYPE_CONFIRM ? session->wish : session->encrypt;

	shake_head_write(packet, &head);
	put_unaligned_be16(session->index, packet + SHAKE_HEAD);
	packet[SHAKE_HEAD + 2] = encrypt ? SHAKE_ENCRYPTED : 0;
	packet[SHAKE_HEAD + 3] = 0;
	shake_seal(session, 0, packet, SHAKE_READY_OCTETS, SHAKE_READY_OCTETS);
	return SHAKE_READY_OCTETS + shake_tag_octets(session);
}

/* Whether a CONFIRM or READY is the other end's; writes what it says. */
static enum shake_verdict read_final(const u8 *packet, u32 length,
				     const struct shake_session *session, u16 *index, bool *encrypt)
{
	u32 expected = SHAKE_READY_OCTETS + shake_tag_octets(session);
	u8 flags, allowed = session->auth ? SHAKE_ENCRYPTED : 0;
	u8 copy[SHAKE_READY_OCTETS + SHAKE_TAG];
	enum shake_verdict verdict;

	if (length != expected)
		return length < expected ? SHAKE_TRUNCATED : SHAKE_BAD_TYPE;
	memcpy(copy, packet, length);
	verdict = shake_open(session, 0, copy, length, SHAKE_READY_OCTETS);
	if (verdict != SHAKE_TAKEN)
		return verdict;
	*index = get_unaligned_be16(packet + SHAKE_HEAD);
	flags = packet[SHAKE_HEAD + 2];
	*encrypt = flags & SHAKE_ENCRYPTED;
	return flags & ~allowed || packet[SHAKE_HEAD + 3] || !*index ? SHAKE_BAD_TYPE : SHAKE_TAKEN;
}

/**
 * shake_confirm_read() - agent: the leader has the keys of a session
 * @packet: its CONFIRM, which shake_head_read() has taken
 * @length: its octets
 * @session: the session that the head names; if CONFIRM is taken it is ready
 * @encrypt: DATA must be encrypted, whether the leader wishes it or not
 *
 * Only SHAKE_TAKEN says that the sender's address is the leader's. SHAKE_AGAIN may be a
 * recorded CONFIRM: nothing is learned from it, but its READY goes where it came from. If it
 * went to the address that is known, who copies a CONFIRM and is faster than the leader
 * would keep the leader from ever getting one.
 *
 * Return: SHAKE_TAKEN, SHAKE_AGAIN, SHAKE_STALE, SHAKE_TRUNCATED, SHAKE_BAD_TYPE or
 * SHAKE_BAD_TAG.
 */
enum shake_verdict shake_confirm_read(const u8 *packet, u32 length, struct shake_session *session,
				      bool encrypt)
{
	enum shake_verdict verdict;
	bool wish;
	u16 index;

	verdict = read_final(packet, length, session, &index, &wish);
	if (verdict != SHAKE_TAKEN)
		return verdict;
	if (session->ready)
		return index == session->peer_index && wish == session->wish ? SHAKE_AGAIN :
									      SHAKE_STALE;
	session->peer_index = index;
	session->wish = wish;
	session->encrypt = session->auth && (wish || encrypt);
	session->taking = true;
	session->ready = true;
	return SHAKE_TAKEN;
}

/**
 * shake_ready_read() - leader: the agent has installed a session
 * @packet: its READY, which shake_head_read() has taken
 * @length: its octets
 * @session: the session that the head names; if READY is taken it may send
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED, SHAKE_BAD_TYPE, SHAKE_REPLAYED, SHAKE_STALE or
 * SHAKE_BAD_TAG.
 */
enum shake_verdict shake_ready_read(const u8 *packet, u32 length,
				    struct shake_session *session)
{
	enum shake_verdict verdict;
	bool encrypt;
	u16 index;

	verdict = read_final(packet, length, session, &index, &encrypt);
	if (verdict != SHAKE_TAKEN)
		return verdict;
	if (session->ready)
		return SHAKE_REPLAYED;
	if (index != session->peer_index)
		return SHAKE_STALE;
	session->encrypt |= encrypt;
	session->ready = true;
	return SHAKE_TAKEN;
}

/**
 * shake_session_forget() - a session ended
 * @session: zeroed
 */
void shake_session_forget(struct shake_session *session)
{
	memzero_explicit(session, sizeof(*session));
}

/**
 * shake_session_next() - the counter of the next packet to be sent
 * @s: the session; one caller at a time
 * @counter: written
 *
 * Return: false: the session is used up, or may not send yet.
 */
bool shake_session_next(struct shake_session *s, u64 *counter)
{
	if (!s->ready || s->counter >= SHAKE_COUNTER_LIMIT)
		return false;
	*counter = s->counter++;
	return true;
}

/**
 * shake_session_hints() - whether a RESET may be about a session
 * @s: the session
 * @reset: what shake_head_read() took from the RESET
 *
 * Who sees packets can forge one: it may start a HELLO, and must end nothing.
 *
 * Return: whether it names one of the packets sent lately.
 */
bool shake_session_hints(const struct shake_session *s, const struct shake_head *reset)
{
	u32 ago = (u32)s->counter - reset->counter;

	return s->ready && reset->index == s->peer_index && ago && ago < s->counter &&
	       ago <= RESET_RANGE;
}

/**
 * shake_session_check() - what can be said of a packet before its tag is known
 * @s: the session that its head names
 * @head: what shake_head_read() took from it
 * @length: octets of the packet
 * @counter: written if the packet is taken
 *
 * For DATA, ACK and PROBE. shake_replay_update() follows when shake_open() took it; if a lock
 * was let go in between, shake_replay_check() comes first. Not beside shake_replay_update().
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED, SHAKE_BAD_TYPE, SHAKE_STALE or SHAKE_REPLAYED.
 */
enum shake_verdict shake_session_check(const struct shake_session *s,
				       const struct shake_head *head, u32 length,
				       u64 *counter)
{
	u32 octets = shake_packet_octets(head) + shake_tag_octets(s);
	bool is_data = head->type == SHAKE_TYPE_DATA;
	bool encrypted = head->flags & SHAKE_ENCRYPTED;
	bool unsummed = head->flags & SHAKE_UNSUMMED;

	if (head->type < SHAKE_TYPE_DATA || head->type > SHAKE_TYPE_PROBE)
		return SHAKE_BAD_TYPE;
	if (!s->taking)
		return SHAKE_STALE;
	if (length < octets)
		return SHAKE_TRUNCATED;
	if (!is_data && length > octets &&
	    (head->type != SHAKE_TYPE_PROBE || !(head->flags & SHAKE_SIZED)))
		return SHAKE_BAD_TYPE;
	if (is_data && ((encrypted ? !s->auth : s->encrypt) || (unsummed && !s->auth)))
		return SHAKE_BAD_TYPE;
	*counter = shake_replay_full(&s->replay, head->counter);
	return shake_replay_check(&s->replay, *counter) ? SHAKE_TAKEN : SHAKE_REPLAYED;
}

/**
 * shake_seal() - encrypt a packet's text, if it has any, and put its tag behind it
 * @s: the session; only its keys are read
 * @counter: of the packet, from shake_session_next()
 * @packet: its octets, with room for shake_tag_octets() behind them
 * @length: octets, without tag
 * @clear: octets that are only authenticated: shake_clear_octets() of DATA that is encrypted, else
 *         @length
 */
void shake_seal(const struct shake_session *s, u64 counter, u8 *packet, u32 length,
		u32 clear)
{
	if (!s->auth)
		return;
	if (clear >= length)
		packet_tag(packet + length, packet, length, counter, s->send);
	else
		chacha20poly1305_encrypt(packet + clear, packet + clear, length - clear,
					 packet, clear, counter, s->send);
}

/**
 * shake_open() - check a packet's tag, and decrypt its text, if it has any
 * @s: the session; only its keys are read
 * @counter: of the packet, from shake_session_check()
 * @packet: its octets; text is decrypted in place
 * @length: octets, with tag; at least shake_tag_octets()
 * @clear: octets that are only authenticated: shake_clear_octets() of DATA that is encrypted, else
 *         @length without tag
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_open(const struct shake_session *s, u64 counter, u8 *packet,
			      u32 length, u32 clear)
{
	u8 tag[SHAKE_TAG];
	u32 content;

	if (!s->auth)
		return SHAKE_TAKEN;
	if (length < SHAKE_TAG)
		return SHAKE_TRUNCATED;
	content = length - SHAKE_TAG;
	if (clear >= content) {
		packet_tag(tag, packet, content, counter, s->receive);
		return shake_tag_compare(packet + content, tag);
	}
	return chacha20poly1305_decrypt(packet + clear, packet + clear, length - clear,
					packet, clear, counter, s->receive) ?
	       SHAKE_TAKEN : SHAKE_BAD_TAG;
}
