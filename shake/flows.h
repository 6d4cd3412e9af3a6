/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP flows of one peer: what a leader has sent of each on each path (M_AL), and what
 * an agent knows of it (core/shake_holes.h).
 *
 * A table is of one peer: its paths are that peer's, and its flows don't take room from
 * others. All functions but init and free may be called in softirq and with a lock held.
 */
#ifndef _SHAKE_FLOWS_H
#define _SHAKE_FLOWS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#include "core/segment.h"
#include "core/shake_holes.h"
#include "core/shake_opening.h"
#include "core/shake_timed.h"
#include "core/shake_trip.h"
#include "uapi.h"

struct sk_buff;

#define SHAKE_FLOWS_MAX 1024
#define SHAKE_FLOWS_BUCKETS 256
/* holes of all flows of a table, those allocated */
#define SHAKE_FLOWS_HOLES 16384
/* us without a packet after which a flow is forgotten */
#define SHAKE_FLOWS_AGE (600ULL * APOGEE_USEC_PER_SEC)
/* us without a packet after which a flow is not busy, and how many busy ones are counted */
#define SHAKE_FLOWS_BUSY APOGEE_USEC_PER_SEC
#define SHAKE_FLOWS_COUNTED 16
/* us after a sender was told of an MTU, in which it sends again for that */
#define SHAKE_FLOWS_TOLD (2 * APOGEE_USEC_PER_SEC)

/**
 * struct shake_flows - the flows of a peer
 * @lock: over all else
 * @key: of the hash; random
 * @buckets: flows by hash
 * @recent: flows, the one used last in front
 * @count: number of flows
 * @holes: number of holes there is room for, of all flows
 * @waiting: flows with packets that wait for others
 * @early: number of these packets
 * @all: the same of all peers of a device
 * @opening: number of flows in their first slow start; may be read without the lock
 * @sated: their windows are as large as the paths need; without the lock
 * @stays: that of the one seen last does not grow; likewise
 * @syn_at: us modulo 2^32, when a SYN left; likewise
 * @told_at: us, when senders were told of an MTU
 * @alive: bits of the paths that data may come by
 * @apart: time by which the longest way is longer than the shortest, in us; without the lock
 * @trip: the round trip that TCP should see at least, in us; 0: any; without the lock
 * @timed: flows of which a segment is timed; without the lock
 * @times: that data took of late, and its ACK
 * @longest: time that data took of late, and its ACK, in us; without the lock
 * @counts: what happened
 */
struct shake_flows {
	spinlock_t lock;	/* over all else */
	siphash_key_t key;
	struct hlist_head *buckets;
	struct list_head recent;
	u32 count;
	u32 holes;
	struct list_head waiting;
	u32 early;
	atomic_t *all;
	u32 opening;
	bool sated;
	bool stays;
	u32 syn_at;
	u64 told_at;
	u8 alive;
	u32 apart;
	u32 trip;
	u32 timed;
	struct shake_times times;
	u32 longest;
	struct shake_flow_counts counts;
};

int shake_flows_init(struct shake_flows *f, atomic_t *all);
void shake_flows_free(struct shake_flows *f);

/* leader */
enum shake_mal shake_flows_sending(struct shake_flows *f, const struct shake_segment *s, u8 path,
				   u32 *m_al, u64 now);

void shake_flows_told(struct shake_flows *f, u64 now);
bool shake_flows_opens(struct shake_flows *f, const struct shake_segment *s, u64 now);
bool shake_flows_passes(struct shake_flows *f, const struct shake_segment *s, bool all,
			u64 now);
u32 shake_flows_rest(struct shake_flows *f, const struct shake_segment *s, u64 now);
void shake_flows_timed(struct shake_flows *f, const struct shake_segment *s, u64 now);
u32 shake_flows_busy(struct shake_flows *f, u64 now);

/* agent */
bool shake_flows_arrived(struct shake_flows *f, const struct shake_segment *s, u8 path,
			 enum shake_mal mal, u32 m_al, bool kept, u64 now);
enum shake_fate shake_flows_ack(struct shake_flows *f, const struct shake_segment *s,
				enum shake_ack mode, u32 threshold, u64 now);
u64 shake_flows_order(struct shake_flows *f, const struct shake_segment *s, u32 behind,
		      struct sk_buff **skb, u32 *room, u64 now);
u64 shake_flows_due(struct shake_flows *f, struct sk_buff **list, u32 *room, u64 now);
void shake_flows_purge(struct shake_flows *f);
void shake_flows_path_alive(struct shake_flows *f, u8 path);
void shake_flows_path_lost(struct shake_flows *f, u8 path);

void shake_flows_read(struct shake_flows *f, struct shake_flow_counts *counts);

#endif /* _SHAKE_FLOWS_H */
