/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which path a packet takes: the three schedulers of the paper on Mobile IP SHAKE.
 *
 *   round robin  in turn, as often as the weights say
 *   delay ratio  share ~ weight * srtt^-theta
 *   RAH          least SCORE, by when the packet should arrive at the other end
 *
 * RAH is, with the estimates t and minRTT of shake_path.h, Q = G (t - minRTT), and L
 * the packet's own length as part of Q:
 *
 *	SCORE = (Q / G + minRTT / 2) * 100 / weight			(3)
 *
 * where the paper has for Q the bytes in the path's send queue, and srtt / 2.
 *
 * Paths that were never measured are tried first, with a few packets, and then last until
 * an ACK has come. RAH leaves out paths that lose much, see shake_loss.h.
 */
#ifndef _APOGEE_SHAKE_SCHED_H
#define _APOGEE_SHAKE_SCHED_H

#include "shake_path.h"

#define SHAKE_CHOICES_MAX	8U
/* As enum shake_scheduler of the module. */
#define SHAKE_SCHED_ROUND_ROBIN	0U
#define SHAKE_SCHED_DELAY_RATIO	1U
#define SHAKE_SCHED_RAH		2U
/* Better paths carry one in so many of a path's octets, or it is not left out, or not any more. */
#define SHAKE_LEAVE_PART	4U
#define SHAKE_RETURN_PART	8U
/* Packets that try a path. */
#define SHAKE_TRIALS		2U
/* Packets under way at first on a path that has been measured. */
#define SHAKE_BEGIN_PACKETS	10ULL
/* By so much, in us, they may be ahead of their pace if some were lost: a tick of most kernels. */
#define SHAKE_AHEAD		4000U
/* What is held back is looked at again when a path has carried so many packets. */
#define SHAKE_LOOK_PACKETS	8ULL
/* us: for longer no path is said to be full. */
#define SHAKE_PRESSED_MOST	(2U * APOGEE_USEC_PER_SEC)
/* Shares are computed once in this number of packets. */
#define SHAKE_SHARES_PACKETS	16U
/* Logarithms are in 2^-16, and the largest share is 2^20. */
#define SHAKE_LOG_BITS		16
#define SHAKE_SHARE_BITS	20
#define SHAKE_THETA_MAX		400U
#define SHAKE_WEIGHT_MAX	1000U

/**
 * struct shake_sched_config - what a user sets
 * @scheduler: SHAKE_SCHED_...
 * @theta: exponent of delay ratio, per cent
 * @even: RAH fills near paths up to the delay of the farthest: the other end does not put data in
 *	  order
 */
struct shake_sched_config {
	u8 scheduler;
	u32 theta;
	bool even;
};

/**
 * struct shake_choice - a path that may be taken
 * @est: its estimates
 * @weight: per cent
 */
struct shake_choice {
	const struct shake_path_est *est;
	u32 weight;
};

/**
 * struct shake_sched - state of round robin and delay ratio
 * @credit: share due to each path, less what it had
 * @share: by which its credit grows per packet
 * @fresh: packets until the shares are computed anew
 * @count: paths
 * @scheduler: that the shares are of
 * @opens: TCP has begun, and needs to find all paths
 * @full: the path by which packets arrive first has no room
 * @pressed: us, for how long that was so, less the time since in which it was not
 * @pressed_at: as of when, in us
 * @waits: octets that wait above the paths
 */
struct shake_sched {
	s64 credit[SHAKE_CHOICES_MAX];
	u32 share[SHAKE_CHOICES_MAX];
	u32 fresh;
	u32 count;
	u8 scheduler;
	bool opens;
	bool full;
	u32 pressed;
	u64 pressed_at;
	u64 waits;
};

/**
 * shake_sched_init() - no packet was sent
 * @s: the state
 */
static inline void shake_sched_init(struct shake_sched *s)
{
	*s = (struct shake_sched){ .count = 0 };
}

