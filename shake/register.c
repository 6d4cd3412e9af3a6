// SPDX-License-Identifier: GPL-2.0
/*
 * Registration: what leader and agent tell each other before there is a session, and hints that
 * there is none. Whatever a packet makes cost a multiplication is done without the peer's lock,
 * which its data needs, and only after what is cheap has said yes.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <compat/timer.h>
#include <compat/unaligned.h>

#include "control.h"
#include "mtu.h"
#include "path.h"
#include "register.h"
#include "send.h"
#include "wake.h"

#define REGISTRATIONS 1000			/* HELLOs, or WELCOMEs, computed per second */
#define WELCOME_US (2 * USEC_PER_MSEC)		/* between answers to a peer's path */
#define PLACE_US USEC_PER_SEC			/* an older HELLO takes no younger one's place */
#define RESET_US (100 * USEC_PER_MSEC)		/* a hint is false if the path is heard by then */
#define RESETS 100				/* sent per second */
#define NETWORK_V4 4				/* octets of an address that are its network's */
#define NETWORK_V6 8

/* Whether one more may be done now. What is not used is not saved up. */
static bool may_compute(struct shake_dev *d, atomic_t *budget)
{
	unsigned long refilled = READ_ONCE(d->refilled);

	/* no time_after(): after weeks without a packet the stamp would be in the future */
	if (jiffies - refilled >= HZ / 50) {
		WRITE_ONCE(d->refilled, jiffies);
		atomic_set(&d->registrations, REGISTRATIONS / 50);
		atomic_set(&d->resets, RESETS / 50);
	}
	return atomic_dec_if_positive(budget) >= 0;
}

/* --- HELLO: what is cheap ------------------------------------------------------------------- */

/* The keys of mac1 and of cookies, for a HELLO of this kind. Returns whether there are any. */
static bool find_macs(struct shake_dev *d, const struct shake_registration *r,
		      u8 hello[SHAKE_KEY], u8 cookie[SHAKE_KEY])
{
	struct shake_peer *peer = NULL;
	bool found;

	if (r->kind == SHAKE_PUBLIC) {
		spin_lock_bh(&d->guard_lock);
		found = d->identity.there;
		memcpy(hello, d->identity.mac, SHAKE_KEY);
		memcpy(cookie, d->identity.cookie, SHAKE_KEY);
		spin_unlock_bh(&d->guard_lock);
		return found;
	}
	peer = shake_peer_find(d, r->id);
	if (!peer)
		return false;
	spin_lock_bh(&peer->lock);
	found = peer->keys.trust == r->kind;
	memcpy(hello, peer->keys.hello, SHAKE_KEY);
	memcpy(cookie, peer->keys.cookie, SHAKE_KEY);
	spin_unlock_bh(&peer->lock);
	return found;
}

static void write_source(u8 source[SHAKE_SOURCE], const union shake_addr *addr)
{
	memset(source, 0, SHAKE_SOURCE);
	if (addr->any.sa_family == AF_INET) {
		memcpy(source, &addr->v4.sin_addr, sizeof(addr->v4.sin_addr));
		memcpy(source + SHAKE_SOURCE - 2, &addr->v4.sin_port, 2);
	} else {
		memcpy(source, &addr->v6.sin6_addr, sizeof(addr->v6.sin6_addr));
		memcpy(source + SHAKE_SOURCE - 2, &addr->v6.sin6_port, 2);
	}
}

/* What becomes of a HELLO with the right mac1. */
enum gate { REFUSED, UNPROVEN, PASSED };

