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

#define CONFIRM_NONCE (~0ULL)
#define HELLO_ECHO 8		/* octets of a HELLO's nonce in the WELCOME's */
#define TIME_AT (HELLO_ECHO + SHAKE_INSTANCE)
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

/* The tag of a HELLO or WELCOME, whose nonce stands in it. */
static void message_tag(u8 *tag, const u8 *octets, u32 length, const u8 *nonce,
			const struct shake_keys *keys, const u8 *key)
{
	if (keys->trust == SHAKE_KEYED)
		xchacha20poly1305_encrypt(tag, NULL, 0, octets, length, nonce, key);
	else
		memset(tag, 0, SHAKE_TAG);
}

static void confirm_tag(u8 *tag, const u8 *octets, u32 length, bool auth, const u8 *key)
{
	if (auth)
		packet_tag(tag, octets, length, CONFIRM_NONCE, key);
	else
		memset(tag, 0, SHAKE_TAG);
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

static enum shake_verdict message_check(const u8 *packet, u32 length, const u8 *nonce,
					const struct shake_keys *keys, const u8 *key)
{
	u8 tag[SHAKE_TAG];

	message_tag(tag, packet, length - SHAKE_TAG, nonce, keys, key);
	return shake_tag_compare(packet + length - SHAKE_TAG, tag);
}

static enum shake_verdict confirm_check(const u8 *packet, u32 length, bool auth,
					const u8 *key)
{
	u8 tag[SHAKE_TAG];

	confirm_tag(tag, packet, length - SHAKE_TAG, auth, key);
	return shake_tag_compare(packet + length - SHAKE_TAG, tag);
}

/* @length octets of XChaCha20's keystream; there is room for a tag behind them. */
static void keystream(u8 *octets, u32 length, const u8 *nonce, const u8 *key)
{
	memset(octets, 0, length);
	xchacha20poly1305_encrypt(octets, octets, length, NULL, 0, nonce, key);
}

/**
 * shake_keys_derive() - what registration needs of a key
 * @keys: written
 * @psk: the key that a leader and its agent know
 */
void shake_keys_derive(struct shake_keys *keys, const u8 psk[SHAKE_KEY])
{
	static const u8 nonce[SHAKE_NONCE + 1] = "apogee shake handshake 1";
	u8 octets[3 * SHAKE_KEY + SHAKE_TAG];

	keystream(octets, 3 * SHAKE_KEY, nonce, psk);
	memcpy(keys->hello, octets, SHAKE_KEY);
	memcpy(keys->welcome, octets + SHAKE_KEY, SHAKE_KEY);
	memcpy(keys->derive, octets + 2 * SHAKE_KEY, SHAKE_KEY);
	keys->trust = SHAKE_KEYED;
	memzero_explicit(octets, sizeof(octets));
}

/**
 * shake_keys_open() - registration with a device that does not authenticate
 * @keys: written
 */
void shake_keys_open(struct shake_keys *keys)
{
	shake_keys_forget(keys);
	keys->trust = SHAKE_OPEN;
}

/**
 * shake_keys_forget() - a key was taken back
 * @keys: zeroed
 */
void shake_keys_forget(struct shake_keys *keys)
{
	memzero_explicit(keys, sizeof(*keys));
}

/**
 * shake_issuer_init() - a device of an agent is made
 * @issuer: written
 * @random: SHAKE_INSTANCE random octets
 */
void shake_issuer_init(struct shake_issuer *issuer, const u8 random[SHAKE_INSTANCE])
{
	memcpy(issuer->instance, random, SHAKE_INSTANCE);
	issuer->last = 0;
}

/**
 * shake_hello_write() - leader: ask for registration of a path
 * @packet: room for SHAKE_HELLO_OCTETS
 * @join: the path; what was asked before is forgotten
 * @keys: of the agent
 * @random: random octets; @join->nonce while @join->asked to repeat a HELLO, which must be
 *          done at least until a slow answer can have come
 *
 * Return: octets written; 0: there is no key.
 */
u32 shake_hello_write(u8 *packet, struct shake_join *join, const struct shake_keys *keys,
		      const u8 random[SHAKE_NONCE])
{
	struct shake_registration hello = {
		.type = SHAKE_TYPE_HELLO,
		.path = join->path,
		.id = join->id,
	};
	u32 length;

	if (keys->trust == SHAKE_NO_KEY)
		return 0;
	memcpy(hello.nonce, random, SHAKE_NONCE);
	length = shake_registration_write(packet, &hello);
	message_tag(packet + length, packet, length, hello.nonce, keys, keys->hello);
	memcpy(join->nonce, hello.nonce, SHAKE_NONCE);
	join->asked = true;
	join->wish = join->encrypt && keys->trust == SHAKE_KEYED;
	return length + SHAKE_TAG;
}

/**
 * shake_hello_check() - agent: whether a HELLO is to be answered
 * @packet: it
 * @length: its octets
 * @hello: what shake_registration_read() took from it
 * @keys: of the leader @hello->id
 *
 * A HELLO may be a recorded one. It says nothing of addresses, and changes nothing.
 *
 * Return: SHAKE_TAKEN, SHAKE_STRANGER or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_hello_check(const u8 *packet, u32 length,
				     const struct shake_registration *hello,
				     const struct shake_keys *keys)
{
	if (keys->trust == SHAKE_NO_KEY)
		return SHAKE_STRANGER;
	return message_check(packet, length, hello->nonce, keys, keys->hello);
}

/**
 * shake_welcome_write() - agent: answer a HELLO
 * @packet: room for SHAKE_WELCOME_OCTETS
 * @issuer: of the device; one caller at a time
 * @hello: shake_hello_check() took it
 * @keys: of the leader
 * @now: ns of a clock that never goes back
 *
 * Return: octets written.
 */
u32 shake_welcome_write(u8 *packet, struct shake_issuer *issuer,
			const struct shake_registration *hello,
			const struct shake_keys *keys, u64 now)
{
	struct shake_registration welcome = {
		.type = SHAKE_TYPE_WELCOME,
		.path = hello->path,
		.id = hello->id,
	};
	u32 length;

	issuer->last = now > issuer->last ? now : issuer->last + 1;
	memcpy(welcome.nonce, hello->nonce, HELLO_ECHO);
	memcpy(welcome.nonce + HELLO_ECHO, issuer->instance, SHAKE_INSTANCE);
	put_unaligned_be64(issuer->last, welcome.nonce + TIME_AT);
	length = shake_registration_write(packet, &welcome);
	message_tag(packet + length, packet, length, welcome.nonce, keys, keys->welcome);
	return length + SHAKE_TAG;
}

/* A new session with the keys of a WELCOME's nonce. */
static void session_init(struct shake_session *s, const struct shake_keys *keys,
			 const u8 *nonce, u16 index, bool is_leader)
{
	u8 octets[2 * SHAKE_KEY + SHAKE_TAG];

	memset(s, 0, sizeof(*s));
	s->counter = 1;
	s->index = index;
	s->auth = keys->trust == SHAKE_KEYED;
	if (!s->auth)
		return;
	keystream(octets, 2 * SHAKE_KEY, nonce, keys->derive);
	memcpy(is_leader ? s->send : s->receive, octets, SHAKE_KEY);
	memcpy(is_leader ? s->receive : s->send, octets + SHAKE_KEY, SHAKE_KEY);
	memzero_explicit(octets, sizeof(octets));
}

/**
 * shake_welcome_read() - leader: an agent answered
 * @packet: its WELCOME
 * @length: its octets
 * @welcome: what shake_registration_read() took from it
 * @join: the path that has asked
 * @keys: of the agent
 * @session: written if the WELCOME is taken; may receive at once, and send when READY came
 * @index: of @session, here
 *
 * Return: SHAKE_TAKEN, SHAKE_STRANGER, SHAKE_STALE or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_welcome_read(const u8 *packet, u32 length,
				      const struct shake_registration *welcome,
				      struct shake_join *join,
				      const struct shake_keys *keys,
				      struct shake_session *session, u16 index)
{
	enum shake_verdict verdict;

	if (keys->trust == SHAKE_NO_KEY || welcome->id != join->id ||
	    welcome->path != join->path)
		return SHAKE_STRANGER;
	if (!join->asked || memcmp(welcome->nonce, join->nonce, HELLO_ECHO))
		return SHAKE_STALE;
	verdict = message_check(packet, length, welcome->nonce, keys, keys->welcome);
	if (verdict != SHAKE_TAKEN)
		return verdict;

	memcpy(join->nonce, welcome->nonce, SHAKE_NONCE);
	join->asked = false;
	session_init(session, keys, join->nonce, index, true);
	session->wish = join->wish;
	session->encrypt = join->wish;
	return SHAKE_TAKEN;
}

/**
 * shake_confirm_write() - leader: write the CONFIRM of a session, the same each time
 * @packet: room for SHAKE_CONFIRM_OCTETS
 * @join: the path
 * @session: made by shake_welcome_read() from the last WELCOME of @join
 *
 * Return: octets written; 0: a new HELLO was sent since then.
 */
u32 shake_confirm_write(u8 *packet, const struct shake_join *join,
			const struct shake_session *session)
{
	struct shake_registration confirm = {
		.type = SHAKE_TYPE_CONFIRM,
		.path = join->path,
		.flags = session->wish ? SHAKE_ENCRYPTED : 0,
		.index = session->index,
		.id = join->id,
	};
	u32 length;

	if (join->asked)
		return 0;
	memcpy(confirm.nonce, join->nonce, SHAKE_NONCE);
	length = shake_registration_write(packet, &confirm);
	confirm_tag(packet + length, packet, length, session->auth, session->send);
	return length + SHAKE_TAG;
}

/* A CONFIRM with the time of the last one taken: is it that one? */
static enum shake_verdict confirm_again(const u8 *packet, u32 length,
					const struct shake_registration *confirm,
					const struct shake_session *s, u64 time)
{
	enum shake_verdict verdict;

	if (!s || s->time != time || s->peer_index != confirm->index ||
	    s->wish != !!(confirm->flags & SHAKE_ENCRYPTED))
		return SHAKE_STALE;
	verdict = confirm_check(packet, length, s->auth, s->receive);
	return verdict == SHAKE_TAKEN ? SHAKE_AGAIN : verdict;
}

/**
 * shake_confirm_read() - agent: install a session?
 * @packet: the leader's CONFIRM
 * @length: its octets
 * @confirm: what shake_registration_read() took from it
 * @issuer: of the device
 * @keys: of the leader @confirm->id
 * @current_session: the path's newest; NULL: it has none
 * @accepted: time of the path's last CONFIRM taken, and @issuer->last when the peer is
 *            added: else a CONFIRM recorded before a peer was deleted and added again would
 *            bring back a session's keys with counters from 1. It outlives the sessions.
 * @now: ns of the clock that shake_welcome_write() has
 * @session: scratch, not @current_session; the new session if CONFIRM is taken, else zeroed
 * @index: of @session, here
 * @encrypt: DATA must be encrypted, whether the leader wishes it or not
 *
 * Only SHAKE_TAKEN says that the sender's address is the leader's. SHAKE_AGAIN may be a
 * recorded CONFIRM: nothing is learned from it, but its READY goes where it came from. If it
 * went to the address that is known, who copies a CONFIRM and is faster than the leader
 * would keep the leader from ever getting one.
 *
 * Return: SHAKE_TAKEN, SHAKE_AGAIN, SHAKE_STRANGER, SHAKE_STALE, SHAKE_BAD_TYPE or
 * SHAKE_BAD_TAG.
 */
enum shake_verdict shake_confirm_read(const u8 *packet, u32 length,
				      const struct shake_registration *confirm,
				      const struct shake_issuer *issuer,
				      const struct shake_keys *keys,
				      const struct shake_session *current_session,
				      u64 *accepted, u64 now,
				      struct shake_session *session, u16 index,
				      bool encrypt)
{
	u64 time = get_unaligned_be64(confirm->nonce + TIME_AT);
	bool wish = confirm->flags & SHAKE_ENCRYPTED;
	enum shake_verdict verdict;

	memset(session, 0, sizeof(*session));
	if (keys->trust == SHAKE_NO_KEY)
		return SHAKE_STRANGER;
	if (wish && keys->trust != SHAKE_KEYED)
		return SHAKE_BAD_TYPE;
	if (memcmp(confirm->nonce + HELLO_ECHO, issuer->instance, SHAKE_INSTANCE))
		return SHAKE_STALE;
	/* last: a WELCOME that was never written has no time */
	if (time > issuer->last || time < *accepted || time + SHAKE_CONFIRM_NS < now)
		return SHAKE_STALE;
	if (time == *accepted)
		return confirm_again(packet, length, confirm, current_session, time);

	session_init(session, keys, confirm->nonce, index, false);
	verdict = confirm_check(packet, length, session->auth, session->receive);
	if (verdict != SHAKE_TAKEN) {
		shake_session_forget(session);
		return verdict;
	}
	session->time = time;
	session->peer_index = confirm->index;
	session->wish = wish;
	session->encrypt = session->auth && (wish || encrypt);
	session->ready = true;
	*accepted = time;
	return SHAKE_TAKEN;
}

/**
 * shake_ready_write() - agent: write the READY of a session, the same each time
 * @packet: room for SHAKE_READY_OCTETS + SHAKE_TAG
 * @session: made by shake_confirm_read()
 *
 * Return: octets written, with tag.
 */
u32 shake_ready_write(u8 *packet, const struct shake_session *session)
{
	struct shake_head head = {
		.type = SHAKE_TYPE_READY,
		.index = session->peer_index,
	};

	shake_head_write(packet, &head);
	put_unaligned_be16(session->index, packet + SHAKE_HEAD);
	packet[SHAKE_HEAD + 2] = session->encrypt ? SHAKE_ENCRYPTED : 0;
	packet[SHAKE_HEAD + 3] = 0;
	shake_seal(session, 0, packet, SHAKE_READY_OCTETS, SHAKE_READY_OCTETS);
	return SHAKE_READY_OCTETS + shake_tag_octets(session);
}

/**
 * shake_ready_read() - leader: the agent has installed a session
 * @packet: its READY, which shake_head_read() has taken
 * @length: its octets
 * @session: the session that the head names; if READY is taken it may send
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED, SHAKE_BAD_TYPE, SHAKE_REPLAYED or SHAKE_BAD_TAG.
 */
enum shake_verdict shake_ready_read(const u8 *packet, u32 length,
				    struct shake_session *session)
{
	u32 expected = SHAKE_READY_OCTETS + shake_tag_octets(session);
	u8 flags, allowed = session->auth ? SHAKE_ENCRYPTED : 0;
	u8 copy[SHAKE_READY_OCTETS + SHAKE_TAG];
	enum shake_verdict verdict;

	if (length < expected)
		return SHAKE_TRUNCATED;
	if (length > expected)
		return SHAKE_BAD_TYPE;
	memcpy(copy, packet, length);
	verdict = shake_open(session, 0, copy, length, SHAKE_READY_OCTETS);
	if (verdict != SHAKE_TAKEN)
		return verdict;
	flags = packet[SHAKE_HEAD + 2];
	if (flags & ~allowed || packet[SHAKE_HEAD + 3])
		return SHAKE_BAD_TYPE;
	if (session->ready)
		return SHAKE_REPLAYED;
	session->peer_index = get_unaligned_be16(packet + SHAKE_HEAD);
	session->encrypt |= !!(flags & SHAKE_ENCRYPTED);
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
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED, SHAKE_BAD_TYPE or SHAKE_REPLAYED.
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
	if (length < octets)
		return SHAKE_TRUNCATED;
	if (!is_data && length > octets)
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
 * @clear: octets that are only authenticated: shake_head_octets() with SHAKE_ENCRYPTED, else
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
 * @clear: octets that are only authenticated: shake_head_octets() with SHAKE_ENCRYPTED, else
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