/**
 * shake_sched_log2() - binary logarithm
 * @x: at least 1; 0 counts as 1
 *
 * Return: in 2^-SHAKE_LOG_BITS, rounded down.
 */
static inline u32 shake_sched_log2(u32 x)
{
	u32 whole = x ? (u32)fls64(x) - 1 : 0, bit, log = whole << SHAKE_LOG_BITS;
	u64 square = (u64)(x ? x : 1) << (31 - whole);

	for (bit = 1U << (SHAKE_LOG_BITS - 1); bit; bit >>= 1) {
		square = (square * square) >> 31;
		if (square > U32_MAX) {
			square >>= 1;
			log |= bit;
		}
	}
	return log;
}

/**
 * shake_sched_exp2() - 2^-x
 * @x: in 2^-SHAKE_LOG_BITS
 *
 * Return: in 2^-SHAKE_SHARE_BITS, at least 1.
 */
static inline u32 shake_sched_exp2(u64 x)
{
	/* 2^-2^-1, 2^-2^-2, ... in 2^-32 */
	static const u32 roots[] = {
		3037000500U, 3611622603U, 3938502376U, 4112874773U, 4202935003U, 4248701965U,
		4271771996U, 4283353945U, 4289156690U, 4292061010U, 4293513907U, 4294240540U,
		4294603903U, 4294785595U, 4294876445U, 4294921870U,
	};
	u64 value = 1ULL << 32;
	u32 index, whole = (u32)min_t(u64, x >> SHAKE_LOG_BITS, 63);

	for (index = 0; index < ARRAY_SIZE(roots); index++) {
		if (x >> (SHAKE_LOG_BITS - 1 - index) & 1)
			value = (value * roots[index]) >> 32;
	}
	value = (value >> (32 - SHAKE_SHARE_BITS)) >> whole;
	return max_t(u32, (u32)value, 1);
}

/**
 * shake_sched_score() - when a packet would arrive, equation (3)
 * @est: the path
 * @weight: per cent, 0 counts as 1
 * @bytes: its length
 * @now: time in us
 *
 * Return: us, more for paths of less weight.
 */
static inline u64 shake_sched_score(const struct shake_path_est *est, u32 weight, u32 bytes,
				    u64 now)
{
	u32 least = shake_path_min_rtt(est);
	u64 score;

	if (!shake_path_srtt(est) && est->sent_packets - est->gone_packets >= SHAKE_TRIALS)
		score = SHAKE_TIME_MAX + shake_path_time(est, shake_path_outstanding(est) + bytes);
	else if (!shake_path_srtt(est))
		score = 0;
	else
		score = shake_path_trip(est, bytes, now) - least / 2;
	return div_u64(score * 100, max(weight, 1U));
}

/* Compute the shares of round robin and delay ratio. */
static inline void shake_sched_shares(struct shake_sched *s, const struct shake_sched_config *c,
				      const struct shake_choice *paths, u32 count)
{
	u32 theta = min(c->theta, SHAKE_THETA_MAX), least = U32_MAX, delay, index;
	u64 ratio;

	if (s->count != count || s->scheduler != c->scheduler) {
		shake_sched_init(s);
		s->count = count;
		s->scheduler = c->scheduler;
	}
	for (index = 0; index < count; index++)
		least = min(least, max(shake_path_srtt(paths[index].est), 1U));
	for (index = 0; index < count; index++) {
		s->share[index] = clamp_t(u32, paths[index].weight, 1, SHAKE_WEIGHT_MAX);
		delay = max(shake_path_srtt(paths[index].est), 1U);
		if (c->scheduler != SHAKE_SCHED_DELAY_RATIO)
			continue;
		ratio = (u64)(shake_sched_log2(delay) - shake_sched_log2(least)) * theta;
		s->share[index] *= shake_sched_exp2(div_u64(ratio, 100));
	}
	s->fresh = SHAKE_SHARES_PACKETS;
}

