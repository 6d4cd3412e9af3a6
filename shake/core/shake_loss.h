/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a SHAKE path loses so much that it is better left out.
 *
 * TCP slows down for each loss on any path, so that a path that loses 30 % makes a bundle slower
 * than its best path alone. The share of packets lost is a mean over some SHAKE_LOSS_PACKETS of
 * the last ones:
 *
 *	share += (lost - share * packets) / SHAKE_LOSS_PACKETS
 *
 * or over as many as there were, SHAKE_LOSS_FEW at least: a TCP that is stuck sends hardly any.
 * A copy that was sent again counts as a packet, and what arrives as received: what is repaired
 * was lost nevertheless. The copy of a packet that was only late does not count. A path is left
 * out at SHAKE_LOSS_MUCH, or with repair at SHAKE_LOSS_ANYWAY, or at the limit that a user has set,
 * if others are better (shake_sched_may_leave()). Then only probes show how it is: it is taken up
 * again when no more than one in SHAKE_LOSS_PART of a round of packets is lost, and no larger share
 * than that limit. A path that is bad again within SHAKE_LOSS_SOON takes a round twice as long, up
 * to SHAKE_LOSS_ROUND_MOST.
 *
 *   bursts      What one pseudo-ACK tells weighs as SHAKE_LOSS_WEIGHT packets at most: a burst is
 *               no reason, however long it is.
 *   queues      Losses of packets that met a queue may be the link's answer to a full queue, and
 *               where TCP keeps a queue, it can live with the losses. They count where paths are
 *               compared, and from SHAKE_LOSS_ANYWAY, or the user's limit, on if the queue is
 *               less than half of the longest of late: then it was not full.
 *   reordering  A packet that others overtook is missing until it comes. A path is left out only if
 *               packets are missing for good, too: three quarters as many, of the least number
 *               that was missing in each SHAKE_LOSS_BLOCK packets and SHAKE_LOSS_BLOCK_US.
 *   outages     What was lost with a path that died is no evidence, nor are a session's first
 *               packets.
 */
#ifndef _APOGEE_SHAKE_LOSS_H
#define _APOGEE_SHAKE_LOSS_H

#include <apogee/int.h>

/* Packets that the mean is over, and at first, and the most that one pseudo-ACK tells of. */
#define SHAKE_LOSS_PACKETS	256U
#define SHAKE_LOSS_FEW		64U
#define SHAKE_LOSS_WEIGHT	16
/* The longest queue is forgotten by 2^-9 with each pseudo-ACK. */
#define SHAKE_LOSS_LONGEST	9
/* Copies that may come between two pseudo-ACKs: those that one tells of. */
#define SHAKE_LOSS_COPIES	64
/* Packets, and time in us, in which the least number missing is that of packets lost for good. */
#define SHAKE_LOSS_BLOCK	16U
#define SHAKE_LOSS_BLOCK_US	(APOGEE_USEC_PER_SEC / 10)
/* Shares are in 2^-24: all; 10 %; 20 %: repair sends no more than a quarter again. */
#define SHAKE_LOSS_ALL		(1U << 24)
#define SHAKE_LOSS_MUCH		(SHAKE_LOSS_ALL / 10)
#define SHAKE_LOSS_ANYWAY	(SHAKE_LOSS_ALL / 5)
/* Packets of a round: at first, and at most; and one in so many may be lost in it. */
#define SHAKE_LOSS_ROUND	32U
#define SHAKE_LOSS_ROUND_MOST	256U
/* at first, if less than SHAKE_LOSS_MUCH was lost: a short round may have none of it */
#define SHAKE_LOSS_ROUND_FINE	128U
#define SHAKE_LOSS_PART		32U
/* A path that is left out again within this time, in us, was taken up too early. */
#define SHAKE_LOSS_SOON		(60ULL * APOGEE_USEC_PER_SEC)
/* Time between probes of a path that is left out, in us, at least. */
#define SHAKE_LOSS_PROBE	(APOGEE_USEC_PER_SEC / 5)
/* and of all paths while one is in doubt */
#define SHAKE_LOSS_DOUBT	(APOGEE_USEC_PER_SEC / 20)
/* More packets than these between two pseudo-ACKs are not told apart. */
#define SHAKE_LOSS_FAR		(1 << 20)

