// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a leader and its agent, who have the same key. The octets say who writes
 * what, and whether the packet on the way is delivered, damaged, cut, or delivered again. What
 * is not as it was written is not taken if there is a key; what is, says what was written.
 */
#include <string.h>

#include "input.h"
#include "shake_open.h"

#define ROOM 400	/* of a packet */
#define MOST_STEPS 60

/* @text: of DATA, before it was sealed */
struct packet {
	u8 octets[ROOM];
	u32 length;
	u8 text[ROOM];
	bool to_agent;
};

/**
 * struct world - both ends of one path, and one packet between them
 * @leader: its session, if it has @joined
 * @agent: as well, if @installed
 * @accepted: time of the last CONFIRM that the agent took
 * @now: the agent's clock
 * @written: what was sent
 * @coming: what is delivered
 * @recorded: what was sent once, by who sees packets
 */
struct world {
	struct shake_keys keys;
	struct shake_issuer issuer;
	struct shake_join join;
	struct shake_session leader, agent;
	bool joined, installed;
	u64 accepted, now;
	struct packet written, coming, recorded;
};

static bool is_forged(const struct world *w)
{
	return w->keys.trust == SHAKE_KEYED &&
	       (w->coming.length != w->written.length ||
		memcmp(w->coming.octets, w->written.octets, w->written.length));
}

static void sent(struct world *w, u32 length, bool to_agent)
{
	expect(length <= ROOM);
	w->written.length = length;
	w->written.to_agent = to_agent;
	w->coming = w->written;
}

static void say_hello(struct world *w, struct input *in)
{
	u8 nonce[SHAKE_NONCE];

	for (u32 i = 0; i < SHAKE_NONCE; i++)
		nonce[i] = w->join.asked ? w->join.nonce[i] : next8(in);
	w->join.encrypt = next_bool(in);
	sent(w, shake_hello_write(w->written.octets, &w->join, &w->keys, nonce), true);
}

/* The text is behind the head, or behind the tag that is behind the head. */
static void send_data(struct world *w, struct shake_session *s, struct shake_head *head,
		      u64 counter, struct input *in)
{
	u8 *octets = w->written.octets;
	u32 size = 1 + next_to(in, 300), clear, at, end;

	head->flags |= s->encrypt || (s->auth && next_bool(in)) ? SHAKE_ENCRYPTED : 0;
	clear = shake_head_write(octets, head);
	at = clear + (head->flags & SHAKE_ENCRYPTED ? 0 : shake_tag_octets(s));
	end = at + size;
	for (u32 i = 0; i < size; i++)
		w->written.text[i] = next8(in);
	memcpy(octets + at, w->written.text, size);
	if (head->flags & SHAKE_ENCRYPTED)
		shake_seal(s, counter, octets, end, clear);
	else if (s->auth)
		data_tag(octets + clear, octets, clear, at, end, counter, s->send);
	sent(w, end + (head->flags & SHAKE_ENCRYPTED ? SHAKE_TAG : 0), s == &w->leader);
}

/* DATA, a pseudo-ACK or a probe of a session. */
static void send_packet(struct world *w, struct shake_session *s, struct input *in)
{
	struct shake_ack_body body = { .echo = next32(in), .seen = next64(in) };
	struct shake_head head = { .type = SHAKE_TYPE_DATA + next8(in) % 3 };
	u8 *octets = w->written.octets;
	u64 counter;
	u32 length;

	if (!shake_session_next(s, &counter))
		return;
	head.index = s->peer_index;
	head.counter = counter;
	if (head.type == SHAKE_TYPE_DATA) {
		head.flags = next_bool(in) ? SHAKE_MAL : 0;
		send_data(w, s, &head, counter, in);
		return;
	}
	head.flags = head.type == SHAKE_TYPE_PROBE ? SHAKE_COUNTED : 0;
	length = shake_head_write(octets, &head);
	if (head.type == SHAKE_TYPE_ACK)
		length = shake_ack_write(octets, &body);
	shake_seal(s, counter, octets, length, length);
	sent(w, length + shake_tag_octets(s), s == &w->leader);
}

static void agent_registers(struct world *w, const struct shake_registration *r, bool encrypt)
{
	const struct packet *p = &w->coming;
	struct shake_session fresh;
	enum shake_verdict verdict;

	if (r->type == SHAKE_TYPE_HELLO) {
		if (shake_hello_check(p->octets, p->length, r, &w->keys) != SHAKE_TAKEN)
			return;
		expect(!is_forged(w));
		sent(w, shake_welcome_write(w->written.octets, &w->issuer, r, &w->keys, w->now),
		     false);
		return;
	}
	verdict = shake_confirm_read(p->octets, p->length, r, &w->issuer, &w->keys,
				     w->installed ? &w->agent : NULL, &w->accepted, w->now, &fresh,
				     7, encrypt);
	if (verdict != SHAKE_TAKEN && verdict != SHAKE_AGAIN)
		return;
	expect(!is_forged(w));
	if (verdict == SHAKE_TAKEN)
		w->agent = fresh;
	w->installed = true;
	sent(w, shake_ready_write(w->written.octets, &w->agent), false);
}

