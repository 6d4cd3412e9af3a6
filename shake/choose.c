// SPDX-License-Identifier: GPL-2.0
/*
 * Which path takes a packet, and whether it had better wait.
 */
#include <net/ip.h>
#include <net/sch_generic.h>

#include "choose.h"
#include "held.h"
#include "wake.h"

#define TELL_LEAST 1000	/* octets: shorter packets cost a path 3 % and more of what it carries */
#define TELL_US (10 * USEC_PER_MSEC)	/* between senders that are told of a path's MTU */
#define PIN_US (10 * USEC_PER_SEC)	/* after so long a flow's path is chosen anew */
#define QUIET_US (250 * USEC_PER_MSEC)	/* heard before others by so much: perhaps dying */

static bool is_in(const struct shake_path *path, enum shake_path_state state, bool all)
{
	return path->state == state && shake_link(path) && (all || !path->estimate.loss.out);
}

/* The rank of those paths in a state that come first. Under the peer's lock. */
static u32 first_rank(struct shake_peer *peer, enum shake_path_state state, bool all)
{
	struct shake_path *path;
	u32 least = U32_MAX;

	shake_for_each_path(peer, path)
		if (is_in(path, state, all))
			least = min(least, shake_policy_rank(&path->settings.policy));
	return least;
}

/* How long packets may be for a path. */
enum fit {
	KNOWN,		/* they are known to pass */
	HOPED,		/* they may */
	ANY,		/* the sender is told, or the packet is cut outside */
};

/**
 * struct demand - paths that come into question
 * @state: of theirs
 * @fit: of the packet
 * @lossy: also those that lose too much
 * @over: also those that have carried what they may
 */
struct demand {
	enum shake_path_state state;
	enum fit fit;
	bool lossy;
	bool over;
};

static bool fits(const struct shake_path *path, enum fit fit, u32 length)
{
	u32 mtu = READ_ONCE(path->mtu);	/* shake_find_route() writes it without the lock */

	if (fit == ANY)
		return true;
	return (!mtu || length <= mtu) && length <= path->bound &&
	       (fit == HOPED || shake_plpmtu_takes(&path->plpmtu, length));
}

/*
 * The paths of a demand: of those in its state whose rank comes first. Under the peer's lock.
 */
static unsigned int usable(struct shake_peer *peer, const struct demand *demand, u32 length,
			   u64 now, struct shake_choice *choices, struct shake_path **paths)
{
	u32 rank, least = U32_MAX;
	struct shake_path *path;
	unsigned int count = 0;

	shake_for_each_path(peer, path) {
		if (!is_in(path, demand->state, demand->lossy))
			continue;
		rank = shake_policy_rank(&path->settings.policy);
		if (rank < least) {
			least = rank;
			count = 0;
		}
		if (rank > least || !fits(path, demand->fit, length) ||
		    (!demand->over && shake_is_over(path, now)))
			continue;
		choices[count].est = &path->estimate;
		choices[count].weight = path->settings.weight;
		paths[count++] = path;
	}
	return count;
}

/* The demands that paths may fit, in turn. */
enum { FREE, OVER };

/*
 * Paths that may take a packet: dead ones only if none is alive, too narrow ones only if none
 * of the same state is wide enough, those that are left out only if no other is, and those that
 * have carried what they may only if the others have, too. @which becomes the demand that they fit.
 * Under the peer's lock.
 */
static unsigned int candidates(struct shake_peer *peer, u32 length, u64 now,
			       struct shake_choice *choices, struct shake_path **paths,
			       unsigned int *which)
{
	static const struct demand demands[] = {
		[FREE] = { SHAKE_PATH_ALIVE, KNOWN },
		[OVER] = { SHAKE_PATH_ALIVE, KNOWN, .over = true },
		{ SHAKE_PATH_ALIVE, KNOWN, .lossy = true, .over = true },
		{ SHAKE_PATH_ALIVE, HOPED, .lossy = true, .over = true },
		{ SHAKE_PATH_ALIVE, ANY, .lossy = true, .over = true },
		/* A path that holds packets back during an outage delivers them afterwards. */
		{ SHAKE_PATH_DEAD, KNOWN, .lossy = true, .over = true },
		{ SHAKE_PATH_DEAD, ANY, .lossy = true, .over = true },
	};
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(demands) && !count; i++) {
		count = usable(peer, &demands[i], length, now, choices, paths);
		*which = i;
	}
	return count;
}

/*
 * Whether the packet may be cut to pieces outside. No sender makes IPv6's packets shorter than
 * 1280 octets (RFC 2473, 7.1): they are cut if they have to be.
 */
