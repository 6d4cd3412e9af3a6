/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network device around SHAKE's algorithms: what its files share.
 *
 *   start_xmit -> choose a path -> head, tag -> UDP            transmit.c
 *   gro_cells  <- check, strip  <- session   <- UDP socket     receive.c
 *
 * Peers and paths are made and deleted under RTNL and read under RCU. A peer's lock is
 * over its paths' estimates, sessions and timers; no other device is called under it.
 */
#ifndef _SHAKE_TYPES_H
#define _SHAKE_TYPES_H

#include <linux/ethtool.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/xarray.h>
#include <net/dst_cache.h>
#include <net/gro_cells.h>

#include "core/session.h"
#include "core/shake_path.h"
#include "core/shake_policy.h"
#include "core/shake_sched.h"
#include "core/wire.h"
#include "flows.h"
#include "uapi.h"

#define SHAKE_PATHS_MAX SHAKE_WIRE_PATHS
#define SHAKE_PEERS_MAX 1024
#define SHAKE_PREFIXES_MAX 16
#define SHAKE_PORT_DEFAULT 4790

union shake_addr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/**
 * struct shake_settings - what a user sets of a device
 * @role: leader or agent
 * @id: leader: its number at the agent
 * @port: UDP port of the agent
 * @local: agent: address to listen on; AF_UNSPEC: any
 * @remote: leader: the agent's address; AF_UNSPEC: each path has its own
 * @sched: how paths are chosen
 * @ack: what an agent does with needless duplicate ACKs
 * @threshold: the paper's theta_c
 * @auth: packets carry a tag
 * @encrypt: payload is encrypted
 * @estimate: windows of the estimates
 * @keepalive: us between probes of an idle path; 0: none
 * @queue: leader: us that packets may wait in front of the links; 0: no limit
 * @repair: leader: packets that a path lost are sent again
 * @datagrams: how packets that are not TCP's go by several paths
 * @duplicate: octets; those that are not longer go by two; 0: none
 * @duplicate_dscp: those of this class, too; 0: none
 * @hold_acks: of near paths are held until that of a far one would come
 */
struct shake_settings {
	enum shake_role role;
	u32 id;
	u16 port;
	union shake_addr local;
	union shake_addr remote;
	struct shake_sched_config sched;
	enum shake_ack ack;
	u32 threshold;
	bool auth;
	bool encrypt;
	struct shake_path_config estimate;
	u32 keepalive;
	u32 queue;
	bool repair;
	u8 datagrams;
	u32 duplicate;
	u8 duplicate_dscp;
	bool hold_acks;
};

/**
 * struct shake_path_settings - what a user sets of a leader's path
 * @id: 1 to SHAKE_PATHS_MAX
 * @dev: name of the device it leaves by; empty: any
 * @local: address to send from; AF_UNSPEC: by route
 * @remote: the agent's address; AF_UNSPEC: the device's
 * @weight: per cent
 * @policy: when it is used, at both ends; an agent is told
 */
struct shake_path_settings {
	u8 id;
	char dev[IFNAMSIZ];
	union shake_addr local;
	union shake_addr remote;
	u32 weight;
	struct shake_policy policy;
};

/**
 * struct shake_prefix - inner addresses that a peer may send from
 * @family: AF_INET or AF_INET6
 * @length: bits
 * @address: network order
 */
struct shake_prefix {
	u8 family;
	u8 length;
	struct in6_addr address;
};

/**
 * struct shake_path_stats - what a path shows
 */
struct shake_path_stats {
	u32 peer;
	u8 id;
	enum shake_path_state state;
	struct shake_path_settings settings;	/* an agent's: @remote is learned */
	u32 srtt;
	u32 min_rtt;
	u64 throughput;
	u64 queue;
	u64 sent;
	u64 sent_bytes;
	u64 received;
	u64 received_bytes;
	u64 lost;
	u64 late;
	u64 died;
	u32 loss;	/* per million, of late */
	u64 left;
	u32 mtu;	/* octets of the longest packet inside; 0: not known */
};