/* Take the path with the largest credit. */
static inline u32 shake_sched_turn(struct shake_sched *s, const struct shake_sched_config *c,
				   const struct shake_choice *paths, u32 count)
{
	u32 index, best = 0;
	s64 sum = 0;

	if (!s->fresh || s->count != count || s->scheduler != c->scheduler)
		shake_sched_shares(s, c, paths, count);
	s->fresh--;
	for (index = 0; index < count; index++) {
		s->credit[index] += s->share[index];
		sum += s->share[index];
		if (s->credit[index] > s->credit[best])
			best = index;
	}
	s->credit[best] -= sum;
	return best;
}

/**
 * shake_sched_may_leave() - whether others are so much better that a path may be left out
 * @paths: paths that live
 * @count: their number; those beyond SHAKE_CHOICES_MAX do not count
 * @index: the path
 *
 * Together they have to carry a part of what it carries: a trickle without loss is worth less
 * than much with it. With a limit that a user has set it is enough that there is one.
 */
static inline bool shake_sched_may_leave(const struct shake_choice *paths, u32 count, u32 index)
{
	const struct shake_path_est *bad = paths[index].est, *est;
	u32 part = bad->loss.out ? SHAKE_RETURN_PART : SHAKE_LEAVE_PART, other;
	u64 rate = 0;

	for (other = 0; other < min(count, SHAKE_CHOICES_MAX); other++) {
		est = paths[other].est;
		if (other != index && shake_path_srtt(est) &&
		    shake_loss_is_better(&est->loss, &bad->loss))
			rate += shake_path_guess(est);
	}
	return rate && (bad->loss.limit || part * rate >= shake_path_rate(bad));
}

/*
 * Bytes that may be under way on a path which had no queue up to now: what its link carries is not
 * known, and what its queue takes neither. As TCP's slow start: RFC 6928's initial window, then
 * twice of what came in a round trip. If that is shorter than what a pseudo-ACK waits for others,
 * also what none has told of yet: else nothing would ever double.
 */
static inline u64 shake_sched_begin(const struct shake_path_est *est)
{
	u64 rate = min_t(u64, shake_path_rate(est), SHAKE_RATE_MAX);
	u64 untold = min_t(u64, div_u64(rate * SHAKE_ACK_US, APOGEE_USEC_PER_SEC),
			   (u64)SHAKE_ACK_PACKETS * est->packet);

	return max_t(u64, SHAKE_BEGIN_PACKETS * est->packet,
		     div_u64(2 * rate * est->srtt, APOGEE_USEC_PER_SEC) +
		     (est->srtt < SHAKE_ACK_US ? untold : 0));
}

/*
 * Whether packets of a path that had no queue up to now come in a burst. Its queue may be too short
 * for what TCP sends in slow start, or when data that waited for others goes on. They leave in
 * pace, twice of what came in a round trip, ten at once, or as many as came through if others were
 * lost.
 */
static inline bool shake_sched_is_ahead(const struct shake_path_est *est, u64 now)
{
	u32 burst = est->room ?: shake_path_time(est, SHAKE_BEGIN_PACKETS * est->packet);

	return !est->intervals && shake_path_wait(est, now) > max(burst, SHAKE_AHEAD);
}

/**
 * shake_sched_look() - when to look again whether a path has room
 * @est: the path
 *
 * Soon if its link may carry more than anybody knows.
 *
 * Return: us from now.
 */
static inline u32 shake_sched_look(const struct shake_path_est *est)
{
	if (!est->intervals)
		return SHAKE_AHEAD;
	return max(shake_path_time(est, SHAKE_LOOK_PACKETS * est->packet), SHAKE_AHEAD);
}

/**
 * shake_sched_has_room() - whether a packet may join those in front of a link
 * @est: the path
 * @queue: time in us that packets may wait in front of the link
 * @now: time in us
 *
 * A path that nobody has measured has room, and one with less than two of its packets under way.
 * What the link carries is known when it has had a queue. The packet's own length is no reason, as
 * not all who ask know it: they would not agree, and send on what has no room.
 */