bool shake_may_fragment(const struct sk_buff *skb, u32 mtu)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		return skb->len <= IPV6_MIN_MTU && skb->len > mtu;
	return !(ip_hdr(skb)->frag_off & htons(IP_DF));
}

/*
 * The least MTU of a path that is used, if a packet of that length is too long for it and the
 * sender should know: if it never did, the path would carry none of its packets. 0: there is none.
 * A path that is very narrow would cost the others more than it brings. Under the peer's lock.
 */
u32 shake_narrowest(struct shake_peer *peer, const struct sk_buff *skb, u64 now)
{
	u32 least = skb->protocol == htons(ETH_P_IPV6) ? IPV6_MIN_MTU : TELL_LEAST;
	struct shake_path *path, *found = NULL;
	u32 mtu, narrow = skb->len;

	shake_for_each_path(peer, path) {
		mtu = min(READ_ONCE(path->mtu), path->bound);
		if (mtu < least || mtu >= narrow || !is_in(path, SHAKE_PATH_ALIVE, false) ||
		    !shake_plpmtu_is_known(&path->plpmtu) ||
		    shake_policy_rank(&path->settings.policy) !=
		    first_rank(peer, SHAKE_PATH_ALIVE, false))
			continue;
		narrow = mtu;
		found = path;
	}
	/* who is not told must not take the turn of who should be */
	if (!found || shake_may_fragment(skb, narrow) || now - found->told_at < TELL_US)
		return 0;
	found->told_at = now;
	return narrow;
}

/*
 * The path for ACKs: the one that the leader named, unless others have been heard since for so
 * long that it may be dying. Then the one heard last. Under the peer's lock.
 */
static struct shake_path *ack_path(struct shake_peer *peer)
{
	struct shake_path *named = shake_path(peer, READ_ONCE(peer->ack_path));
	struct shake_path *path, *last = named;
	u64 quiet;

	if (!named || named->state != SHAKE_PATH_ALIVE || !shake_link(named))
		return NULL;
	shake_for_each_path(peer, path)
		if (path->state == SHAKE_PATH_ALIVE && shake_link(path) &&
		    path->heard_at > last->heard_at)
			last = path;
	quiet = max_t(u64, QUIET_US, 4 * named->usual_gap);	/* one not used is not dying */
	return last->heard_at - named->heard_at > quiet ? last : named;
}

/* How paths are chosen, as the user has set it. */
static struct shake_sched_config config_of(const struct shake_settings *settings)
{
	struct shake_sched_config config = settings->sched;

	config.even = READ_ONCE(settings->ack) != SHAKE_ACK_AUTO;
	return config;
}

/* The path that a flow is pinned to, if it may be taken and the flow has not slept. Locked. */
static struct shake_path *pinned_path(const struct shake_stream *stream, struct shake_path **paths,
				      unsigned int count, u64 now)
{
	unsigned int i;

	if (now - stream->used_at > PIN_US)
		return NULL;
	for (i = 0; i < count; i++)
		if (paths[i]->settings.id == stream->path)
			return paths[i];
	return NULL;
}

/* Leave out the path with this number. Returns how many are left. */
static unsigned int leave_out(u8 id, struct shake_choice *choices, struct shake_path **paths,
			      unsigned int count)
{
	unsigned int i, left = 0;

	for (i = 0; i < count; i++) {
		if (paths[i]->settings.id == id)
			continue;
		choices[left] = choices[i];
		paths[left++] = paths[i];
	}
	return left;
}

