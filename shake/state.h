/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device knows: of itself, its peers, their paths and these paths' sessions; and what is
 * read from that at once.
 */
#ifndef _SHAKE_STATE_H
#define _SHAKE_STATE_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <compat/frags.h>
#include <compat/uninitialized.h>

#include "core/guard.h"
#include "core/shake_order.h"
#include "core/shake_plpmtu.h"
#include "core/shake_repair.h"
#include "flows.h"
#include "types.h"

#define SHAKE_IDLE_US (5 * USEC_PER_SEC)	/* without data for so long: idle */
#define SHAKE_DOUBT_US (2 * USEC_PER_SEC)	/* all paths are probed while one loses much */
#define SHAKE_TAIL_US (10 * USEC_PER_MSEC)	/* then a probe follows what may be lost */
#define SHAKE_TAIL_LOSS (SHAKE_LOSS_ALL / 128)	/* of a path that has lost so much of late */
#define SHAKE_UP 512				/* packets that waited go up per jiffy, see below */
#define SHAKE_HOLD_US (20 * USEC_PER_MSEC)	/* between looks at a stopped queue */
#define SHAKE_SMALL 128				/* octets: TCP's ACKs, which are not counted */
#define SHAKE_TCP_HEADERS 200			/* octets: IPv6 with options, TCP with options */
#define SHAKE_UDP_V4 28
#define SHAKE_UDP_V6 48

#define SHAKE_SHARE 4	/* times what is left, that one may have */

#define SHAKE_EVENTS 256			/* that wait for the next sending */

#define SHAKE_LENGTHS 129			/* of prefixes, 0 to 128 */

/**
 * struct shake_link - a session of a path, and what came in it
 * @path: the path
 * @s: keys, counters, replay window
 * @received_bytes: counted octets received, as reported to the other end
 * @received_packets: counted packets received
 * @newest: counter of the newest packet received
 * @echo: counter of the newest counted packet received
 * @echo_at: us, when
 * @made_at: us
 * @time: agent: of the HELLO that asked for it, by the leader's clock
 * @used_at: us, since when is sent in it
 * @used: the other end has sent in this session
 * @rcu: for freeing
 */
struct shake_link {
	struct shake_path *path;
	struct shake_session s;
	u32 received_bytes;
	u32 received_packets;
	u64 newest;
	u64 echo;
	u64 echo_at;
	u64 made_at;
	u64 time;
	u64 used_at;
	bool used;
	struct rcu_head rcu;
};

/**
 * struct shake_path - one way between leader and agent
 * @peer: the other end
 * @settings: what the user set; an agent's paths have only @id, @weight and what a leader told
 * @ifindex: leader: the device it leaves by; 0: any
 * @sock: leader: its own socket; an agent's paths use the device's
 * @dst: routes
 * @state: registered, alive
 * @refused: errno, why there is no socket; 0: nothing went wrong
 * @told: the state that the last event told
 * @from: address that is sent from
 * @to: address and port that is sent to
 * @mtu: longest inner packet by the last route; 0: not known
 * @plpmtu: what is known of longer ones
 * @bound: the longest one that it lets pass, copied for who has no lock
 * @told_at: us, when a sender was told of it last
 * @link: session in which is sent; NULL: none
 * @old: the session before, whose packets may still come
 * @next: the session that is being made
 * @join: leader: the registration that is under way
 * @asked_at: us, when its HELLO was made
 * @hello_at: us, when HELLO was sent last
 * @tries: HELLOs since the agent answered one, or did not know the session
 * @confirms: CONFIRMs sent again
 * @rejoin_at: us, when to register again if nothing was heard until then; 0: not
 * @renew: a session of another kind is wanted
 * @limit_until: us, when what was sent would have left at the policy's rate
 * @policy_told: leader: the agent knows the policy
 * @policy_tries: leader: probes that told it, without an answer
 * @policy_at: counter of the last probe that told it; agent: that was received, in this session
 * @watched: the timer runs in time to notice silence
 * @joined: agent: round trip of its registration, in us
 * @accepted: agent: latest time of a HELLO whose session was confirmed
 * @echo: agent: ephemeral key of the HELLO that was answered last
 * @welcome: agent: its answer
 * @probe_at: us, when a probe was sent last
 * @sent_at: us, when anything was sent last
 * @counted_at: us, when a counted packet was sent last
 * @tail_at: us, when a packet or a copy was sent last that may be lost; 0: a probe followed
 * @heard_at: us, when anything was received last
 * @dead_at: us, since when it is dead, or was last
 * @usual_gap: us, between what is received, the longest of late
 * @ack_at: us, when a pseudo-ACK was sent last
 * @ack_due: us, when the next one must be sent; 0: none is due
 * @ack_waiting: counted packets that are not reported
 * @estimate: what the scheduler knows
 * @ring: packets sent
 * @copies: of packets that may be lost; NULL: there was no memory up to now
 * @table: makes @copies
 * @sent: packets of data sent
 * @sent_bytes: their octets, inside
 * @received: packets of data received
 * @received_bytes: their octets, inside
 * @late: packets received behind newer ones
 * @died: how often it was left
 * @left: how often it was left out, as it lost much
 * @rcu: for freeing
 */