static enum gate pass_guard(struct shake_dev *d, const u8 *packet, u32 length, u8 kind,
			    const union shake_addr *from, u8 cookie[SHAKE_TAG])
{
	u32 network = from->any.sa_family == AF_INET ? NETWORK_V4 : NETWORK_V6;
	struct shake_guard *g = &d->guard;
	enum gate gate = PASSED;
	u8 source[SHAKE_SOURCE];

	write_source(source, from);
	spin_lock_bh(&d->guard_lock);
	if (shake_guard_again(g, packet, length, source, shake_now())) {
		gate = REFUSED;
	} else if (shake_guard_loaded(g, shake_now()) && kind != SHAKE_OPEN) {
		shake_guard_cookie(g, cookie, source, shake_now());
		if (!shake_guard_proves(packet, length, cookie))
			gate = UNPROVEN;
		else if (!shake_guard_admits(g, source, network, shake_now()))
			gate = REFUSED;
	}
	if (gate == PASSED && !may_compute(d, &d->registrations))
		gate = REFUSED;
	if (gate == PASSED)
		shake_guard_note(g, packet, length, source, shake_now());
	spin_unlock_bh(&d->guard_lock);
	return gate;
}

static void send_cookie(struct shake_dev *d, const u8 *packet, u32 length, const u8 *key,
			const u8 *cookie, const struct shake_way *way)
{
	u8 answer[SHAKE_COOKIE_OCTETS], nonce[SHAKE_COOKIE_NONCE];

	get_random_bytes(nonce, sizeof(nonce));
	length = shake_cookie_write(answer, packet, length, key, cookie, nonce);
	shake_count(d, SHAKE_COOKIE_SENT);
	shake_send_control(d, way, answer, length);
}

/* Whether a HELLO may cost something. Who has to show where it is gets a COOKIE. */
static bool is_worth(struct shake_dev *d, const u8 *packet, u32 length,
		     const struct shake_registration *r, const struct shake_way *way)
{
	u8 hello[SHAKE_KEY], key[SHAKE_KEY], cookie[SHAKE_TAG];
	enum shake_verdict verdict = SHAKE_TAKEN;
	enum gate gate = REFUSED;

	if (!find_macs(d, r, hello, key))
		verdict = SHAKE_STRANGER;
	else if (r->kind != SHAKE_OPEN)
		verdict = shake_hello_check(packet, length, hello);
	if (verdict) {
		shake_count_verdict(d, verdict);
	} else {
		gate = pass_guard(d, packet, length, r->kind, &way->to, cookie);
		if (gate == UNPROVEN)
			send_cookie(d, packet, length, key, cookie, way);
		else if (gate == REFUSED)
			shake_count(d, SHAKE_DROP_RATE);
	}
	memzero_explicit(hello, sizeof(hello));
	memzero_explicit(key, sizeof(key));
	return gate == PASSED;
}

/* --- HELLO: what is not --------------------------------------------------------------------- */

/**
 * struct asker - a HELLO that is being answered
 * @d: the device
 * @packet: it
 * @r: what stands in front
 * @peer: who has sent it, as it seems
 * @keys: the peer's, as they were
 * @own: the device's, as they were
 * @noise: the handshake
 * @ephemeral: the answer's key
 * @session: the session that it asks for
 * @time: its time
 * @behind: that is not later than that of a session that was confirmed
 */
struct asker {
	struct shake_dev *d;
	const u8 *packet;
	const struct shake_registration *r;
	struct shake_peer *peer;
	struct shake_keys keys;
	struct shake_identity own;
	struct shake_noise noise;
	u8 ephemeral[SHAKE_KEY];
	struct shake_session session;
	u64 time;
	bool behind;
};

static void copy_identity(struct shake_dev *d, struct shake_identity *own)
{
	spin_lock_bh(&d->guard_lock);
	*own = d->identity;
	spin_unlock_bh(&d->guard_lock);
}

/* Copy a peer's keys. Returns whether it has that public key. */
static bool copy_keys(struct shake_peer *peer, struct shake_keys *keys, const u8 *public)
{
	spin_lock_bh(&peer->lock);
	*keys = peer->keys;
	spin_unlock_bh(&peer->lock);
	return !public || (keys->trust == SHAKE_PUBLIC && !memcmp(keys->public, public, SHAKE_KEY));
}

