// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: their sockets, sessions and states, and the devices that they leave by.
 */
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <compat/udp_tunnel.h>

#include "core/shake_worth.h"
#include "internal.h"

#define WATCH_US (100 * USEC_PER_MSEC)	/* the timer looks at a used path so often, at least */

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
	/* without memory nothing is sent again */
	path->copies = kzalloc(sizeof(*path->copies), gfp | __GFP_NOWARN);
	path->peer = peer;
	path->settings.id = id;
	path->settings.weight = 100;
	path->bound = U32_MAX;
	path->join.id = peer->id;
	path->join.path = id;
	shake_path_init(&path->estimate, path->ring, shake_now());
	rcu_assign_pointer(peer->paths[id - 1], path);
	return path;
}

static void path_free(struct rcu_head *head)
{
	struct shake_path *path = container_of(head, struct shake_path, rcu);

	dst_cache_destroy(&path->dst);
	kfree(path->copies);
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
 * By how much the longest way is longer than the shortest, of paths that are used: what comes by it
 * is late by that. Each way takes half of a round trip. Under the peer's lock.
 */
void shake_measure_ways(struct shake_peer *peer)
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

/* --- the way ------------------------------------------------------------------------------- */

/* Where a path sends to. Under the peer's lock. */
void shake_way_again(struct shake_path *path, struct shake_way *way)
{
	way->path = path;
	way->link = shake_link(path);
	way->from = path->from;
	way->to = path->to;
	way->counter = 0;
}

/* Take the next number of a path that has a session. Under the peer's lock. */
bool shake_way_take(struct shake_path *path, struct shake_way *way, u64 now)
{
	shake_way_again(path, way);
	path->sent_at = now;
	return shake_session_next(&way->link->s, &way->counter);
}

/* A packet that wants a pseudo-ACK. Under the peer's lock. */
void shake_way_count(const struct shake_way *way, u32 bytes, u64 now)
{
	struct shake_path *path = way->path;

	path->counted_at = now;
	if (!path->watched) {
		path->watched = true;
		shake_peer_wake(path->peer, now + WATCH_US, now);
	}
	shake_path_sent(&path->estimate, (u32)way->counter, bytes, now);
}

/* --- sockets ------------------------------------------------------------------------------- */

static int open_socket(struct shake_dev *d, struct udp_port_cfg *port, struct socket **sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = d,
		.encap_type = 1,
		.encap_rcv = shake_encap_rcv,
	};
	int err;

	if (!d->net)
		return -ENETDOWN;
	port->ipv6_v6only = true;
	port->use_udp6_tx_checksums = true;
	port->use_udp6_rx_checksums = true;
	err = udp_sock_create(d->net, port, sock);
	if (!err)
		apogee_tunnel_setup(d->net, *sock, &tunnel);
	return err;
}

/* The address that a path sends to. */
static void find_remote(const struct shake_path *path, union shake_addr *to)
{
	const struct shake_settings *settings = &path->peer->d->settings;

	*to = path->settings.remote;
	if (to->any.sa_family == AF_UNSPEC)
		*to = settings->remote;
	if (to->any.sa_family == AF_INET)
		to->v4.sin_port = htons(settings->port);
	else
		to->v6.sin6_port = htons(settings->port);
}

/* Find the device that a leader's path leaves by. Returns whether it is there and up. */
static bool find_device(struct shake_path *path)
{
	struct shake_dev *d = path->peer->d;
	struct net_device *dev;

	path->ifindex = 0;
	if (!path->settings.dev[0])
		return true;
	dev = d->net ? __dev_get_by_name(d->net, path->settings.dev) : NULL;
	if (!dev)
		return false;
	path->ifindex = dev->ifindex;
	return dev->flags & IFF_UP;
}

/* Let a leader's path register, if it can. Under RTNL; the device is up. */
int shake_path_open(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;
	struct udp_port_cfg port = { };
	union shake_addr to;
	struct socket *sock;
	int err;

	find_remote(path, &to);
	if (path->sock || to.any.sa_family == AF_UNSPEC || !find_device(path))
		return 0;
	port.family = to.any.sa_family;
	port.bind_ifindex = path->ifindex;
	err = open_socket(peer->d, &port, &sock);
	if (err)
		return err;
	path->refused = 0;
	spin_lock_bh(&peer->lock);
	path->from = path->settings.local;
	path->to = to;
	dst_cache_reset(&path->dst);
	shake_mtu_forget(path);
	WRITE_ONCE(path->sock, sock);
	path->hello_at = 0;
	path->tries = 0;
	/* with a session from before: dead until it answers */
	shake_path_set_state(path, shake_link(path) ? SHAKE_PATH_DEAD : SHAKE_PATH_JOINING);
	spin_unlock_bh(&peer->lock);
	mod_timer(&peer->timer, jiffies);
	return 0;
}

static void set_refused(struct shake_path *path, int err)
{
	spin_lock_bh(&path->peer->lock);
	path->refused = err;
	shake_event_state(path);
	spin_unlock_bh(&path->peer->lock);
}

