// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP flows of one peer: bounded in number, holes and age. ACKs make no flows.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "early.h"
#include "flows.h"

/* room for holes at first */
#define HOLES_FIRST 8
/* flows that are compared before one is sought by its hash: both directions of a connection */
#define RECENT 2

/**
 * struct shake_flow - a flow
 * @bucket: in shake_flows.buckets
 * @recent: in shake_flows.recent
 * @waits: in shake_flows.waiting, if it has packets that wait
 * @early: these packets
 * @tuple: its ends, from who sends the data
 * @used: us, when it was last used
 * @sends: leader: what it has sent
 * @opening: its sender's first slow start
 * @timed: the segment that is timed
 * @trip: when it was sent
 * @holes: agent: what it has received
 * @grown: room for holes, allocated; NULL: @room
 * @room: room for holes
 */
struct shake_flow {
	struct hlist_node bucket;
	struct list_head recent;
	struct list_head waits;
	struct shake_early early;
	struct shake_tuple tuple;
	u64 used;
	struct shake_sends sends;
	struct shake_opening opening;
	struct shake_timed timed;
	struct shake_trip trip;
	struct shake_holes holes;
	struct shake_hole *grown;
	struct shake_hole room[HOLES_FIRST];
};

static struct hlist_head *bucket_of(struct shake_flows *f, const struct shake_tuple *tuple)
{
	u64 hash = siphash(tuple, sizeof(*tuple), &f->key);

	return &f->buckets[hash % SHAKE_FLOWS_BUCKETS];
}

/*
 * Append what may go on to a list: all, or what is before @turn, as far as there is room. Returns
 * its end.
 */
static struct sk_buff **release_early(struct shake_flows *f, struct shake_flow *flow, u32 turn,
				      bool all, u32 *room, struct sk_buff **end)
{
	*end = NULL;
	while (*room && (*end = shake_early_take(&flow->early, turn, flow->holes.now, all))) {
		end = &(*end)->next;
		f->early--;
		atomic_dec(f->all);
		--*room;
	}
	if (!flow->early.count)
		list_del_init(&flow->waits);
	return end;
}

/* us after which packets that wait are looked at: at once if only room was missing. */
static u32 next_look(const struct shake_flow *flow, u32 turn, u32 wait)
{
	wait = min(wait, shake_early_left(&flow->early, flow->holes.now));
	return shake_early_before(&flow->early, turn) ? 1 : max(wait, 1U);
}

/*
 * A packet waits. New holes open while it does, behind forged segments, too: what was sent before
 * it cannot come later than late data does.
 */
static void put_early(struct shake_flows *f, struct shake_flow *flow, struct sk_buff *skb,
		      u32 number, bool again)
{
	u32 most = again ? shake_holes_longest(&flow->holes) : 2 * SHAKE_HOLES_PATIENCE_MOST;

	if (list_empty(&flow->waits))
		list_add_tail(&flow->waits, &f->waiting);
	shake_early_put(&flow->early, skb, number, flow->holes.now + most);
	f->early++;
	atomic_inc(f->all);
}

/* Whether no more may wait. Peers that fill what there is for all leave a few to each. */
static bool early_is_full(const struct shake_flows *f, const struct shake_flow *flow)
{
	return flow->early.count >= SHAKE_EARLY_MAX || f->early >= SHAKE_EARLY_ALL ||
	       (f->early >= SHAKE_EARLY_FEW && atomic_read(f->all) >= SHAKE_EARLY_DEVICE);
}

/* Forget the packets of a flow that wait: TCP sends them again. */
static void drop_early(struct shake_flows *f, struct shake_flow *flow)
{
	struct sk_buff *skb;

	f->early -= flow->early.count;
	atomic_sub(flow->early.count, f->all);
	while ((skb = shake_early_take(&flow->early, 0, 0, true)))
		kfree_skb(skb);
	list_del_init(&flow->waits);
}

/* Under f->lock; shake_flows_passes() asks without. */
static void set_opening(struct shake_flows *f, struct shake_flow *flow, bool on)
{
	WRITE_ONCE(f->opening, f->opening + on - flow->opening.on);
	flow->opening.on = on;
}

/* Whether a segment of the flow is timed may have changed. Likewise. */
static void count_timed(struct shake_flows *f, const struct shake_flow *flow, bool before)
{
	WRITE_ONCE(f->timed, f->timed + !!flow->timed.at - before);
}