/**
 * struct shake_peer_shown - what a peer shows
 */
struct shake_peer_shown {
	u32 id;
	bool has_key;
	bool has_public;
	u8 public[SHAKE_KEY];
	u32 prefix_count;
	struct shake_prefix prefixes[SHAKE_PREFIXES_MAX];
};

/**
 * enum shake_count - what a device counts; names of ethtool -S in shake_count_names[]
 */
enum shake_count {
	/* packets received that were dropped, by cause */
	SHAKE_DROP_TRUNCATED,	/* shorter than its head says */
	SHAKE_DROP_TYPE,	/* unknown type or flags */
	SHAKE_DROP_SESSION,	/* no such session */
	SHAKE_DROP_TAG,		/* the tag does not fit: forged or damaged */
	SHAKE_DROP_REPLAY,	/* seen before, or too old */
	SHAKE_DROP_STALE,	/* registration: answers nothing that was asked, or late */
	SHAKE_DROP_PEER,	/* registration: unknown peer, no key, path out of range */
	SHAKE_DROP_RATE,	/* registration: too many */
	SHAKE_DROP_SOURCE,	/* inner source not allowed for the peer */
	SHAKE_DROP_BETWEEN,	/* inner destination is another peer, or routed back */
	SHAKE_DROP_INNER,	/* no IP packet inside, or ECN forbids */
	SHAKE_DROP_MEMORY,
	/* packets to be sent that were dropped */
	SHAKE_DROP_NO_PEER,	/* no peer has that inner destination */
	SHAKE_DROP_NO_PATH,	/* no path is registered */
	SHAKE_DROP_NO_ROUTE,
	SHAKE_DROP_TOO_BIG,
	SHAKE_DROP_NONCE,	/* session used up */
	SHAKE_DROP_LIMIT,	/* agent: the paths have carried what they may */
	SHAKE_DROP_HELD,	/* by an agent: held back for too long, or too many */
	/* what happened */
	SHAKE_HELLO_SENT,
	SHAKE_HELLO_RECEIVED,
	SHAKE_REGISTERED,
	SHAKE_RESET_SENT,
	SHAKE_RESET_RECEIVED,
	SHAKE_ACK_SENT,		/* pseudo-ACKs */
	SHAKE_ACK_RECEIVED,
	SHAKE_PROBE_SENT,
	SHAKE_REPAIR_SENT,	/* packets sent again, as a path lost them */
	SHAKE_HELD_BACK,	/* a leader's queue was stopped; an agent's packets waited */
	SHAKE_PATH_DIED,
	SHAKE_PATH_REVIVED,
	SHAKE_PATH_LEFT,	/* left out, as it lost much */
	SHAKE_PATH_READMITTED,	/* after it was left out */
	SHAKE_MTU_TOLD,		/* packets that passed, but too long for another path */
	SHAKE_DUPLICATED,	/* packets sent by a second path, too */
	SHAKE_ORDER_WAITED,	/* packets received that waited for those before them */
	SHAKE_ORDER_GAVE_UP,	/* times that these did not come in time */
	SHAKE_ORDER_OVERTAKEN,	/* packets that came after that */
	SHAKE_ORDER_REPEATED,	/* packets that came twice: one was dropped */
	SHAKE_ADDRESS_CHANGED,	/* the other end of a path has another address */
	SHAKE_COOKIE_SENT,	/* to who had to show where it is */
	SHAKE_COOKIE_RECEIVED,
	SHAKE_MTU_PROBED,	/* sizes asked of paths, each probe */
	SHAKE_REPAIR_REFUSED,	/* no copy was kept for want of memory, or of too many */
	SHAKE_ACK_HELD,		/* TCP's, that came too soon */
	SHAKE_COUNTS
};

extern const char shake_count_names[SHAKE_COUNTS][ETH_GSTRING_LEN];
#endif /* _SHAKE_TYPES_H */
