/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes of a link of type "shake" in IFLA_INFO_DATA, IFLA_INFO_XSTATS and
 * IFLA_STATS_LINK_XSTATS, shared with iproute2's plug-in.
 */
#ifndef _SHAKE_UAPI_H
#define _SHAKE_UAPI_H

enum shake_role {
	SHAKE_LEADER,
	SHAKE_AGENT,
};

enum shake_scheduler {
	SHAKE_ROUND_ROBIN,
	SHAKE_DELAY_RATIO,
	SHAKE_RAH,
};

/* What an agent does with duplicate ACKs that are not needed. */
enum shake_ack {
	SHAKE_ACK_PASS,
	SHAKE_ACK_DROP,
	SHAKE_ACK_TDAR,
	SHAKE_ACK_AUTO,
};

/* How packets of UDP, and all others than TCP's, go by several paths. */
enum shake_datagrams {
	SHAKE_DATAGRAMS_SPREAD,	/* each by its own */
	SHAKE_DATAGRAMS_ORDER,	/* the same, and the other end puts them in order */
	SHAKE_DATAGRAMS_PIN,	/* those of a flow by one path, while it lives */
};

enum shake_path_state {
	SHAKE_PATH_ABSENT,	/* its device is missing or down, or this one is down */
	SHAKE_PATH_JOINING,	/* not registered with the agent */
	SHAKE_PATH_ALIVE,
	SHAKE_PATH_DEAD,	/* registered, but silent */
	SHAKE_PATH_REFUSED,	/* only shown: it got no socket, which is tried again */
	SHAKE_PATH_LOSSY,	/* only shown: alive, but left out, as it loses much */
};

/* Addresses are binary: 4 octets of IPv4 or 16 of IPv6. Times are us, numbers of the host. */
enum {
	IFLA_SHAKE_UNSPEC,
	IFLA_SHAKE_ROLE,	/* u8: enum shake_role; only when made */
	IFLA_SHAKE_ID,		/* u32: a leader's number at its agent; only when made */
	IFLA_SHAKE_PORT,	/* u16: UDP port of the agent; only when made */
	IFLA_SHAKE_LOCAL,	/* agent: address to listen on; any if not given; only when made */
	IFLA_SHAKE_REMOTE,	/* leader: address of the agent, for paths without their own */
	IFLA_SHAKE_SCHEDULER,	/* u8: enum shake_scheduler */
	IFLA_SHAKE_THETA,	/* u32: exponent of delay ratio, per cent: 0 to 400 */
	IFLA_SHAKE_ACK,		/* u8: enum shake_ack */
	IFLA_SHAKE_THRESHOLD,	/* u32: duplicate ACKs dropped before one is forced: 1 to 100 */
	IFLA_SHAKE_AUTH,	/* u8: 0 or 1; only when made */
	IFLA_SHAKE_ENCRYPT,	/* u8: 0 or 1 */
	IFLA_SHAKE_INTERVAL,	/* u32: us over which throughput is measured */
	IFLA_SHAKE_RTT_WINDOW,	/* u32: us over which the least round trip is kept */
	IFLA_SHAKE_KEEPALIVE,	/* u32: us between probes of an idle path; 0: none */
	IFLA_SHAKE_QUEUE,	/* u32: us in front of the links, 0: no limit; leader, rah */
	IFLA_SHAKE_REPAIR,	/* u8: 0 or 1: what a path loses is sent again; leader */
	IFLA_SHAKE_PATH,	/* nested, IFLA_SHAKE_PATH_*: add, change or delete one path */
	IFLA_SHAKE_PEER,	/* nested, IFLA_SHAKE_PEER_*: add, change or delete one peer */
	IFLA_SHAKE_PATHS,	/* only read: nested list of IFLA_SHAKE_PATH */
	IFLA_SHAKE_PEERS,	/* only read: nested list of IFLA_SHAKE_PEER */
	IFLA_SHAKE_PATH_COUNT,	/* only read: u32: paths; the list may have fewer */
	IFLA_SHAKE_PEER_COUNT,	/* only read: u32: peers; the list may have fewer */
	IFLA_SHAKE_PRIVATE_KEY,	/* 32 octets, 0: none; never read */
	IFLA_SHAKE_PUBLIC_KEY,	/* only read: 32 octets */
	IFLA_SHAKE_DATAGRAMS,	/* u8: enum shake_datagrams: of what this end sends */
	IFLA_SHAKE_DUPLICATE,	/* u32: octets; what is not longer goes by two paths; 0: none */
	IFLA_SHAKE_DUPLICATE_DSCP,	/* u8: those of this class do, too: 1 to 63; 0: none */
	IFLA_SHAKE_HOLD_ACKS,	/* u8: 0 or 1: TCP sees the round trip of a far path */
	__IFLA_SHAKE_MAX
};

#define IFLA_SHAKE_MAX (__IFLA_SHAKE_MAX - 1)