/**
 * struct shake_loss - what a path loses
 * @sent: packets and copies sent up to the last pseudo-ACK, if @based
 * @received: of them received
 * @since: when it was left out, or taken up again, in us; 0: never
 * @missing: least number missing in the block before
 * @least: and in this one, up to now
 * @began: when this one began, in us
 * @poor_at: until when the path was worth its losses (shake_worth.h), in us
 * @share: packets lost of late, in 2^-24
 * @stays: the same of those that are missing for good
 * @empty: the same of packets that met no queue
 * @brief: the same of packets that met none, or less than half of @longest
 * @longest: time in the longest queue of late, in us
 * @told: packets that pseudo-ACKs told of, up to SHAKE_LOSS_PACKETS
 * @block: packets in this block
 * @round: packets of a round of probes
 * @tried: packets in this one
 * @missed: of them lost, by now
 * @wrong: it was left out, and the others had less without it
 * @based: @sent and @received are known
 * @out: it is left out
 * @limit: the share at which it is left out, in 2^-24; 0: SHAKE_LOSS_MUCH or SHAKE_LOSS_ANYWAY
 */
struct shake_loss {
	u64 sent;
	u64 received;
	u64 since;
	s64 missing;
	s64 least;
	u64 began;
	u64 poor_at;
	u32 share;
	u32 stays;
	u32 empty;
	u32 brief;
	u32 longest;
	u32 told;
	u32 block;
	u32 round;
	u32 tried;
	s32 missed;
	bool wrong;
	bool based;
	bool out;
	u32 limit;
};

/**
 * shake_loss_init() - nothing is known
 * @l: written
 */
static inline void shake_loss_init(struct shake_loss *l)
{
	*l = (struct shake_loss){ .round = SHAKE_LOSS_ROUND };
}

/**
 * shake_loss_set_limit() - at which loss it is left out
 * @l: the path
 * @percent: that; 0: the default
 */
static inline void shake_loss_set_limit(struct shake_loss *l, u32 percent)
{
	l->limit = min(percent, 100U) * (SHAKE_LOSS_ALL / 100);
}

/**
 * shake_loss_skip() - what was sent up to now is no evidence
 * @l: the path
 */
static inline void shake_loss_skip(struct shake_loss *l)
{
	l->based = false;
}

/* Of @packets more @lost were lost. Negative: copies came. */
static inline void shake_loss_mean(u32 *share, u32 over, s32 packets, s32 lost)
{
	s32 weight = min_t(s32, packets, SHAKE_LOSS_WEIGHT), mean;

	if (packets > weight && lost > 0)
		lost = lost * weight / packets;
	mean = (s32)*share + (lost * (s32)SHAKE_LOSS_ALL - weight * (s32)*share) / (s32)over;
	*share = (u32)clamp_t(s32, mean, 0, SHAKE_LOSS_ALL);
}

/* Packets of a round that the user's limit lets be lost. */
static inline u32 shake_loss_part(const struct shake_loss *l)
{
	return l->limit ? (u32)((u64)l->round * l->limit / SHAKE_LOSS_ALL) : U32_MAX;
}

/* A path that is left out lost @lost of @packets more. Negative: copies came. */
static inline void shake_loss_try(struct shake_loss *l, u32 packets, s32 lost)
{
	l->tried = min_t(u32, l->tried + packets, SHAKE_LOSS_FAR);
	l->missed = clamp_t(s32, l->missed + lost, 0, SHAKE_LOSS_FAR);
	if ((u32)l->missed <= min(l->round / SHAKE_LOSS_PART, shake_loss_part(l)))
		return;
	l->tried = 0;
	l->missed = 0;
}

/* Nothing is missing that was not missing before. */
static inline void shake_loss_begin(struct shake_loss *l, u64 now)
{
	l->missing = (s64)(l->sent - l->received);
	l->least = l->missing;
	l->began = now;
	l->block = 0;
}

/* Of @packets more some are missing. What the least number has grown by is lost for good. */
static inline void shake_loss_stay(struct shake_loss *l, u32 over, u32 packets, u64 now)
{
	s64 missing = (s64)(l->sent - l->received), lost;

	l->least = min(l->least, missing);
	l->block = min_t(u32, l->block + packets, SHAKE_LOSS_FAR);
	if (l->block < SHAKE_LOSS_BLOCK || now - l->began < SHAKE_LOSS_BLOCK_US)
		return;
	lost = clamp_t(s64, (s64)((u64)l->least - (u64)l->missing), -SHAKE_LOSS_COPIES, l->block);
	shake_loss_mean(&l->stays, over, (s32)l->block, (s32)lost);
	l->missing = l->least;
	l->least = missing;
	l->began = now;
	l->block = 0;
}

/**
 * shake_loss_told() - a pseudo-ACK has come
 * @l: the path
 * @sent: packets and copies sent up to its echo, in this session
 * @received: packets that it tells to be received
 * @queued: the packet echoed met a queue
 * @wait: its time there, in us
 * @now: time in us
 *
 * Return: packets that were lost since the last one; negative if copies came.
 */
