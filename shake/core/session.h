/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHAKE's registration and the sessions that it makes: keys, tags, counters. Bytes in,
 * bytes out; the caller brings random octets and time, and holds the locks.
 *
 *   leader                                      agent
 *   shake_hello_make()
 *   shake_hello_write()     -- HELLO -->        shake_hello_check(), shake_hello_who(),
 *                                               shake_hello_open()
 *   shake_welcome_check()   <-- WELCOME --      shake_welcome_begin(), shake_welcome_write()
 *   shake_welcome_open()
 *   shake_final_write()     -- CONFIRM -->      shake_confirm_read()
 *   shake_ready_read()      <-- READY --        shake_final_write()
 *
 * HELLO and WELCOME are the two messages of a handshake of Noise, with 25519, ChaChaPoly and
 * BLAKE2s: NNpsk0 with a shared key, IKpsk2 with public keys (without a shared key beside them it
 * is zero). The prologue is SHAKE_PROLOGUE and the first 8 octets of the HELLO. A HELLO's payload
 * is the leader's time, a WELCOME's the agent's index of the session, or 0 and the latest time that
 * the agent has taken: then there is no session, and the leader has to say a later time. Split()
 * gives the session's keys, the leader's first. Nothing else is encrypted or authenticated by
 * keys that are older than the handshake.
 *
 * The tags of CONFIRM, READY and the packets of the session are those of ChaCha20-Poly1305 (RFC
 * 8439) under the sender's key; the nonce is the packet counter. CONFIRM and READY have 0, and are
 * always repeated octet for octet, as is a HELLO (but for its mac2) and its WELCOME. Nobody answers
 * what its own role sends, or a RESET.
 *
 * mac1 is a MAC of the message up to it, by a key that is a hash of the receiver's public key or of
 * the shared key: it costs little and keeps out who knows neither. mac2 is a MAC by a cookie, which
 * is a MAC of the sender's address by a secret of the agent's, see guard.h.
 *
 * docs/shake-design.md, "Registration and trust", says what follows from this, and what does not.
 */
#ifndef _SHAKE_SESSION_H
#define _SHAKE_SESSION_H

#include <apogee/int.h>
#include <crypto/poly1305.h>

#include "shake_replay.h"
#include "wire.h"

#define SHAKE_PROLOGUE "SHAKE 1"
#define SHAKE_CONFIRM_NS 10000000000ULL	/* a session waits so long to be confirmed */
#define SHAKE_COOKIE_NS 115000000000ULL	/* a leader shows a cookie so long */
#define SHAKE_REKEY_COUNT 0x1000000000000000ULL	/* a session is renewed at this counter */

/**
 * struct shake_identity - a device's own key pair
 * @there: there is one; else the rest is zero
 * @secret: its secret key
 * @public: its public key
 * @mac: an agent's: key of mac1 in what it gets
 * @cookie: an agent's: key of the cookies that it sends
 */
struct shake_identity {
	bool there;
	u8 secret[SHAKE_KEY];
	u8 public[SHAKE_KEY];
	u8 mac[SHAKE_KEY];
	u8 cookie[SHAKE_KEY];
};

/**
 * struct shake_keys - what a leader and its agent trust each other by
 * @trust: an enum shake_trust; by shake_keys_settle(), as what follows @public
 * @has_psk: there is @psk
 * @has_public: there is @public
 * @psk: the shared key; the user's, or zero
 * @public: the other end's public key; the user's
 * @ss: the secret of both ends' static keys
 * @hello: key of mac1 in HELLO
 * @welcome: key of mac1 in WELCOME
 * @cookie: key of cookies
 */
struct shake_keys {
	u8 trust;
	bool has_psk;
	bool has_public;
	u8 psk[SHAKE_KEY];
	u8 public[SHAKE_KEY];
	u8 ss[SHAKE_KEY];
	u8 hello[SHAKE_KEY];
	u8 welcome[SHAKE_KEY];
	u8 cookie[SHAKE_KEY];
};