enum {
	IFLA_SHAKE_PATH_UNSPEC,
	IFLA_SHAKE_PATH_ID,	/* u8: 1 to 8 */
	IFLA_SHAKE_PATH_DELETE,	/* flag */
	IFLA_SHAKE_PATH_DEV,	/* string: device; empty: any */
	IFLA_SHAKE_PATH_LOCAL,	/* address to send from */
	IFLA_SHAKE_PATH_REMOTE,	/* address of the agent on this path */
	IFLA_SHAKE_PATH_WEIGHT,	/* u32: per cent, 1 to 1000 */
	/* only read */
	IFLA_SHAKE_PATH_PEER,	/* u32: of which peer (agent) */
	IFLA_SHAKE_PATH_STATE,	/* u8: enum shake_path_state */
	IFLA_SHAKE_PATH_PORT,	/* u16: the other end's UDP port */
	/* in IFLA_INFO_XSTATS */
	IFLA_SHAKE_PATH_SRTT,	/* u32: us */
	IFLA_SHAKE_PATH_MIN_RTT,	/* u32: us */
	IFLA_SHAKE_PATH_THROUGHPUT,	/* u64: bytes/s */
	IFLA_SHAKE_PATH_QUEUE,	/* u64: bytes estimated in front of the link */
	IFLA_SHAKE_PATH_SENT,	/* u64: packets */
	IFLA_SHAKE_PATH_SENT_BYTES,	/* u64 */
	IFLA_SHAKE_PATH_RECEIVED,	/* u64: packets */
	IFLA_SHAKE_PATH_RECEIVED_BYTES,	/* u64 */
	IFLA_SHAKE_PATH_LOST,	/* u64: packets sent that the other end did not get */
	IFLA_SHAKE_PATH_LATE,	/* u64: packets received behind newer ones of the path */
	IFLA_SHAKE_PATH_DIED,	/* u64: how often it was left as dead */
	IFLA_SHAKE_PATH_PAD,
	IFLA_SHAKE_PATH_LOSS,	/* u32: packets lost of late, per million */
	IFLA_SHAKE_PATH_LEFT,	/* u64: how often it was left out, as it lost much */
	/* not only read; shown if they are not 0 */
	IFLA_SHAKE_PATH_BACKUP,	/* u8: 0 or 1: only if no other lives */
	IFLA_SHAKE_PATH_METERED,	/* u8: 0 or 1: only if the others cannot; seldom probed */
	IFLA_SHAKE_PATH_RATE,	/* u32: kbit/s, at most; 0: any */
	IFLA_SHAKE_PATH_LOSS_LIMIT,	/* u8: per cent from which on it is left out; 0: default */
	/* only read */
	IFLA_SHAKE_PATH_MTU,	/* u32: octets of the longest packet inside that it takes */
	__IFLA_SHAKE_PATH_MAX
};

#define IFLA_SHAKE_PATH_MAX (__IFLA_SHAKE_PATH_MAX - 1)

enum {
	IFLA_SHAKE_PEER_UNSPEC,
	IFLA_SHAKE_PEER_ID,	/* u32: the leader's number; on a leader its own */
	IFLA_SHAKE_PEER_DELETE,	/* flag */
	IFLA_SHAKE_PEER_KEY,	/* 32 octets: the shared key; never read */
	IFLA_SHAKE_PEER_ALLOW,	/* address and one octet of prefix length: inner sources */
	IFLA_SHAKE_PEER_DENY,	/* the same, taken back */
	/* only read */
	IFLA_SHAKE_PEER_HAS_KEY,	/* u8 */
	IFLA_SHAKE_PEER_PREFIXES,	/* nested list of IFLA_SHAKE_PEER_ALLOW */
	IFLA_SHAKE_PEER_PATHS,	/* only in RTM_GETSTATS: nested list of IFLA_SHAKE_PATH */
	/* read and written */
	IFLA_SHAKE_PEER_PUBLIC_KEY,	/* 32 octets, 0: none */
	__IFLA_SHAKE_PEER_MAX
};

#define IFLA_SHAKE_PEER_MAX (__IFLA_SHAKE_PEER_MAX - 1)

/*
 * In IFLA_STATS_LINK_XSTATS of RTM_GETSTATS: nested list of IFLA_SHAKE_PEER, each with its paths
 * and their statistics. A dump (NLM_F_DUMP) has all of them, in as many messages as it takes.
 */
#define LINK_XSTATS_TYPE_SHAKE 4790

/*
 * Generic netlink: who joins the family's group of events is told of each, in the device's
 * namespace. The family has no requests.
 */
#define SHAKE_GENL_NAME "shake"
#define SHAKE_GENL_VERSION 1
#define SHAKE_GENL_EVENTS "events"

enum {
	SHAKE_CMD_UNSPEC,
	SHAKE_CMD_PATH,		/* a path has another state */
	SHAKE_CMD_PEER,		/* its first path is alive, or none is any more */
	SHAKE_CMD_MOVED,	/* the other end of a path has another address */
};

enum {
	SHAKE_EVENT_UNSPEC,
	SHAKE_EVENT_IFINDEX,	/* u32: the device */
	SHAKE_EVENT_IFNAME,	/* string: its name */
	SHAKE_EVENT_PEER,	/* u32 */
	SHAKE_EVENT_PATH,	/* u8: 1 to 8; not of SHAKE_CMD_PEER */
	SHAKE_EVENT_STATE,	/* u8: enum shake_path_state; a peer is alive or dead */
	SHAKE_EVENT_WAS,	/* u8: the same, before */
	SHAKE_EVENT_REMOTE,	/* address of the other end */
	SHAKE_EVENT_PORT,	/* u16: its UDP port */
	SHAKE_EVENT_AT,		/* u64: ns of CLOCK_BOOTTIME */
	SHAKE_EVENT_PAD,
	SHAKE_EVENT_LOST,	/* u32: so many events behind this one are not told */
	__SHAKE_EVENT_MAX
};

#define SHAKE_EVENT_MAX (__SHAKE_EVENT_MAX - 1)

#endif /* _SHAKE_UAPI_H */
