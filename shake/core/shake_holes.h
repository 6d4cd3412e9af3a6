/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Duplicate ACKs that are not needed: what SHAKE's agent knows of one TCP flow.
 *
 *   H. Ogino and S. Ishihara, "A Scheme for Avoiding Unnecessary Retransmissions of
 *   Asymmetric TCP Flows on Multipath Environment" (in Japanese), section 4 (dropping at
 *   the home agent) and 6.2 (TDAR).
 *
 * Segments of a flow come by several paths and overtake each other. The agent lists the
 * gaps, the "holes", and judges the duplicate ACKs that they cause:
 *
 *   undecided   late or lost: drop, but after theta_c of them ask for a retransmission
 *   unneeded    it has arrived: drop as many as there can be
 *   needed      it is lost: pass
 *
 * A segment brings M_AL(i), the highest number sent before on its path i. A path keeps
 * order. If M_AL(i) is above M_HA(i), the highest number received on i, then what ended at
 * M_AL(i) is lost.
 *
 * Numbers here are ends: the first one not sent, not received. The paper's R, A, M_HA and
 * M_AL are the last ones, less by one.
 *
 * Notable differences from the paper:
 *
 *   paths      Any number up to eight. New data is sent in order and a path keeps order,
 *              so what is below M_HA of every path in use has arrived or is lost: a hole
 *              there is needed (shake_holes_clear()). This also decides several losses in
 *              a row and losses on the path that isn't late. Paths that died don't count.
 *   tails      If nothing comes after a loss on its path, nothing proves it: theta_c
 *              decides. If nothing comes on any path, there are no duplicate ACKs, and
 *              TCP's timers decide.
 *   M_HA       The maximum of M_HA, M_AL and the segment's end, so that a loss is seen
 *              once. Compared whenever new data arrives. M_AL of what is sent again is the highest
 *              number sent on any path: what has to go on before it (shake_flows_order()).
 *   loss       M_AL proves a loss before M_AL(i) only. The rest of the hole was sent by
 *              other paths and stays undecided, as a hole of its own.
 *   R          Jumps over data that is already there.
 *   Dupack     Counted on the lowest hole not filled, whenever data arrives beyond it
 *              and it is undecided, also if a higher hole proved to be lost by this.
 *              When the hole is filled, the duplicate ACKs seen are taken off: the paper
 *              would drop as many again.
 *   theta_c    This number is dropped, the next is passed and asks for a retransmission,
 *              as 4.4.2.1 says; the condition in 6.2 would drop one more. Later ones pass.
 *   repair     If duplicate ACKs were dropped before a hole became needed, the next one
 *              asks for a retransmission, once: TCP would wait for the dropped ones. With
 *              ack=auto the first one asks in any case: a small window may not bring three.
 *   overdue    With ack=auto the next duplicate asks for a retransmission, too, when the hole is
 *              open for twice the time by which data was late lately, and 100 ms, or for 1 s
 *              if none was: theta_c and the depth learned may be more than the window brings,
 *              when a path has died. Not before 100 ms more than the longest way takes longer
 *              than the shortest: a path that was not used for a while may be used again.
 *   mending    If the leader has copies of what it sends (shake_repair.h), a lost segment
 *              comes once more. Until then, or two and a half times what this took before on
 *              its path (the next copy, if one was lost), its duplicate ACKs are
 *              dropped, too. Only if some M_AL has shown a loss on a path that has copies and
 *              may be the hole's.
 *   gaps       What was dropped in front of the leader, as by a queue that is managed there, comes
 *              by no path. The leader sees the gap and tells of it with the segment behind: what
 *              is missing there is needed at once. M_AL is where it begins then.
 *   what is a  A pure ACK of A itself, with window and flags of the last one. It must
 *   duplicate  match a hole, and not report data received twice (D-SACK). With SACK blocks
 *              its window may differ, if so many segments came behind the hole: a receiver
 *              that tunes its buffer changes it with each ACK. All else passes.
 *   SACK       Blocks that are new don't save an ACK: receivers repeat them, RFC 2018,
 *              so the next that passes with blocks tells of all. RACK then marks what is lost by
 *              the count or the time of what was delivered since.
 *   second     An ACK that advances to another hole is no duplicate, but with SACK it tells
 *   hole       as much: RACK takes what was sent before the newest block, and is missing, for
 *              lost. The first ACK of a hole passes without its blocks if duplicates of that
 *              hole are to be dropped. Not with TDAR, whose relayed ACKs are to tell, nor if
 *              an ACK has no blocks for more holes: what one does not tell, the next may not.
 *   order      With ack=auto data behind a hole that is only late, or is mended, waits there: see
 *              shake_holes_turn(). Duplicate ACKs are judged when it went on without it.
 *   bounds     If a hole finds no room, its duplicate ACKs pass.
 */
#ifndef _APOGEE_SHAKE_HOLES_H
#define _APOGEE_SHAKE_HOLES_H

#include <apogee/int.h>

#define SHAKE_HOLES_MAX		256U
#define SHAKE_HOLES_PATHS	8U
/* Holes that one segment can add: a gap, four cuts around losses, and one where it fills. */
#define SHAKE_HOLES_STEP	6U
/* c_p, 6.2: duplicate ACKs of a hole that TDAR lets through. */
#define SHAKE_HOLES_RELAY	2U
/* Duplicate ACKs that make TCP retransmit. */
#define SHAKE_HOLES_HARM	3U
/* SACK blocks that an ACK with timestamps has room for, RFC 2018, 3. */
#define SHAKE_HOLES_BLOCKS	3U
/* Numbers further apart than TCP's largest window are of no use. */
#define SHAKE_HOLES_FAR		0x40000000U
/* No segment is longer: an IP packet, SYN and FIN. */
#define SHAKE_HOLES_SEGMENT	0x10001U
/*
 * ack=auto: events remembered, and the greatest depth learned. At most theta_c and twice the
 * depth are dropped before one is forced.
 */