static inline bool shake_sched_has_room(const struct shake_path_est *est, u32 queue, u64 now)
{
	u64 outstanding = shake_path_outstanding(est);
	u32 wait;

	if (!shake_path_srtt(est) || outstanding < 2 * (u64)est->packet)
		return true;
	if (!est->intervals && outstanding >= shake_sched_begin(est))
		return false;
	if (shake_sched_is_ahead(est, now))
		return false;
	wait = est->intervals ? shake_path_trip(est, 0, now) : est->rtt;
	wait -= min(wait, shake_path_min_rtt(est));
	return wait <= (est->room ? min(queue, est->room) : queue);
}

/* Time that packets may wait in front of the link of a path, if it is @queue for the farthest. */
static inline u32 shake_sched_queue(const struct shake_sched_config *c,
				    const struct shake_choice *paths, u32 count, u32 index,
				    u32 queue)
{
	u32 farthest = 0, other;

	if (!c->even)
		return queue;
	for (other = 0; other < count; other++)
		farthest = max(farthest, shake_path_min_rtt(paths[other].est));
	return min(queue, SHAKE_TIME_MAX) +
	       (farthest - shake_path_min_rtt(paths[index].est)) / 2;
}

/*
 * For how long the path by which packets arrive first had no room: by so much a way may be longer
 * that is taken instead. Who asks for more than it carries during a part of the time only never
 * takes a longer one.
 */
static inline void shake_sched_press(struct shake_sched *s, bool full, u64 now)
{
	u32 spent = (u32)min_t(u64, now - s->pressed_at, SHAKE_PRESSED_MOST);

	if (s->full)
		s->pressed = min(s->pressed + spent, SHAKE_PRESSED_MOST);
	else
		s->pressed -= min(s->pressed, spent);
	s->pressed_at = now;
	s->full = full;
}

/* The path by which a packet is likely to arrive first. */
static inline u32 shake_sched_first(const struct shake_choice *paths, u32 count, u32 bytes,
				    u64 *scores, u64 now)
{
	u32 index, best = 0;

	for (index = 0; index < count; index++) {
		scores[index] = shake_sched_score(paths[index].est, paths[index].weight, bytes,
						  now);
		if (scores[index] < scores[best])
			best = index;
	}
	return best;
}

/*
 * Whether a packet may take the path @index, by which it arrives later than by the @best, which
 * has no room. All that comes by others waits for it, so that TCP needs a window of what they
 * carry until its ACK has come. A smaller one would leave them empty for a while: then it waits,
 * unless the best had no room for so long that it will not have any before the packet would be
 * there the other way.
 */
static inline bool shake_sched_is_worth(const struct shake_sched *s,
					const struct shake_choice *paths, u32 count, u32 best,
					const u64 *scores, u32 index, u32 bytes, u64 now)
{
	u32 trip = shake_path_trip(paths[index].est, bytes, now), other, wait;
	u64 window = s->waits, rate, sum = 0, need = 0;

	if (s->opens || !paths[best].est->intervals || scores[index] - scores[best] <= s->pressed)
		return true;
	for (other = 0; other < count; other++) {
		const struct shake_path_est *est = paths[other].est;

		window += shake_path_outstanding(est);
		if (scores[other] >= scores[index])
			continue;
		rate = min_t(u64, shake_path_guess(est), SHAKE_RATE_MAX);
		wait = min(shake_path_wait(est, now), trip);
		sum += rate;
		need += (rate * (trip - wait)) >> 20;	/* a second, nearly */
	}
	return window >= need || shake_path_guess(paths[index].est) > sum;
}

/*
 * Of the paths with room the one by which a packet arrives first, if it may take it. Returns @count
 * if there is none.
 */
static inline u32 shake_sched_detour(const struct shake_sched *s, const struct shake_choice *paths,
				     u32 count, u32 best, const u64 *scores, u32 bytes, u32 queue,
				     u64 now)
{
	u32 index, found = count;

	for (index = 0; index < count; index++) {
		if (index != best && (found == count || scores[index] < scores[found]) &&
		    shake_sched_has_room(paths[index].est, queue, now) &&
		    shake_sched_is_worth(s, paths, count, best, scores, index, bytes, now))
			found = index;
	}
	return found;
}

