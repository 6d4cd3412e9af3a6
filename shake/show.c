// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: settings, paths, peers and statistics are shown.
 *
 * getifaddrs() of the C library reads a page at a time and leaves out a link whose message
 * is longer. So each list has a limited room: that of a leader's eight paths,
 * and of one peer with all prefixes. An agent may have more; their number is always told, and
 * RTM_GETSTATS has all of them, in parts.
 */
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include "read.h"
#include "show.h"

/* octets of a list's entries: their heads, numbers of up to 32 bits, and the rest */
#define ROOM_PATHS (SHAKE_PATHS_MAX * (NLA_HDRLEN + 7 * nla_total_size(sizeof(u32)) + \
				       nla_total_size(IFNAMSIZ) + \
				       2 * nla_total_size(sizeof(struct in6_addr))))
#define ROOM_PEERS (2 * NLA_HDRLEN + 2 * nla_total_size(sizeof(u32)) + \
		    nla_total_size(SHAKE_KEY) + \
		    SHAKE_PREFIXES_MAX * nla_total_size(sizeof(struct in6_addr) + 1))
#define ROOM_PEER_PATH (NLA_HDRLEN + 12 * nla_total_size(sizeof(u32)) + \
			nla_total_size(IFNAMSIZ) + \
			2 * nla_total_size(sizeof(struct in6_addr)) + \
			10 * nla_total_size_64bit(sizeof(u64)))
#define ROOM_NEST 60000	/* octets; an attribute has no more than 65535 */
#define ROOM_STATS (SHAKE_PATHS_MAX * (NLA_HDRLEN + 6 * nla_total_size(sizeof(u32)) + \
				       10 * nla_total_size_64bit(sizeof(u64))))

/**
 * struct list - a list that is being written
 * @skb: where
 * @d: whose
 * @start: length of @skb where the list began
 * @room: octets that it may have
 * @count: entries, those left out as well
 * @full: one was left out
 */
struct list {
	struct sk_buff *skb;
	const struct shake_dev *d;
	unsigned int start;
	unsigned int room;
	u32 count;
	bool full;
};

/* Returns the entry begun at @nest to the list, or takes it back if there is no room. */
static void end_entry(struct list *list, struct nlattr *nest, bool bad)
{
	if (!bad)
		nla_nest_end(list->skb, nest);
	if (!bad && list->skb->len - list->start <= list->room)
		return;
	nla_nest_cancel(list->skb, nest);
	list->full = true;
}

/* --- sizes ---------------------------------------------------------------------------------- */

size_t shake_show_size(const struct net_device *dev)
{
	return 8 * nla_total_size(sizeof(u8)) +	/* all of them */
	       nla_total_size(sizeof(u16)) +		/* PORT */
	       10 * nla_total_size(sizeof(u32)) +	/* ID to DUPLICATE, both COUNTs */
	       2 * nla_total_size(sizeof(struct in6_addr)) +	/* LOCAL, REMOTE */
	       nla_total_size(SHAKE_KEY) +			/* PUBLIC_KEY */
	       nla_total_size(ROOM_PATHS) + nla_total_size(ROOM_PEERS);
}

size_t shake_show_stats_size(const struct net_device *dev)
{
	return ROOM_STATS;
}

/* --- settings ------------------------------------------------------------------------------- */

/* Any address is not shown. */
static int put_address(struct sk_buff *skb, int type, const union shake_addr *addr)
{
	switch (addr->any.sa_family) {
	case AF_INET:
		return nla_put_in_addr(skb, type, addr->v4.sin_addr.s_addr);
	case AF_INET6:
		return nla_put_in6_addr(skb, type, &addr->v6.sin6_addr);
	}
	return 0;
}

static bool bad_made(struct sk_buff *skb, const struct shake_settings *settings)
{
	return nla_put_u8(skb, IFLA_SHAKE_ROLE, settings->role) ||
	       (settings->role == SHAKE_LEADER &&
		nla_put_u32(skb, IFLA_SHAKE_ID, settings->id)) ||
	       nla_put_u16(skb, IFLA_SHAKE_PORT, settings->port) ||
	       put_address(skb, IFLA_SHAKE_LOCAL, &settings->local) ||
	       put_address(skb, IFLA_SHAKE_REMOTE, &settings->remote) ||
	       nla_put_u8(skb, IFLA_SHAKE_AUTH, settings->auth);
}

