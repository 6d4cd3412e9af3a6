// SPDX-License-Identifier: GPL-2.0
/*
 * What is due on the paths of a peer: HELLOs, probes, pseudo-ACKs, ends.
 */
#include <compat/timer.h>

#include "choose.h"
#include "control.h"
#include "copies.h"
#include "mtu.h"
#include "path.h"
#include "register.h"
#include "release.h"
#include "send.h"
#include "soon.h"
#include "timer.h"
#include "up.h"
#include "wake.h"
#include "way.h"

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
#define REKEY_US (120ULL * USEC_PER_SEC)	/* then a leader makes another session */
#define REJECT_US (180ULL * USEC_PER_SEC)	/* a session's keys serve no longer than that */
#define CONFIRM_US (SHAKE_CONFIRM_NS / NSEC_PER_USEC)	/* one that replaces or waits: this */
#define CONFIRM_TRIES 4				/* then HELLO again */

static void leave_if_silent(struct shake_path *path, u64 now)
{
	if (path->state != SHAKE_PATH_ALIVE || !shake_path_is_silent(&path->estimate, now))
		return;
	shake_path_set_state(path, SHAKE_PATH_DEAD);
}

/* An agent has other plans for a session: it ends, and the leader is told if it goes on. */
static void forget_if_renewed(struct shake_path *path, u64 now)
{
	if (shake_is_leader(path->peer->d) || !shake_link(path) || !path->renew)
		return;
	path->renew = false;
	shake_link_use(path, NULL, now);
	shake_path_set_state(path, SHAKE_PATH_JOINING);
}

/* When keys have to be gone; U64_MAX: there are none. */
static u64 next_expiry(const struct shake_path *path)
{
	const struct shake_link *link = shake_link(path);
	u64 at = U64_MAX;

	if (link)
		at = link->made_at + REJECT_US;
	if (path->old)
		at = min3(at, path->old->made_at + REJECT_US, link->used_at + CONFIRM_US);
	if (path->next)
		at = min(at, path->next->made_at + CONFIRM_US);
	if (path->join.asked)
		at = min(at, path->asked_at + CONFIRM_US);
	return at;
}

/* Let keys go whose time is over. */
static void expire_sessions(struct shake_path *path, u64 now)
{
	struct shake_dev *d = path->peer->d;
	struct shake_link *link = shake_link(path);

	if (path->old && (now >= path->old->made_at + REJECT_US ||
			  now >= link->used_at + CONFIRM_US)) {
		shake_link_free(d, path->old);
		path->old = NULL;
	}
	if (path->next && now >= path->next->made_at + CONFIRM_US) {
		shake_link_free(d, path->next);
		path->next = NULL;
	}
	if (path->join.asked && now >= path->asked_at + CONFIRM_US)
		shake_join_forget(&path->join);
	if (link && now >= link->made_at + REJECT_US) {
		shake_link_end(path, now);
		path->hello_at = 0;
	}
}

/* us, how long a dead path had been silent at a time. */
static u64 silence_at(const struct shake_path *path, u64 at)
{
	return at > path->dead_at ? at - path->dead_at : 0;
}

/* us that a metered path rests between two packets while others live; 0: it does not. */
static u64 rest_of_wait(const struct shake_path *path)
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
	u64 between = silence_at(path, path->hello_at) / HELLO_PART;

	return max(path->hello_at, path->heard_at) +
	       max(clamp_t(u64, between, REJOIN_US, HELLO_DEAD_US), rest_of_wait(path));
}

/* When a leader's path should send HELLO; U64_MAX: not at all. */
static u64 hello_due(const struct shake_path *path)
{
	const struct shake_link *link = shake_link(path);
	u64 between = min_t(u64, HELLO_US << path->tries / HELLO_EACH, HELLO_SLOW_US);

	if (!shake_is_leader(path->peer->d) || !path->sock || shake_is_asleep() ||
	    path->peer->keys.trust == SHAKE_NO_KEY || path->state == SHAKE_PATH_ABSENT)
		return U64_MAX;
	if (!link || path->state == SHAKE_PATH_JOINING)
		return path->hello_at ? path->hello_at + between : 0;
	if (path->renew || link->s.counter >= SHAKE_REKEY_COUNT)
		return path->hello_at ? path->hello_at + between : 0;
	if (path->rejoin_at)
		return max(path->rejoin_at, path->hello_at + max_t(u64, between, REJOIN_US));
	if (path->state == SHAKE_PATH_DEAD)
		return dead_hello_due(path);
	return max(link->made_at + REKEY_US, path->hello_at + between);
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
	u64 due = U64_MAX, gap = rest_of_wait(path);

	if (!shake_link(path) || path->state == SHAKE_PATH_ABSENT ||
	    path->state == SHAKE_PATH_JOINING)
		return U64_MAX;
	if (path->state == SHAKE_PATH_DEAD)
		return path->probe_at +
		       max_t(u64, gap, shake_path_probe_gap(&path->estimate,
							    silence_at(path, path->probe_at)));
	due = policy_due(path);
	if (path->tail_at && path->copies && !shake_repair_is_empty(&path->copies->repair))
		due = min(due, path->tail_at + SHAKE_TAIL_US);
	if (!gap && (path->estimate.loss.out || now < peer->doubt_until) &&
	    now - peer->data_at < SHAKE_IDLE_US)
		due = min(due, path->probe_at +
			       max_t(u64, path->estimate.loss.out ? SHAKE_LOSS_PROBE :
								    SHAKE_LOSS_DOUBT,
				     shake_path_packet_time(&path->estimate)));
	if (!path->probe_at && (shake_is_leader(peer->d) ||
				READ_ONCE(peer->d->settings.hold_acks)))
		return 0;
	if (now - peer->data_at < SHAKE_IDLE_US)
		due = min(due, max(path->counted_at, path->probe_at) +
			       max_t(u64, gap, PROBE_UNUSED_US));
	else if (keepalive && shake_is_leader(peer->d))
		due = min(due, max(path->sent_at, path->probe_at) + max_t(u64, gap, keepalive));
	return min(due, doubt);
}

