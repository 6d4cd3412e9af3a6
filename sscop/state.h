/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network device around SSCOP's machines: what its files share.
 *
 *   upper device (IP packets)          lower device (Ethernet frames)
 *
 *   start_xmit -> waiting -> packet -> SDs -> dev_queue_xmit      downward.c, above.c
 *   napi_gro_receive <- pieces <- SDs <- arrived <- packet_type   upward.c
 *
 * Everything between is done by one NAPI instance (poll.c), and under the lock, which is
 * never held while another device is called.
 */
#ifndef _SSCOP_STATE_H
#define _SSCOP_STATE_H

#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/codel.h>
#include <net/dst_cache.h>
#include <net/fq.h>

#include "core/sscop.h"
#include "core/sscop_budget.h"
#include "core/sscop_intake.h"
#include "core/sscop_segment.h"

#define SSCOP_ETHERTYPE 0x88b5	/* IEEE 802, local experimental 1 */

#define SSCOP_LOWER_MTU_MIN ((u32)SSCOP_CONTROL_MAX)
#define SSCOP_SEGMENT_MIN 64U
#define SSCOP_POLL_TIME_MIN 1000U
#define SSCOP_POLL_IDLE_MIN 100U
#define SSCOP_BACKLOG_MIN 64U
#define SSCOP_BACKLOG_MAX (16U << 20)
#define SSCOP_SMALL_MAX 65535U
#define SSCOP_PERSIST_MIN 1000U
#define SSCOP_PERSIST_MAX 10000000U
#define SSCOP_DSCPS 64
#define SSCOP_FLOWS 256		/* buckets of them */

/* What an end keeps of packets that are not acknowledged, and of SDs received out of order, is
 * charged to nobody: a window of packets of Ethernet's length each.
 */
#define SSCOP_MEMORY_LEAST 1048576U

/**
 * struct sscop_settings - what a user sets
 * @segment: octets of payload in an SD; 0: chosen by the losses
 * @backlog: octets queued in the lower device at most, and one frame; 0: as few as keep it busy
 * @peer: hardware address of the peer; zero: learned
 * @unassured: bits of DSCPs whose packets are unassured
 * @bounded: the same, bounded
 * @small: packets of so many octets and less are bounded; 0: none are for their length
 * @rules: what the machines are told
 */
struct sscop_settings {
	u32 segment;
	u32 backlog;
	u8 peer[ETH_ALEN];
	u64 unassured;
	u64 bounded;
	u32 small;
	struct sscop_config rules;
};

/* Whether there are packets that are not assured. */
static inline bool sscop_has_classes(const struct sscop_settings *settings)
{
	return settings->unassured || settings->bounded || settings->small;
}

/**
 * struct sscop_under_way - frames that the lower device has not sent yet
 * @octets: their length, and 1 for the device that counts them
 * @low: the device sends more when it is at most this
 * @napi: of that device; NULL: it is gone
 * @rcu: for freeing
 *
 * Frames may stay in the lower device for longer than this device exists.
 */
struct sscop_under_way {
	atomic_t octets;
	u32 low;
	struct napi_struct __rcu *napi;
	struct rcu_head rcu;
};

/**
 * struct sscop_kept - an SD, or a packet of a class, that may be sent again
 * @packet: the packet of which it is a piece; referenced
 * @at: where in it the piece begins
 * @length: octets of the piece
 *
 * Each transmission makes a new frame of it.
 */
struct sscop_kept {
	struct sk_buff *packet;
	u32 at;
	u32 length;
};

/**
 * struct sscop_above - packets that wait, if no queueing discipline keeps them
 * @fq: those of all flows, and the lock over the whole
 * @tin: the order of flows
 * @vars: what CoDel knows of each
 * @params: how long is long
 * @stats: what CoDel counts
 * @dropped: packets
 */
struct sscop_above {
	struct fq fq;
	struct fq_tin tin;
	struct codel_vars *vars;
	struct codel_params params;
	struct codel_stats stats;
	u64 dropped;
};

/* An address of IPv4 or IPv6, with its port */
union sscop_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/**
 * struct sscop_udp - what carries frames if there is no device below
 * @port: of both ends; 0: there is a device below
 * @remote: the peer; of no family: it is learned
 * @local: of the socket; of no family: any
 * @learned: the peer, if it is not set
 * @asked: who sent the last PDU that was taken
 * @net: of the socket
 * @sock: while the device is up
 * @routed: whom @dst leads to
 * @dst: the route
 * @mtu: octets of a PDU that it takes in one piece
 * @head: octets in front of a PDU
 * @list: of all such links
 */
struct sscop_udp {
	u16 port;
	union sscop_address remote;
	union sscop_address local;
	union sscop_address learned;
	union sscop_address asked;
	struct net *net;
	struct socket *sock;
	union sscop_address routed;
	struct dst_cache dst;
	u32 mtu;
	u32 head;
	struct list_head list;
};