static bool bad_settings(struct sk_buff *skb, const struct shake_settings *settings)
{
	return bad_made(skb, settings) ||
	       nla_put_u8(skb, IFLA_SHAKE_SCHEDULER, settings->sched.scheduler) ||
	       nla_put_u32(skb, IFLA_SHAKE_THETA, settings->sched.theta) ||
	       nla_put_u8(skb, IFLA_SHAKE_ACK, settings->ack) ||
	       nla_put_u32(skb, IFLA_SHAKE_THRESHOLD, settings->threshold) ||
	       nla_put_u8(skb, IFLA_SHAKE_ENCRYPT, settings->encrypt) ||
	       nla_put_u32(skb, IFLA_SHAKE_INTERVAL, settings->estimate.interval) ||
	       nla_put_u32(skb, IFLA_SHAKE_RTT_WINDOW, settings->estimate.rtt_window) ||
	       nla_put_u32(skb, IFLA_SHAKE_KEEPALIVE, settings->keepalive) ||
	       nla_put_u32(skb, IFLA_SHAKE_QUEUE, settings->queue) ||
	       nla_put_u8(skb, IFLA_SHAKE_REPAIR, settings->repair) ||
	       nla_put_u8(skb, IFLA_SHAKE_DATAGRAMS, settings->datagrams) ||
	       nla_put_u32(skb, IFLA_SHAKE_DUPLICATE, settings->duplicate) ||
	       nla_put_u8(skb, IFLA_SHAKE_DUPLICATE_DSCP, settings->duplicate_dscp) ||
	       nla_put_u8(skb, IFLA_SHAKE_HOLD_ACKS, settings->hold_acks);
}

/* --- paths ---------------------------------------------------------------------------------- */

static u16 shown_port(const union shake_addr *addr)
{
	return ntohs(addr->any.sa_family == AF_INET6 ? addr->v6.sin6_port : addr->v4.sin_port);
}

static bool bad_name(struct list *list, const struct shake_path_stats *path)
{
	return nla_put_u8(list->skb, IFLA_SHAKE_PATH_ID, path->id) ||
	       (list->d->settings.role == SHAKE_AGENT &&
		nla_put_u32(list->skb, IFLA_SHAKE_PATH_PEER, path->peer));
}

static bool bad_policy(struct sk_buff *skb, const struct shake_policy *policy)
{
	return (policy->backup && nla_put_u8(skb, IFLA_SHAKE_PATH_BACKUP, 1)) ||
	       (policy->metered && nla_put_u8(skb, IFLA_SHAKE_PATH_METERED, 1)) ||
	       (policy->rate && nla_put_u32(skb, IFLA_SHAKE_PATH_RATE, policy->rate)) ||
	       (policy->loss_limit &&
		nla_put_u8(skb, IFLA_SHAKE_PATH_LOSS_LIMIT, policy->loss_limit));
}

static bool bad_path(struct list *list, const struct shake_path_stats *path)
{
	const struct shake_path_settings *settings = &path->settings;
	struct sk_buff *skb = list->skb;
	u16 port = shown_port(&settings->remote);

	return bad_name(list, path) ||
	       (settings->dev[0] &&
		nla_put_string(skb, IFLA_SHAKE_PATH_DEV, settings->dev)) ||
	       put_address(skb, IFLA_SHAKE_PATH_LOCAL, &settings->local) ||
	       put_address(skb, IFLA_SHAKE_PATH_REMOTE, &settings->remote) ||
	       (port && nla_put_u16(skb, IFLA_SHAKE_PATH_PORT, port)) ||
	       nla_put_u32(skb, IFLA_SHAKE_PATH_WEIGHT, settings->weight) ||
	       bad_policy(skb, &settings->policy) ||
	       nla_put_u8(skb, IFLA_SHAKE_PATH_STATE, path->state);
}

static bool bad_u64(struct list *list, int type, u64 value)
{
	return nla_put_u64_64bit(list->skb, type, value, IFLA_SHAKE_PATH_PAD);
}

