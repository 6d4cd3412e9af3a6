/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHAKE's registration and the sessions that it makes: keys, tags, counters. Bytes in,
 * bytes out; the caller brings random octets and time, and holds the locks.
 *
 *   leader                                      agent
 *   shake_hello_write()     -- HELLO -->        shake_hello_check()
 *   shake_welcome_read()    <-- WELCOME --      shake_welcome_write()
 *   shake_confirm_write()   -- CONFIRM -->      shake_confirm_read()
 *   shake_ready_read()      <-- READY --        shake_ready_write()
 *
 * K_hello, K_welcome and K_derive are the XChaCha20 keystream of the key that both know,
 * with a fixed nonce. Tags of HELLO and WELCOME are those of XChaCha20-Poly1305 under
 * K_hello and K_welcome with the nonce that the message carries: a HELLO's is random, a
 * WELCOME's is
 *
 *   8 octets     the first of the HELLO that it answers
 *   8 octets     random, of this instance of the agent's device
 *   8 octets     the agent's time, ns; no two WELCOMEs have the same
 *
 * The keystream under K_derive with the WELCOME's nonce is the session's two keys. No
 * such nonce comes twice, as either end alone sees to, so no key does. The tag of CONFIRM
 * and the packets of the session are those of ChaCha20-Poly1305 (RFC 8439) under
 * the sender's key; the nonce is the packet counter, READY has 0, CONFIRM 2^64 - 1.
 *
 * The agent keeps nothing for a HELLO, and takes a CONFIRM only with its own instance, at
 * most SHAKE_CONFIRM_NS old and newer than the last one that it took for the path: a
 * recorded CONFIRM does nothing but have READY sent again. A CONFIRM or READY is always
 * repeated octet for octet. Nobody answers what its own role sends, or a RESET.
 *
 * There is no forward secrecy: who learns the key can read what was recorded.
 */
#ifndef _SHAKE_SESSION_H
#define _SHAKE_SESSION_H

#include <apogee/int.h>
#include <apogee/shake_replay.h>
#include <crypto/poly1305.h>

#include "wire.h"

#define SHAKE_KEY 32
#define SHAKE_INSTANCE 8
#define SHAKE_CONFIRM_NS 10000000000ULL

/* What a message is checked by. Zeroed memory is no key. */
enum shake_trust {
	SHAKE_NO_KEY,		/* nothing is taken, nothing written */
	SHAKE_KEYED,
	SHAKE_OPEN,		/* auth off: tags are 0 and prove nothing */
};

/**
 * struct shake_keys - what is derived from the key of a leader and its agent
 * @trust: an enum shake_trust
 * @hello: K_hello
 * @welcome: K_welcome
 * @derive: K_derive
 */
struct shake_keys {
	u8 trust;
	u8 hello[SHAKE_KEY];
	u8 welcome[SHAKE_KEY];
	u8 derive[SHAKE_KEY];
};

/**
 * struct shake_issuer - what makes an agent's nonces unique; one per device
 * @instance: random, new with each device
 * @last: time of the last WELCOME, ns
 */
struct shake_issuer {
	u8 instance[SHAKE_INSTANCE];
	u64 last;
};

/**
 * struct shake_join - a leader's registration of one path
 * @id: number of the leader; the caller's, as the next two
 * @path: 1 to 8
 * @encrypt: wished; a change counts from the next HELLO
 * @asked: a HELLO is out and was not answered; @nonce is its nonce
 * @wish: @encrypt at the time of the HELLO
 * @nonce: of the HELLO, then of the WELCOME
 */
struct shake_join {
	u32 id;
	u8 path;
	bool encrypt;
	bool asked;
	bool wish;
	u8 nonce[SHAKE_NONCE];
};