#define SHAKE_HOLES_EVENTS	32U
#define SHAKE_HOLES_DEPTH	200U
/* A late segment was sent again and came second: its depth is not known, but more. */
#define SHAKE_HOLES_DEEPER	4U
/* ack=auto: unproved losses for each late one, and to begin with, before all pass. */
#define SHAKE_HOLES_LOSSES	3U

/*
 * Time that a copy of a lost segment is waited for: to begin with, at least and at most, in us.
 * Half of the least is what the links' queues may add to the time that it took before.
 */
#define SHAKE_HOLES_PATIENCE		(2U * APOGEE_USEC_PER_SEC)
#define SHAKE_HOLES_PATIENCE_LEAST	(APOGEE_USEC_PER_SEC / 10U)
#define SHAKE_HOLES_PATIENCE_MOST	(4U * APOGEE_USEC_PER_SEC)

/* What to do with duplicate ACKs; numbers as in shake/uapi.h. */
enum shake_holes_ack {
	SHAKE_HOLES_PASS,
	SHAKE_HOLES_DROP,
	SHAKE_HOLES_TDAR,
	SHAKE_HOLES_AUTO,
};

/**
 * enum shake_fate - what becomes of an ACK
 * @SHAKE_PASS: it goes on
 * @SHAKE_DROP: it does not
 * @SHAKE_PASS_RETRANSMIT: it goes on, and the leader's end makes TCP retransmit
 * @SHAKE_PASS_UNSACKED: it goes on without its SACK blocks
 */
enum shake_fate {
	SHAKE_PASS,
	SHAKE_DROP,
	SHAKE_PASS_RETRANSMIT,
	SHAKE_PASS_UNSACKED,
};

enum shake_hole_mode {
	SHAKE_HOLE_UNDECIDED,
	SHAKE_HOLE_UNNEEDED,
	SHAKE_HOLE_NEEDED,
};

/**
 * struct shake_flow_counts - what happened to the flows of a table
 * @dropped_undecided: duplicate ACKs dropped, not known whether the data was lost
 * @dropped_unneeded: duplicate ACKs dropped, for data that had arrived
 * @dropped_mending: duplicate ACKs dropped, for data of which a copy was to come
 * @dropped_opening: ACKs dropped that TCP's slow start does without (shake_opening.h)
 * @unsacked: ACKs that passed without their SACK blocks
 * @relayed: duplicate ACKs that TDAR let through
 * @forced: retransmissions asked for because the threshold was reached
 * @repaired: retransmissions asked for because the data proved to be lost
 * @holes: gaps seen
 * @holes_late: filled by the data sent first
 * @holes_lost: known to be lost
 * @holes_mended: of those, filled by a copy
 * @holes_refused: not remembered, for want of room
 * @evicted: flows forgotten for want of room
 * @expired: flows forgotten for their age
 * @refused: flows not remembered, for want of memory
 * @senseless: numbers that cannot be right
 */
struct shake_flow_counts {
	u64 dropped_undecided;
	u64 dropped_unneeded;
	u64 dropped_mending;
	u64 dropped_opening;
	u64 unsacked;
	u64 relayed;
	u64 forced;
	u64 repaired;
	u64 holes;
	u64 holes_late;
	u64 holes_lost;
	u64 holes_mended;
	u64 holes_refused;
	u64 evicted;
	u64 expired;
	u64 refused;
	u64 senseless;
};

/**
 * struct shake_hole - an element of the HoleList, 4.1.3
 * @first: first number missing
 * @end: first number behind it
 * @dupack: duplicate ACKs that may be dropped
 * @cancel: duplicate ACKs dropped while undecided
 * @seen: duplicate ACKs seen before it was filled
 * @mode: enum shake_hole_mode
 * @relay: c_p, duplicate ACKs that TDAR still lets through
 * @asked: a retransmission was asked for
 * @shown: bits of the paths that showed a loss of what may be in it, and have copies
 * @shown_at: when one did last, in us modulo 2^32
 * @mending: there was a copy when it proved to be lost
 * @rest: it was behind data that has arrived, and opened no gap
 * @since: when it opened, or proved to be lost, in us modulo 2^32
 */
struct shake_hole {
	u32 first;
	u32 end;
	u16 dupack;
	u16 cancel;
	u16 seen;
	u8 mode;
	u8 relay;
	bool asked;
	u8 shown;
	bool mending;
	bool rest;
	u32 shown_at;
	u32 since;
};

/**
 * struct shake_ends - the highest number of each path: M_AL or M_HA
 * @end: first number not sent, or not received, if in @known
 * @known: bits of the paths
 */
struct shake_ends {
	u32 end[SHAKE_HOLES_PATHS];
	u8 known;
};

/**
 * struct shake_holes - what the agent knows of a flow
 * @hole: the HoleList, sorted and disjoint; the caller's room
 * @room: number of holes that fit
 * @count: number of holes
 * @base: first number of the flow
 * @received: R, first number not received
 * @acked: A, highest number acknowledged, if @has_acked
 * @high: first number behind all data received
 * @paths: M_HA
 * @started: there was a segment
 * @has_acked: there was an ACK
 * @window: of the last ACK
 * @flags: of the last ACK
 * @late: events where dropping was right: at least SHAKE_HOLES_HARM duplicate ACKs for
 *	  data that was only late
 * @lost: events where it was not: duplicate ACKs for data that was sent again before
 *	  anything proved it to be lost
 * @depth: duplicate ACKs that late data causes
 * @now: time of the last segment or ACK, in us modulo 2^32
 * @patience: time that a copy is waited for, by path, in us; 0: the first one
 * @lateness: time by which data is late, in us; 0: unknown
 * @apart: time by which the longest way is longer than the shortest, in us
 * @kept: bits of the paths of whose last segment there was a copy
 */
struct shake_holes {
	struct shake_hole *hole;
	u32 room;
	u32 count;
	u32 base;
	u32 received;
	u32 acked;
	u32 high;
	struct shake_ends paths;
	bool started;
	bool has_acked;
	u16 window;
	u16 flags;
	u16 late;
	u16 lost;
	u16 depth;
	u32 now;
	u32 patience[SHAKE_HOLES_PATHS];
	u32 lateness;
	u32 apart;
	u8 kept;
};

