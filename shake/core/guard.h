/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an agent does before a HELLO may cost something, once its mac1 is right. Bytes in, bytes
 * out; the caller brings random octets and time, in us of a clock that never goes back, and
 * holds a lock.
 *
 *   shake_guard_again()   the same HELLO once more from there, as anybody may have recorded it: no
 *   shake_guard_loaded()  more HELLOs than usual: now each must have a mac2 by the cookie of its
 *                         address, shake_guard_proves(); who has none gets a COOKIE,
 *                         shake_cookie_write()
 *   shake_guard_admits()  and no more than so many come from one network then
 *   shake_guard_note()    it passed
 *
 * A cookie is a MAC of the address and port by a secret that lives for two minutes, as in
 * WireGuard. Nothing is kept for who has not shown one.
 */
#ifndef _SHAKE_GUARD_H
#define _SHAKE_GUARD_H

#include "session.h"

#define SHAKE_SECRET_US 120000000ULL	/* a secret's life */
#define SHAKE_ASKED 64			/* HELLOs that are remembered */
#define SHAKE_ASKED_US 400000ULL	/* least time between answers to the same HELLO */
#define SHAKE_LOAD_US 20000ULL		/* HELLOs are counted over such a time */
#define SHAKE_LOAD 10			/* more in it are a load */
#define SHAKE_LOADED_US 1000000ULL	/* for so long */
#define SHAKE_SOURCES 256		/* networks that are told apart, at most */
#define SHAKE_SOURCE_US 50000ULL	/* a network's share: one HELLO in this time */
#define SHAKE_SOURCE_BURST 5		/* and so many at once */
#define SHAKE_SOURCE 18			/* octets of an address and its port */

/**
 * struct shake_asked - a HELLO that passed
 * @at: us, when; 0: none
 * @mark: of its ephemeral key and mac1
 * @source: where it came from
 */
struct shake_asked {
	u64 at;
	u64 mark;
	u8 source[SHAKE_SOURCE];
};

/**
 * struct shake_guard - of an agent's device
 * @secret: what cookies are made by
 * @secret_at: us, since when; 0: there is none
 * @slot_at: us, since when HELLOs are counted
 * @slot_count: how many came since then
 * @loaded_until: us, end of the load
 * @asked: HELLOs, by an octet of their ephemeral key and of the port
 * @sources: us, by a hash of the network: when all that came from it had its share
 */
struct shake_guard {
	u8 secret[SHAKE_KEY];
	u64 secret_at;
	u64 slot_at;
	u32 slot_count;
	u64 loaded_until;
	struct shake_asked asked[SHAKE_ASKED];
	u64 sources[SHAKE_SOURCES];
};

bool shake_guard_again(const struct shake_guard *g, const u8 *hello, u32 length,
		       const u8 source[SHAKE_SOURCE], u64 now);
void shake_guard_note(struct shake_guard *g, const u8 *hello, u32 length,
		      const u8 source[SHAKE_SOURCE], u64 now);
bool shake_guard_loaded(struct shake_guard *g, u64 now);
void shake_guard_cookie(struct shake_guard *g, u8 cookie[SHAKE_TAG], const u8 source[SHAKE_SOURCE],
			u64 now);
bool shake_guard_proves(const u8 *hello, u32 length, const u8 cookie[SHAKE_TAG]);
bool shake_guard_admits(struct shake_guard *g, const u8 source[SHAKE_SOURCE], u32 octets, u64 now);
u32 shake_cookie_write(u8 *packet, const u8 *hello, u32 length, const u8 key[SHAKE_KEY],
		       const u8 cookie[SHAKE_TAG], const u8 nonce[SHAKE_COOKIE_NONCE]);

#endif /* _SHAKE_GUARD_H */