static void remove_flow(struct shake_flows *f, struct shake_flow *flow)
{
	bool timed = flow->timed.at;

	flow->timed.at = 0;
	count_timed(f, flow, timed);
	set_opening(f, flow, false);
	drop_early(f, flow);
	hlist_del(&flow->bucket);
	list_del(&flow->recent);
	f->count--;
	if (flow->grown)
		f->holes -= flow->holes.room;
	kfree(flow->grown);
	kfree(flow);
}

static void remove_expired(struct shake_flows *f, u64 now)
{
	struct shake_flow *flow, *before;

	list_for_each_entry_safe_reverse(flow, before, &f->recent, recent) {
		/* another CPU may have a later time */
		if (flow->used + SHAKE_FLOWS_AGE > now)
			break;
		remove_flow(f, flow);
		f->counts.expired++;
	}
}

/* In parts that compilers compare as words. */
static bool is_of(const struct shake_flow *flow, const struct shake_tuple *tuple)
{
	const struct shake_tuple *own = &flow->tuple;

	return !memcmp(own->source_port, tuple->source_port, sizeof(own->source_port)) &&
	       !memcmp(own->destination_port, tuple->destination_port,
		       sizeof(own->destination_port)) &&
	       !memcmp(own->source, tuple->source, sizeof(own->source)) &&
	       !memcmp(own->destination, tuple->destination, sizeof(own->destination)) &&
	       own->version == tuple->version;
}

/* One of the flows used last, without a hash: packets come in bursts, and ACKs in between. */
static struct shake_flow *find_recent(struct shake_flows *f, const struct shake_tuple *tuple)
{
	struct shake_flow *flow;
	u32 looked = 0;

	list_for_each_entry(flow, &f->recent, recent) {
		if (is_of(flow, tuple))
			return flow;
		if (++looked == RECENT)
			break;
	}
	return NULL;
}

static struct shake_flow *find_hashed(struct shake_flows *f, const struct shake_tuple *tuple)
{
	struct shake_flow *flow;

	hlist_for_each_entry(flow, bucket_of(f, tuple), bucket)
		if (is_of(flow, tuple))
			return flow;
	return NULL;
}

static struct shake_flow *find_flow(struct shake_flows *f, const struct shake_tuple *tuple,
				    u64 now)
{
	struct shake_flow *flow;

	remove_expired(f, now);
	flow = find_recent(f, tuple) ?: find_hashed(f, tuple);
	if (!flow)
		return NULL;
	flow->used = now;
	if (!list_is_first(&flow->recent, &f->recent))
		list_move(&flow->recent, &f->recent);
	return flow;
}

static struct shake_flow *add_flow(struct shake_flows *f, const struct shake_tuple *tuple,
				   u64 now)
{
	struct shake_flow *flow;

	if (f->count >= SHAKE_FLOWS_MAX) {
		remove_flow(f, list_last_entry(&f->recent, struct shake_flow, recent));
		f->counts.evicted++;
	}
	flow = kzalloc(sizeof(*flow), GFP_ATOMIC);
	if (!flow) {
		f->counts.refused++;
		return NULL;
	}
	flow->tuple = *tuple;
	flow->used = now;
	INIT_LIST_HEAD(&flow->waits);
	shake_holes_init(&flow->holes, flow->room, HOLES_FIRST);
	hlist_add_head(&flow->bucket, bucket_of(f, tuple));
	list_add(&flow->recent, &f->recent);
	f->count++;
	return flow;
}

/* The flow of a segment from the leader that brings data; made if it is new. */
static struct shake_flow *flow_of_data(struct shake_flows *f, const struct shake_segment *s,
				       u64 now)
{
	struct shake_flow *flow = find_flow(f, &s->tuple, now);

	if (s->rst) {	/* whose number nobody has checked: what waits is not given up for it */
		if (flow && !flow->early.count)
			remove_flow(f, flow);
		return NULL;
	}
	if (s->seq == s->end)
		return NULL;
	return flow ? flow : add_flow(f, &s->tuple, now);
}