/**
 * struct shake_arrival - a segment that came by a path
 * @seq: its first number
 * @end: first number behind it
 * @m_al: M_AL of its path, if @has_mal
 * @path: from 0
 * @alive: bits of the paths that data may come by
 * @has_mal: it brought M_AL
 * @gap: nothing between @m_al and @seq was sent
 * @syn: it is a SYN
 * @kept: the leader has a copy
 * @now: time in us, modulo 2^32
 */
struct shake_arrival {
	u32 seq;
	u32 end;
	u32 m_al;
	u8 path;
	u8 alive;
	bool has_mal;
	bool gap;
	bool syn;
	bool kept;
	u32 now;
};

/* How data comes. */
enum shake_come {
	SHAKE_COME_FIRST,		/* as it was sent first */
	SHAKE_COME_COPY,		/* behind what its path brought before: as a copy */
	SHAKE_COME_AGAIN,		/* TCP has sent it again */
};

/* What M_AL says. */
enum shake_mal {
	SHAKE_NO_MAL,
	SHAKE_MAL_SENT,		/* the highest number sent before */
	SHAKE_MAL_GAP,		/* the same of all paths; what lies behind it was not */
};

/**
 * struct shake_dupack - an ACK for the flow
 * @ack: acknowledgment number
 * @window: as in the header
 * @flags: as in the header
 * @pure: neither data nor SYN, FIN, RST, URG
 * @sack: has SACK blocks
 * @dsack: reports data received twice
 * @fixed: its options must stay as they are
 * @now: time in us, modulo 2^32
 */
struct shake_dupack {
	u32 ack;
	u16 window;
	u16 flags;
	bool pure;
	bool sack;
	bool dsack;
	bool fixed;
	u32 now;
};

/**
 * struct shake_sends - what the leader knows of a flow
 * @paths: M_AL
 * @high: first number behind all data sent
 * @started: there was a segment
 */
struct shake_sends {
	struct shake_ends paths;
	u32 high;
	bool started;
};

/* Whether @a comes before @b; numbers wrap. */
static inline bool shake_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Whether @a and @b are too far apart for one flow. */
static inline bool shake_is_far(u32 a, u32 b)
{
	return a - b > SHAKE_HOLES_FAR && b - a > SHAKE_HOLES_FAR;
}

/* Raise *@number to @to. */
static inline void shake_raise(u32 *number, u32 to)
{
	if (shake_before(*number, to))
		*number = to;
}

/* Add 1 unless it wraps. */
static inline void shake_count_up(u16 *count)
{
	if (*count < U16_MAX)
		(*count)++;
}

/* Forget paths that were idle for so long that their numbers are about to wrap. */
static inline void shake_ends_forget(struct shake_ends *e, u32 high)
{
	u32 path;

	for (path = 0; path < SHAKE_HOLES_PATHS; path++)
		if (shake_is_far(e->end[path], high))
			e->known &= (u8)~(1U << path);
}

/* All paths begin at @number. */
static inline void shake_ends_begin(struct shake_ends *e, u32 number)
{
	u32 path;

	for (path = 0; path < SHAKE_HOLES_PATHS; path++)
		e->end[path] = number;
	e->known = U8_MAX;
}

/* Whether the number of @path is known. */
static inline bool shake_ends_knows(const struct shake_ends *e, u8 path)
{
	return e->known & (1U << path);
}

/* Data of @path up to @to. */
static inline void shake_ends_raise(struct shake_ends *e, u8 path, u32 to)
{
	if (!shake_ends_knows(e, path) || shake_before(e->end[path], to))
		e->end[path] = to;
	e->known |= (u8)(1U << path);
}

/**
 * shake_sends_next() - the leader's M_AL, section 4: before a segment leaves
 * @s: the flow, all zero at first
 * @path: from 0, below SHAKE_HOLES_PATHS
 * @seq: its first number
 * @end: first number behind it
 * @syn: it is a SYN
 * @m_al: the highest number sent before on this path; of what is sent again, or behind a gap: on
 *	  any
 *
 * If the SYN was not seen, the first segment of a path has no M_AL. What was dropped in front of
 * the leader leaves a gap.
 *
 * Return: what *@m_al says.
 */
static inline enum shake_mal shake_sends_next(struct shake_sends *s, u8 path, u32 seq, u32 end,
					      bool syn, u32 *m_al)
{
	bool known;
	u32 high;

	if (syn) {
		shake_ends_begin(&s->paths, seq + 1);
		s->high = seq + 1;
	} else if (!s->started || shake_is_far(seq, s->high)) {
		s->paths.known = 0;
		s->high = seq;
	}
	s->started = true;
	high = s->high;
	shake_raise(&s->high, end);
	shake_ends_forget(&s->paths, s->high);
	known = shake_ends_knows(&s->paths, path);
	*m_al = seq != high ? high : known ? s->paths.end[path] : 0;
	shake_ends_raise(&s->paths, path, end);
	if (syn || (seq == high && !known))
		return SHAKE_NO_MAL;
	return shake_before(high, seq) ? SHAKE_MAL_GAP : SHAKE_MAL_SENT;
}

/**
 * shake_holes_init() - nothing is known of the flow, section 4
 * @h: the flow
 * @hole: room for holes
 * @room: their number, at most SHAKE_HOLES_MAX
 */
static inline void shake_holes_init(struct shake_holes *h, struct shake_hole *hole, u32 room)
{
	*h = (struct shake_holes){ .hole = hole, .room = min_t(u32, room, SHAKE_HOLES_MAX) };
}

/**
 * shake_holes_wants_room() - whether the next segment may find no room
 * @h: the flow
 */
static inline bool shake_holes_wants_room(const struct shake_holes *h)
{
	return h->room < SHAKE_HOLES_MAX && h->room - h->count < SHAKE_HOLES_STEP;
}

/**
 * shake_holes_move() - use other room
 * @h: the flow
 * @hole: the new room; the old one is the caller's again
 * @room: number of holes that fit, at least the present number
 */
