// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: their sockets, sessions and states, and the devices that they leave by.
 */
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <compat/udp_tunnel.h>

#include "choose.h"
#include "copies.h"
#include "core/shake_worth.h"
#include "events.h"
#include "path.h"
#include "wake.h"

/* --- made and removed ---------------------------------------------------------------------- */

/* Returns the new path, or NULL without memory. Under the peer's lock. */
struct shake_path *shake_path_make(struct shake_peer *peer, u8 id, gfp_t gfp)
{
	struct shake_path *path = kzalloc(sizeof(*path), gfp);

	if (!path)
		return NULL;
	path->ring = kcalloc(SHAKE_RING, sizeof(*path->ring), gfp | __GFP_NOWARN);
	if (!path->ring || dst_cache_init(&path->dst, gfp)) {
		kfree(path->ring);
		kfree(path);
		return NULL;
	}
	path->peer = peer;
	path->settings.id = id;
	path->settings.weight = 100;
	path->bound = U32_MAX;
	path->join.id = peer->id;
	path->join.path = id;
	shake_path_init(&path->estimate, path->ring, shake_now());
	shake_copies_begin(path, gfp);
	rcu_assign_pointer(peer->paths[id - 1], path);
	WRITE_ONCE(peer->last_path, max(peer->last_path, id));
	return path;
}

static void path_free(struct rcu_head *head)
{
	struct shake_path *path = container_of(head, struct shake_path, rcu);

	dst_cache_destroy(&path->dst);
	shake_copies_free(path);
	kfree(path->ring);
	kfree_sensitive(path);
}

/* Under RTNL. */
void shake_path_remove(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;

	shake_path_close(path);
	spin_lock_bh(&peer->lock);
	RCU_INIT_POINTER(peer->paths[path->settings.id - 1], NULL);
	shake_link_use(path, NULL, shake_now());
	shake_path_set_state(path, SHAKE_PATH_ABSENT);
	spin_unlock_bh(&peer->lock);
	shake_copies_end(path);
	call_rcu(&path->rcu, path_free);
}

/* --- sessions ------------------------------------------------------------------------------ */

static void link_free(struct rcu_head *head)
{
	struct shake_link *link = container_of(head, struct shake_link, rcu);

	shake_session_forget(&link->s);
	kfree(link);
}

/* Let packets come in a session, by an index of its own. Returns NULL without memory. */
struct shake_link *shake_link_make(struct shake_path *path, const struct shake_session *s)
{
	struct shake_dev *d = path->peer->d;
	struct shake_link *link = kzalloc(sizeof(*link), GFP_ATOMIC);
	u32 index;

	if (!link)
		return NULL;
	link->path = path;
	link->s = *s;
	link->made_at = shake_now();
	/* Without a key only its number tells it from sessions of before a restart. */
	if (!s->auth)
		d->next_session = get_random_u16();
	/* The entry is NULL until the session knows its index. */
	if (xa_alloc_cyclic_bh(&d->sessions, &index, NULL, XA_LIMIT(1, U16_MAX),
			       &d->next_session, GFP_ATOMIC) < 0) {
		kfree_sensitive(link);
		return NULL;
	}
	link->s.index = index;
	xa_store_bh(&d->sessions, index, link, GFP_ATOMIC);
	return link;
}

void shake_link_free(struct shake_dev *d, struct shake_link *link)
{
	if (!link)
		return;
	xa_erase_bh(&d->sessions, link->s.index);
	call_rcu(&link->rcu, link_free);
}

/* Send in this session from now on; NULL: in none. Under the peer's lock. */
void shake_link_use(struct shake_path *path, struct shake_link *link, u64 now)
{
	struct shake_link *before = shake_link(path);
	struct shake_dev *d = path->peer->d;

	if (link && before && !before->used && path->old) {
		/* the other end has not heard of it, and still sends in the old one */
		shake_link_free(d, before);
	} else {
		shake_link_free(d, path->old);
		path->old = link ? before : NULL;	/* its packets may still come */
		if (!link)
			shake_link_free(d, before);
	}
	if (path->next != link)
		shake_link_free(d, path->next);
	path->next = NULL;
	path->ack_due = 0;
	path->ack_waiting = 0;
	path->policy_told = false;
	path->policy_tries = 0;
	path->policy_at = 0;
	shake_copies_purge(path);
	if (link)
		link->used_at = now;
	rcu_assign_pointer(path->link, link);
	shake_path_restart(&path->estimate, now);
}