/* Twice the room, as far as the table's bound and memory allow. */
static void grow_holes(struct shake_flows *f, struct shake_flow *flow)
{
	u32 had = flow->grown ? flow->holes.room : 0;
	u32 room = min_t(u32, 2 * flow->holes.room, SHAKE_HOLES_MAX);
	struct shake_hole *holes;

	if (f->holes - had + room > SHAKE_FLOWS_HOLES)
		return;
	holes = kmalloc_array(room, sizeof(*holes), GFP_ATOMIC | __GFP_NOWARN);
	if (!holes)
		return;
	shake_holes_move(&flow->holes, holes, room);
	kfree(flow->grown);
	flow->grown = holes;
	f->holes += room - had;
}

/**
 * shake_flows_init() - an empty table
 * @f: the table
 * @all: counts the packets that wait in all tables of a device
 *
 * Return: 0, or -ENOMEM.
 */
int shake_flows_init(struct shake_flows *f, atomic_t *all)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->all = all;
	f->buckets = kmalloc_array(SHAKE_FLOWS_BUCKETS, sizeof(*f->buckets), GFP_KERNEL_ACCOUNT);
	if (!f->buckets)
		return -ENOMEM;
	for (i = 0; i < SHAKE_FLOWS_BUCKETS; i++)
		INIT_HLIST_HEAD(&f->buckets[i]);
	INIT_LIST_HEAD(&f->recent);
	INIT_LIST_HEAD(&f->waiting);
	spin_lock_init(&f->lock);
	get_random_bytes(&f->key, sizeof(f->key));
	return 0;
}

/**
 * shake_flows_free() - free all flows; nobody uses the table any more
 * @f: the table; may have failed to be made
 */
void shake_flows_free(struct shake_flows *f)
{
	struct shake_flow *flow, *next;

	if (!f->buckets)
		return;
	list_for_each_entry_safe(flow, next, &f->recent, recent)
		remove_flow(f, flow);
	kfree(f->buckets);
	f->buckets = NULL;
}

/* Whether senders may send again, as they were told of an MTU. */
static bool is_told(const struct shake_flows *f, u64 now)
{
	return f->told_at && now - f->told_at <= SHAKE_FLOWS_TOLD;
}

/**
 * shake_flows_told() - senders may send again from now on, as one is told of an MTU
 * @f: the table
 * @now: us
 */
void shake_flows_told(struct shake_flows *f, u64 now)
{
	spin_lock_bh(&f->lock);
	f->told_at = now;
	spin_unlock_bh(&f->lock);
}

/* A segment leaves. A SYN begins a slow start, and what is sent again ends it. */
static void look_at_opening(struct shake_flows *f, struct shake_flow *flow,
			    const struct shake_segment *s, u64 now)
{
	if (s->syn) {
		set_opening(f, flow, true);
		WRITE_ONCE(f->syn_at, (u32)now);
		shake_opening_begin(&flow->opening, s->seq);
		WRITE_ONCE(f->sated, false);
		WRITE_ONCE(f->stays, false);
	} else if (flow->opening.on && shake_before(s->seq, flow->sends.high) &&
		   !is_told(f, now)) {
		set_opening(f, flow, false);
	}
}

/* A segment leaves. Nothing before a SYN counts. */
static void look_at_trip(struct shake_flows *f, struct shake_flow *flow,
			 const struct shake_segment *s, u64 now)
{
	u32 trip = READ_ONCE(f->trip);

	if (s->syn)
		shake_trip_begin(&flow->trip, s->end);
	if (trip && !s->syn && shake_before(s->seq, flow->sends.high))
		shake_trip_again(&flow->trip, s->end, trip, (u32)now);
	else if (trip)
		shake_trip_sent(&flow->trip, s->end, trip / SHAKE_TRIP_PART, (u32)now);
}

/**
 * shake_flows_sending() - leader: a segment is about to leave
 * @f: the table
 * @s: the segment
 * @path: 1 to SHAKE_HOLES_PATHS
 * @m_al: M_AL of this path, in network terms the first number not sent before
 * @now: us
 *
 * Return: what there is to send along.
 */
enum shake_mal shake_flows_sending(struct shake_flows *f, const struct shake_segment *s, u8 path,
				   u32 *m_al, u64 now)
{
	enum shake_mal mal = SHAKE_NO_MAL;
	struct shake_flow *flow;
	bool timed;

	if (!path || path > SHAKE_HOLES_PATHS)
		return SHAKE_NO_MAL;
	spin_lock_bh(&f->lock);
	flow = flow_of_data(f, s, now);
	if (flow) {
		look_at_trip(f, flow, s, now);
		look_at_opening(f, flow, s, now);
		timed = flow->timed.at;
		shake_timed_sent(&flow->timed, s->end, shake_before(s->seq, flow->sends.high), now);
		count_timed(f, flow, timed);
		mal = shake_sends_next(&flow->sends, path - 1, s->seq, s->end, s->syn, m_al);
	}
	spin_unlock_bh(&f->lock);
	return mal;
}