static inline void shake_holes_move(struct shake_holes *h, struct shake_hole *hole, u32 room)
{
	u32 at;

	for (at = 0; at < h->count; at++)
		hole[at] = h->hole[at];
	h->hole = hole;
	h->room = min_t(u32, room, SHAKE_HOLES_MAX);
}

/* The flow begins at @number, 4.1.1, at the time @now. */
static inline void shake_holes_start(struct shake_holes *h, u32 number, u32 now)
{
	shake_holes_init(h, h->hole, h->room);
	h->base = number;
	h->received = number;
	h->high = number;
	h->now = now;
	h->started = true;
}

/* Whether the hole's data is still missing. */
static inline bool shake_hole_is_open(const struct shake_hole *hole)
{
	return hole->mode != SHAKE_HOLE_UNNEEDED;
}

/**
 * shake_holes_find() - the hole that contains a number, 4.2.1 and 4.4.2
 * @h: the flow
 * @number: the number
 *
 * Return: its index, or the number of holes if there is none.
 */
static inline u32 shake_holes_find(const struct shake_holes *h, u32 number)
{
	u32 at;

	for (at = 0; at < h->count; at++) {
		if (shake_before(number, h->hole[at].first))
			break;
		if (shake_before(number, h->hole[at].end))
			return at;
	}
	return h->count;
}

/* The lowest hole not filled; the number of holes if there is none. */
static inline u32 shake_holes_lowest(const struct shake_holes *h)
{
	u32 at;

	for (at = 0; at < h->count; at++)
		if (shake_hole_is_open(&h->hole[at]))
			break;
	return at;
}

/* R, 4.1: up to the lowest hole, or all. */
static inline void shake_holes_set_received(struct shake_holes *h)
{
	u32 at = shake_holes_lowest(h);

	h->received = at < h->count ? h->hole[at].first : h->high;
}

/* Add a hole, 4.1.3. Return: whether there was room. */
static inline bool shake_holes_insert(struct shake_holes *h, u32 at, u32 first, u32 end,
				      u8 mode, struct shake_flow_counts *counts)
{
	u32 i;

	if (h->count >= h->room) {
		counts->holes_refused++;
		return false;
	}
	for (i = h->count; i > at; i--)
		h->hole[i] = h->hole[i - 1];
	h->count++;
	h->hole[at] = (struct shake_hole){
		.first = first,
		.end = end,
		.mode = mode,
		.relay = SHAKE_HOLES_RELAY,
		.since = h->now,
	};
	return true;
}

/**
 * shake_holes_cut() - divide a hole, 4.3.1
 * @h: the flow
 * @at: its index
 * @number: where, between its first and its end
 * @counts: what happened
 *
 * The front keeps all, the rest only whether it is lost.
 *
 * Return: whether there was room.
 */
static inline bool shake_holes_cut(struct shake_holes *h, u32 at, u32 number,
				   struct shake_flow_counts *counts)
{
	struct shake_hole *hole = &h->hole[at];

	if (!shake_holes_insert(h, at + 1, number, hole->end, hole->mode, counts))
		return false;
	hole[1].shown = hole->shown;
	hole[1].shown_at = hole->shown_at;
	hole[1].mending = hole->mending;
	hole[1].since = hole->since;
	hole->end = number;
	return true;
}

/* Count an event of ack=auto; old ones fade. */
static inline void shake_holes_learn(struct shake_holes *h, u16 *which)
{
	(*which)++;
	if (h->late + h->lost >= SHAKE_HOLES_EVENTS) {
		h->late /= 2;
		h->lost /= 2;
	}
}

/* An undecided hole proves to be lost, 4.3.2. */
static inline void shake_hole_lose(const struct shake_holes *h, struct shake_hole *hole,
				   struct shake_flow_counts *counts)
{
	hole->mode = SHAKE_HOLE_NEEDED;
	hole->mending = hole->shown;
	hole->since = hole->shown ? hole->shown_at : h->now;
	counts->holes_lost++;
}

/**
 * shake_holes_mark() - what ended at a number is lost, 4.2.1
 * @h: the flow
 * @end: first number behind it
 * @counts: what happened
 *
 * The hole with the last number of it becomes needed up to there.
 */
static inline void shake_holes_mark(struct shake_holes *h, u32 end,
				    struct shake_flow_counts *counts)
{
	u32 at = shake_holes_find(h, end - 1);

	if (at == h->count || h->hole[at].mode != SHAKE_HOLE_UNDECIDED)
		return;
	if (end != h->hole[at].end)
		shake_holes_cut(h, at, end, counts);
	shake_hole_lose(h, &h->hole[at], counts);
}

/**
 * shake_holes_clear() - what no path can bring any more is lost
 * @h: the flow
 * @alive: bits of the paths that data may come by
 * @counts: what happened
 *
 * For any number of paths. Also to be called when a path dies.
 */
static inline void shake_holes_clear(struct shake_holes *h, u8 alive,
				     struct shake_flow_counts *counts)
{
	u32 path, at, least = h->high;

	if (!alive || (alive & h->paths.known) != alive)
		return;
	for (path = 0; path < SHAKE_HOLES_PATHS; path++)
		if (alive & (1U << path) && shake_before(h->paths.end[path], least))
			least = h->paths.end[path];
	for (at = 0; at < h->count; at++) {
		struct shake_hole *hole = &h->hole[at];

		if (!shake_before(hole->first, least))
			break;
		if (hole->mode != SHAKE_HOLE_UNDECIDED)
			continue;
		if (shake_before(least, hole->end) &&
		    !shake_holes_cut(h, at, least, counts))
			continue;
		shake_hole_lose(h, hole, counts);
	}
}

/**
 * shake_holes_lose_path() - a path died: what it lost is lost, and if there are copies, they come
 * late
 * @h: the flow
 * @path: from 0
 * @alive: bits of the others
 * @counts: what happened
 */
static inline void shake_holes_lose_path(struct shake_holes *h, u8 path, u8 alive,
					 struct shake_flow_counts *counts)
{
	u32 at;

