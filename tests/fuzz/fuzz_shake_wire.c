// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: what SHAKE's readers make of any octets. The first octet chooses
 * whether a tag is needed. What is taken is written again and must be the same; what was
 * not made with the key must not be taken by who has it.
 */
#include "input.h"
#include "session.h"

static const u8 random_octets[SHAKE_NONCE] = "any 24 octets";
static const u8 psk[SHAKE_KEY] = "any 32 octets";

/* As the device checks the tag: of DATA in the clear it is behind the head. */
static enum shake_verdict open_packet(u8 *octets, u32 length, const struct shake_head *head,
				      const struct shake_session *s, u64 counter)
{
	u32 clear = shake_head_octets(head->flags), text = clear + SHAKE_TAG, half;
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
	expect(!memcmp(octets, again, shake_head_write(again, &head)));
	if (head.type == SHAKE_TYPE_ACK)
		read_body(octets, length);
	read_reset(&head);
	shake_session_hints(s, &head);
	if (head.type == SHAKE_TYPE_READY) {
		expect(shake_ready_read(octets, length, s) != SHAKE_TAKEN || !s->auth);
		return;
	}
	if (shake_session_check(s, &head, length, &counter) != SHAKE_TAKEN)
		return;
	if (open_packet(octets, length, &head, s, counter) != SHAKE_TAKEN)
		return;
	expect(!s->auth);
	shake_replay_update(&s->replay, counter);
	expect(shake_session_check(s, &head, length, &counter) == SHAKE_REPLAYED);
}

static void take_registration(const u8 *octets, u32 length,
			      const struct shake_registration *r, struct shake_keys *keys)
{
	struct shake_issuer issuer = { .last = U64_MAX / 2 };
	struct shake_join join = { .id = r->id, .path = r->path };
	enum shake_verdict verdict = SHAKE_STALE;
	struct shake_session session;
	u8 packet[SHAKE_HELLO_OCTETS];
	u64 accepted = 0;

	/* what is no secret is right: only the tag can say no */
	if (r->type == SHAKE_TYPE_HELLO) {
		verdict = shake_hello_check(octets, length, r, keys);
	} else if (r->type == SHAKE_TYPE_WELCOME) {
		shake_hello_write(packet, &join, keys, random_octets);
		memcpy(join.nonce, r->nonce, SHAKE_NONCE);
		verdict = shake_welcome_read(octets, length, r, &join, keys, &session, 1);
	} else {
		memcpy(issuer.instance, r->nonce + 8, SHAKE_INSTANCE);
		verdict = shake_confirm_read(octets, length, r, &issuer, keys, NULL, &accepted,
					     0, &session, 1, false);
	}
	expect(verdict != SHAKE_TAKEN || keys->trust != SHAKE_KEYED);
}

static void read_registration(const u8 *octets, u32 length, struct shake_keys *keys)
{
	u8 again[SHAKE_CONFIRM_OCTETS];
	struct shake_registration r;

	if (shake_registration_read(octets, length, &r) != SHAKE_TAKEN)
		return;
	expect(shake_registration_write(again, &r) + SHAKE_TAG == length);
	expect(!memcmp(octets, again, length - SHAKE_TAG));
	take_registration(octets, length, &r, keys);
}

int fuzz(const u8 *octets, size_t length)
{
	struct shake_session session = { .counter = 1 };
	struct shake_keys keys;
	u8 *copy;

	if (!length)
		return 0;
	copy = copy_of(octets + 1, --length);
	session.auth = octets[0] & 1;
	session.encrypt = session.auth && octets[0] & 2;
	session.ready = octets[0] & 4;
	memcpy(session.receive, psk, SHAKE_KEY);
	if (session.auth)
		shake_keys_derive(&keys, psk);
	else
		shake_keys_open(&keys);
	read_registration(copy, length, &keys);
	read_session(copy, length, &session);
	free(copy);
	return 0;
}