/**
 * struct shake_session - one path between a leader and its agent
 * @send: key
 * @receive: key
 * @counter: of the next packet to be sent, from 1
 * @time: agent: of the WELCOME that it was made with
 * @replay: packets received
 * @index: here
 * @peer_index: at the other end; a leader knows it when @ready
 * @auth: packets have a tag
 * @encrypt: DATA must be encrypted
 * @wish: agent: the leader's wish, as its CONFIRM said
 * @ready: packets may be sent
 */
struct shake_session {
	u8 send[SHAKE_KEY];
	u8 receive[SHAKE_KEY];
	u64 counter;
	u64 time;
	struct shake_replay replay;
	u16 index;
	u16 peer_index;
	bool auth;
	bool encrypt;
	bool wish;
	bool ready;
};

void shake_keys_derive(struct shake_keys *keys, const u8 psk[SHAKE_KEY]);
void shake_keys_open(struct shake_keys *keys);
void shake_keys_forget(struct shake_keys *keys);
void shake_issuer_init(struct shake_issuer *issuer, const u8 random[SHAKE_INSTANCE]);

u32 shake_hello_write(u8 *packet, struct shake_join *join, const struct shake_keys *keys,
		      const u8 random[SHAKE_NONCE]);
enum shake_verdict shake_hello_check(const u8 *packet, u32 length,
				     const struct shake_registration *hello,
				     const struct shake_keys *keys);

u32 shake_welcome_write(u8 *packet, struct shake_issuer *issuer,
			const struct shake_registration *hello,
			const struct shake_keys *keys, u64 now);
enum shake_verdict shake_welcome_read(const u8 *packet, u32 length,
				      const struct shake_registration *welcome,
				      struct shake_join *join,
				      const struct shake_keys *keys,
				      struct shake_session *session, u16 index);

u32 shake_confirm_write(u8 *packet, const struct shake_join *join,
			const struct shake_session *session);
enum shake_verdict shake_confirm_read(const u8 *packet, u32 length,
				      const struct shake_registration *confirm,
				      const struct shake_issuer *issuer,
				      const struct shake_keys *keys,
				      const struct shake_session *current_session,
				      u64 *accepted, u64 now,
				      struct shake_session *session, u16 index,
				      bool encrypt);

u32 shake_ready_write(u8 *packet, const struct shake_session *session);
enum shake_verdict shake_ready_read(const u8 *packet, u32 length,
				    struct shake_session *session);

void shake_session_forget(struct shake_session *session);

/* octets behind a session's packets */
static inline u32 shake_tag_octets(const struct shake_session *s)
{
	return s->auth ? SHAKE_TAG : 0;
}

#define SHAKE_HOLD 128		/* octets: the heads of TCP, IP and the tunnel together */

/**
 * struct shake_tagger - a tag that is being made
 * @poly: what all octets but those held went into
 * @length: octets so far
 * @held: octets in @hold
 * @hold: they, and room for the lengths at the end
 */
struct shake_tagger {
	struct poly1305_desc_ctx poly;
	u64 length;
	u32 held;
	u8 hold[SHAKE_HOLD + POLY1305_BLOCK_SIZE];
};

void shake_tag_begin(struct shake_tagger *t, const u8 key[SHAKE_KEY], u64 nonce);
void shake_tag_add(struct shake_tagger *t, const u8 *octets, u32 length);
void shake_tag_end(struct shake_tagger *t, u8 tag[SHAKE_TAG]);
enum shake_verdict shake_tag_compare(const u8 *tag, const u8 *right);

bool shake_session_next(struct shake_session *s, u64 *counter);
bool shake_session_hints(const struct shake_session *s, const struct shake_head *reset);
enum shake_verdict shake_session_check(const struct shake_session *s,
				       const struct shake_head *head, u32 length,
				       u64 *counter);
void shake_seal(const struct shake_session *s, u64 counter, u8 *packet, u32 length,
		u32 clear);
enum shake_verdict shake_open(const struct shake_session *s, u64 counter, u8 *packet,
			      u32 length, u32 clear);

#endif /* _SHAKE_SESSION_H */