	h->kept &= (u8)~(1U << path);
	for (at = 0; at < h->count; at++)
		if (h->hole[at].mode == SHAKE_HOLE_UNDECIDED)
			h->hole[at].shown &= (u8)~(1U << path);
	shake_holes_clear(h, alive, counts);
}

/* ack=auto: data was late by @depth duplicate ACKs. */
static inline void shake_holes_learn_depth(struct shake_holes *h, u32 depth)
{
	depth = min_t(u32, depth, SHAKE_HOLES_DEPTH);
	if (depth >= h->depth)
		h->depth = (u16)depth;
	else
		h->depth -= (u16)((h->depth - depth + 7) / 8);
}

/* ack=auto: data was late by the time @us. */
static inline void shake_holes_learn_lateness(struct shake_holes *h, u32 us)
{
	us = clamp_t(u32, us, 1, SHAKE_HOLES_PATIENCE_MOST);
	if (us < h->lateness)
		us = h->lateness - (h->lateness - us) / 8;
	h->lateness = us;
}

/* ack=auto: time for which late data is waited for. */
static inline u32 shake_holes_waits(const struct shake_holes *h)
{
	u32 waits = h->lateness ? 2 * h->lateness + SHAKE_HOLES_PATIENCE_LEAST :
				  SHAKE_HOLES_PATIENCE / 2;

	waits = max(waits, min(h->apart, SHAKE_HOLES_PATIENCE_MOST) + SHAKE_HOLES_PATIENCE_LEAST);
	return min(waits, SHAKE_HOLES_PATIENCE_MOST);
}

/* ack=auto: whether late data would have come by now; on a path that died nothing proves it. */
static inline bool shake_hole_is_overdue(const struct shake_holes *h,
					 const struct shake_hole *hole)
{
	return h->now - hole->since > shake_holes_waits(h);
}

/* Time that a copy is waited for. */
static inline u32 shake_holes_patience(const struct shake_holes *h, u8 path)
{
	return h->patience[path] ? h->patience[path] : SHAKE_HOLES_PATIENCE;
}

/* The same, the longest of some paths; 0: of none. */
static inline u32 shake_holes_patience_of(const struct shake_holes *h, u8 paths)
{
	u32 most = 0;
	u8 path;

	for (path = 0; path < SHAKE_HOLES_PATHS; path++)
		if (paths & (1U << path))
			most = max(most, shake_holes_patience(h, path));
	return most;
}

/* Time after which what was sent before the last segment does not come any more. */
static inline u32 shake_holes_longest(const struct shake_holes *h)
{
	return max(shake_holes_waits(h), shake_holes_patience_of(h, h->kept));
}

/* Whether TCP retransmits: it was asked, or what makes it do so has passed. */
static inline bool shake_hole_is_told(const struct shake_hole *hole)
{
	return hole->asked || hole->seen - hole->cancel > (int)SHAKE_HOLES_HARM;
}

/* Whether a copy of what the hole misses is to come, and TCP needs to know nothing. */
static inline bool shake_hole_mends(const struct shake_holes *h, const struct shake_hole *hole)
{
	return hole->mending && hole->mode == SHAKE_HOLE_NEEDED && !shake_hole_is_told(hole) &&
	       h->now - hole->since < shake_holes_patience_of(h, hole->shown);
}

/*
 * Whether data behind an open hole waits for it, and how long. With ack=auto: no duplicate ACKs
 * are there to be dropped then, and an ACK tells of no hole that is only late.
 */
static inline u32 shake_hole_delays(const struct shake_holes *h, const struct shake_hole *hole)
{
	u32 waits = hole->mode == SHAKE_HOLE_UNDECIDED ? shake_holes_waits(h) :
							 shake_holes_patience_of(h, hole->shown);
	u32 waited = h->now - hole->since;

	if (!shake_hole_is_open(hole) || shake_hole_is_told(hole) || waited >= waits ||
	    (hole->mode == SHAKE_HOLE_NEEDED && !hole->mending))
		return 0;
	return waits - waited;
}

/**
 * shake_holes_turn() - up to which number data may go on
 * @h: the flow
 * @now: time in us, modulo 2^32
 * @wait: for how long the data behind waits, in us, if nothing comes; 0: there is none
 *
 * Return: first number that waits.
 */
static inline u32 shake_holes_turn(struct shake_holes *h, u32 now, u32 *wait)
{
	u32 at;

	shake_raise(&h->now, now);
	for (at = 0; at < h->count; at++) {
		*wait = shake_hole_delays(h, &h->hole[at]);
		if (*wait)
			return h->hole[at].first;
	}
	*wait = 0;
	return h->high;
}

/* A copy of what a path lost took the time @us; not if it may be one of several. */
static inline void shake_holes_learn_patience(struct shake_holes *h, u8 paths, u32 us)
{
	u32 wants = 5 * min(us, SHAKE_HOLES_PATIENCE_MOST) / 2 + SHAKE_HOLES_PATIENCE_LEAST / 2;
	u32 had;
	u8 path;

	for (path = 0; path < SHAKE_HOLES_PATHS; path++) {
		if (paths != 1U << path)
			continue;
		had = shake_holes_patience(h, path);
		if (wants < had)
			wants = had - (had - wants) / 8;
		h->patience[path] = clamp_t(u32, wants, SHAKE_HOLES_PATIENCE_LEAST,
					    SHAKE_HOLES_PATIENCE_MOST);
	}
}

/**
 * shake_holes_filled() - all data of a hole has arrived, 4.3.1
 * @h: the flow
 * @hole: the hole
 * @come: how
 * @counts: what happened
 *
 * What was marked as lost with a segment behind it may have been late by another path: that tells
 * nothing of copies.
 */
static inline void shake_holes_filled(struct shake_holes *h, struct shake_hole *hole,
				      enum shake_come come, struct shake_flow_counts *counts)
{
	bool undecided = hole->mode == SHAKE_HOLE_UNDECIDED, again = come == SHAKE_COME_AGAIN;