struct shake_path {
	struct shake_peer *peer;
	struct shake_path_settings settings;
	int ifindex;
	struct socket *sock;
	struct dst_cache dst;

	enum shake_path_state state;
	int refused;
	enum shake_path_state told;
	union shake_addr from;
	union shake_addr to;
	u32 mtu;
	struct shake_plpmtu plpmtu;
	u32 bound;
	u64 told_at;
	struct shake_link __rcu *link;
	struct shake_link *old;
	struct shake_link *next;
	struct shake_join join;
	u64 asked_at;
	u64 hello_at;
	u8 tries;
	u8 confirms;
	u64 rejoin_at;
	bool renew;
	u64 limit_until;
	bool policy_told;
	u8 policy_tries;
	u64 policy_at;
	bool watched;
	u32 joined;
	u64 accepted;
	u8 echo[SHAKE_KEY];
	u8 welcome[SHAKE_WELCOME_OCTETS];
	u64 probe_at;
	u64 sent_at;
	u64 counted_at;
	u64 tail_at;
	u64 heard_at;
	u64 dead_at;
	u64 usual_gap;
	u64 ack_at;
	u64 ack_due;
	u32 ack_waiting;

	struct shake_path_est estimate;
	struct shake_sent *ring;
	struct shake_copies *copies;
	struct work_struct table;
	u64 sent;
	u64 sent_bytes;
	u64 received;
	u64 received_bytes;
	u64 late;
	u64 died;
	u64 left;
	struct rcu_head rcu;
};

/**
 * struct shake_copies - copies of packets that a path has sent
 * @repair: which they are
 * @skb: the packets, behind the UDP header, by place; NULL: not made
 */
struct shake_copies {
	struct shake_repair repair;
	struct sk_buff *skb[SHAKE_REPAIR_KEPT];
};

/**
 * struct shake_stream - flows of datagrams to a peer
 * @number: of the packets sent
 * @path: that they are pinned to; 0: none
 * @used_at: us, when the last one was
 */
struct shake_stream {
	atomic_t number;
	u8 path;
	u64 used_at;
};

struct shake_orders;

/**
 * struct shake_peer - the other end: of a leader the agent, of an agent a leader
 * @d: the device
 * @id: the leader's number
 * @keys: what both trust each other by
 * @mark: of the other end's public key
 * @prefix_count: entries of @prefixes
 * @prefixes: inner addresses it may send from
 * @lock: over what follows, @keys and the paths
 * @paths: by id - 1
 * @last_path: the highest number that one has had
 * @sched: whose turn it is
 * @length: octets of the last packet that is not short; 0: there was none
 * @ack_path: path for small packets; 0: none named
 * @welcome_at: us, when HELLO was answered last, by path
 * @data_at: us, when data was sent or received last
 * @copies: places that copies have, of its paths
 * @doubt_until: us, until when it is to be found out what the paths lose
 * @told: alive, as the last event told
 * @timer: does what is due
 * @flows: TCP flows
 * @soon: ACKs that wait, core/shake_trip.h
 * @streams: sent
 * @orders: received; NULL: none up to now
 * @held: agent: packets that wait for room; NULL: none do
 * @rcu: for freeing
 */
struct shake_peer {
	struct shake_dev *d;
	u32 id;
	struct shake_keys keys;
	u64 mark;
	u32 prefix_count;
	struct shake_prefix prefixes[SHAKE_PREFIXES_MAX];

