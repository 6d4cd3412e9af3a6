// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: what SHAKE's readers make of any octets. The first octet chooses
 * whether a tag is needed, and by which keys. What is taken is written again and must be the
 * same; what was not made with the key must not be taken by who has it.
 */
#include <shake/core/guard.h>
#include "input.h"

static const u8 random_octets[SHAKE_KEY] = "any 32 octets";
static const u8 psk[SHAKE_KEY] = "any other 32 octets";
static const u8 secrets[2][SHAKE_KEY] = { "a leader's secret", "an agent's secret" };

/* As the device checks the tag: of DATA in the clear it is behind the head. */
static enum shake_verdict open_packet(u8 *octets, u32 length, const struct shake_head *head,
				      const struct shake_session *s, u64 counter)
{
	u32 clear = shake_clear_octets(head->flags), text = clear + SHAKE_TAG, half;
	struct shake_tagger t;
	u8 tag[SHAKE_TAG];

	if (head->flags & SHAKE_ENCRYPTED)
		return shake_open(s, counter, octets, length, clear);
	if (head->type != SHAKE_TYPE_DATA || !s->auth)
		return shake_open(s, counter, octets, length, length - shake_tag_octets(s));
	half = (length - text) / 2;
	shake_tag_begin(&t, s->receive, counter);
	shake_tag_add(&t, octets, clear);
	shake_tag_add(&t, octets + text, half);
	shake_tag_add(&t, octets + text + half, length - text - half);
	shake_tag_end(&t, tag);
	return shake_tag_compare(octets + clear, tag);
}

static void read_body(const u8 *octets, u32 length)
{
	struct shake_ack_body body;
	u8 again[SHAKE_ACK_OCTETS];

	expect(shake_ack_read(octets, length, &body) == SHAKE_TAKEN);
	expect(shake_ack_write(again, &body) <= length);
	expect(!memcmp(octets + SHAKE_HEAD, again + SHAKE_HEAD, sizeof(again) - SHAKE_HEAD));
}

/* What who has no such session answers names the packet. */
static void read_reset(const struct shake_head *unknown)
{
	u8 octets[SHAKE_RESET_OCTETS];
	struct shake_head reset;

	expect(shake_reset_write(octets, unknown) == sizeof(octets));
	expect(shake_head_read(octets, sizeof(octets), &reset) == SHAKE_TAKEN);
	expect(reset.index == unknown->index && reset.counter == unknown->counter);
}

/* As a packet of a session: @s has the key that nobody else has. */
static void read_session(u8 *octets, u32 length, struct shake_session *s)
{
	u8 again[SHAKE_HEAD_MAL];
	struct shake_head head;
	u64 counter;

	if (shake_head_read(octets, length, &head) != SHAKE_TAKEN)
		return;
	expect(!memcmp(octets, again, min_t(u32, shake_head_write(again, &head),
					    shake_clear_octets(head.flags))));
	if (head.type == SHAKE_TYPE_ACK)
		read_body(octets, length);
	read_reset(&head);
	shake_session_hints(s, &head);
	if (head.type == SHAKE_TYPE_CONFIRM)
		expect(shake_confirm_read(octets, length, s, true) != SHAKE_TAKEN || !s->auth);
	if (head.type == SHAKE_TYPE_READY)
		expect(shake_ready_read(octets, length, s) != SHAKE_TAKEN || !s->auth);
	if (head.type <= SHAKE_TYPE_READY)
		return;
	if (shake_session_check(s, &head, length, &counter) != SHAKE_TAKEN)
		return;
	if (open_packet(octets, length, &head, s, counter) != SHAKE_TAKEN)
		return;
	expect(!s->auth);
	shake_replay_update(&s->replay, counter);
	expect(shake_session_check(s, &head, length, &counter) == SHAKE_REPLAYED);
}

/* The keys of an end. */
static void keys_of(u8 trust, bool is_leader, struct shake_keys *keys, struct shake_identity *own)
{
	memset(keys, 0, sizeof(*keys));
	memset(own, 0, sizeof(*own));
	keys->has_psk = trust & 1 || trust == SHAKE_SHARED;
	memcpy(keys->psk, psk, keys->has_psk ? SHAKE_KEY : 0);
	if (trust == SHAKE_PUBLIC) {
		u8 secret[SHAKE_KEY];

		expect(shake_identity_set(own, secrets[!is_leader]));
		keys->has_public = true;
		shake_secret_make(secret, secrets[is_leader]);
		expect(shake_public_of(keys->public, secret));
	}
	shake_keys_settle(keys, own, trust != SHAKE_OPEN, is_leader);
	expect(keys->trust == trust);
}