	if (come == SHAKE_COME_COPY && hole->mending && !undecided) {
		counts->holes_mended++;
		shake_holes_learn_patience(h, hole->shown, h->now - hole->since);
	} else if (!again) {
		counts->holes_late++;
	}
	if (undecided && !again) {
		if (!hole->rest || hole->dupack > h->depth)
			shake_holes_learn_depth(h, hole->dupack);
		shake_holes_learn_lateness(h, h->now - hole->since);
		if (hole->dupack >= SHAKE_HOLES_HARM)
			shake_holes_learn(h, &h->late);
	}
	if (undecided && again && hole->seen)
		shake_holes_learn(h, &h->lost);
	hole->mode = SHAKE_HOLE_UNNEEDED;
	hole->dupack -= min_t(u16, hole->dupack, hole->seen);
}

/* Fill a hole with data from @seq to @end that is partly in it, 4.3.1. */
static inline void shake_holes_fill_one(struct shake_holes *h, u32 at, u32 seq, u32 end,
					enum shake_come come,
					struct shake_flow_counts *counts)
{
	struct shake_hole *hole = &h->hole[at];

	/* without room the rest is forgotten */
	if (shake_before(end, hole->end) && shake_holes_cut(h, at, end, counts))
		hole[1].rest = true;
	else if (shake_before(end, hole->end))
		hole->end = end;
	if (shake_before(hole->first, seq))
		hole->end = seq;
	else
		shake_holes_filled(h, hole, come, counts);
}

/**
 * shake_holes_fill() - data arrives, 4.3.1
 * @h: the flow
 * @seq: its first number
 * @end: first number behind it
 * @come: how
 * @counts: what happened
 *
 * Return: whether it was missing.
 */
static inline bool shake_holes_fill(struct shake_holes *h, u32 seq, u32 end,
				    enum shake_come come, struct shake_flow_counts *counts)
{
	bool missing = false;
	u32 at;

	for (at = 0; at < h->count; at++) {
		if (!shake_before(h->hole[at].first, end))
			break;
		if (!shake_before(seq, h->hole[at].end) ||
		    !shake_hole_is_open(&h->hole[at]))
			continue;
		shake_holes_fill_one(h, at, seq, end, come, counts);
		missing = true;
	}
	return missing;
}

/* A gap before @seq, 4.1.3. A loss that was known before may have been in it. */
static inline void shake_holes_open(struct shake_holes *h, u32 seq,
				    struct shake_flow_counts *counts)
{
	counts->holes++;
	shake_holes_insert(h, h->count, h->high, seq, SHAKE_HOLE_UNDECIDED, counts);
}

/* A path lost something that ended after @from and not after @to: what a hole misses there. */
static inline void shake_holes_show(struct shake_holes *h, const struct shake_arrival *a,
				    u32 from)
{
	u32 at;

	for (at = 0; a->kept && at < h->count; at++) {
		if (!shake_before(from, h->hole[at].end) ||
		    !shake_before(h->hole[at].first, a->m_al))
			continue;
		h->hole[at].shown |= (u8)(1U << a->path);
		h->hole[at].shown_at = h->now;
	}
}

/* Compare M_AL with M_HA, 4.2. */
static inline void shake_holes_compare(struct shake_holes *h, const struct shake_arrival *a,
				       struct shake_flow_counts *counts)
{
	if (!shake_ends_knows(&h->paths, a->path)) {
		/* nothing came by it yet, but what it was sent is missing here */
		shake_holes_show(h, a, h->count ? h->hole[0].first : a->m_al);
		return;
	}
	if (!shake_before(h->paths.end[a->path], a->m_al))
		return;
	shake_holes_show(h, a, h->paths.end[a->path]);
	shake_holes_mark(h, a->m_al, counts);
}

/* The leader never had what is from @first to @end: no path brings it, and there is no copy. */
static inline void shake_holes_miss(struct shake_holes *h, u32 first, u32 end,
				    struct shake_flow_counts *counts)
{
	struct shake_hole *hole;
	u32 at;

	for (at = 0; at < h->count; at++) {
		hole = &h->hole[at];
		if (!shake_hole_is_open(hole) || !shake_before(hole->first, end) ||
		    !shake_before(first, hole->end))
			continue;
		if (shake_before(hole->first, first)) {
			shake_holes_cut(h, at, first, counts);
			continue;
		}
		if (shake_before(end, hole->end) && !shake_holes_cut(h, at, end, counts))
			continue;
		hole->shown = 0;
		hole->mending = false;
		if (hole->mode == SHAKE_HOLE_UNDECIDED)
			shake_hole_lose(h, hole, counts);
	}
}

/* Take the numbers of a segment's path, 4.1 and 4.2. */
static inline void shake_holes_take_path(struct shake_holes *h, const struct shake_arrival *a,
					 struct shake_flow_counts *counts)
{
	if (a->has_mal && a->gap) {
		shake_holes_miss(h, a->m_al, a->seq, counts);
	} else if (a->has_mal && !shake_before(a->seq, a->m_al)) {
		shake_holes_compare(h, a, counts);
		shake_ends_raise(&h->paths, a->path, a->m_al);
	}
	shake_ends_raise(&h->paths, a->path, a->end);
}

/* Delete the holes below a new A, 4.4.1. */
static inline void shake_holes_delete(struct shake_holes *h, u32 ack)
{
	u32 gone = 0, at;

	while (gone < h->count && !shake_before(ack, h->hole[gone].end))
		gone++;
	h->count -= gone;
	for (at = 0; gone && at < h->count; at++)
		h->hole[at] = h->hole[at + gone];
	if (h->count && shake_before(h->hole[0].first, ack))
		h->hole[0].first = ack;
	shake_holes_set_received(h);
}

/* Data up to @end arrives: forget what would wrap, if no ACKs are seen. */
static inline void shake_holes_forget(struct shake_holes *h, u32 end)
{
	if (shake_is_far(h->acked, end))
		h->has_acked = false;
	while (h->count && shake_is_far(h->hole[0].first, end))
		shake_holes_delete(h, h->hole[0].end);
	shake_ends_forget(&h->paths, end);
}