/* The peer with a public key, and its keys. */
static struct shake_peer *find_public(struct asker *a, const u8 public[SHAKE_KEY])
{
	u64 mark = get_unaligned_le64(public);
	struct shake_peer *peer;
	unsigned long i;

	xa_for_each(&a->d->peers, i, peer)
		if (READ_ONCE(peer->mark) == mark && copy_keys(peer, &a->keys, public))
			return peer;
	return NULL;
}

/* Find out who sent a HELLO, and read it. */
static enum shake_verdict open_hello(struct asker *a)
{
	enum shake_verdict verdict = SHAKE_TAKEN;
	u8 public[SHAKE_KEY];

	if (a->r->kind == SHAKE_PUBLIC) {
		copy_identity(a->d, &a->own);
		verdict = shake_hello_who(a->packet, &a->own, &a->noise, public);
		if (!verdict)
			a->peer = find_public(a, public);
	} else {
		a->peer = shake_peer_find(a->d, a->r->id);
		if (a->peer)
			copy_keys(a->peer, &a->keys, NULL);
	}
	if (!verdict && !a->peer)
		verdict = SHAKE_STRANGER;
	return verdict ?: shake_hello_open(a->packet, a->r, &a->keys, &a->noise, &a->time);
}

/* The answer that the same HELLO has had. Returns its octets, 0: none. Under the peer's lock. */
static u32 answer_again(const struct asker *a, const struct shake_path *path, u8 *answer)
{
	if (!path || !path->next ||
	    memcmp(path->echo, a->packet + SHAKE_HELLO_EPHEMERAL, SHAKE_KEY))
		return 0;
	memcpy(answer, path->welcome, SHAKE_WELCOME_OCTETS);
	return SHAKE_WELCOME_OCTETS;
}

/*
 * Whether a HELLO is older than those of this path's sessions. Who has not shown that it has a
 * session's keys may have forged its HELLO's time. Under the peer's lock.
 */
static bool is_behind(const struct asker *a, const struct shake_path *path)
{
	return path && a->keys.trust != SHAKE_OPEN && a->time <= path->accepted;
}

/* Whether it is a copy of one from before that which is being answered. The same. */
static bool is_old(const struct asker *a, const struct shake_path *path, u64 now)
{
	return path && path->next && a->keys.trust != SHAKE_OPEN &&
	       a->time < path->next->time && now - path->next->made_at < PLACE_US;
}

/*
 * Whether a good HELLO is to have an answer; writes it if it has had one before, which costs
 * nothing: the first may have gone to somebody whose copy was faster.
 */
static bool may_answer(struct asker *a, u8 *answer, u32 *length)
{
	struct shake_peer *peer = a->peer;
	u64 *last = &peer->welcome_at[a->r->path - 1], now;
	struct shake_path *path;
	bool early;

	spin_lock_bh(&peer->lock);
	now = shake_now();
	path = shake_path(peer, a->r->path);
	*length = answer_again(a, path, answer);
	early = !*length && (now - *last < WELCOME_US || is_old(a, path, now));
	if (!early && !*length) {
		*last = now;
		a->behind = is_behind(a, path);
	}
	spin_unlock_bh(&peer->lock);
	return !early;
}

/* The session waits for its CONFIRM. Returns it, NULL without memory. Under the peer's lock. */
static struct shake_link *hold_session(struct asker *a)
{
	struct shake_peer *peer = a->peer;
	struct shake_path *path = shake_path(peer, a->r->path);
	struct shake_link *link;

	if (!path) {
		path = shake_path_make(peer, a->r->path, GFP_ATOMIC);
		if (path)
			shake_path_set_state(path, SHAKE_PATH_JOINING);
	}
	link = path ? shake_link_make(path, &a->session) : NULL;
	if (!link)
		return NULL;
	shake_link_free(a->d, path->next);
	path->next = link;
	link->time = a->time;
	shake_peer_wake(peer, link->made_at, shake_now());
	return link;
}