/* HELLO is due. Returns the octets of a CONFIRM again, or 0: HELLO. Under the peer's lock. */
static u32 confirm_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	path->hello_at = now;
	path->tries = min(path->tries + 1, HELLO_TRIES);
	way->path = path;
	way->from = path->from;
	way->to = path->to;
	if (path->next && path->confirms < CONFIRM_TRIES) {
		path->confirms++;
		return shake_final_write(packet, &path->next->s, SHAKE_TYPE_CONFIRM);
	}
	return 0;
}

/* Returns the octets of a probe to send, without tag; 0: none. Under the peer's lock. */
static u32 probe_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	bool tells = shake_is_leader(path->peer->d) && !path->policy_told;
	u32 length = SHAKE_PROBE_OCTETS;

	path->probe_at = now;
	path->tail_at = 0;
	if (!shake_way_take(path, way, now))
		return 0;
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_PROBE,
		.ack_path = shake_wished_path(path->peer),
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
static u64 step_path(struct shake_path *path)
{
	u8 hello[SHAKE_HELLO_MOST], ack[SHAKE_ACK_OCTETS + SHAKE_TAG];
	u8 probe[SHAKE_PROBE_OCTETS + SHAKE_POLICY_OCTETS + SHAKE_TAG];
	struct shake_way hello_way, ack_way, probe_way, mtu_ways[2];
	struct shake_peer *peer = path->peer;
	struct shake_dev *d = peer->d;
	u32 hello_octets = 0, probe_octets = 0, mtu;
	bool send_ack = false, asks;
	u64 now, next;

	spin_lock_bh(&peer->lock);
	now = shake_now();	/* under the lock: no other CPU has a later one */
	forget_if_renewed(path, now);
	leave_if_silent(path, now);
	expire_sessions(path, now);
	if (path->state == SHAKE_PATH_DEAD)
		shake_copies_expire(path, now);
	if (path->ack_due && path->ack_due <= now)
		send_ack = shake_ack_take(path, &ack_way, ack, now);
	asks = hello_due(path) <= now;
	if (asks)
		hello_octets = confirm_take(path, &hello_way, hello, now);
	if (probe_due(path, now) <= now)
		probe_octets = probe_take(path, &probe_way, probe, now);
	mtu = shake_mtu_take(path, mtu_ways, now);
	next = min3(hello_due(path), probe_due(path, now), next_expiry(path));
	next = min(next, shake_mtu_due(path));
	if (path->state == SHAKE_PATH_ALIVE)
		next = min(next, shake_path_deadline(&path->estimate, now));
	if (path->ack_due)
		next = min(next, path->ack_due);
	path->watched = false;
	shake_let_go(peer, now);
	spin_unlock_bh(&peer->lock);

	if (send_ack)
		shake_ack_send(d, &ack_way, ack);
	if (asks && !hello_octets)
		hello_octets = shake_hello_take(path, hello);
	if (hello_octets)
		shake_send_control(d, &hello_way, hello, hello_octets);
	if (probe_octets)
		shake_send_sealed(d, &probe_way, probe, probe_octets);
	if (mtu)
		shake_mtu_send(d, mtu_ways, mtu);
	shake_release_held(peer);
	return next;
}

/* timer_list::function of a peer */
void shake_peer_timer(struct timer_list *timer)
{
	struct shake_peer *peer = timer_container_of(peer, timer, timer);
	struct sk_buff *list = NULL;
	u64 next = U64_MAX;
	struct shake_path *path;
	u32 had, room;

	rcu_read_lock();
	shake_for_each_path(peer, path)
		next = min(next, step_path(path));
	had = shake_up_room(peer->d);
	room = had;
	next = min(next, shake_flows_due(&peer->flows, &list, &room, shake_now()));
	next = min(next, shake_soon_due(peer, &room, shake_now()));
	shake_up_count(peer->d, had - room);
	shake_deliver(peer->d, list);
	rcu_read_unlock();
	if (next != U64_MAX && netif_running(peer->d->dev))
		shake_peer_wake(peer, next, shake_now());
}