/* Filled holes make room for others, those first whose duplicate ACKs have come. */
static inline void shake_holes_compact(struct shake_holes *h, bool all)
{
	u32 at, kept = 0;

	for (at = 0; at < h->count; at++) {
		if (!shake_hole_is_open(&h->hole[at]) && (all || !h->hole[at].dupack))
			continue;
		h->hole[kept] = h->hole[at];
		kept++;
	}
	h->count = kept;
}

/* The list must have room for a segment's holes: without, what is late looks as if it were lost. */
static inline void shake_holes_make_room(struct shake_holes *h)
{
	if (h->room - h->count < SHAKE_HOLES_STEP)
		shake_holes_compact(h, false);
	if (h->room - h->count < SHAKE_HOLES_STEP)
		shake_holes_compact(h, true);
}

/* What was sent first comes second: the retransmission was needless. */
static inline void shake_holes_learn_needless(struct shake_holes *h)
{
	shake_holes_learn(h, &h->late);
	shake_holes_learn_depth(h, h->depth + SHAKE_HOLES_DEEPER);
	shake_holes_learn_lateness(h, shake_holes_waits(h));
}

/* Data beyond the lowest hole causes a duplicate ACK. */
static inline void shake_holes_expect_dupack(struct shake_holes *h)
{
	u32 at = shake_holes_lowest(h);

	if (at < h->count &&
	    (h->hole[at].mode == SHAKE_HOLE_UNDECIDED || shake_hole_mends(h, &h->hole[at])))
		shake_count_up(&h->hole[at].dupack);
}

/* The list and what is known of the paths, with new data. Return: whether it was missing. */
static inline bool shake_holes_enter(struct shake_holes *h, const struct shake_arrival *a,
				     enum shake_come come, struct shake_flow_counts *counts)
{
	bool missing;

	if (shake_before(h->high, a->seq))
		shake_holes_open(h, a->seq, counts);
	shake_holes_take_path(h, a, counts);
	missing = shake_holes_fill(h, a->seq, a->end, come, counts);
	shake_raise(&h->high, a->end);
	shake_holes_clear(h, a->alive, counts);
	shake_holes_set_received(h);
	return missing;
}

/* How a segment comes. A path keeps order: what is not beyond its M_HA is sent again by it. */
static inline enum shake_come shake_holes_come(const struct shake_holes *h,
					       const struct shake_arrival *a)
{
	if (a->has_mal && shake_before(a->seq, a->m_al))
		return SHAKE_COME_AGAIN;
	if (shake_ends_knows(&h->paths, a->path) &&
	    !shake_before(h->paths.end[a->path], a->end))
		return SHAKE_COME_COPY;
	return SHAKE_COME_FIRST;
}

/* Data of a flow, with numbers that make sense: 4.1 to 4.3. */
static inline void shake_holes_data(struct shake_holes *h, const struct shake_arrival *a,
				    struct shake_flow_counts *counts)
{
	bool fresh = shake_before(h->high, a->end);
	enum shake_come come;
	bool beyond;

	shake_holes_forget(h, fresh ? a->end : h->high);
	shake_holes_make_room(h);
	beyond = shake_before(h->received, a->seq);
	come = shake_holes_come(h, a);
	fresh |= shake_holes_enter(h, a, come, counts);
	if (!fresh && come == SHAKE_COME_FIRST && a->has_mal)
		shake_holes_learn_needless(h);
	if (beyond && fresh)
		shake_holes_expect_dupack(h);
}

/**
 * shake_holes_arrived() - a segment arrives at the agent, 4.1 to 4.3
 * @h: the flow
 * @segment: the segment; it is always forwarded
 * @counts: what happened
 */
static inline void shake_holes_arrived(struct shake_holes *h,
				       const struct shake_arrival *segment,
				       struct shake_flow_counts *counts)
{
	struct shake_arrival a = *segment;

	if (a.syn) {
		a.seq++;
		a.has_mal = false;
		if (!h->started || h->base != a.seq) {
			shake_holes_start(h, a.seq, a.now);
			shake_ends_begin(&h->paths, a.seq);
		}
	}
	if (a.end - a.seq - 1 >= SHAKE_HOLES_SEGMENT || a.path >= SHAKE_HOLES_PATHS) {
		counts->senseless += a.end != a.seq;
		return;
	}
	if (!h->started || shake_is_far(a.seq, h->high)) {
		counts->senseless += h->started;
		shake_holes_start(h, a.seq, a.now);
	}
	if (a.has_mal && shake_is_far(a.m_al, h->high)) {
		counts->senseless++;
		a.has_mal = false;
	}
	shake_raise(&h->now, a.now);	/* another CPU may have a later time */
	h->kept &= (u8)~(1U << a.path);
	h->kept |= (u8)(a.kept << a.path);
	shake_holes_data(h, &a, counts);
}

/**
 * shake_holes_choose() - ack=auto: what is best by what was seen
 * @h: the flow
 *
 * A hole that is late by three segments or more costs half a window if its duplicate ACKs
 * pass. A lost one costs little if they don't, as a rule: it proves to be lost and is asked
 * for. They pass where nothing is late but data is lost, and nothing proves it. TDAR is not
 * chosen: once what is lost is asked for at once, the two that it lets through gain nothing.
 *
 * Return: SHAKE_HOLES_PASS or _DROP.
 */
static inline u8 shake_holes_choose(const struct shake_holes *h)
{
	return h->lost > SHAKE_HOLES_LOSSES * (h->late + 1U) ? SHAKE_HOLES_PASS :
							       SHAKE_HOLES_DROP;
}

/* ack=auto: theta_c, and twice what late data needs: the next may be later. */
static inline u32 shake_holes_threshold(const struct shake_holes *h, u32 threshold)
{
	return threshold + 2U * h->depth;
}

/* The hole is undecided, 4.4.2.1 and 6.2. */
static inline enum shake_fate shake_hole_undecided(struct shake_hole *hole, u8 mode,
						   u32 threshold,
						   struct shake_flow_counts *counts)
{
	if (mode == SHAKE_HOLES_PASS || hole->asked)
		return SHAKE_PASS;
	if (mode == SHAKE_HOLES_TDAR && hole->relay) {
		hole->relay--;
		counts->relayed++;
		return SHAKE_PASS;
	}
	if (hole->cancel >= threshold) {
		hole->asked = true;
		counts->forced++;
		return SHAKE_PASS_RETRANSMIT;
	}
	hole->cancel++;
	counts->dropped_undecided++;
	return SHAKE_DROP;
}