/* Returns the octets of the answer, or 0 and why. Under the peer's lock. */
static u32 answer_new(struct asker *a, u8 *answer, enum shake_count *cause)
{
	struct shake_path *path = shake_path(a->peer, a->r->path);
	struct shake_link *link = NULL;
	bool late = is_behind(a, path);
	u32 length;

	*cause = SHAKE_DROP_STALE;
	if (late != a->behind || memcmp(&a->peer->keys, &a->keys, sizeof(a->keys)) ||
	    shake_is_asleep())
		return 0;	/* another CPU has changed it since */
	*cause = SHAKE_DROP_MEMORY;
	if (!late)
		link = hold_session(a);
	if (!late && !link)
		return 0;
	length = shake_welcome_write(answer, a->r, &a->keys, &a->noise, a->ephemeral,
				     link ? link->s.index : 0, late ? path->accepted : 0);
	if (link) {
		memcpy(link->path->echo, a->packet + SHAKE_HELLO_EPHEMERAL, SHAKE_KEY);
		memcpy(link->path->welcome, answer, length);
	}
	return length;
}

/* Returns the octets of the answer, 0: none. */
static u32 answer_hello(struct asker *a, u8 *answer)
{
	enum shake_count cause = SHAKE_DROP_RATE;
	enum shake_verdict verdict;
	u8 random[SHAKE_KEY];
	u32 length = 0;

	verdict = open_hello(a);
	if (!verdict && may_answer(a, answer, &length) && !length) {
		get_random_bytes(random, sizeof(random));
		verdict = shake_welcome_begin(a->packet, &a->keys, &a->noise, random, a->ephemeral,
					      &a->session);
		memzero_explicit(random, sizeof(random));
		if (!verdict) {
			spin_lock_bh(&a->peer->lock);
			length = answer_new(a, answer, &cause);
			spin_unlock_bh(&a->peer->lock);
		}
	}
	if (verdict)
		shake_count_verdict(a->d, verdict);
	else
		shake_count(a->d, length ? SHAKE_HELLO_RECEIVED : cause);
	return length;
}

static void hello_in(struct shake_dev *d, const u8 *packet, u32 length,
		     const struct shake_registration *r, struct shake_way *way)
{
	u8 answer[SHAKE_WELCOME_OCTETS];
	struct asker *a;

	if (shake_is_asleep() || !is_worth(d, packet, length, r, way))
		return;
	a = kzalloc(sizeof(*a), GFP_ATOMIC);
	if (!a) {
		shake_count(d, SHAKE_DROP_MEMORY);
		return;
	}
	a->d = d;
	a->packet = packet;
	a->r = r;
	length = answer_hello(a, answer);
	kfree_sensitive(a);
	if (length)
		shake_send_control(d, way, answer, length);
}

/* --- CONFIRM -------------------------------------------------------------------------------- */

/* The leader is at this address, and alive. Under the peer's lock. */
static void settle_session(struct shake_path *path, const struct shake_way *way)
{
	if (!shake_addr_equal(&path->to, &way->to) || !shake_addr_equal(&path->from, &way->from))
		shake_mtu_forget(path);
	path->to = way->to;
	path->from = way->from;
	dst_cache_reset(&path->dst);
	WRITE_ONCE(path->mtu, 0);
	shake_path_heard(path, shake_now());
}

