// SPDX-License-Identifier: GPL-2.0
/*
 * What the tunnel's ends tell each other besides data: registration, pseudo-ACKs, probes.
 */
#include <linux/random.h>

#include <compat/timer.h>
#include <compat/unaligned.h>

#include "internal.h"

#define HELLO_US (500 * USEC_PER_MSEC)		/* between HELLOs, at first */
#define HELLO_SLOW_US (5 * USEC_PER_SEC)	/* when nobody answers for long */
#define HELLO_EACH 4				/* so many, then the time doubles */
#define HELLO_TRIES (5 * HELLO_EACH)		/* more are not counted */
#define HELLO_PART 8				/* of a dead path's silence, between two */
#define HELLO_DEAD_US (10 * USEC_PER_SEC)	/* but not more than this */
#define PROBE_UNUSED_US (1 * USEC_PER_SEC)	/* of an unused path beside used ones */
#define PROBE_METERED_US (30 * USEC_PER_SEC)	/* of one that costs, the same */
#define POLICY_TRIES 6				/* then it is told each 6.4 s, until it is known */
#define REJOIN_US (1 * USEC_PER_SEC)		/* least time to the next registration */
#define SESSION_US (3600ULL * USEC_PER_SEC)	/* a session's keys serve so long */
#define REGISTRATIONS 1000			/* HELLOs answered per second */
#define CONFIRM_TRIES 4				/* then HELLO again */
#define WELCOME_US (2 * USEC_PER_MSEC)		/* between answers to a peer's path */
#define ANSWER_US (HELLO_US / 5 * 4)		/* between answers to the same HELLO */
#define RESET_US (100 * USEC_PER_MSEC)		/* a hint is false if the path is heard by then */
#define FORGET_US (600 * USEC_PER_SEC)		/* an agent's dead path is forgotten */
#define RESETS 100				/* sent per second */

/* Whether one more may be done now. What is not used is not saved up. */
static bool may(struct shake_dev *d, atomic_t *budget)
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

/* --- registration: the agent --------------------------------------------------------------- */

/* Whether a HELLO may be answered, if it is good. Under the peer's lock. */
static bool may_answer(struct shake_peer *peer, const struct shake_registration *hello, u64 now)
{
	struct shake_asked *asked = &peer->asked[hello->nonce[0] % SHAKE_ASKED];
	u32 mark = get_unaligned_be32(hello->nonce + 4);
	u64 *last = &peer->welcome_at[hello->path - 1];

	/* Who has recorded a HELLO must not take the turns of new ones with it. */
	if ((asked->mark == mark && asked->at && now - asked->at < ANSWER_US) ||
	    now - *last < WELCOME_US || !may(peer->d, &peer->d->registrations))
		return false;
	asked->mark = mark;
	asked->at = now;
	*last = now;
	return true;
}

/* Write the answer to a good HELLO, if it may have one. Returns its octets, 0: none. */
static u32 welcome_write(struct shake_peer *peer, const struct shake_registration *r,
			 const struct shake_keys *keys, u8 *answer)
{
	struct shake_dev *d = peer->d;
	u32 length = 0;

	spin_lock_bh(&peer->lock);
	if (may_answer(peer, r, shake_now())) {
		spin_lock(&d->issuer_lock);
		length = shake_welcome_write(answer, &d->issuer, r, keys, ktime_get_ns());
		spin_unlock(&d->issuer_lock);
	}
	spin_unlock_bh(&peer->lock);
	return length;
}

/*
 * Anybody may send a HELLO, any number of them: its tag is checked without the peer's lock, which
 * its data needs.
 */