/*
 * The same for one path of several: what it has no socket for, IPv6 that is off or a port, must
 * not stop the others. It is told once, and tried again.
 */
void shake_path_try(struct shake_path *path)
{
	struct shake_dev *d = path->peer->d;
	int err = shake_path_open(path);

	if (!err || !d->net)	/* without its namespace there is nothing to wait for */
		return;
	if (!path->refused)
		netdev_warn(d->dev, "path %u has no socket (error %d): it is tried again\n",
			    path->settings.id, err);
	set_refused(path, err);
	shake_retry_later(d);
}

/*
 * Under RTNL. The session stays unless the caller ends it; one that was being made is not
 * finished. No packet is given to the path while those that use its socket are waited for.
 */
void shake_path_close(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;
	struct socket *sock = path->sock;

	set_refused(path, 0);
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

static int agent_socket(struct shake_dev *d, u8 family, struct socket __rcu **place)
{
	const union shake_addr *local = &d->settings.local;
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(d->settings.port),
	};
	struct socket *sock;
	int err;

	if (local->any.sa_family != AF_UNSPEC && local->any.sa_family != family)
		return 0;
	if (local->any.sa_family == AF_INET)
		port.local_ip = local->v4.sin_addr;
	else if (local->any.sa_family == AF_INET6)
		port.local_ip6 = local->v6.sin6_addr;
	err = open_socket(d, &port, &sock);
	if (!err)
		rcu_assign_pointer(*place, sock);
	return err;
}

/* Open an agent's sockets. Under RTNL. */
int shake_agent_open(struct shake_dev *d)
{
	int err = agent_socket(d, AF_INET, &d->sock4);

	if (err)
		return err;
	err = agent_socket(d, AF_INET6, &d->sock6);
	if (err == -EAFNOSUPPORT && d->settings.local.any.sa_family != AF_INET6)
		return 0;	/* a host without IPv6 */
	if (err)
		shake_agent_close(d);
	return err;
}

static void agent_release(struct socket __rcu **place)
{
	struct socket *sock = rtnl_dereference(*place);

	if (!sock)
		return;
	RCU_INIT_POINTER(*place, NULL);
	apogee_tunnel_release(sock);
}

void shake_agent_close(struct shake_dev *d)
{
	agent_release(&d->sock4);
	agent_release(&d->sock6);
}

/* --- devices that paths leave by ----------------------------------------------------------- */

/* A device is there and up: it may be the one that the path waits for. */
static void device_there(struct shake_path *path, const struct net_device *dev)
{
	if (netif_running(path->peer->d->dev) && !path->sock && dev->flags & IFF_UP &&
	    !strcmp(path->settings.dev, dev->name))
		shake_path_try(path);
}

static void device_event(struct shake_path *path, const struct net_device *dev,
			 unsigned long event)
{
	bool same = path->ifindex == dev->ifindex;

	switch (event) {
	case NETDEV_UP:
		device_there(path, dev);
		break;
	case NETDEV_UNREGISTER:
	case NETDEV_DOWN:
		if (same)
			shake_path_close(path);
		if (same && event == NETDEV_UNREGISTER)
			path->ifindex = 0;	/* another may get its number */
		break;
	case NETDEV_CHANGENAME:
		if (same)
			strscpy(path->settings.dev, dev->name, IFNAMSIZ);
		else
			device_there(path, dev);
		break;
	}
}

static int notified(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct shake_peer *peer;
	struct shake_path *path;
	struct shake_dev *d;

	list_for_each_entry(d, &shake_devices, list) {
		peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
		if (!peer || d->net != dev_net(dev))
			continue;
		shake_for_each_path(peer, path)
			if (path->settings.dev[0])
				device_event(path, dev, event);
	}
	return NOTIFY_DONE;
}

struct notifier_block shake_notifier = { .notifier_call = notified };

/* --- the namespace of the sockets goes ----------------------------------------------------- */

/* A route must not outlive its namespace. Under RTNL; nobody sends any more. */
static void forget_routes(struct shake_dev *d)
{
	struct shake_peer *peer;
	struct shake_path *path;
	unsigned long i;

	xa_for_each(&d->peers, i, peer)
		shake_for_each_path(peer, path)
			dst_cache_reset_now(&path->dst);
}

static void leave_net(struct shake_dev *d)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	struct shake_path *path;

	WRITE_ONCE(d->net, NULL);
	shake_agent_close(d);
	if (peer) {
		shake_for_each_path(peer, path)
			shake_path_close(path);
	}
	synchronize_net();
	forget_routes(d);
}

static void net_gone(struct net *net)
{
	struct shake_dev *d;

	rtnl_lock();
	list_for_each_entry(d, &shake_devices, list)
		if (d->net == net)
			leave_net(d);
	rtnl_unlock();
	rcu_barrier();	/* paths that were removed just before have routes, too */
}

struct pernet_operations shake_net_ops = { .pre_exit = net_gone };