/* Returns the octets of the answer, 0: none. Under the peer's lock. */
static u32 confirm_session(struct shake_dev *d, struct shake_link *link, const u8 *packet,
			   u32 length, const struct shake_way *way, u8 *answer)
{
	struct shake_path *path = link->path;
	enum shake_verdict verdict = SHAKE_STALE;

	if (!shake_is_leader(d) && (link == path->next || link == shake_link(path)))
		verdict = shake_confirm_read(packet, length, &link->s,
					     READ_ONCE(d->settings.encrypt));
	shake_count_verdict(d, verdict);
	if (verdict == SHAKE_TAKEN) {
		path->accepted = max(path->accepted, link->time);
		path->joined = (u32)min_t(u64, shake_now() - link->made_at, SHAKE_TIME_MAX);
		path->renew = false;
		shake_link_use(path, link, shake_now());
		shake_count(d, SHAKE_REGISTERED);
		settle_session(path, way);
		shake_peer_wake(path->peer, 0, 0);
	} else if (verdict != SHAKE_AGAIN) {
		return 0;
	}
	return shake_final_write(answer, &link->s, SHAKE_TYPE_READY);
}

/* CONFIRM for a session. Under RCU. */
void shake_confirm_in(struct shake_dev *d, struct shake_link *link, const u8 *packet, u32 length,
		      const union shake_addr *from, const union shake_addr *to)
{
	struct shake_way way = { .from = *to, .to = *from };
	struct shake_peer *peer = link->path->peer;
	u8 answer[SHAKE_READY_OCTETS + SHAKE_TAG];

	spin_lock_bh(&peer->lock);
	length = confirm_session(d, link, packet, length, &way, answer);
	spin_unlock_bh(&peer->lock);
	if (length)
		shake_send_control(d, &way, answer, length);
}

/* --- the leader ----------------------------------------------------------------------------- */

/**
 * struct answered - a WELCOME that is being read
 * @join: the path's registration, as it was
 * @keys: the peer's, as they were
 * @own: the device's, as they were
 * @session: what it makes
 */
struct answered {
	struct shake_join join;
	struct shake_keys keys;
	struct shake_identity own;
	struct shake_session session;
};

/* Whether a WELCOME is worth a multiplication: then it is copied what that needs. */
static enum shake_verdict begin_welcome(struct shake_peer *peer, const u8 *packet,
					const struct shake_registration *r, struct answered *a)
{
	enum shake_verdict verdict = SHAKE_STRANGER;
	struct shake_path *path;

	spin_lock_bh(&peer->lock);
	path = shake_path(peer, r->path);
	if (path)
		verdict = path->sock ? shake_welcome_check(packet, r, &path->join, &peer->keys) :
				       SHAKE_STALE;
	if (!verdict) {
		a->join = path->join;
		a->keys = peer->keys;
	}
	spin_unlock_bh(&peer->lock);
	return verdict;
}

/*
 * What a WELCOME says is believed, if its HELLO is still the path's. Returns the octets of the
 * answer, 0: none. Under the peer's lock.
 */
static u32 take_welcome(struct shake_path *path, struct answered *a, bool behind,
			struct shake_way *way, u8 *answer)
{
	struct shake_dev *d = path->peer->d;
	struct shake_link *link;

	if (!path->sock || !path->join.asked ||
	    memcmp(path->join.hello, a->join.hello, sizeof(a->join.hello))) {
		shake_count_verdict(d, SHAKE_STALE);
		return 0;
	}
	if (behind) {
		path->join.time = a->join.time;
		shake_join_forget(&path->join);
		return 0;
	}
	link = shake_link_make(path, &a->session);
	if (!link) {
		shake_count(d, SHAKE_DROP_MEMORY);
		return 0;
	}
	shake_join_forget(&path->join);
	shake_link_free(d, path->next);
	path->next = link;
	path->confirms = 0;
	path->tries = 0;	/* somebody answers */
	way->path = path;
	way->to = path->to;
	way->from = path->from;
	return shake_final_write(answer, &link->s, SHAKE_TYPE_CONFIRM);
}

static enum shake_verdict open_welcome(struct shake_dev *d, const u8 *packet, struct answered *a)
{
	if (!may_compute(d, &d->registrations)) {
		shake_count(d, SHAKE_DROP_RATE);
		return SHAKE_AGAIN;
	}
	copy_identity(d, &a->own);
	return shake_welcome_open(packet, &a->join, &a->keys, &a->own, &a->session);
}