static void hello_in(struct shake_dev *d, struct shake_peer *peer, const u8 *packet,
		     u32 length, const struct shake_registration *r, struct shake_way *way)
{
	u8 answer[SHAKE_WELCOME_OCTETS];
	enum shake_verdict verdict;
	struct shake_keys keys;

	spin_lock_bh(&peer->lock);
	keys = peer->keys;
	spin_unlock_bh(&peer->lock);
	verdict = shake_hello_check(packet, length, r, &keys);
	length = verdict ? 0 : welcome_write(peer, r, &keys, answer);
	shake_keys_forget(&keys);
	shake_count_verdict(d, verdict);
	if (verdict)
		return;
	if (!length) {
		shake_count(d, SHAKE_DROP_RATE);
		return;
	}
	shake_count(d, SHAKE_HELLO_RECEIVED);
	shake_send_control(d, way, answer, length);
}

/* The session is good: use it. Returns it, or NULL without memory. Under the peer's lock. */
static struct shake_link *install(struct shake_peer *peer, u8 id,
				  const struct shake_session *s, u64 accepted)
{
	struct shake_path *path = shake_path(peer, id);
	struct shake_link *link = NULL;

	if (!path)
		path = shake_path_make(peer, id, GFP_ATOMIC);
	if (path)
		link = shake_link_make(path, s);
	if (!link) {
		shake_count(peer->d, SHAKE_DROP_MEMORY);
		return NULL;
	}
	path->accepted = accepted;
	path->renew = false;
	shake_link_use(path, link, shake_now());
	shake_count(peer->d, SHAKE_REGISTERED);
	return link;
}

/* The leader is at this address, and alive. Under the peer's lock. */
static void settle(struct shake_path *path, const struct shake_way *way)
{
	path->to = way->to;
	path->from = way->from;
	dst_cache_reset(&path->dst);
	path->mtu = 0;
	shake_path_heard(path, shake_now());
}

/* Returns the octets of the answer, 0: none. Under the peer's lock. */
static u32 confirm(struct shake_peer *peer, const u8 *packet, u32 length,
		   const struct shake_registration *r, const struct shake_way *way,
		   u8 *answer)
{
	struct shake_path *path = shake_path(peer, r->path);
	struct shake_link *link = path ? shake_link(path) : NULL;
	u64 accepted = path ? path->accepted : peer->accepted;
	struct shake_dev *d = peer->d;
	enum shake_verdict verdict;
	struct shake_issuer issuer;
	struct shake_session s;

	spin_lock(&d->issuer_lock);
	issuer = d->issuer;
	spin_unlock(&d->issuer_lock);
	verdict = shake_confirm_read(packet, length, r, &issuer, &peer->keys,
				     link ? &link->s : NULL, &accepted, ktime_get_ns(), &s, 0,
				     READ_ONCE(d->settings.encrypt));
	shake_count_verdict(d, verdict);
	if (!verdict) {
		link = install(peer, r->path, &s, accepted);
		shake_session_forget(&s);
	} else if (verdict != SHAKE_AGAIN) {
		link = NULL;
	}
	if (!link)
		return 0;
	if (!verdict)
		settle(link->path, way);
	return shake_ready_write(answer, &link->s);
}

static void confirm_in(struct shake_dev *d, struct shake_peer *peer, const u8 *packet,
		       u32 length, const struct shake_registration *r, struct shake_way *way)
{
	u8 answer[SHAKE_READY_OCTETS + SHAKE_TAG];

	spin_lock_bh(&peer->lock);
	length = confirm(peer, packet, length, r, way, answer);
	spin_unlock_bh(&peer->lock);
	if (length)
		shake_send_control(d, way, answer, length);
}

/* --- registration: the leader -------------------------------------------------------------- */

/* Returns the octets of the answer, 0: none. Under the peer's lock. */
static u32 welcome(struct shake_path *path, const u8 *packet, u32 length,
		   const struct shake_registration *r, struct shake_way *way, u8 *answer)
{
	struct shake_peer *peer = path->peer;
	enum shake_verdict verdict;
	struct shake_session s;
	struct shake_link *link;

	if (!path->join.asked || !path->sock) {
		shake_count_verdict(peer->d, SHAKE_STALE);
		return 0;
	}
	verdict = shake_welcome_read(packet, length, r, &path->join, &peer->keys, &s, 0);
	if (verdict) {
		shake_count_verdict(peer->d, verdict);
		return 0;
	}
	link = shake_link_make(path, &s);
	shake_session_forget(&s);
	if (!link) {
		shake_count(peer->d, SHAKE_DROP_MEMORY);
		return 0;
	}
	shake_link_free(peer->d, path->next);
	path->next = link;
	path->confirms = 0;
	path->tries = 0;	/* somebody answers */
	way->path = path;
	way->to = path->to;
	way->from = path->from;
	return shake_confirm_write(answer, &path->join, &link->s);
}