/**
 * struct sscop_dev - private part of the device
 * @dev: the device itself
 * @lower: the device below; NULL: @udp is in its place
 * @tracker: of the reference to @lower
 * @udp: what is under it if there is no device below
 * @frames: how @lower hands over frames
 * @napi: in which all is done
 * @timer: wakes @napi at the machines' deadline
 * @timer_at: us, when
 * @lock: over what follows up to @arrived
 * @s: the machines
 * @settings: what the user set
 * @auto_segment: what chooses the segments' length
 * @learned: hardware address of the peer, if it is not set
 * @lower_up: @lower carries frames
 * @under_way: frames in @lower
 * @budget: how many octets of them keep it busy
 * @refused: frames that @lower did not take
 * @kept: SDs that are not acknowledged, as many as the machines have slots; behind them packets
 *	of classes
 * @output: what the machines want to be sent
 * @pdu: what was received
 * @packet: packet that is being cut; NULL: none
 * @cut: octets of it that are in SDs
 * @piece: octets per SD
 * @held: octets of memory of the packets in @kept
 * @starved: there was no memory for a frame
 * @stored: octets of memory of the frames that the machines keep
 * @pieces: segments of a packet that is not complete
 * @octets: their sum
 * @broken: the rest of a packet is to be dropped
 * @freed: packets of which the machines' last step freed SDs
 * @freed_last: the last of them; only compared
 * @known: counts of resets that were reported
 * @peer_stranger: frames of another hardware address
 * @packets_broken: packets that could not be put together
 * @packets_lost: packets under way at a reset
 * @rx_not_ip: packets received that are not IP
 * @tx_not_ip: packets to be sent that are not IP
 * @fetched: frames received that were taken from @arrived together
 * @arrived: frames received
 * @above: packets that wait before them
 * @waiting: packets to be cut
 * @classed: packets of classes to be sent
 * @long_at: by flow, jiffies when it last had a packet that is assured
 * @came: octets of the packets that came in, modulo 2^32; under @waiting's lock
 * @begun: of these, octets of those begun; the round's
 * @came_memory: octets of their memory, the same
 * @begun_memory: of these, octets of those begun; the round's
 * @intake_at: us modulo 2^32, when the link would have sent what it was given; the round's
 * @intake: what it takes; the round's
 */
struct sscop_dev {
	struct net_device *dev;
	struct net_device *lower;
	netdevice_tracker tracker;
	struct sscop_udp udp;
	struct packet_type frames;
	struct napi_struct napi;
	struct hrtimer timer;
	u64 timer_at;

	spinlock_t lock;	/* over the machines and what follows */
	struct sscop s;
	struct sscop_settings settings;
	struct sscop_segment auto_segment;
	u8 learned[ETH_ALEN];
	bool lower_up;
	struct sscop_under_way *under_way;
	struct sscop_budget budget;
	u64 refused;

	struct sscop_kept *kept;
	struct sscop_output output;
	struct sscop_pdu pdu;
	struct sk_buff *packet;
	u32 cut;
	u32 piece;
	u32 held;
	bool starved;

	u32 stored;
	struct sk_buff_head pieces;
	u32 octets;
	bool broken;

	u32 freed;
	const struct sk_buff *freed_last;
	struct sscop_counts known;
	atomic64_t peer_stranger;
	u64 packets_broken;
	u64 packets_lost;
	u64 rx_not_ip;
	atomic64_t tx_not_ip;

	struct sk_buff_head fetched;
	struct sk_buff_head arrived;
	struct sscop_above above;
	struct sk_buff_head waiting;
	struct sk_buff_head classed[SSCOP_CLASSES];
	unsigned long long_at[SSCOP_FLOWS];
	u32 came;
	u32 begun;
	u32 came_memory;
	u32 begun_memory;
	u32 intake_at;
	struct sscop_intake intake;
};

/**
 * struct sscop_cb - what a received frame's control buffer holds while it is kept
 * @first: a packet's first segment
 * @last: a packet's last segment
 */
struct sscop_cb {
	bool first;
	bool last;
};

static inline struct sscop_cb *sscop_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct sscop_cb) > sizeof(skb->cb));
	return (struct sscop_cb *)skb->cb;
}

static inline u64 sscop_now(void)
{
	return ktime_to_us(ktime_get());
}

/* Octets in front of each PDU */
static inline u32 sscop_front(const struct sscop_dev *d)
{
	return ETH_HLEN + d->udp.head;
}

/* Octets of memory kept of either kind, and one packet or frame */
static inline u32 sscop_memory_most(const struct sscop_dev *d)
{
	return max_t(u32, d->settings.rules.window * SKB_TRUESIZE(ETH_DATA_LEN),
		     SSCOP_MEMORY_LEAST);
}

/* Slots in @kept, of so many for SDs */
static inline u32 sscop_kept_slots(u32 sds)
{
	return sds + SSCOP_CLASSES * SSCOP_CLASS_SLOTS;
}

/* Whether the peer has missed two of its STATs: it may have another hardware address. */
static inline bool sscop_is_silent(const struct sscop_dev *d, u64 now)
{
	return now - d->s.heard_at >
	       2 * max_t(u64, d->settings.rules.poll_time, sscop_keepalive(&d->s));
}

/* Start a round from process context. */
static inline void sscop_wake(struct sscop_dev *d)
{
	local_bh_disable();
	napi_schedule(&d->napi);
	local_bh_enable();
}

#endif /* _SSCOP_STATE_H */