static void welcome_in(struct shake_dev *d, struct shake_peer *peer, const u8 *packet,
		       const struct shake_registration *r, struct shake_way *way)
{
	struct answered *a = kzalloc(sizeof(*a), GFP_ATOMIC);
	u8 answer[SHAKE_READY_OCTETS + SHAKE_TAG];
	enum shake_verdict verdict;
	struct shake_path *path;
	u32 length = 0;

	if (!a) {
		shake_count(d, SHAKE_DROP_MEMORY);
		return;
	}
	verdict = begin_welcome(peer, packet, r, a);
	if (!verdict)
		verdict = open_welcome(d, packet, a);
	shake_count_verdict(d, verdict);
	if (!verdict || verdict == SHAKE_BEHIND) {
		spin_lock_bh(&peer->lock);
		path = shake_path(peer, r->path);
		if (path)
			length = take_welcome(path, a, verdict == SHAKE_BEHIND, way, answer);
		spin_unlock_bh(&peer->lock);
	}
	kfree_sensitive(a);
	if (length)
		shake_send_control(d, way, answer, length);
}

static void cookie_in(struct shake_dev *d, struct shake_peer *peer, const u8 *packet,
		      const struct shake_registration *r)
{
	enum shake_verdict verdict = SHAKE_STRANGER;
	struct shake_path *path;

	spin_lock_bh(&peer->lock);
	path = shake_path(peer, r->path);
	if (path)
		verdict = shake_cookie_read(packet, r, &path->join, &peer->keys, ktime_get_ns());
	spin_unlock_bh(&peer->lock);
	if (verdict)
		shake_count_verdict(d, verdict);
	else
		shake_count(d, SHAKE_COOKIE_RECEIVED);
}

/* Whether a path has a HELLO to send: the same while a slow answer may come. Under the lock. */
static bool has_hello(const struct shake_path *path, u64 now)
{
	return path->join.asked && now - path->asked_at < SHAKE_CONFIRM_NS / NSEC_PER_USEC;
}

/* Make a HELLO. Returns whether there is a key. Without locks. */
static bool make_hello(struct shake_dev *d, struct answered *a)
{
	u8 random[SHAKE_KEY];
	bool good;

	get_random_bytes(random, sizeof(random));
	copy_identity(d, &a->own);
	a->join.encrypt = READ_ONCE(d->settings.encrypt);
	good = shake_hello_make(&a->join, &a->keys, &a->own, random, ktime_get_real_ns());
	memzero_explicit(random, sizeof(random));
	return good;
}

/* What was made is the path's, unless something has changed meanwhile. Under the peer's lock. */
static void take_hello(struct shake_path *path, const struct answered *a, u64 now)
{
	const struct shake_peer *peer = path->peer;

	if (!path->sock || shake_is_asleep() || memcmp(&peer->keys, &a->keys, sizeof(a->keys)))
		return;
	path->join = a->join;
	path->asked_at = now;
}

/*
 * Write a path's HELLO, made if there is none. Returns its octets, 0: none. Under RCU, without
 * locks: to make one takes long.
 */
u32 shake_hello_take(struct shake_path *path, u8 *packet)
{
	struct shake_peer *peer = path->peer;
	struct shake_dev *d = peer->d;
	struct answered *a = kzalloc(sizeof(*a), GFP_ATOMIC);
	u32 length = 0;
	bool has;

	if (!a) {
		shake_count(d, SHAKE_DROP_MEMORY);
		return 0;
	}
	spin_lock_bh(&peer->lock);
	has = has_hello(path, shake_now());
	a->join = path->join;
	a->keys = peer->keys;
	spin_unlock_bh(&peer->lock);
	if (!has)
		has = make_hello(d, a);
	spin_lock_bh(&peer->lock);
	if (has && !has_hello(path, shake_now()))
		take_hello(path, a, shake_now());
	if (has_hello(path, shake_now()))
		length = shake_hello_write(packet, &path->join, ktime_get_ns());
	spin_unlock_bh(&peer->lock);
	kfree_sensitive(a);
	if (length)
		shake_count(d, SHAKE_HELLO_SENT);
	return length;
}