static void welcome_in(struct shake_dev *d, struct shake_peer *peer, const u8 *packet,
		       u32 length, const struct shake_registration *r, struct shake_way *way)
{
	u8 answer[SHAKE_CONFIRM_OCTETS];
	struct shake_path *path;

	spin_lock_bh(&peer->lock);
	path = shake_path(peer, r->path);
	if (path)
		length = welcome(path, packet, length, r, way, answer);
	spin_unlock_bh(&peer->lock);
	if (!path)
		shake_count_verdict(d, SHAKE_STRANGER);
	else if (length)
		shake_send_control(d, way, answer, length);
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
		path->renew = false;
		path->probe_at = 0;	/* a round trip is wanted */
		shake_path_heard(path, shake_now());
		shake_peer_wake(peer, 0, 0);
	}
	spin_unlock_bh(&peer->lock);
	shake_count_verdict(d, verdict);
}

/* --- registration: both -------------------------------------------------------------------- */

/* A packet that registers. Under RCU. */
void shake_control_in(struct shake_dev *d, const u8 *packet, u32 length,
		      const union shake_addr *from, const union shake_addr *to)
{
	struct shake_way way = { .from = *to, .to = *from };
	struct shake_registration r;
	enum shake_verdict verdict;
	struct shake_peer *peer;

	verdict = shake_registration_read(packet, length, &r);
	peer = verdict ? NULL : shake_peer_find(d, r.id);
	if (!verdict && !peer)
		verdict = SHAKE_STRANGER;
	if (verdict) {
		shake_count_verdict(d, verdict);
		return;
	}
	if (shake_is_leader(d) && r.type == SHAKE_TYPE_WELCOME)
		welcome_in(d, peer, packet, length, &r, &way);
	else if (!shake_is_leader(d) && r.type == SHAKE_TYPE_HELLO)
		hello_in(d, peer, packet, length, &r, &way);
	else if (!shake_is_leader(d) && r.type == SHAKE_TYPE_CONFIRM)
		confirm_in(d, peer, packet, length, &r, &way);
	else
		shake_count_verdict(d, SHAKE_STALE);
}