static bool bad_statistics(struct list *list, const struct shake_path_stats *path)
{
	return nla_put_u32(list->skb, IFLA_SHAKE_PATH_SRTT, path->srtt) ||
	       nla_put_u32(list->skb, IFLA_SHAKE_PATH_MIN_RTT, path->min_rtt) ||
	       bad_u64(list, IFLA_SHAKE_PATH_THROUGHPUT, path->throughput) ||
	       bad_u64(list, IFLA_SHAKE_PATH_QUEUE, path->queue) ||
	       bad_u64(list, IFLA_SHAKE_PATH_SENT, path->sent) ||
	       bad_u64(list, IFLA_SHAKE_PATH_SENT_BYTES, path->sent_bytes) ||
	       bad_u64(list, IFLA_SHAKE_PATH_RECEIVED, path->received) ||
	       bad_u64(list, IFLA_SHAKE_PATH_RECEIVED_BYTES, path->received_bytes) ||
	       bad_u64(list, IFLA_SHAKE_PATH_LOST, path->lost) ||
	       bad_u64(list, IFLA_SHAKE_PATH_LATE, path->late) ||
	       bad_u64(list, IFLA_SHAKE_PATH_DIED, path->died) ||
	       nla_put_u32(list->skb, IFLA_SHAKE_PATH_LOSS, path->loss) ||
	       bad_u64(list, IFLA_SHAKE_PATH_LEFT, path->left) ||
	       (path->mtu && nla_put_u32(list->skb, IFLA_SHAKE_PATH_MTU, path->mtu));
}

static bool bad_stats(struct list *list, const struct shake_path_stats *path)
{
	return bad_name(list, path) || bad_statistics(list, path);
}

static int put_path(struct list *list, const struct shake_path_stats *path,
		    bool (*bad)(struct list *list, const struct shake_path_stats *path))
{
	struct nlattr *nest;

	list->count++;
	if (list->full)
		return 0;
	nest = nla_nest_start(list->skb, IFLA_SHAKE_PATH);
	if (nest)
		end_entry(list, nest, bad(list, path));
	else
		list->full = true;
	return 0;
}

static int show_path(const struct shake_path_stats *path, void *to)
{
	return put_path(to, path, bad_path);
}

static int show_stats(const struct shake_path_stats *path, void *to)
{
	return put_path(to, path, bad_stats);
}

/* --- peers ---------------------------------------------------------------------------------- */

static bool bad_prefix(struct sk_buff *skb, const struct shake_prefix *prefix)
{
	u8 octets[sizeof(struct in6_addr) + 1];
	u8 length = prefix->family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);

	memcpy(octets, &prefix->address, length);
	octets[length] = prefix->length;
	return nla_put(skb, IFLA_SHAKE_PEER_ALLOW, length + 1, octets);
}

static bool bad_peer(struct sk_buff *skb, const struct shake_peer_shown *peer)
{
	struct nlattr *nest;
	u32 i;

	if (nla_put_u32(skb, IFLA_SHAKE_PEER_ID, peer->id) ||
	    nla_put_u8(skb, IFLA_SHAKE_PEER_HAS_KEY, peer->has_key) ||
	    (peer->has_public &&
	     nla_put(skb, IFLA_SHAKE_PEER_PUBLIC_KEY, SHAKE_KEY, peer->public)))
		return true;
	nest = nla_nest_start(skb, IFLA_SHAKE_PEER_PREFIXES);
	if (!nest)
		return true;
	for (i = 0; i < peer->prefix_count; i++)
		if (bad_prefix(skb, &peer->prefixes[i]))
			return true;
	nla_nest_end(skb, nest);
	return false;
}