/* READY for a session: it is used from now on. Under RCU. */
void shake_ready_in(struct shake_dev *d, struct shake_link *link, const u8 *packet,
		    u32 length)
{
	struct shake_path *path = link->path;
	struct shake_peer *peer = path->peer;
	enum shake_verdict verdict = SHAKE_STALE;

	spin_lock_bh(&peer->lock);
	if (shake_is_leader(d) && path->next == link)
		verdict = shake_ready_read(packet, length, &link->s);
	if (!verdict) {
		path->next = NULL;
		shake_link_use(path, link, shake_now());
		shake_count(d, SHAKE_REGISTERED);
		path->tries = 0;
		path->rejoin_at = 0;
		/* the wish may be younger than the HELLO */
		path->renew = READ_ONCE(d->settings.encrypt) && !link->s.encrypt;
		path->probe_at = 0;	/* a round trip is wanted */
		shake_path_heard(path, shake_now());
		shake_peer_wake(peer, 0, 0);
	}
	spin_unlock_bh(&peer->lock);
	shake_count_verdict(d, verdict);
}

/* --- both ----------------------------------------------------------------------------------- */

/* A packet that registers. Under RCU. */
void shake_control_in(struct shake_dev *d, const u8 *packet, u32 length,
		      const union shake_addr *from, const union shake_addr *to)
{
	struct shake_way way = { .from = *to, .to = *from };
	struct shake_registration r;
	enum shake_verdict verdict;
	struct shake_peer *peer;

	verdict = shake_registration_read(packet, length, &r);
	peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	if (verdict)
		shake_count_verdict(d, verdict);
	else if (!peer && r.type == SHAKE_TYPE_HELLO)
		hello_in(d, packet, length, &r, &way);
	else if (peer && r.type == SHAKE_TYPE_WELCOME)
		welcome_in(d, peer, packet, &r, &way);
	else if (peer && r.type == SHAKE_TYPE_COOKIE)
		cookie_in(d, peer, packet, &r);
	else
		shake_count_verdict(d, SHAKE_STALE);
}

/* An agent has no such session: its leader may have known it before a restart. */
void shake_reset_send(struct shake_dev *d, const struct shake_head *head,
		      const union shake_addr *from, const union shake_addr *to)
{
	struct shake_way way = { .from = *to, .to = *from };
	u8 packet[SHAKE_RESET_OCTETS];

	if (shake_is_leader(d) || head->type < SHAKE_TYPE_DATA || !may_compute(d, &d->resets))
		return;
	shake_count(d, SHAKE_RESET_SENT);
	shake_send_control(d, &way, packet, shake_reset_write(packet, head));
}

/* A hint that the agent does not know a session: register again. Under RCU. */
void shake_reset_in(struct shake_dev *d, const u8 *packet, u32 length,
		    const union shake_addr *from)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	enum shake_verdict verdict;
	struct shake_path *path;
	struct shake_link *link;
	struct shake_head head;

	verdict = peer ? shake_head_read(packet, length, &head) : SHAKE_BAD_TYPE;
	if (verdict) {
		shake_count_verdict(d, verdict);
		return;
	}
	shake_count(d, SHAKE_RESET_RECEIVED);
	spin_lock_bh(&peer->lock);
	shake_for_each_path(peer, path) {
		link = shake_link(path);
		if (link && shake_session_hints(&link->s, &head) &&
		    shake_addr_equal(&path->to, from)) {
			if (!path->rejoin_at) {
				path->rejoin_at = shake_now() + RESET_US;
				path->tries = 0;
			}
			shake_peer_wake(peer, 0, 0);
		}
	}
	spin_unlock_bh(&peer->lock);
}