/* A path's sessions end, and what was about to be one. Under the peer's lock. */
void shake_link_end(struct shake_path *path, u64 now)
{
	shake_link_use(path, NULL, now);
	shake_join_forget(&path->join);
	if (path->state != SHAKE_PATH_ABSENT)
		shake_path_set_state(path, SHAKE_PATH_JOINING);
}

/* --- states -------------------------------------------------------------------------------- */

/* A leader's carrier: on while a path is registered. */
static void update_carrier(struct shake_peer *peer)
{
	struct shake_path *path;

	if (!shake_is_leader(peer->d))
		return;
	shake_for_each_path(peer, path)
		if (path->state == SHAKE_PATH_ALIVE || path->state == SHAKE_PATH_DEAD) {
			netif_carrier_on(peer->d->dev);
			return;
		}
	netif_carrier_off(peer->d->dev);
}

/* Under the peer's lock. */
void shake_path_set_state(struct shake_path *path, enum shake_path_state state)
{
	struct shake_dev *d = path->peer->d;

	if (path->state == state)
		return;
	if (path->state == SHAKE_PATH_ALIVE) {
		path->died++;
		shake_count(d, SHAKE_PATH_DIED);
		shake_path_forget(&path->estimate, shake_now());
		shake_flows_path_lost(&path->peer->flows, path->settings.id);
		if (state != SHAKE_PATH_ABSENT)	/* for what waited for its data */
			shake_peer_wake(path->peer, 0, 0);
	} else if (path->state == SHAKE_PATH_DEAD && state == SHAKE_PATH_ALIVE) {
		shake_count(d, SHAKE_PATH_REVIVED);
	}
	if (state != SHAKE_PATH_ALIVE && state != SHAKE_PATH_DEAD)	/* a dead one's grow old */
		shake_copies_purge(path);
	if (state == SHAKE_PATH_DEAD)
		path->dead_at = shake_now();
	WRITE_ONCE(path->state, state);
	shake_choose_ack_path(path->peer);
	shake_let_go(path->peer, shake_now());
	update_carrier(path->peer);
	shake_event_state(path);
}

/* Another policy of a path. A leader tells its agent. Under the peer's lock. */
void shake_path_set_policy(struct shake_path *path, const struct shake_policy *policy)
{
	if (shake_policy_is_same(&path->settings.policy, policy))
		return;
	path->settings.policy = *policy;
	path->limit_until = 0;
	path->policy_told = false;
	path->policy_tries = 0;
	path->policy_at = shake_is_leader(path->peer->d) ? 0 : path->policy_at;
	shake_loss_set_limit(&path->estimate.loss, policy->loss_limit);
	shake_path_judge(path, shake_now());
	shake_choose_ack_path(path->peer);
	if (netif_running(path->peer->d->dev))
		shake_peer_wake(path->peer, 0, 0);
}

/*
 * A leader's wish: of the paths that are used the one with the least round trip. Under the peer's
 * lock.
 */
void shake_choose_ack_path(struct shake_peer *peer)
{
	u64 least = U64_MAX, score;
	struct shake_path *path;
	u8 found = 0;

	if (!shake_is_leader(peer->d))
		return;
	shake_for_each_path(peer, path) {
		score = shake_path_srtt(&path->estimate) ?: U32_MAX;
		score |= (u64)shake_policy_rank(&path->settings.policy) << 32;
		score |= (u64)path->estimate.loss.out << 40;
		if (path->state == SHAKE_PATH_ALIVE && score < least) {
			least = score;
			found = path->settings.id;
		}
	}
	peer->ack_path = found;
}

/*
 * The round trip that TCP should see. Those that died of late count, too: it does not forget in a
 * moment, either. Under the peer's lock.
 */
static u32 trip_of_paths(struct shake_peer *peer, u64 now)
{
	struct shake_reaches reaches = {};
	struct shake_path *path;
	u32 count = 0, trip;

	BUILD_BUG_ON(SHAKE_TRIP_PATHS < SHAKE_PATHS_MAX);
	shake_for_each_path(peer, path) {
		trip = shake_path_min_rtt(&path->estimate) ?: path->joined;
		if (!trip || path->estimate.loss.out || now - path->heard_at > SHAKE_TRIP_KEPT)
			continue;
		reaches.path[count++] = (struct shake_reach){
			.trip = trip,
			.rate = min_t(u64, shake_path_known_rate(&path->estimate), SHAKE_RATE_MAX),
		};
	}
	return shake_trip_of(&reaches);
}

/*
 * By how much the longest way is longer than the shortest, of paths that are used: what comes by it
 * is late by that. Each way takes half of a round trip. Under the peer's lock.
 */