static inline s32 shake_loss_told(struct shake_loss *l, u64 sent, u64 received, bool queued,
				  u32 wait, u64 now)
{
	bool follows = l->based && sent >= l->sent && received >= l->received;
	s32 packets = 0, lost = 0;
	u32 over;

	if (follows) {
		packets = (s32)min_t(u64, sent - l->sent, SHAKE_LOSS_FAR);
		lost = packets - (s32)min_t(u64, received - l->received, SHAKE_LOSS_FAR);
	}
	l->sent = sent;
	l->received = received;
	l->based = true;
	if (!follows) {
		shake_loss_begin(l, now);
		return 0;
	}
	l->longest = max(wait, l->longest - (l->longest >> SHAKE_LOSS_LONGEST));
	l->told = min_t(u32, l->told + (u32)packets, SHAKE_LOSS_PACKETS);
	lost = max_t(s32, lost, -SHAKE_LOSS_COPIES);
	if (l->out) {
		shake_loss_try(l, (u32)packets, lost);
		shake_loss_begin(l, now);
		return lost;
	}
	over = max(l->told, SHAKE_LOSS_FEW);
	shake_loss_stay(l, over, (u32)packets, now);
	shake_loss_mean(&l->share, over, packets, lost);
	if (!queued)
		shake_loss_mean(&l->empty, over, packets, lost);
	if (!queued || wait < l->longest / 2)
		shake_loss_mean(&l->brief, over, packets, lost);
	return lost;
}

/*
 * Whether the path @other loses so much less that @l may be left out, or may stay so. Of a few
 * packets none may have been lost; who has set a limit does not ask.
 */
static inline bool shake_loss_is_better(const struct shake_loss *other, const struct shake_loss *l)
{
	return !other->out && (l->limit || other->told >= SHAKE_LOSS_FEW) &&
	       (l->out ? 4 * other->share <= 3 * l->share : 2 * other->share <= l->share);
}

/* The share that is much: the user's limit, or the default. */
static inline u32 shake_loss_much(const struct shake_loss *l, bool repaired)
{
	return l->limit ?: repaired ? SHAKE_LOSS_ANYWAY : SHAKE_LOSS_MUCH;
}

/**
 * shake_loss_is_much() - whether a path that is used loses so much that it should be left out
 * @l: the path
 * @repaired: what it loses is sent again
 */
static inline bool shake_loss_is_much(const struct shake_loss *l, bool repaired)
{
	u32 much = shake_loss_much(l, repaired);

	return !l->out && l->stays >= much / 4 * 3 &&
	       (l->empty >= much || l->brief >= (l->limit ?: max(much, SHAKE_LOSS_ANYWAY)));
}

/**
 * shake_loss_was_much() - the same of a path that may be left out
 * @l: the path
 * @repaired: what it loses is sent again
 */
static inline bool shake_loss_was_much(const struct shake_loss *l, bool repaired)
{
	u32 much = shake_loss_much(l, repaired);

	return max(l->empty, l->brief) >= much / 4 * 3;
}

/**
 * shake_loss_is_doubtful() - whether it should be found out soon what this path and others lose
 * @l: the path
 */
static inline bool shake_loss_is_doubtful(const struct shake_loss *l)
{
	return !l->out && max(l->empty, l->brief) >= (l->limit ?: SHAKE_LOSS_MUCH) / 2;
}

/**
 * shake_loss_is_little() - whether a path that is left out has proved to be good
 * @l: the path
 */
static inline bool shake_loss_is_little(const struct shake_loss *l)
{
	return l->out && l->tried >= l->round;
}

/**
 * shake_loss_leave() - the path is left out
 * @l: the path
 * @now: time in us
 */
static inline void shake_loss_leave(struct shake_loss *l, u64 now)
{
	if (l->since && now - l->since < SHAKE_LOSS_SOON)
		l->round = min_t(u32, 2 * l->round, SHAKE_LOSS_ROUND_MOST);
	else
		l->round = max(l->empty, l->brief) < SHAKE_LOSS_MUCH ? SHAKE_LOSS_ROUND_FINE :
								       SHAKE_LOSS_ROUND;
	l->tried = 0;
	l->missed = 0;
	l->since = now;
	l->out = true;
}

/**
 * shake_loss_return() - the path is taken up again
 * @l: the path
 * @now: time in us
 *
 * If it was not proved to be good, but others are no better, it is known to be bad.
 */
static inline void shake_loss_return(struct shake_loss *l, u64 now)
{
	l->wrong = !shake_loss_is_little(l);
	if (!l->wrong) {
		l->share = 0;
		l->stays = 0;
		l->empty = 0;
		l->brief = 0;
	}
	l->since = now;
	l->out = false;
}

#endif /* _APOGEE_SHAKE_LOSS_H */