/* @stream: pinned; NULL: not. @other: any path but this. Under the peer's lock. */
struct shake_path *shake_choose(struct shake_peer *peer, struct shake_stream *stream, u32 length,
				bool small, u8 other, u64 now)
{
	struct shake_choice choices[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_path *paths[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_sched_config config;
	struct shake_path *path;
	unsigned int count, which;

	if (length > SHAKE_SMALL)
		peer->length = length;
	path = small ? ack_path(peer) : NULL;
	if (path)
		return path;
	count = candidates(peer, length, now, choices, paths, &which);
	if (other)
		count = leave_out(other, choices, paths, count);
	if (!count)
		return NULL;
	path = stream ? pinned_path(stream, paths, count, now) : NULL;
	if (!path && count == 1)
		path = paths[0];
	/* a short packet adds nothing to a queue, and should not take a long way to avoid one */
	config = config_of(&peer->d->settings);
	if (!path)
		path = paths[shake_sched_pick(&peer->sched, &config, choices, count, length,
					      length <= SHAKE_SMALL ? 0 :
					      READ_ONCE(peer->d->settings.queue), now)];
	if (stream) {
		stream->path = path->settings.id;
		stream->used_at = now;
	}
	return path;
}

/* Packets that wait above the paths. Under RCU. */
static u32 above(struct shake_peer *peer)
{
	struct netdev_queue *queue = netdev_get_tx_queue(peer->d->dev, 0);

	if (!shake_is_leader(peer->d))
		return shake_held_count(peer->held);
	return (u32)qdisc_qlen_sum(rcu_dereference_bh(queue->qdisc));
}

/*
 * Whether TCP's windows are as large as paths need that are full, or nobody could tell. Under RCU
 * and the peer's lock.
 */
static bool is_sated(struct shake_peer *peer, const struct shake_sched_config *config,
		     const struct shake_choice *choices, u32 count, bool full)
{
	if (config->even || config->scheduler != SHAKE_SCHED_RAH ||
	    !READ_ONCE(peer->d->settings.queue))
		return true;
	return full && shake_sched_is_sated(choices, count, peer->sched.waits);
}

/*
 * Whether packets would only wait elsewhere, or all paths have carried what they may: those paths
 * that take packets as long as the last one, as others' room is of no use to them. @trip becomes
 * the longest of the paths' least round trips, and @hold the time, in us, after which to look
 * again. Under the peer's lock.
 */
static bool is_full(struct shake_peer *peer, u32 *trip, u32 *hold, u64 now)
{
	struct shake_choice choices[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_path *paths[SHAKE_PATHS_MAX] __uninitialized;
	const struct shake_settings *settings = &peer->d->settings;
	struct shake_sched_config config = config_of(settings);
	u32 bytes = peer->length ?: peer->d->dev->mtu;
	unsigned int count, index, which;
	bool full;

	count = candidates(peer, bytes, now, choices, paths, &which);
	if (count && paths[0]->state != SHAKE_PATH_ALIVE)
		count = 0;
	full = count && which == OVER;
	*trip = 0;
	*hold = SHAKE_HOLD_US;
	for (index = 0; index < count; index++) {
		*trip = max(*trip, shake_path_min_rtt(choices[index].est));
		*hold = min(*hold, shake_sched_look(choices[index].est));
	}
	peer->sched.opens = READ_ONCE(peer->flows.opening) && !READ_ONCE(peer->flows.stays);
	peer->sched.waits = (u64)above(peer) * peer->d->dev->mtu;
	full = full || shake_sched_is_full(&peer->sched, &config, choices, count, bytes,
					   READ_ONCE(settings->queue), now);
	if (READ_ONCE(peer->flows.opening))
		WRITE_ONCE(peer->flows.sated, is_sated(peer, &config, choices, count, full));
	return full;
}

/* The same of an agent's leader, which is looked at again soon. */
bool shake_is_full(struct shake_peer *peer, u32 *trip)
{
	bool full;
	u32 hold;
	u64 now;

	spin_lock_bh(&peer->lock);
	now = shake_now();
	full = is_full(peer, trip, &hold, now);
	if (full)
		shake_peer_wake(peer, now + hold, now);
	spin_unlock_bh(&peer->lock);
	return full;
}

/* Stop the leader's queue if packets would only wait elsewhere. Under the peer's lock. */
void shake_hold_back(struct shake_peer *peer, u64 now)
{
	struct shake_dev *d = peer->d;
	u32 trip, hold;

	if (is_full(peer, &trip, &hold, now)) {
		if (!netif_queue_stopped(d->dev)) {
			netif_stop_queue(d->dev);
			shake_count(d, SHAKE_HELD_BACK);
		}
		shake_peer_wake(peer, now + hold, now);
	} else if (netif_queue_stopped(d->dev)) {
		netif_wake_queue(d->dev);
	}
}

/* Let the leader's queue go on if there is room, or nothing to wait for. The same. */
void shake_let_go(struct shake_peer *peer, u64 now)
{
	if (shake_is_leader(peer->d) && netif_queue_stopped(peer->d->dev))
		shake_hold_back(peer, now);
}

/* The longest packet that a living path is known to take; 0: one takes what its route does. */
u32 shake_widest(struct shake_peer *peer)
{
	struct shake_path *path;
	u32 most = 0, least = U32_MAX;

	spin_lock_bh(&peer->lock);
	shake_for_each_path(peer, path) {
		if (!is_in(path, SHAKE_PATH_ALIVE, true))
			continue;
		most = max(most, path->bound);
		if (path->bound >= READ_ONCE(path->mtu))
			least = 0;
	}
	spin_unlock_bh(&peer->lock);
	return min(most, least);
}