/**
 * struct shake_join - a leader's registration of one path
 * @id: number of the leader; the caller's, as the next two
 * @path: 1 to 8
 * @encrypt: wished; a change counts from the next HELLO
 * @asked: a HELLO is out and was not answered
 * @wish: @encrypt at the time of the HELLO
 * @time: of the HELLO; none before has a later one
 * @secret: of its ephemeral key
 * @noise: the handshake behind the HELLO
 * @length: octets of @hello
 * @hello: it, its mac2 zero
 * @has_cookie: there is one
 * @cookie_at: ns, when it came
 * @cookie: what mac2 is made by
 */
struct shake_join {
	u32 id;
	u8 path;
	bool encrypt;
	bool asked;
	bool wish;
	u64 time;
	u8 secret[SHAKE_KEY];
	struct shake_noise noise;
	u32 length;
	u8 hello[SHAKE_HELLO_MOST];
	bool has_cookie;
	u64 cookie_at;
	u8 cookie[SHAKE_TAG];
};

/**
 * struct shake_session - one path between a leader and its agent
 * @send: key
 * @receive: key
 * @counter: of the next packet to be sent, from 1
 * @replay: packets received
 * @index: here
 * @peer_index: at the other end; an agent knows it when @ready
 * @auth: packets have a tag
 * @encrypt: DATA must be encrypted
 * @wish: the leader's wish, as its CONFIRM says
 * @taking: packets may come in: an agent's has been confirmed
 * @ready: packets may be sent
 */
struct shake_session {
	u8 send[SHAKE_KEY];
	u8 receive[SHAKE_KEY];
	u64 counter;
	struct shake_replay replay;
	u16 index;
	u16 peer_index;
	bool auth;
	bool encrypt;
	bool wish;
	bool taking;
	bool ready;
};

bool shake_identity_set(struct shake_identity *own, const u8 secret[SHAKE_KEY]);
void shake_keys_settle(struct shake_keys *keys, const struct shake_identity *own, bool auth,
		       bool is_leader);

bool shake_hello_make(struct shake_join *join, const struct shake_keys *keys,
		      const struct shake_identity *own, const u8 random[SHAKE_KEY], u64 time);
u32 shake_hello_write(u8 *packet, const struct shake_join *join, u64 now);
void shake_join_forget(struct shake_join *join);
enum shake_verdict shake_cookie_read(const u8 *packet, const struct shake_registration *cookie,
				     struct shake_join *join, const struct shake_keys *keys,
				     u64 now);

enum shake_verdict shake_hello_check(const u8 *packet, u32 length, const u8 key[SHAKE_KEY]);
enum shake_verdict shake_hello_who(const u8 *packet, const struct shake_identity *own,
				   struct shake_noise *noise, u8 public[SHAKE_KEY]);
enum shake_verdict shake_hello_open(const u8 *packet, const struct shake_registration *hello,
				    const struct shake_keys *keys, struct shake_noise *noise,
				    u64 *time);
enum shake_verdict shake_welcome_begin(const u8 *hello, const struct shake_keys *keys,
				       struct shake_noise *noise, const u8 random[SHAKE_KEY],
				       u8 ephemeral[SHAKE_KEY], struct shake_session *session);
u32 shake_welcome_write(u8 *packet, const struct shake_registration *hello,
			const struct shake_keys *keys, struct shake_noise *noise,
			const u8 ephemeral[SHAKE_KEY], u16 index, u64 time);

enum shake_verdict shake_welcome_check(const u8 *packet, const struct shake_registration *welcome,
				       const struct shake_join *join,
				       const struct shake_keys *keys);
enum shake_verdict shake_welcome_open(const u8 *packet, struct shake_join *join,
				      const struct shake_keys *keys,
				      const struct shake_identity *own,
				      struct shake_session *session);

u32 shake_final_write(u8 *packet, const struct shake_session *session, u8 type);
enum shake_verdict shake_confirm_read(const u8 *packet, u32 length, struct shake_session *session,
				      bool encrypt);
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