void shake_measure_ways(struct shake_peer *peer, u64 now)
{
	u32 least = U32_MAX, most = 0, trip;
	struct shake_path *path;

	shake_for_each_path(peer, path) {
		trip = shake_path_min_rtt(&path->estimate);
		if (!trip || path->state != SHAKE_PATH_ALIVE)
			continue;
		least = min(least, trip);
		most = max(most, trip);
	}
	WRITE_ONCE(peer->flows.apart, (most - min(most, least)) / 2);
	WRITE_ONCE(peer->flows.trip,
		   READ_ONCE(peer->d->settings.hold_acks) ? trip_of_paths(peer, now) : 0);
}

/* Whether TCP is better off without a path. Under the peer's lock. */
static bool is_poor(struct shake_path *path, const struct shake_choice *choices, u32 count,
		    u32 index, u64 now)
{
	struct shake_loss *loss = &path->estimate.loss;
	const struct shake_settings *settings = &path->peer->d->settings;
	bool tries = !loss->out || now - loss->since < SHAKE_WORTH_TRY;
	bool poor;

	poor = shake_worth_is_poor(choices, count, index,
				   shake_flows_busy(&path->peer->flows, now),
				   READ_ONCE(settings->queue), shake_repairs(settings), tries);
	if (!poor || (!loss->out && loss->wrong && now - loss->since < SHAKE_WORTH_PAUSE))
		loss->poor_at = now;
	return loss->out ? poor : now - loss->poor_at >= SHAKE_WORTH_WAIT;
}

/*
 * Whether a path that loses much may be left out for another one. One of a higher rank is worse,
 * unless the user has said what is too much.
 */
static bool may_replace(const struct shake_path *other, const struct shake_path *path)
{
	const struct shake_policy *mine = &path->settings.policy;

	return other->state == SHAKE_PATH_ALIVE && shake_link(other) &&
	       (mine->loss_limit ||
		shake_policy_rank(&other->settings.policy) <= shake_policy_rank(mine));
}

/*
 * RAH leaves out a path that loses much while others are better, or that costs more than it
 * brings, and takes it up again. Under the peer's lock.
 */
void shake_path_judge(struct shake_path *path, u64 now)
{
	struct shake_choice choices[SHAKE_PATHS_MAX];
	struct shake_loss *loss = &path->estimate.loss;
	struct shake_dev *d = path->peer->d;
	u32 count = 0, index = 0;
	struct shake_path *other;
	bool much, better;

	if (shake_loss_is_doubtful(loss))
		path->peer->doubt_until = now + SHAKE_DOUBT_US;
	much = loss->out || shake_loss_is_much(loss, shake_repairs(&d->settings));
	if (!much && shake_worth_share(loss) < SHAKE_WORTH_LEAST) {
		loss->poor_at = now;
		return;
	}
	shake_for_each_path(path->peer, other) {
		if (other == path)
			index = count;
		else if (!may_replace(other, path))
			continue;
		choices[count++].est = &other->estimate;
	}
	better = d->settings.sched.scheduler == SHAKE_SCHED_RAH &&
		 ((much && shake_loss_was_much(loss, shake_repairs(&d->settings)) &&
		   shake_sched_may_leave(choices, count, index)) ||
		  is_poor(path, choices, count, index, now));
	if (!loss->out && better) {
		shake_loss_leave(loss, now);
		path->left++;
		shake_count(d, SHAKE_PATH_LEFT);
	} else if (loss->out && (!better || shake_loss_is_little(loss))) {
		shake_loss_return(loss, now);
		shake_count(d, SHAKE_PATH_READMITTED);
	} else {
		return;
	}
	shake_choose_ack_path(path->peer);
	shake_peer_wake(path->peer, now, now);
	shake_event_state(path);
}

/* --- its socket ----------------------------------------------------------------------------- */

void shake_path_set_refused(struct shake_path *path, int err)
{
	spin_lock_bh(&path->peer->lock);
	path->refused = err;
	shake_event_state(path);
	spin_unlock_bh(&path->peer->lock);
}

/*
 * Under RTNL. The session stays unless the caller ends it; one that was being made is not
 * finished. No packet is given to the path while those that use its socket are waited for.
 */
void shake_path_close(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;
	struct socket *sock = path->sock;

	shake_path_set_refused(path, 0);
	if (!sock)
		return;
	spin_lock_bh(&peer->lock);
	WRITE_ONCE(path->sock, NULL);
	shake_link_free(peer->d, path->next);
	path->next = NULL;
	shake_join_forget(&path->join);
	shake_path_set_state(path, SHAKE_PATH_ABSENT);
	spin_unlock_bh(&peer->lock);
	apogee_tunnel_release(sock);
}