/* An agent has no such session: its leader may have known it before a restart. */
void shake_reset_send(struct shake_dev *d, const struct shake_head *head,
		      const union shake_addr *from, const union shake_addr *to)
{
	struct shake_way way = { .from = *to, .to = *from };
	u8 packet[SHAKE_RESET_OCTETS];

	if (shake_is_leader(d) || head->type == SHAKE_TYPE_READY || !may(d, &d->resets))
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

/* --- life ---------------------------------------------------------------------------------- */

/* Whether a leader's path has no socket: what comes in its session came by another's. Locked. */
static bool is_closed(const struct shake_path *path)
{
	return shake_is_leader(path->peer->d) && !path->sock;
}

/* Something true came by a path: it is alive. Under the peer's lock. */
void shake_path_heard(struct shake_path *path, u64 now)
{
	u64 gap;

	gap = now - path->heard_at;
	path->usual_gap = max(gap, path->usual_gap - path->usual_gap / 8);
	path->heard_at = now;
	path->rejoin_at = 0;	/* the agent knows the session */
	if (path->state == SHAKE_PATH_ALIVE || !shake_link(path) || is_closed(path))
		return;
	shake_copies_expire(path, now);
	/* Probes that were sent while it was dead are no sign of death now. */
	shake_path_forget(&path->estimate, now);
	shake_path_set_state(path, SHAKE_PATH_ALIVE);
	if (!shake_is_leader(path->peer->d))
		shake_flows_path_alive(&path->peer->flows, path->settings.id);
}

static void leave_if_silent(struct shake_path *path, u64 now)
{
	if (path->state != SHAKE_PATH_ALIVE || !shake_path_is_silent(&path->estimate, now))
		return;
	shake_path_set_state(path, SHAKE_PATH_DEAD);
	if (!shake_is_leader(path->peer->d))
		shake_flows_path_lost(&path->peer->flows, path->settings.id);
}

/* The path that a leader wants TCP's ACKs on; 0: none. */
static u8 wish(const struct shake_peer *peer)
{
	return shake_is_leader(peer->d) ? peer->ack_path : 0;
}

/* An agent has not heard of a leader's path for long, or has other plans for its session. */
static void forget_if_gone(struct shake_path *path, u64 now)
{
	if (shake_is_leader(path->peer->d) || !shake_link(path))
		return;
	if (!path->renew && (path->state != SHAKE_PATH_DEAD || now - path->heard_at < FORGET_US))
		return;
	path->renew = false;
	shake_link_use(path, NULL, now);
	shake_path_set_state(path, SHAKE_PATH_JOINING);
}

/* --- pseudo-ACKs --------------------------------------------------------------------------- */

/*
 * Which packets were received. Who passes all duplicate ACKs wants no copies: TCP retransmits
 * anyway.
 */
static u64 seen(const struct shake_path *path, const struct shake_link *link)
{
	if (READ_ONCE(path->peer->d->settings.ack) == SHAKE_ACK_PASS)
		return U64_MAX;
	return shake_replay_behind(&link->s.replay, link->echo);
}

/* Write what was received on a path. Under the peer's lock. Returns whether to send it. */
bool shake_ack_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	struct shake_link *link = shake_link(path);

	path->ack_due = 0;
	path->ack_waiting = 0;
	if (!link || !link->received_packets || !shake_way_take(path, way, now))
		return false;
	path->ack_at = now;
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_ACK,
		.ack_path = wish(path->peer),
		.index = link->s.peer_index,
		.counter = way->counter,
	});
	shake_ack_write(packet, &(struct shake_ack_body){
		.echo = link->echo,
		.hold_us = now - link->echo_at,
		.bytes = link->received_bytes,
		.packets = link->received_packets,
		.seen = seen(path, link),
	});
	return true;
}

/* Seal and send a packet of a session. Under RCU, without locks. */
static void send_sealed(struct shake_dev *d, const struct shake_way *way, u8 *packet,
			u32 length)
{
	if (way->link->s.auth) {
		shake_seal(&way->link->s, way->counter, packet, length, length);
		length += SHAKE_TAG;
	}
	shake_send_control(d, way, packet, length);
}

void shake_ack_send(struct shake_dev *d, const struct shake_way *way, u8 *packet)
{
	shake_count(d, SHAKE_ACK_SENT);
	send_sealed(d, way, packet, SHAKE_ACK_OCTETS);
}

/* --- what is due --------------------------------------------------------------------------- */

/* us, how long a dead path had been silent at a time. */
static u64 silence(const struct shake_path *path, u64 at)
{
	return at > path->dead_at ? at - path->dead_at : 0;
}

/* us that a metered path rests between two packets while others live; 0: it does not. */
static u64 rest(const struct shake_path *path)
{
	struct shake_path *other;

	if (!path->settings.policy.metered)
		return 0;
	shake_for_each_path(path->peer, other)
		if (other->state == SHAKE_PATH_ALIVE && !other->settings.policy.metered)
			return PROBE_METERED_US;
	return 0;
}

/* When a leader's dead path should send HELLO: the agent may have forgotten it. */
static u64 dead_hello_due(const struct shake_path *path)
{
	u64 between = silence(path, path->hello_at) / HELLO_PART;

	return max(path->hello_at, path->heard_at) +
	       max(clamp_t(u64, between, REJOIN_US, HELLO_DEAD_US), rest(path));
}

