/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets of a SHAKE path are lost and are sent again: copies of them.
 *
 * A pseudo-ACK tells which of the 64 packets before its echo were received. A path keeps order,
 * so that one that was not is lost. It is sent again as it was, by the same path, and twice more if
 * what left after it comes first: its counter is in no replay window, and its hole at the agent is
 * where it was. When it comes, the packets before the newest echo are others, so that it
 * has a pseudo-ACK of its own, whose echo it is. This is link ARQ of low persistence, RFC 3366,
 * 1.4.
 *
 * The paper leaves losses to TCP. One flow over several paths then halves its window for each
 * loss on any of them.
 *
 *   bounds    SHAKE_REPAIR_KEPT copies of a path, of SHAKE_REPAIR_LONGEST octets; fewer if those
 *             of others fill what there is. A path that has more under way keeps none until all
 *             are told of. What is sent again is at most a quarter of what was kept, and a few at
 *             first: they may end a flow's slow start.
 *   order     If a copy is acknowledged sooner than in the least round trip, the packet itself
 *             was only late: from then on more packets have to be behind it, twice as many
 *             and one; half as many if a copy was needed.
 *   outages   A dead path keeps its copies for a while after the packets left: in a session
 *             that goes on its next ACK tells of them. TCP has sent again what is old, and a
 *             copy is sent once.
 *   economy   A path that carries SHAKE_REPAIR_FAST and more has copies of its first
 *             SHAKE_REPAIR_BEGUN packets, then only for SHAKE_REPAIR_TIME after a loss. On slower
 *             ones they cost little, and the first loss of a flow as much as any; what a link
 *             carries is found out by losses.
 *
 * Counters are the low 32 bits of those in the packets.
 */
#ifndef _APOGEE_SHAKE_REPAIR_H
#define _APOGEE_SHAKE_REPAIR_H

#include <apogee/int.h>

/* Copies of a path, a power of two. */
#define SHAKE_REPAIR_KEPT	2048U
#define SHAKE_REPAIR_LONGEST	2048U
/* Packets of a path that may overtake one, at most. */
#define SHAKE_REPAIR_REORDER	32U
#define SHAKE_REPAIR_TRIES	3U
/* Packets kept for one that is sent again, those given at first, and the most that are saved up. */
#define SHAKE_REPAIR_PRICE	4U
#define SHAKE_REPAIR_GIVEN	64U
#define SHAKE_REPAIR_SAVED	1024U
/* Paths of so many bytes/s, 10 Mbit/s, keep copies only of so many packets ... */
#define SHAKE_REPAIR_FAST	1250000U
#define SHAKE_REPAIR_BEGUN	4096U
/* ... and for so long after a loss, in us. */
#define SHAKE_REPAIR_TIME	(600ULL * APOGEE_USEC_PER_SEC)
/* Time that a dead path keeps copies, in us and in round trips: then TCP has sent them again. */
#define SHAKE_REPAIR_OLD	(2U * APOGEE_USEC_PER_SEC)
#define SHAKE_REPAIR_OLD_TRIPS	4U
/* Packets before the echo that a pseudo-ACK tells of. */
#define SHAKE_REPAIR_SEEN	64U
/* and those that a copy may be behind, so that it is taken (shake_replay.h) when it arrives */
#define SHAKE_REPAIR_FAR	6144U

/**
 * struct shake_kept - a packet of which there is a copy
 * @counter: its number
 * @at: when it left the last time, in us modulo 2^32
 * @after: the last packet that left before its copy, if there was one
 * @tries: how often it was sent again
 * @open: it is not known whether it arrived
 */
struct shake_kept {
	u32 counter;
	u32 at;
	u32 after;
	u8 tries;
	bool open;
};

/**
 * struct shake_repair - the copies of a path
 * @kept: SHAKE_REPAIR_KEPT of them, in the order of their counters
 * @head: number of packets kept
 * @tail: the oldest of them that may be open
 * @until: time until which packets are kept on a fast path, in us
 * @saved: what may be spent on sending again
 * @needless: copies of packets that were only late, or probably
 * @overtake: so many packets may overtake one, less 1
 * @full: there were too many: none is kept until all are told of
 * @last: the last packet was kept
 */
struct shake_repair {
	struct shake_kept kept[SHAKE_REPAIR_KEPT];
	u32 head;
	u32 tail;
	u64 until;
	u32 saved;
	u32 needless;
	u32 overtake;
	bool full;
	bool last;
};

/* What becomes of a copy. */
enum shake_copy {
	SHAKE_COPY_WAITS,
	SHAKE_COPY_DONE,	/* it arrived, or nothing will be known any more */
	SHAKE_COPY_SENT,	/* it is to be sent, and waits */
	SHAKE_COPY_LAST,	/* it is to be sent, and is done */
};

/* The place of a copy. */
static inline u32 shake_repair_place(u32 number)
{
	return number & (SHAKE_REPAIR_KEPT - 1);
}

/**
 * shake_repair_look() - if a pseudo-ACK tells of a loss, a fast path keeps copies from now on
 * @r: the path
 * @seen: bit i: the packet @echo - 64 + i was received
 * @now: time in us
 */
static inline void shake_repair_look(struct shake_repair *r, u64 seen, u64 now)
{
	if (~seen & (U64_MAX >> SHAKE_REPAIR_REORDER))
		r->until = now + SHAKE_REPAIR_TIME;
}

/**
 * shake_repair_is_empty() - whether it is known of all packets whether they arrived
 * @r: the path
 */