/* The hole is unneeded, 4.4.2.2 and 6.2. */
static inline enum shake_fate shake_hole_unneeded(struct shake_hole *hole, u8 mode,
						  struct shake_flow_counts *counts)
{
	if (mode == SHAKE_HOLES_PASS || !hole->dupack)
		return SHAKE_PASS;
	hole->dupack--;
	if (mode == SHAKE_HOLES_TDAR && hole->relay) {
		hole->relay--;
		counts->relayed++;
		return SHAKE_PASS;
	}
	counts->dropped_unneeded++;
	return SHAKE_DROP;
}

/* The hole is needed, 4.4.2.3. What was dropped, or may not come, is made good, once. */
static inline enum shake_fate shake_hole_needed(struct shake_hole *hole, u8 mode,
						struct shake_flow_counts *counts)
{
	if ((mode != SHAKE_HOLES_AUTO && !hole->cancel) || hole->asked)
		return SHAKE_PASS;
	hole->asked = true;
	counts->repaired++;
	return SHAKE_PASS_RETRANSMIT;
}

/**
 * shake_holes_judge() - a duplicate ACK that matches a hole, 4.4.2
 * @h: the flow
 * @hole: the hole
 * @mode: enum shake_holes_ack
 * @threshold: theta_c
 * @counts: what happened
 *
 * With ack=auto those for data that has arrived are dropped whatever it chooses.
 */
static inline enum shake_fate shake_holes_judge(const struct shake_holes *h,
						struct shake_hole *hole, u8 mode,
						u32 threshold,
						struct shake_flow_counts *counts)
{
	bool chosen = mode == SHAKE_HOLES_AUTO;

	if (hole->mode == SHAKE_HOLE_UNNEEDED)
		return shake_hole_unneeded(hole, chosen ? SHAKE_HOLES_DROP : mode, counts);
	shake_count_up(&hole->seen);
	if (mode != SHAKE_HOLES_PASS && shake_hole_mends(h, hole)) {
		shake_count_up(&hole->cancel);
		counts->dropped_mending++;
		return SHAKE_DROP;
	}
	if (hole->mode == SHAKE_HOLE_NEEDED)
		return shake_hole_needed(hole, mode, counts);
	if (chosen) {
		mode = shake_holes_choose(h);
		threshold = shake_hole_is_overdue(h, hole) ? 0 :
			    shake_holes_threshold(h, threshold);
	}
	return shake_hole_undecided(hole, mode, threshold, counts);
}

/* Whether a duplicate whose window differs is there for a segment behind the hole. */
static inline bool shake_hole_explains(const struct shake_hole *hole,
				       const struct shake_dupack *a)
{
	return a->sack && (hole->mode == SHAKE_HOLE_UNNEEDED ? hole->dupack != 0 :
							       hole->seen < hole->dupack);
}

/* Whether the next ACK may have no room for the blocks between all open holes, and one more. */
static inline bool shake_holes_are_many(const struct shake_holes *h)
{
	u32 at, open = 0;

	for (at = 0; at < h->count && open < SHAKE_HOLES_BLOCKS; at++)
		open += shake_hole_is_open(&h->hole[at]);
	return open >= SHAKE_HOLES_BLOCKS;
}

/* Whether duplicate ACKs of the hole are to be dropped, and others must not tell more. */
static inline bool shake_hole_hides(const struct shake_holes *h, const struct shake_hole *hole,
				    u8 mode)
{
	if ((mode != SHAKE_HOLES_DROP && mode != SHAKE_HOLES_AUTO) ||
	    (!h->kept && shake_holes_are_many(h)))
		return false;
	if (hole->mode == SHAKE_HOLE_UNNEEDED || shake_hole_mends(h, hole))
		return true;
	if (hole->mode == SHAKE_HOLE_NEEDED || hole->asked)
		return false;
	return mode == SHAKE_HOLES_DROP || (shake_holes_choose(h) == SHAKE_HOLES_DROP &&
					    !shake_hole_is_overdue(h, hole));
}

/* Remember an ACK with a number that makes sense. */
static inline void shake_holes_take_ack(struct shake_holes *h, const struct shake_dupack *a)
{
	if (!h->has_acked || a->ack != h->acked)
		shake_holes_delete(h, a->ack);
	h->has_acked = true;
	h->acked = a->ack;
	h->window = a->window;
	h->flags = a->flags;
	shake_raise(&h->now, a->now);
}

/**
 * shake_holes_ack() - an ACK from the correspondent, 4.4
 * @h: the flow
 * @a: the ACK
 * @mode: enum shake_holes_ack
 * @threshold: theta_c
 * @counts: what happened
 *
 * Return: what becomes of it.
 */
static inline enum shake_fate shake_holes_ack(struct shake_holes *h,
					      const struct shake_dupack *a, u8 mode,
					      u32 threshold,
					      struct shake_flow_counts *counts)
{
	bool again = h->has_acked && h->acked == a->ack, same = again && h->flags == a->flags;
	bool moved = h->window != a->window;
	struct shake_hole *hole;
	u32 at;

	if (!h->started || shake_before(h->high, a->ack) || shake_is_far(a->ack, h->high) ||
	    (h->has_acked && shake_before(a->ack, h->acked)))
		return SHAKE_PASS;
	shake_holes_take_ack(h, a);
	at = shake_holes_find(h, a->ack);
	if (!a->pure || a->dsack || at == h->count)
		return SHAKE_PASS;
	hole = &h->hole[at];
	if (same && (!moved || shake_hole_explains(hole, a)))
		return shake_holes_judge(h, hole, mode, threshold, counts);
	if (again || !a->sack || a->fixed || !shake_hole_hides(h, hole, mode))
		return SHAKE_PASS;
	counts->unsacked++;
	return SHAKE_PASS_UNSACKED;
}

#endif /* _APOGEE_SHAKE_HOLES_H */