static void confirm(struct world *w)
{
	if (w->joined)
		sent(w, shake_confirm_write(w->written.octets, &w->join, &w->leader), true);
}

static void leader_registers(struct world *w, const struct shake_registration *r)
{
	struct shake_session fresh;

	if (shake_welcome_read(w->coming.octets, w->coming.length, r, &w->join, &w->keys, &fresh,
			       9) != SHAKE_TAKEN)
		return;
	expect(!is_forged(w));
	w->leader = fresh;
	w->joined = true;
	confirm(w);
}

static void take_ready(struct world *w)
{
	if (shake_ready_read(w->coming.octets, w->coming.length, &w->leader) != SHAKE_TAKEN)
		return;
	expect(!is_forged(w));
	expect(w->leader.ready);
}

/* It is taken once, and only from the other end. */
static void take_packet(struct world *w, struct shake_session *s, const struct shake_head *head)
{
	struct packet p = w->coming;
	u32 at = shake_head_octets(head->flags);
	u64 counter;

	if (shake_session_check(s, head, p.length, &counter) != SHAKE_TAKEN ||
	    open_packet(p.octets, p.length, head, s, counter) != SHAKE_TAKEN)
		return;
	expect(!is_forged(w));
	if (head->type == SHAKE_TYPE_DATA && s->auth) {
		at += head->flags & SHAKE_ENCRYPTED ? 0 : SHAKE_TAG;
		expect(!memcmp(p.octets + at, p.text, w->written.length - SHAKE_TAG - at +
			       (head->flags & SHAKE_ENCRYPTED ? 0 : SHAKE_TAG)));
	}
	shake_replay_update(&s->replay, counter);
	expect(shake_session_check(s, head, p.length, &counter) == SHAKE_REPLAYED);
}

/* A packet of a session: READY goes to a leader, and who has no session answers RESET. */
static void deliver_packet(struct world *w, const struct shake_head *head)
{
	struct shake_session *to = w->coming.to_agent ? &w->agent : &w->leader;

	if (head->type == SHAKE_TYPE_RESET)
		shake_session_hints(to, head);
	else if (w->coming.to_agent ? !w->installed : !w->joined)
		sent(w, shake_reset_write(w->written.octets, head), !w->coming.to_agent);
	else if (head->type == SHAKE_TYPE_READY && !w->coming.to_agent)
		take_ready(w);
	else
		take_packet(w, to, head);
}

static void deliver(struct world *w, struct input *in)
{
	const struct packet *p = &w->coming;
	bool encrypt = next_bool(in);
	struct shake_registration r;
	struct shake_head head;

	if (shake_head_read(p->octets, p->length, &head) == SHAKE_TAKEN)
		deliver_packet(w, &head);
	else if (shake_registration_read(p->octets, p->length, &r) != SHAKE_TAKEN)
		return;
	else if (w->coming.to_agent && r.type != SHAKE_TYPE_WELCOME)
		agent_registers(w, &r, encrypt);
	else if (!w->coming.to_agent && r.type == SHAKE_TYPE_WELCOME)
		leader_registers(w, &r);
}

static void damage(struct world *w, struct input *in)
{
	u32 at = next8(in);

	if (at < w->coming.length)
		w->coming.octets[at] ^= next8(in);
	else
		w->coming.length -= w->coming.length ? 1 : 0;
}

static void forget(struct world *w, struct input *in)
{
	switch (next8(in) % 4) {
	case 0:
		shake_keys_forget(&w->keys);
		break;
	case 1:
		shake_session_forget(&w->agent);
		w->installed = false;
		break;
	case 2:
		shake_session_forget(&w->leader);
		w->joined = false;
		break;
	default:
		w->leader.counter = SHAKE_COUNTER_LIMIT - 1;
	}
}

static void step(struct world *w, struct input *in)
{
	switch (next8(in) % 20) {
	case 0:
		say_hello(w, in);
		break;
	case 1:
		send_packet(w, &w->leader, in);
		break;
	case 2:
		send_packet(w, &w->agent, in);
		break;
	case 3:
		damage(w, in);
		break;
	case 4:
		w->now += (u64)next32(in) << 4;	/* up to a minute */
		break;
	case 5:
		forget(w, in);
		break;
	case 6:
		w->coming = w->written;
		break;
	case 7:
		w->recorded = w->written;
		break;
	case 8:
		w->written = w->recorded;
		w->coming = w->recorded;
		break;
	case 9:
		confirm(w);
		break;
	default:
		deliver(w, in);
	}
}

int fuzz(const u8 *octets, size_t length)
{
	static const u8 psk[SHAKE_KEY] = "any 32 octets", instance[SHAKE_INSTANCE] = "of it";
	struct input in = { octets, length };
	struct world w = { .join = { .id = 5, .path = 2 }, .now = 1 };

	if (next_bool(&in))
		shake_keys_derive(&w.keys, psk);
	else
		shake_keys_open(&w.keys);
	shake_issuer_init(&w.issuer, instance);
	for (u32 steps = 0; in.length && steps < MOST_STEPS; steps++)
		step(&w, &in);
	return 0;
}