static inline bool shake_repair_is_empty(const struct shake_repair *r)
{
	return r->head == r->tail;
}

/**
 * shake_repair_keep() - whether to keep a copy of the packet that leaves
 * @r: the path
 * @counter: its number, above that of all before
 * @rate: of the path in bytes/s
 * @most: copies that it may have, up to SHAKE_REPAIR_KEPT
 * @now: time in us
 * @place: where
 *
 * Return: false if there is none.
 */
static inline bool shake_repair_keep(struct shake_repair *r, u32 counter, u64 rate, u32 most,
				     u64 now, u32 *place)
{
	r->last = false;
	if (rate >= SHAKE_REPAIR_FAST && r->head >= SHAKE_REPAIR_BEGUN && now >= r->until)
		return false;
	if (shake_repair_is_empty(r))
		r->full = false;
	if (r->full || r->head - r->tail >= most) {
		r->full = true;
		return false;
	}
	if (!r->head)
		r->saved = SHAKE_REPAIR_GIVEN;
	*place = shake_repair_place(r->head++);
	r->kept[*place] = (struct shake_kept){ .counter = counter, .at = (u32)now, .open = true };
	r->saved = min_t(u32, r->saved + 1, SHAKE_REPAIR_SAVED);
	r->last = true;
	return true;
}

/* Whether there is a copy of what the next packet may prove to be lost: the one before it. */
static inline bool shake_repair_covers(const struct shake_repair *r)
{
	return r->last && !shake_repair_is_empty(r);
}

/*
 * Whether an open packet is lost by now. A copy is if one that left after it has arrived: its own
 * pseudo-ACK would have come before.
 */
static inline bool shake_repair_is_lost(const struct shake_repair *r,
					const struct shake_kept *kept, u32 echo, u32 srtt,
					u64 now)
{
	if (kept->tries)
		return (s32)(echo - kept->after) > (s32)r->overtake;
	return (u32)now - kept->at > srtt + srtt / 4 || echo - kept->counter > r->overtake;
}

/* Whether a dead path needs the copy no more. To be asked within an hour: times wrap. */
static inline bool shake_repair_is_old(const struct shake_kept *kept, u32 srtt, u64 now)
{
	u32 age = (u32)now - kept->at;

	return kept->tries || (age > SHAKE_REPAIR_OLD && age / SHAKE_REPAIR_OLD_TRIPS > srtt);
}

/* A packet arrived. If there is a copy that cannot have, the packet was late. */
static inline void shake_repair_learn(struct shake_repair *r, const struct shake_kept *kept,
				      u32 least, u64 now)
{
	if (!kept->tries)
		return;
	if ((u32)now - kept->at < least) {
		r->needless++;
		r->overtake = min_t(u32, 2 * r->overtake + 1, SHAKE_REPAIR_REORDER - 1);
	} else {
		r->overtake /= 2;
	}
}

/* Whether a packet is beyond the echo of a pseudo-ACK. */
static inline bool shake_repair_is_ahead(const struct shake_repair *r, u32 place, u32 echo)
{
	return (s32)(echo - r->kept[place].counter) < 0;
}

/**
 * shake_repair_judge() - what a pseudo-ACK tells of one packet
 * @r: the path
 * @place: of its copy, which is open
 * @echo: of the pseudo-ACK
 * @seen: bit i: the packet @echo - 64 + i was received
 * @srtt: smoothed round trip in us
 * @least: least round trip in us
 * @now: time in us
 *
 * Return: what becomes of the copy.
 */
static inline enum shake_copy shake_repair_judge(struct shake_repair *r, u32 place, u32 echo,
						 u64 seen, u32 srtt, u32 least,
						 u64 now)
{
	struct shake_kept *kept = &r->kept[place];
	u32 behind = echo - kept->counter;

	if (shake_repair_is_ahead(r, place, echo))
		return SHAKE_COPY_WAITS;
	if (behind > SHAKE_REPAIR_SEEN && (!kept->tries || behind > SHAKE_REPAIR_FAR))
		return SHAKE_COPY_DONE;
	if (behind <= SHAKE_REPAIR_SEEN &&
	    (!behind || seen >> (SHAKE_REPAIR_SEEN - behind) & 1)) {
		shake_repair_learn(r, kept, least, now);
		return SHAKE_COPY_DONE;
	}
	if (!shake_repair_is_lost(r, kept, echo, srtt, now))
		return SHAKE_COPY_WAITS;
	if (r->saved < SHAKE_REPAIR_PRICE)
		return SHAKE_COPY_DONE;
	r->saved -= SHAKE_REPAIR_PRICE;
	kept->at = (u32)now;
	return ++kept->tries < SHAKE_REPAIR_TRIES ? SHAKE_COPY_SENT : SHAKE_COPY_LAST;
}

/**
 * shake_repair_next() - the next open copy
 * @r: the path
 * @number: in: where to look, from @r->tail on; out: the number of the copy
 *
 * Return: false if there is none.
 */
static inline bool shake_repair_next(const struct shake_repair *r, u32 *number)
{
	while (*number != r->head) {
		if (r->kept[shake_repair_place(*number)].open)
			return true;
		(*number)++;
	}
	return false;
}

/**
 * shake_repair_close() - a copy is done
 * @r: the path
 * @place: of the copy
 */
static inline void shake_repair_close(struct shake_repair *r, u32 place)
{
	r->kept[place].open = false;
	while (r->tail != r->head && !r->kept[shake_repair_place(r->tail)].open)
		r->tail++;
}

#endif /* _APOGEE_SHAKE_REPAIR_H */