/**
 * shake_flows_opens() - whether a segment is of a flow in its first slow start
 * @f: the table
 * @s: the segment
 * @now: us
 *
 * Return: as far as is known.
 */
bool shake_flows_opens(struct shake_flows *f, const struct shake_segment *s, u64 now)
{
	struct shake_flow *flow;
	bool opens;

	if (!READ_ONCE(f->opening))
		return false;
	spin_lock_bh(&f->lock);
	flow = find_flow(f, &s->tuple, now);
	opens = flow && flow->opening.on && !READ_ONCE(f->sated);
	spin_unlock_bh(&f->lock);
	return opens;
}

/* Whether an ACK of a flow in its first slow start passes. */
static bool look_at_window(struct shake_flows *f, struct shake_flow *flow, u32 ack)
{
	bool passes = shake_opening_passes(&flow->opening, flow->sends.high, ack);

	WRITE_ONCE(f->stays, shake_opening_is_over(&flow->opening));
	return passes;
}

/**
 * shake_flows_passes() - leader: an ACK is about to go to TCP
 * @f: the table
 * @s: the ACK
 * @all: TCP has to see all of them from now on
 * @now: us
 *
 * Return: false if TCP's slow start does without it.
 */
bool shake_flows_passes(struct shake_flows *f, const struct shake_segment *s, bool all,
			u64 now)
{
	struct shake_tuple tuple;
	struct shake_flow *flow;
	bool passes = true;

	shake_tuple_reverse(&tuple, &s->tuple);
	spin_lock_bh(&f->lock);
	flow = find_flow(f, &tuple, now);
	all = all || READ_ONCE(f->sated);
	if (flow && flow->opening.on && all)
		set_opening(f, flow, false);
	else if (flow && flow->opening.on)
		passes = look_at_window(f, flow, s->ack);
	f->counts.dropped_opening += !passes;
	spin_unlock_bh(&f->lock);
	return passes;
}

/**
 * shake_flows_timed() - an ACK has come, of what was sent perhaps
 * @f: the table
 * @s: a segment with it
 * @now: us
 */
void shake_flows_timed(struct shake_flows *f, const struct shake_segment *s, u64 now)
{
	struct shake_tuple tuple;
	struct shake_flow *flow;
	bool timed;

	if (!READ_ONCE(f->timed) || !s->has_ack || s->rst)
		return;
	shake_tuple_reverse(&tuple, &s->tuple);
	spin_lock_bh(&f->lock);
	flow = find_flow(f, &tuple, now);
	if (flow) {
		timed = flow->timed.at;
		shake_timed_acked(&flow->timed, s->ack, &f->times, now);
		count_timed(f, flow, timed);
		WRITE_ONCE(f->longest, shake_timed_longest(&f->times));
	}
	spin_unlock_bh(&f->lock);
}

/**
 * shake_flows_rest() - by how much an ACK comes sooner than TCP should see it
 * @f: the table
 * @s: a segment with it
 * @now: us
 *
 * What brings data does not wait, but with the handshake's ACK, or behind it.
 *
 * Return: us.
 */
u32 shake_flows_rest(struct shake_flows *f, const struct shake_segment *s, u64 now)
{
	u32 trip = READ_ONCE(f->trip), tells = s->ack, rest = 0;
	bool plain = s->pure_ack || s->syn;
	struct shake_tuple tuple;
	struct shake_flow *flow;

	if (!trip || !s->has_ack || s->rst ||
	    (!plain && (u32)now - READ_ONCE(f->syn_at) > trip))
		return 0;
	if (s->has_sack)
		shake_raise(&tells, s->sacked);
	shake_tuple_reverse(&tuple, &s->tuple);
	spin_lock_bh(&f->lock);
	flow = find_flow(f, &tuple, now);
	if (flow && (plain || s->ack == flow->trip.first))
		rest = shake_trip_rest(&flow->trip, tells, trip, (u32)now);
	spin_unlock_bh(&f->lock);
	return rest;
}