/* When a leader's path should send HELLO; U64_MAX: not at all. */
static u64 hello_due(const struct shake_path *path)
{
	const struct shake_link *link = shake_link(path);
	u64 between = min_t(u64, HELLO_US << path->tries / HELLO_EACH, HELLO_SLOW_US);

	if (!shake_is_leader(path->peer->d) || !path->sock ||
	    path->peer->keys.trust == SHAKE_NO_KEY || path->state == SHAKE_PATH_ABSENT)
		return U64_MAX;
	if (!link || path->state == SHAKE_PATH_JOINING)
		return path->hello_at ? path->hello_at + between : 0;
	if (path->renew)
		return path->hello_at ? path->hello_at + between : 0;
	if (path->rejoin_at)
		return max(path->rejoin_at, path->hello_at + max_t(u64, between, REJOIN_US));
	if (path->state == SHAKE_PATH_DEAD)
		return dead_hello_due(path);
	return max(link->made_at + SESSION_US, path->hello_at + HELLO_US);
}

/* When a leader should tell its agent the policy of a path; U64_MAX: it knows. */
static u64 policy_due(const struct shake_path *path)
{
	u64 gap = max_t(u64, SHAKE_PROBE_LEAST, 2 * shake_path_srtt(&path->estimate));

	if (path->policy_told || !shake_is_leader(path->peer->d))
		return U64_MAX;
	return path->probe_at + (gap << min_t(u8, path->policy_tries, POLICY_TRIES - 1));
}

/* When a path should be probed; U64_MAX: not at all. */
static u64 probe_due(const struct shake_path *path, u64 now)
{
	const struct shake_peer *peer = path->peer;
	u32 keepalive = READ_ONCE(peer->d->settings.keepalive);
	u64 doubt = shake_path_doubt(&path->estimate, now);
	u64 due = U64_MAX, gap = rest(path);

	if (!shake_link(path) || path->state == SHAKE_PATH_ABSENT ||
	    path->state == SHAKE_PATH_JOINING)
		return U64_MAX;
	if (path->state == SHAKE_PATH_DEAD)
		return path->probe_at +
		       max_t(u64, gap, shake_path_probe_gap(&path->estimate,
							    silence(path, path->probe_at)));
	due = policy_due(path);
	if (!gap && (path->estimate.loss.out || now < peer->doubt_until) &&
	    now - peer->data_at < SHAKE_IDLE_US)
		due = min(due, path->probe_at +
			       max_t(u64, SHAKE_LOSS_PROBE,
				     shake_path_packet_time(&path->estimate)));
	if (!shake_is_leader(peer->d))
		return min(due, doubt);
	if (!path->probe_at)
		return 0;
	if (now - peer->data_at < SHAKE_IDLE_US)
		due = min(due, max(path->counted_at, path->probe_at) +
			       max_t(u64, gap, PROBE_UNUSED_US));
	else if (keepalive)
		due = min(due, max(path->sent_at, path->probe_at) + max_t(u64, gap, keepalive));
	return min(due, doubt);
}

/* Returns the octets of a HELLO, or of a CONFIRM again. Under the peer's lock. */
static u32 hello_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	u8 random[SHAKE_NONCE];

	path->hello_at = now;
	path->tries = min(path->tries + 1, HELLO_TRIES);
	way->path = path;
	way->from = path->from;
	way->to = path->to;
	if (path->next && path->confirms < CONFIRM_TRIES) {
		path->confirms++;
		return shake_confirm_write(packet, &path->join, &path->next->s);
	}
	path->join.encrypt = READ_ONCE(path->peer->d->settings.encrypt);
	/* The same again while it is not answered: a round trip may be longer than this. */
	if (path->join.asked)
		memcpy(random, path->join.nonce, sizeof(random));
	else
		get_random_bytes(random, sizeof(random));
	shake_count(path->peer->d, SHAKE_HELLO_SENT);
	return shake_hello_write(packet, &path->join, &path->peer->keys, random);
}