static int show_peer(const struct shake_peer_shown *peer, void *to)
{
	struct list *list = to;
	struct nlattr *nest;

	list->count++;
	if (list->full)
		return 0;
	nest = nla_nest_start(list->skb, IFLA_SHAKE_PEER);
	if (nest)
		end_entry(list, nest, bad_peer(list->skb, peer));
	else
		list->full = true;
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

static struct list list_of(struct sk_buff *skb, struct shake_dev *d, unsigned int room)
{
	return (struct list){ .skb = skb, .d = d, .start = skb->len, .room = room };
}

static int put_paths(struct sk_buff *skb, struct shake_dev *d)
{
	struct nlattr *nest = nla_nest_start(skb, IFLA_SHAKE_PATHS);
	struct list list = list_of(skb, d, ROOM_PATHS);

	if (!nest)
		return -EMSGSIZE;
	shake_each_path(d, show_path, &list);
	nla_nest_end(skb, nest);
	return nla_put_u32(skb, IFLA_SHAKE_PATH_COUNT, list.count);
}

static int put_peers(struct sk_buff *skb, struct shake_dev *d)
{
	struct nlattr *nest = nla_nest_start(skb, IFLA_SHAKE_PEERS);
	struct list list = list_of(skb, d, ROOM_PEERS);

	if (!nest)
		return -EMSGSIZE;
	shake_each_peer(d, show_peer, &list);
	nla_nest_end(skb, nest);
	return nla_put_u32(skb, IFLA_SHAKE_PEER_COUNT, list.count);
}

int shake_show(struct sk_buff *skb, const struct net_device *dev)
{
	struct shake_dev *d = netdev_priv(dev);

	if (bad_settings(skb, &d->settings) ||
	    (d->identity.there &&
	     nla_put(skb, IFLA_SHAKE_PUBLIC_KEY, SHAKE_KEY, d->identity.public)) ||
	    put_paths(skb, d) || put_peers(skb, d))
		return -EMSGSIZE;
	return 0;
}

int shake_show_stats(struct sk_buff *skb, const struct net_device *dev)
{
	struct shake_dev *d = netdev_priv(dev);
	struct nlattr *nest = nla_nest_start(skb, IFLA_INFO_XSTATS);
	struct list list = list_of(skb, d, ROOM_STATS);

	if (!nest)
		return -EMSGSIZE;
	shake_each_path(d, show_stats, &list);
	nla_nest_end(skb, nest);
	return 0;
}

/* --- all peers, in parts -------------------------------------------------------------------- */

/* Octets of a peer with so many prefixes and paths, at most. */
static size_t peer_size(u32 prefixes, u32 paths)
{
	return 3 * NLA_HDRLEN + nla_total_size(sizeof(u32)) + nla_total_size(sizeof(u8)) +
	       nla_total_size(SHAKE_KEY) +
	       prefixes * nla_total_size(sizeof(struct in6_addr) + 1) + paths * ROOM_PEER_PATH;
}

static u32 count_paths(const struct shake_peer *peer)
{
	struct shake_path *path;
	u32 count = 0;

	shake_for_each_path(peer, path)
		count++;
	return count;
}

/*
 * For who asks for one device and has no second message: what ROOM_NEST ends is left out there.
 * Paths may register meanwhile.
 */
size_t shake_show_peers_size(const struct net_device *dev, int attr)
{
	struct shake_dev *d = netdev_priv(dev);
	struct shake_peer *peer;
	size_t size = 0;
	unsigned long i;

	if (attr != IFLA_STATS_LINK_XSTATS)
		return 0;
	xa_for_each(&d->peers, i, peer)
		size += peer_size(peer->prefix_count, SHAKE_PATHS_MAX);
	return NLA_HDRLEN + min_t(size_t, size, ROOM_NEST) +
	       peer_size(SHAKE_PREFIXES_MAX, SHAKE_PATHS_MAX);
}

static bool bad_paths_of(struct list *list, struct shake_peer *peer)
{
	struct shake_path_stats stats;
	struct shake_path *path;
	struct nlattr *nest;

	shake_for_each_path(peer, path) {
		shake_path_read(path, &stats);
		nest = nla_nest_start(list->skb, IFLA_SHAKE_PATH);
		if (!nest || bad_path(list, &stats) || bad_statistics(list, &stats))
			return true;
		nla_nest_end(list->skb, nest);
	}
	return false;
}

/* A peer with its paths: all of it, or nothing. */
static bool bad_whole_peer(struct list *list, struct shake_peer *peer)
{
	struct shake_peer_shown shown;
	struct nlattr *nest, *paths;

	nest = nla_nest_start(list->skb, IFLA_SHAKE_PEER);
	if (!nest)
		return true;
	shake_peer_read(peer, &shown);
	if (bad_peer(list->skb, &shown))
		goto cancel;
	paths = nla_nest_start(list->skb, IFLA_SHAKE_PEER_PATHS);
	if (!paths || bad_paths_of(list, peer))
		goto cancel;
	nla_nest_end(list->skb, paths);
	nla_nest_end(list->skb, nest);
	return false;

cancel:
	nla_nest_cancel(list->skb, nest);
	return true;
}

/*
 * @next: number of the first peer that is left to be shown, or 0. Peers may come and go between the
 * parts of a dump: who is neither is shown once.
 */
int shake_show_peers(struct sk_buff *skb, const struct net_device *dev, int *next, int attr)
{
	struct shake_dev *d = netdev_priv(dev);
	struct list list = list_of(skb, d, ROOM_NEST);
	struct shake_peer *peer;
	struct nlattr *nest;
	unsigned long i;

	if (attr != IFLA_STATS_LINK_XSTATS)
		return 0;
	nest = nla_nest_start(skb, LINK_XSTATS_TYPE_SHAKE);
	if (!nest)
		return -EMSGSIZE;
	xa_for_each_start(&d->peers, i, peer, (u32)*next) {
		if (skb->len - list.start + peer_size(peer->prefix_count, count_paths(peer)) >
		    list.room)
			break;
		if (!bad_whole_peer(&list, peer))
			continue;
		nla_nest_end(skb, nest);
		*next = (int)peer->id;
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	*next = 0;
	return 0;
}