/**
 * shake_flows_busy() - how many flows have sent data of late
 * @f: the table
 * @now: us
 *
 * Return: at most SHAKE_FLOWS_COUNTED.
 */
u32 shake_flows_busy(struct shake_flows *f, u64 now)
{
	struct shake_flow *flow;
	u32 count = 0;

	spin_lock_bh(&f->lock);
	list_for_each_entry(flow, &f->recent, recent) {
		if (flow->used + SHAKE_FLOWS_BUSY < now || count == SHAKE_FLOWS_COUNTED)
			break;
		count += flow->sends.started;
	}
	spin_unlock_bh(&f->lock);
	return count;
}

/**
 * shake_flows_arrived() - agent: a segment of the leader has arrived
 * @f: the table
 * @s: the segment
 * @path: 1 to SHAKE_HOLES_PATHS
 * @mal: what came with it
 * @m_al: M_AL
 * @kept: the leader has a copy
 * @now: us
 *
 * Return: whether it may have to wait for others, as shake_flows_order() finds out.
 */
bool shake_flows_arrived(struct shake_flows *f, const struct shake_segment *s, u8 path,
			 enum shake_mal mal, u32 m_al, bool kept, u64 now)
{
	struct shake_arrival arrival = {
		.seq = s->seq,
		.end = s->end,
		.m_al = m_al,
		.path = path - 1,
		.has_mal = mal != SHAKE_NO_MAL,
		.gap = mal == SHAKE_MAL_GAP,
		.syn = s->syn,
		.kept = kept,
		.now = (u32)now,
	};
	struct shake_flow *flow;
	bool waits = false;

	if (!path || path > SHAKE_HOLES_PATHS)
		return false;
	spin_lock_bh(&f->lock);
	f->alive |= 1U << (path - 1);
	arrival.alive = f->alive;
	flow = flow_of_data(f, s, now);
	if (flow) {
		if (shake_holes_wants_room(&flow->holes))
			grow_holes(f, flow);
		shake_holes_arrived(&flow->holes, &arrival, &f->counts);
		waits = flow->holes.count || flow->early.count;
	}
	spin_unlock_bh(&f->lock);
	return waits;
}

/**
 * shake_flows_order() - a segment has arrived that may have to wait for others
 * @f: the table; shake_flows_arrived() has seen it
 * @s: the segment
 * @behind: first number that it need not wait for: its own, or M_AL of what is sent again
 * @skb: in: its packet; out: the packets that go on, a list
 * @room: how many of those that waited may go on; reduced by those that do
 * @now: us
 *
 * If nothing may wait any more, one goes on even without room. What TCP sends again waits for all
 * that was sent before it: if it went on first, TCP would take the rest for lost (RACK, RFC 8985).
 *
 * Return: when packets have waited for long enough; U64_MAX: none waits.
 */
u64 shake_flows_order(struct shake_flows *f, const struct shake_segment *s, u32 behind,
		      struct sk_buff **skb, u32 *room, u64 now)
{
	struct shake_flow *flow;
	u32 turn, wait = 0;
	bool full;

	spin_lock_bh(&f->lock);
	flow = s->seq == s->end || s->syn ? NULL : find_flow(f, &s->tuple, now);
	if (!flow || (!flow->holes.count && !flow->early.count))
		goto out;
	if (shake_is_far(behind, flow->holes.high))
		behind = s->seq;	/* no M_AL */
	flow->holes.apart = READ_ONCE(f->apart);
	turn = shake_holes_turn(&flow->holes, (u32)now, &wait);
	full = early_is_full(f, flow);
	if (full && !*room)
		*room = 1;
	if (shake_before(behind, turn) && !shake_early_before(&flow->early, behind)) {
		release_early(f, flow, turn, false, room, &(*skb)->next);
	} else {
		put_early(f, flow, *skb, behind, behind != s->seq);
		release_early(f, flow, turn, full || !wait, room, skb);
	}
	wait = flow->early.count ? next_look(flow, turn, wait) : 0;
out:
	spin_unlock_bh(&f->lock);
	return wait ? now + wait : U64_MAX;
}

/**
 * shake_flows_due() - what has waited for long enough
 * @f: the table
 * @list: the packets that go on
 * @room: how many may; reduced by those that do
 * @now: us
 *
 * Return: when there is more; U64_MAX: none waits.
 */