/**
 * shake_sched_pick() - choose the path of a packet
 * @s: the state
 * @c: which scheduler
 * @paths: paths that may be taken
 * @count: their number, at least 1; those beyond SHAKE_CHOICES_MAX are not taken
 * @bytes: length of the packet
 * @queue: time in us that packets may wait in front of each link; 0: any
 * @now: time in us
 *
 * Return: index into @paths.
 */
static inline u32 shake_sched_pick(struct shake_sched *s,
				   const struct shake_sched_config *c,
				   const struct shake_choice *paths, u32 count,
				   u32 bytes, u32 queue, u64 now)
{
	u64 scores[SHAKE_CHOICES_MAX];
	u32 best, found;

	count = min(count, SHAKE_CHOICES_MAX);
	if (count <= 1)
		return 0;
	if (c->scheduler != SHAKE_SCHED_RAH)
		return shake_sched_turn(s, c, paths, count);
	best = shake_sched_first(paths, count, bytes, scores, now);
	if (!queue || c->even || shake_sched_has_room(paths[best].est, queue, now))
		return best;
	found = shake_sched_detour(s, paths, count, best, scores, bytes, queue, now);
	return found < count ? found : best;
}

/* Of those who do not put data in order: any path that has room will do. */
static inline bool shake_sched_is_full_even(const struct shake_sched_config *c,
					    const struct shake_choice *paths, u32 count,
					    u32 queue, u64 now)
{
	u32 index;

	for (index = 0; index < count; index++) {
		if (shake_sched_has_room(paths[index].est,
					 shake_sched_queue(c, paths, count, index, queue), now))
			return false;
	}
	return true;
}

/**
 * shake_sched_is_full() - should packets be held back?
 * @s: the state
 * @c: which scheduler
 * @paths: paths that may be taken
 * @count: their number
 * @bytes: length of a packet
 * @queue: time in us that packets may wait in front of the links; 0: any
 * @now: time in us
 *
 * With RAH, when no path has room that is worth its way: more packets only make the links' queues
 * longer, up to their loss.
 *
 * Return: true if a packet should wait until an ACK has come.
 */
static inline bool shake_sched_is_full(struct shake_sched *s, const struct shake_sched_config *c,
				       const struct shake_choice *paths, u32 count,
				       u32 bytes, u32 queue, u64 now)
{
	u64 scores[SHAKE_CHOICES_MAX];
	u32 best = 0;
	bool full;

	if (!queue || !count || c->scheduler != SHAKE_SCHED_RAH)
		return false;
	count = min(count, SHAKE_CHOICES_MAX);
	if (c->even)
		return shake_sched_is_full_even(c, paths, count, queue, now);
	if (count > 1)
		best = shake_sched_first(paths, count, bytes, scores, now);
	full = !shake_sched_has_room(paths[best].est, queue, now);
	shake_sched_press(s, full, now);
	return full && (count == 1 || shake_sched_detour(s, paths, count, best, scores, bytes,
							 queue, now) == count);
}

/**
 * shake_sched_is_sated() - are TCP's windows as large as full paths need?
 * @paths: paths of which none has room
 * @count: their number
 * @waits: octets that wait above them
 *
 * What each carries is known, or more than four times as much waits as those take next of which it
 * is not, and is under way on the others.
 */
static inline bool shake_sched_is_sated(const struct shake_choice *paths, u32 count, u64 waits)
{
	bool known = true;
	u64 under_way = 0;
	u32 index;

	for (index = 0; index < min(count, SHAKE_CHOICES_MAX); index++) {
		const struct shake_path_est *est = paths[index].est;

		under_way += est->intervals ? shake_path_outstanding(est) :
					      shake_sched_begin(est);
		known = known && est->intervals;
	}
	return known || waits > 4 * under_way;
}

#endif /* _APOGEE_SHAKE_SCHED_H */