	spinlock_t lock;	/* over what follows, keys and the paths */
	struct shake_path __rcu *paths[SHAKE_PATHS_MAX];
	u8 last_path;
	struct shake_sched sched;
	u32 length;
	u8 ack_path;
	u64 welcome_at[SHAKE_PATHS_MAX];
	u64 data_at;
	u32 copies;
	u64 doubt_until;
	bool told;
	struct timer_list timer;
	struct shake_flows flows;
	struct sk_buff_head soon;
	struct shake_stream streams[SHAKE_STREAMS];
	struct shake_orders *orders;
	struct shake_held *held;
	struct rcu_head rcu;
};

/**
 * struct shake_event - something became of a path or a peer
 * @cmd: SHAKE_CMD_PATH, SHAKE_CMD_PEER or SHAKE_CMD_MOVED
 * @path: its number; 0: the peer itself
 * @state: enum shake_path_state, now
 * @was: the same, before
 * @peer: its number
 * @lost: how many found no room behind it
 * @at: ns since boot, sleep included
 * @remote: where the path sends to
 */
struct shake_event {
	u8 cmd;
	u8 path;
	u8 state;
	u8 was;
	u32 peer;
	u32 lost;
	u64 at;
	union shake_addr remote;
};

/**
 * struct shake_events - events of a device that are not sent yet
 * @lock: over what follows; taken last
 * @ring: the events
 * @first: where the oldest is
 * @count: how many
 * @sent_at: jiffies, when events were sent last
 * @work: sends them
 */
struct shake_events {
	spinlock_t lock;	/* over what follows */
	struct shake_event ring[SHAKE_EVENTS];
	u32 first;
	u32 count;
	unsigned long sent_at;
	struct delayed_work work;
};

/**
 * struct shake_owned - an inner prefix and its peer
 * @node: in shake_dev::prefixes
 * @prefix: the prefix
 * @peer: who may send from it, and gets what is sent to it
 * @rcu: for freeing
 */
struct shake_owned {
	struct hlist_node node;
	struct shake_prefix prefix;
	struct shake_peer *peer;
	struct rcu_head rcu;
};

/**
 * struct shake_dev - private part of the device
 * @dev: the device itself
 * @net: namespace of the sockets; NULL: it is gone
 * @list: all devices
 * @settings: what the user set
 * @mtu: the default that was set last; 0: the user gave one when the device was made
 * @guard_lock: over @guard and @identity, inside of a peer's lock
 * @guard: agent: what HELLOs have to pass
 * @identity: its key pair
 * @peers: by id
 * @peer_count: how many
 * @sessions: struct shake_link by index
 * @next_session: where the next index is sought
 * @prefixes: struct shake_owned by hash
 * @lengths: how many prefixes of each length, of IPv4 and IPv6; under RTNL
 * @used: lengths that there are, of IPv4 and IPv6
 * @sock4: agent: socket of IPv4
 * @sock6: agent: socket of IPv6
 * @gro: receive queues
 * @registrations: HELLOs that may be answered now
 * @resets: hints that may be sent now
 * @refilled: jiffies, when more were allowed
 * @waiting: datagrams received that wait
 * @early: packets of TCP that wait for others
 * @up: packets that waited and may go up now
 * @up_at: jiffies, when more were allowed
 * @held: agent: packets that are held back, of all leaders
 * @copies: the same of all peers
 * @counts: by enum shake_count
 * @gone: what flows of deleted peers counted; under RTNL
 * @retry: opens paths that got no socket
 * @events: that are to be told
 */
struct shake_dev {
	struct net_device *dev;
	struct net *net;
	struct list_head list;
	struct shake_settings settings;
	u32 mtu;
	spinlock_t guard_lock;	/* over guard and identity */
	struct shake_guard guard;
	struct shake_identity identity;
	struct xarray peers;
	u32 peer_count;
	struct xarray sessions;
	u32 next_session;
	DECLARE_HASHTABLE(prefixes, 8);
	u32 lengths[2][SHAKE_LENGTHS];
	DECLARE_BITMAP(used[2], SHAKE_LENGTHS);
	struct socket __rcu *sock4;
	struct socket __rcu *sock6;
	struct gro_cells gro;
	atomic_t registrations;
	atomic_t resets;
	atomic_t waiting;
	atomic_t early;
	atomic_t up;
	unsigned long up_at;
	unsigned long refilled;
	atomic_t held;
	atomic_t copies;
	atomic64_t counts[SHAKE_COUNTS];
	struct shake_flow_counts gone;
	struct delayed_work retry;
	struct shake_events events;
};

static inline struct shake_dev *shake_dev(struct net_device *dev)
{
	return netdev_priv(dev);
}