u64 shake_flows_due(struct shake_flows *f, struct sk_buff **list, u32 *room, u64 now)
{
	struct shake_flow *flow, *next;
	u64 due = U64_MAX;
	u32 turn, wait;

	spin_lock_bh(&f->lock);
	list_for_each_entry_safe(flow, next, &f->waiting, waits) {
		turn = shake_holes_turn(&flow->holes, (u32)now, &wait);
		list = release_early(f, flow, turn, !wait, room, list);
		if (flow->early.count)
			due = min(due, now + next_look(flow, turn, wait));
	}
	*list = NULL;
	spin_unlock_bh(&f->lock);
	return due;
}

/**
 * shake_flows_purge() - forget packets that wait
 * @f: the table
 */
void shake_flows_purge(struct shake_flows *f)
{
	struct shake_flow *flow, *next;

	spin_lock_bh(&f->lock);
	list_for_each_entry_safe(flow, next, &f->waiting, waits)
		drop_early(f, flow);
	spin_unlock_bh(&f->lock);
}

/**
 * shake_flows_ack() - agent: a segment of the correspondent is about to go to the leader
 * @f: the table
 * @s: the segment
 * @mode: what to do with duplicate ACKs
 * @threshold: theta_c
 * @now: us
 *
 * Return: what becomes of it; SHAKE_PASS if it isn't an ACK of a known flow.
 */
enum shake_fate shake_flows_ack(struct shake_flows *f, const struct shake_segment *s,
				enum shake_ack mode, u32 threshold, u64 now)
{
	struct shake_dupack ack = {
		.ack = s->ack,
		.window = s->window,
		.flags = s->flags,
		.pure = s->pure_ack,
		.sack = s->has_sack,
		.dsack = s->has_dsack,
		.fixed = s->fixed,
		.now = (u32)now,
	};
	enum shake_fate fate = SHAKE_PASS;
	struct shake_tuple tuple;
	struct shake_flow *flow;

	BUILD_BUG_ON((int)SHAKE_HOLES_PASS != SHAKE_ACK_PASS);
	BUILD_BUG_ON((int)SHAKE_HOLES_DROP != SHAKE_ACK_DROP);
	BUILD_BUG_ON((int)SHAKE_HOLES_TDAR != SHAKE_ACK_TDAR);
	BUILD_BUG_ON((int)SHAKE_HOLES_AUTO != SHAKE_ACK_AUTO);
	shake_tuple_reverse(&tuple, &s->tuple);
	spin_lock_bh(&f->lock);
	flow = find_flow(f, &tuple, now);
	if (flow && s->rst && !flow->early.count)
		remove_flow(f, flow);
	else if (flow && s->has_ack)
		fate = shake_holes_ack(&flow->holes, &ack, mode, threshold, &f->counts);
	spin_unlock_bh(&f->lock);
	return fate;
}

/**
 * shake_flows_path_alive() - agent: from now on data may come by a path
 * @f: the table
 * @path: 1 to SHAKE_HOLES_PATHS
 *
 * When the path is registered; the first data by it says the same.
 */
void shake_flows_path_alive(struct shake_flows *f, u8 path)
{
	if (!path || path > SHAKE_HOLES_PATHS)
		return;
	spin_lock_bh(&f->lock);
	f->alive |= 1U << (path - 1);
	spin_unlock_bh(&f->lock);
}

/**
 * shake_flows_path_lost() - agent: a path died or was deleted
 * @f: the table
 * @path: 1 to SHAKE_HOLES_PATHS
 *
 * What was on its way there is lost, unless the path comes back soon and the leader has copies.
 */
void shake_flows_path_lost(struct shake_flows *f, u8 path)
{
	struct shake_flow *flow;

	if (!path || path > SHAKE_HOLES_PATHS)
		return;
	spin_lock_bh(&f->lock);
	f->alive &= ~(1U << (path - 1));
	list_for_each_entry(flow, &f->recent, recent)
		shake_holes_lose_path(&flow->holes, path - 1, f->alive, &f->counts);
	spin_unlock_bh(&f->lock);
}

/**
 * shake_flows_read() - what happened
 * @f: the table
 * @counts: a copy
 */
void shake_flows_read(struct shake_flows *f, struct shake_flow_counts *counts)
{
	spin_lock_bh(&f->lock);
	*counts = f->counts;
	spin_unlock_bh(&f->lock);
}