/* HELLO, with the right mac1 if that is no secret: what is behind it is not. */
static void take_hello(u8 *octets, u32 length, const struct shake_registration *r, u8 trust)
{
	struct shake_guard guard = { .loaded_until = U64_MAX };
	u8 answer[SHAKE_COOKIE_OCTETS], cookie[SHAKE_TAG], source[SHAKE_SOURCE] = { 0 };
	u8 public[SHAKE_KEY], ephemeral[SHAKE_KEY];
	enum shake_verdict verdict = SHAKE_TAKEN;
	struct shake_session session;
	struct shake_identity own;
	struct shake_noise noise;
	struct shake_keys keys;
	u64 time;

	keys_of(trust, false, &keys, &own);
	expect(shake_hello_check(octets, length, keys.hello) != SHAKE_TAKEN);
	if (r->kind == SHAKE_PUBLIC)
		shake_mac(octets + length - 2 * SHAKE_TAG, own.mac, octets, length - 2 * SHAKE_TAG);
	expect(!shake_guard_again(&guard, octets, length, source, 1));
	shake_guard_note(&guard, octets, length, source, 1);
	expect(shake_guard_again(&guard, octets, length, source, 2));
	shake_guard_cookie(&guard, cookie, source, 1);
	expect(!shake_guard_proves(octets, length, cookie));
	expect(shake_cookie_write(answer, octets, length, keys.cookie, cookie, random_octets) <=
	       length);
	if (r->kind == SHAKE_PUBLIC)
		verdict = own.there ? shake_hello_who(octets, &own, &noise, public) :
				      SHAKE_STRANGER;
	if (!verdict)
		verdict = shake_hello_open(octets, r, &keys, &noise, &time);
	expect(verdict != SHAKE_TAKEN || trust == SHAKE_OPEN);
	if (verdict)
		return;
	expect(!shake_welcome_begin(octets, &keys, &noise, random_octets, ephemeral, &session));
	expect(!session.taking && !session.ready);
}

/* An answer to a HELLO that was sent, with the right mac1. */
static void take_answer(u8 *octets, u32 length, struct shake_registration *r, u8 trust)
{
	struct shake_join join = { .path = r->path }, copy;
	u8 *mac = octets + SHAKE_WELCOME_MAC;
	enum shake_verdict verdict;
	struct shake_session session;
	struct shake_identity own;
	struct shake_keys keys;

	keys_of(trust, true, &keys, &own);
	expect(shake_hello_make(&join, &keys, &own, random_octets, 1));
	memcpy(r->echo, join.hello + SHAKE_HELLO_EPHEMERAL, SHAKE_ECHO);
	if (r->type == SHAKE_TYPE_COOKIE) {
		expect(shake_cookie_read(octets, r, &join, &keys, 1) != SHAKE_TAKEN);
		return;
	}
	expect(length == SHAKE_WELCOME_OCTETS);
	if (trust != SHAKE_OPEN)
		shake_mac(mac, keys.welcome, octets, SHAKE_WELCOME_MAC);
	verdict = shake_welcome_check(octets, r, &join, &keys);
	expect(verdict == (r->kind == trust ? SHAKE_TAKEN : SHAKE_STRANGER));
	if (verdict)
		return;
	copy = join;
	verdict = shake_welcome_open(octets, &copy, &keys, &own, &session);
	expect(trust == SHAKE_OPEN ? verdict != SHAKE_BAD_TAG : verdict == SHAKE_BAD_TAG);
}

static void read_registration(u8 *octets, u32 length, u8 trust)
{
	u8 again[SHAKE_HELLO_MOST] = { 0 };
	struct shake_registration r;

	if (shake_registration_read(octets, length, &r) != SHAKE_TAKEN)
		return;
	shake_registration_write(again, &r);
	expect(!memcmp(octets, again, r.type == SHAKE_TYPE_HELLO ? 8 : 4 + SHAKE_ECHO));
	if (r.type == SHAKE_TYPE_HELLO)
		take_hello(octets, length, &r, trust);
	else
		take_answer(octets, length, &r, trust);
}

int fuzz(const u8 *octets, size_t length)
{
	struct shake_session session = { .counter = 1 };
	u8 *copy, *other, kind;

	if (!length)
		return 0;
	kind = octets[0];
	copy = copy_of(octets + 1, --length);
	other = copy_of(octets + 1, length);
	session.auth = kind & 1;
	session.encrypt = session.auth && kind & 2;
	session.ready = kind & 4;
	session.taking = kind & 8;
	memcpy(session.receive, psk, SHAKE_KEY);
	read_registration(other, length, SHAKE_OPEN + (kind >> 4) % 3);
	read_session(copy, length, &session);
	free(other);
	free(copy);
	return 0;
}