static inline u64 shake_now(void)
{
	return ktime_to_us(ktime_get());
}

static inline void shake_count(struct shake_dev *d, enum shake_count what)
{
	atomic64_inc(&d->counts[what]);
}

/*
 * Whether one of several that has so many may have one more. Some is always left for who comes
 * later, and what is left of all says how many each may have: none takes what others need.
 */
static inline bool shake_has_share(u32 has, u32 few, int left)
{
	return has < few || (left > 0 && has < SHAKE_SHARE * (u32)left);
}

static inline bool shake_is_leader(const struct shake_dev *d)
{
	return d->settings.role == SHAKE_LEADER;
}

/* The path with this id, or NULL. Under RCU, RTNL or the peer's lock. */
static inline struct shake_path *shake_path(const struct shake_peer *peer, u8 id)
{
	if (!id || id > SHAKE_PATHS_MAX)
		return NULL;
	return rcu_dereference_raw(peer->paths[id - 1]);
}

/* The path behind the one with number @id, or NULL; @id becomes its number. */
static inline struct shake_path *shake_next_path(const struct shake_peer *peer, u8 *id)
{
	while (*id < READ_ONCE(peer->last_path)) {
		struct shake_path *path = rcu_dereference_raw(peer->paths[(*id)++]);

		if (path)
			return path;
	}
	return NULL;
}

#define shake_for_each_path(peer, path)						\
	for (u8 __id = 0; ((path) = shake_next_path(peer, &__id));)

/* Whether a path has carried all that its policy lets it carry by now. Under the peer's lock. */
static inline bool shake_is_over(const struct shake_path *path, u64 now)
{
	return path->settings.policy.rate && shake_limit_is_over(path->limit_until, now);
}

/* A packet of so many octets behind UDP leaves. Under the peer's lock. */
static inline void shake_limit_count(struct shake_path *path, u32 octets, u64 now)
{
	bool v4 = path->to.any.sa_family == AF_INET;

	path->limit_until = shake_limit_sent(path->limit_until, path->settings.policy.rate,
					     octets + (v4 ? SHAKE_UDP_V4 : SHAKE_UDP_V6), now);
}

/* The session in which a path sends, or NULL. Under RCU or the peer's lock. */
static inline struct shake_link *shake_link(const struct shake_path *path)
{
	return rcu_dereference_raw(path->link);
}

static inline bool shake_addr_equal(const union shake_addr *a, const union shake_addr *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr &&
		       a->v4.sin_port == b->v4.sin_port;
	return ipv6_addr_equal(&a->v6.sin6_addr, &b->v6.sin6_addr) &&
	       a->v6.sin6_port == b->v6.sin6_port &&
	       a->v6.sin6_scope_id == b->v6.sin6_scope_id;
}

/* The peer with this number, or NULL. Under RCU or RTNL. */
static inline struct shake_peer *shake_peer_find(struct shake_dev *d, u32 id)
{
	return xa_load(&d->peers, id);
}

/* A leader's peer: its agent. Under RCU or RTNL. */
static inline struct shake_peer *shake_only_peer(struct shake_dev *d)
{
	return xa_load(&d->peers, d->settings.id);
}

/* The state as a user sees it. */
static inline enum shake_path_state shake_path_shown(const struct shake_path *path)
{
	if (path->refused)
		return SHAKE_PATH_REFUSED;
	if (path->state == SHAKE_PATH_ALIVE && path->estimate.loss.out)
		return SHAKE_PATH_LOSSY;
	return path->state;
}

/*
 * Only who holds packets back repairs what is lost: others overflow the links' queues
 * themselves, and TCP has to notice that.
 */
static inline bool shake_repairs(const struct shake_settings *settings)
{
	return READ_ONCE(settings->repair) && READ_ONCE(settings->queue) &&
	       settings->sched.scheduler == SHAKE_SCHED_RAH;
}

/**
 * struct shake_way - where a packet goes, copied under the peer's lock
 * @path: the path; NULL: an answer to somebody who has none
 * @link: its session
 * @from: address that is sent from
 * @to: address and port that is sent to
 * @counter: the packet's number in the session
 */
struct shake_way {
	struct shake_path *path;
	struct shake_link *link;
	union shake_addr from;
	union shake_addr to;
	u64 counter;
};

extern struct list_head shake_devices;	/* device.c; under RTNL */

#endif /* _SHAKE_STATE_H */