/* Returns the octets of a probe to send, without tag; 0: none. Under the peer's lock. */
static u32 probe_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	bool tells = shake_is_leader(path->peer->d) && !path->policy_told;
	u32 length = SHAKE_PROBE_OCTETS;

	path->probe_at = now;
	if (!shake_way_take(path, way, now))
		return 0;
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_PROBE,
		.ack_path = wish(path->peer),
		.flags = SHAKE_COUNTED | (tells ? SHAKE_POLICY : 0),
		.index = way->link->s.peer_index,
		.counter = way->counter,
	});
	if (tells) {
		length = shake_policy_write(packet, &path->settings.policy);
		path->policy_at = way->counter;
		path->policy_tries = min(path->policy_tries + 1, POLICY_TRIES);
	}
	shake_way_count(way, length + shake_tag_octets(&way->link->s), now);
	shake_count(path->peer->d, SHAKE_PROBE_SENT);
	return length;
}

/* Do what is due on a path. Returns when there is more. */
static u64 step(struct shake_path *path)
{
	u8 hello[SHAKE_CONFIRM_OCTETS], ack[SHAKE_ACK_OCTETS + SHAKE_TAG];
	u8 probe[SHAKE_PROBE_OCTETS + SHAKE_POLICY_OCTETS + SHAKE_TAG];
	struct shake_way hello_way, ack_way, probe_way;
	struct shake_peer *peer = path->peer;
	struct shake_dev *d = peer->d;
	u32 hello_octets = 0, probe_octets = 0;
	bool send_ack = false;
	u64 now, next;

	spin_lock_bh(&peer->lock);
	now = shake_now();	/* under the lock: no other CPU has a later one */
	forget_if_gone(path, now);
	leave_if_silent(path, now);
	if (path->state == SHAKE_PATH_DEAD)
		shake_copies_expire(path, now);
	if (path->old && now - shake_link(path)->made_at > SHAKE_CONFIRM_NS / NSEC_PER_USEC) {
		shake_link_free(d, path->old);
		path->old = NULL;
	}
	if (path->ack_due && path->ack_due <= now)
		send_ack = shake_ack_take(path, &ack_way, ack, now);
	if (hello_due(path) <= now)
		hello_octets = hello_take(path, &hello_way, hello, now);
	if (probe_due(path, now) <= now)
		probe_octets = probe_take(path, &probe_way, probe, now);
	next = min(hello_due(path), probe_due(path, now));
	if (path->state == SHAKE_PATH_ALIVE)
		next = min(next, shake_path_deadline(&path->estimate, now));
	if (path->ack_due)
		next = min(next, path->ack_due);
	path->watched = false;
	shake_let_go(peer, now);
	if (netif_queue_stopped(d->dev))
		next = min(next, now + SHAKE_HOLD_US);
	spin_unlock_bh(&peer->lock);

	if (send_ack)
		shake_ack_send(d, &ack_way, ack);
	if (hello_octets)
		shake_send_control(d, &hello_way, hello, hello_octets);
	if (probe_octets)
		send_sealed(d, &probe_way, probe, probe_octets);
	return next;
}

/* timer_list::function of a peer */
void shake_peer_timer(struct timer_list *timer)
{
	struct shake_peer *peer = timer_container_of(peer, timer, timer);
	u64 next = U64_MAX;
	struct shake_path *path;

	rcu_read_lock();
	shake_for_each_path(peer, path)
		next = min(next, step(path));
	rcu_read_unlock();
	if (next != U64_MAX && netif_running(peer->d->dev))
		shake_peer_wake(peer, next, shake_now());
}

/* Let the timer run at this time, or before. */
void shake_peer_wake(struct shake_peer *peer, u64 at, u64 now)
{
	u64 wait = at > now ? at - now : 0;

	wait = min_t(u64, wait, 60 * USEC_PER_SEC);
	timer_reduce(&peer->timer, jiffies + usecs_to_jiffies(wait));
}
