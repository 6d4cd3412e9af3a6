/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The length of SSCOP's segments, chosen by the losses that are observed (segment=auto).
 *
 * A packet of P octets is cut into n pieces of equal length. Each is sent, with v octets
 * of overhead, until it arrives, so that the link carries n (P/n + v) / (1 - p) octets.
 * Of a frame of F octets
 *
 *	1 - p = exp(-(a + h F))
 *
 * arrives: h are the bit errors, by octet, and a is what does not depend on the length
 * (collisions, and bursts: one of length L at a rate r hits a frame with r (F + L)).
 * a is the same for any n, so that n depends on h only: n + 1 pieces are better if
 *
 *	h P / (n (n + 1)) > ln(1 + v / (P + n v))
 *
 * and without bounds the best piece s has s (s + v) = v / h.
 *
 *   evidence  Losses are counted by class of length, two classes per octave. A count
 *             decays by what is added to it, not by time. If the count of one class is
 *             full, the others lose a sixteenth: what is not sent is forgotten slowly.
 *   fit       -ln(1 - p) of all classes is fitted by the line a + h F, a >= 0, h >= 0,
 *             weighted by the inverse of its variance. A few frames' worth of evidence
 *             says a = 0: with one class only, all losses are bit errors.
 *   trials    One packet in 64 is cut into half as many pieces, one in 8 if hardly any
 *             of these were sent before: if they are lost as often, the line becomes
 *             flat and the pieces longer. Nothing but this shows losses that do not
 *             depend on the length where all packets have the same. At a bit error rate
 *             of 1e-4 a trial costs 9 % of its packet, less below.
 *   doubt     h is at least half a loss in all octets counted, so that after a change
 *             the pieces become longer only as fast as this is justified.
 *   changes   Two CUSUM tests compare the losses with those expected by their own
 *             class. If they exceed twice that or fall below half of it, what was known
 *             before is dropped.
 *
 * All this is computed once in 64 outcomes, or earlier with losses: 8 if all are lost.
 * Until then a bit error rate of 1e-5 is assumed, pieces of some 500 octets: lost
 * segments are sent again as they are, and long ones would be for long if the link is bad.
 */
#ifndef _APOGEE_SSCOP_SEGMENT_H
#define _APOGEE_SSCOP_SEGMENT_H

#include <apogee/int.h>

#define SSCOP_SEGMENT_CLASSES	18U
/* One point per class and one at length 0. */
#define SSCOP_SEGMENT_POINTS	19U
/* Shortest piece, but for shorter packets or limits, and Ethernet's shortest frame. */
#define SSCOP_SEGMENT_LEAST	64U
#define SSCOP_SEGMENT_FRAME	60U
/* Outcomes from one computation to the next, and how many of them a loss counts for. */
#define SSCOP_SEGMENT_REVIEW	64U
#define SSCOP_SEGMENT_LOSS	8U
/* Frames are counted in 1/32, and a class is full with this number: it holds 20 losses
 * or more where a fifth matters.
 */
#define SSCOP_SEGMENT_ONE	32U
#define SSCOP_SEGMENT_FULL	1024U
/* The evidence for a = 0, in frames. */
#define SSCOP_SEGMENT_PRIOR	12U
/* A class is tested if it held this number of frames. */
#define SSCOP_SEGMENT_TESTED	32U
/* Limits of the tests: losses above twice and below half of what was expected. By chance
 * less than exp(-1.25 * 12) and exp(-1.59 * 12) of the sums that leave zero reach them,
 * if what was expected is known exactly.
 */
#define SSCOP_SEGMENT_MORE	12U
#define SSCOP_SEGMENT_LESS	12U
/* One packet in this number is a trial, ... */
#define SSCOP_SEGMENT_SELDOM	64U
/* ... or in this one while its class holds less than this number of frames. */
#define SSCOP_SEGMENT_OFTEN	8U
#define SSCOP_SEGMENT_TRIED	128U
/* -ln(1 - p) is in 1/65536, h in 1/2^26 per octet, p in 1/2^20. */
#define SSCOP_SEGMENT_LOG_BITS	16
#define SSCOP_SEGMENT_H_BITS	26
#define SSCOP_SEGMENT_P_BITS	20
/* ln 8: more than 7 frames in 8 are lost. */
#define SSCOP_SEGMENT_HOPELESS	136278U
/* h before the first outcomes: a bit error rate of 1e-5. */
#define SSCOP_SEGMENT_BEGIN	5369U
/* Longest packet, frame and overhead computed with; longer ones are taken as these. */
#define SSCOP_SEGMENT_PACKET	65535U
#define SSCOP_SEGMENT_OVERHEAD	4095U

/**
 * struct sscop_segment_class - the frames of about one length
 * @octets: their total length
 * @sent: their number, in 1/SSCOP_SEGMENT_ONE
 * @lost: those lost, in 1/SSCOP_SEGMENT_ONE
 * @new_sent: number of those not yet tested, included in @sent
 * @new_lost: those of them that were lost
 */
struct sscop_segment_class {
	u32 octets;
	u16 sent;
	u16 lost;
	u8 new_sent;
	u8 new_lost;
};

/**
 * struct sscop_segment - what is known of a link's losses
 * @classes: the frames by length
 * @used: bits of the classes that hold frames
 * @h: bit errors, -ln(1 - p) per octet, in 1/2^SSCOP_SEGMENT_H_BITS
 * @overhead: octets of overhead per piece that @best was computed for
 * @best: best length of a piece, 0: to be computed
 * @more: losses above twice the expected number, in 1/SSCOP_SEGMENT_ONE
 * @less: losses below half of the expected number, in 1/SSCOP_SEGMENT_ONE
 * @fresh: outcomes since the last computation, losses counted SSCOP_SEGMENT_LOSS times
 * @cut: packets cut since the last trial
 */
struct sscop_segment {
	struct sscop_segment_class classes[SSCOP_SEGMENT_CLASSES];
	u32 used;
	u32 h;
	u16 overhead;
	u16 best;
	u16 more;
	u16 less;
	u8 fresh;
	u8 cut;
};

/**
 * struct sscop_segment_point - a class as a point of the fit
 * @weight: inverse of the variance of @log
 * @frame: mean length
 * @log: -ln(1 - p), in 1/2^SSCOP_SEGMENT_LOG_BITS
 */
struct sscop_segment_point {
	u32 weight;
	u32 frame;
	u32 log;
};

/**
 * struct sscop_segment_plot - the points of a fit
 * @points: the points
 * @count: their number
 */
struct sscop_segment_plot {
	struct sscop_segment_point points[SSCOP_SEGMENT_POINTS];
	u32 count;
};

/**
 * sscop_segment_init() - nothing is known
 * @s: the state
 */
static inline void sscop_segment_init(struct sscop_segment *s)
{
	*s = (struct sscop_segment){ .h = SSCOP_SEGMENT_BEGIN };
}

/* The class of a frame: up to 95 octets, 127, 191, 255, 383, ... */
static inline u32 sscop_segment_index(u32 frame)
{
	u32 bits = (u32)fls64(frame >> 6);
	u32 index = bits ? 2 * (bits - 1) + ((frame >> (bits + 4)) & 1) : 0;

	return min_t(u32, index, SSCOP_SEGMENT_CLASSES - 1);
}

/* Take the highest of the classes @left. */
static inline u32 sscop_segment_next(u32 *left)
{
	u32 index = (u32)fls64(*left) - 1;

	*left ^= 1U << index;
	return index;
}

/**
 * sscop_segment_log() - -ln(1 - p) of p = @lost / @sent
 * @lost: frames lost, at most @sent
 * @sent: frames sent, at most U16_MAX
 *
 * It is 2 atanh(z) of z = p / (2 - p), and atanh(z) about z (15 - 4 z^2) / (15 - 9 z^2):
 * too small by 0.2 % for p up to 0.7, by 3 % for 0.9. p = 1 counts as 0.975.
 *
 * Return: the logarithm in 1/2^SSCOP_SEGMENT_LOG_BITS, at most 3.67; 0 if @sent is 0.
 */
static inline u32 sscop_segment_log(u32 lost, u32 sent)
{
	u64 z, square;

	if (!sent || !lost)
		return 0;
	z = div_u64((u64)lost << SSCOP_SEGMENT_P_BITS, 2 * sent - lost);
	square = (z * z) >> SSCOP_SEGMENT_P_BITS;
	z *= (15U << SSCOP_SEGMENT_P_BITS) - 4 * square;
	z = div_u64(z, (15U << SSCOP_SEGMENT_P_BITS) - 9 * (u32)square);
	return (u32)(z >> (SSCOP_SEGMENT_P_BITS - SSCOP_SEGMENT_LOG_BITS - 1));
}

/* Reduce a count to @sent, in 1/SSCOP_SEGMENT_ONE, if it is larger. */
static inline void sscop_segment_shrink(struct sscop_segment_class *c, u32 sent)
{
	if (c->sent <= sent)
		return;
	c->octets = (u32)div_u64((u64)c->octets * sent, c->sent);
	c->lost = (u16)(((u32)c->lost * sent + c->sent / 2U) / c->sent);
	c->sent = (u16)sent;
}

/* Compare what is new with what was known. Return: whether the link has changed. */
static inline bool sscop_segment_test(struct sscop_segment *s)
{
	u32 due = 0, lost = 0, left = s->used;

	while (left) {
		const struct sscop_segment_class *c =
			&s->classes[sscop_segment_next(&left)];
		u32 sent = c->sent - c->new_sent * SSCOP_SEGMENT_ONE;

		if (!c->new_sent ||
		    sent < SSCOP_SEGMENT_TESTED * SSCOP_SEGMENT_ONE)
			continue;
		due += (c->lost - c->new_lost * SSCOP_SEGMENT_ONE) *
		       SSCOP_SEGMENT_ONE * c->new_sent / sent;
		lost += c->new_lost * SSCOP_SEGMENT_ONE;
	}
	s->more = (u16)(s->more + lost > 2 * due ? s->more + lost - 2 * due : 0);
	s->less = (u16)(s->less + due / 2 > lost ? s->less + due / 2 - lost : 0);
	return s->more > SSCOP_SEGMENT_MORE * SSCOP_SEGMENT_ONE ||
	       s->less > SSCOP_SEGMENT_LESS * SSCOP_SEGMENT_ONE;
}

/* The link has changed: only what is new is known. */
static inline void sscop_segment_forget(struct sscop_segment *s)
{
	u32 left = s->used;

	while (left) {
		u32 index = sscop_segment_next(&left);
		struct sscop_segment_class *c = &s->classes[index];

		sscop_segment_shrink(c, c->new_sent * SSCOP_SEGMENT_ONE);
		c->lost = (u16)(c->new_lost * SSCOP_SEGMENT_ONE);
		if (!c->sent)
			s->used &= ~(1U << index);
	}
	s->more = 0;
	s->less = 0;
}

/* A class is full: halve it, and let the others fade. */
static inline void sscop_segment_decay(struct sscop_segment *s, u32 full)
{
	u32 left = s->used;

	while (left) {
		u32 index = sscop_segment_next(&left);
		struct sscop_segment_class *c = &s->classes[index];

		sscop_segment_shrink(c, index == full ? c->sent / 2U :
							c->sent - c->sent / 16U);
	}
}

/* Count what is new as known. */
static inline void sscop_segment_merge(struct sscop_segment *s)
{
	u32 full = SSCOP_SEGMENT_CLASSES, left = s->used;

	while (left) {
		u32 index = sscop_segment_next(&left);
		struct sscop_segment_class *c = &s->classes[index];

		c->new_sent = 0;
		c->new_lost = 0;
		if (c->sent >= SSCOP_SEGMENT_FULL * SSCOP_SEGMENT_ONE)
			full = index;
	}
	if (full < SSCOP_SEGMENT_CLASSES)
		sscop_segment_decay(s, full);
}

/**
 * sscop_segment_plot() - the classes as points of the fit, and the one at length 0
 * @s: the state
 * @plot: the points
 *
 * The variance of the logarithm is p / (n (1 - p)); with a loss more its inverse is
 * finite.
 */
static inline void sscop_segment_plot(const struct sscop_segment *s,
				      struct sscop_segment_plot *plot)
{
	struct sscop_segment_point *p = plot->points;
	u32 frames = 0, left = s->used;
	u64 weights = 0;

	for (; left; p++) {
		const struct sscop_segment_class *c =
			&s->classes[sscop_segment_next(&left)];

		p->frame = (u32)div_u64((u64)c->octets * SSCOP_SEGMENT_ONE,
					c->sent);
		p->log = sscop_segment_log(c->lost, c->sent);
		p->weight = c->sent * (c->sent - c->lost + SSCOP_SEGMENT_ONE) /
			    (c->lost + SSCOP_SEGMENT_ONE);
		weights += p->weight;
		frames += c->sent;
	}
	p->frame = 0;
	p->log = 0;
	p->weight = (u32)div_u64(weights * SSCOP_SEGMENT_PRIOR * SSCOP_SEGMENT_ONE,
				 max_t(u32, frames, 1));
	plot->count = (u32)(p - plot->points) + 1;
}

/* Leave out the points that lose more than 7 of 8. Return: whether there were any. */
static inline bool sscop_segment_omit(struct sscop_segment_plot *plot)
{
	u32 count = plot->count, i;

	plot->count = 0;
	for (i = 0; i < count; i++) {
		if (plot->points[i].log <= SSCOP_SEGMENT_HOPELESS)
			plot->points[plot->count++] = plot->points[i];
	}
	return plot->count < count;
}

/* @numerator / @denominator in units of h, of logarithms in theirs; 0 if negative. */
static inline u32 sscop_segment_slope(s64 numerator, u64 denominator)
{
	int bits = SSCOP_SEGMENT_H_BITS - SSCOP_SEGMENT_LOG_BITS;
	int shift = fls64((u64)numerator) + bits - 63;

	if (numerator <= 0)
		return 0;
	if (shift > 0) {
		numerator >>= shift;
		denominator >>= shift;
	}
	return (u32)div64_u64((u64)numerator << bits, max_t(u64, denominator, 1));
}

/**
 * sscop_segment_fit() - the slope of the line through points
 * @plot: the points
 *
 * The line is at least 0 at length 0, and does not fall.
 *
 * Return: the slope, in 1/2^SSCOP_SEGMENT_H_BITS per octet.
 */
static inline u32 sscop_segment_fit(const struct sscop_segment_plot *plot)
{
	const struct sscop_segment_point *end = plot->points + plot->count, *p;
	u64 weights = 0, frames = 0, logs = 0, square = 0, product = 0;
	u64 central_square = 0;
	s64 central_product = 0;
	u32 frame, log, slope;

	for (p = plot->points; p < end; p++) {
		u64 weighted = (u64)p->weight * p->frame;

		weights += p->weight;
		frames += weighted;
		logs += (u64)p->weight * p->log;
		square += weighted * p->frame;
		product += weighted * p->log;
	}
	if (!frames)
		return 0;
	frame = (u32)div64_u64(frames, weights);
	log = (u32)div64_u64(logs, weights);
	for (p = plot->points; p < end; p++) {
		s64 away = (s64)p->frame - frame;
		s64 weighted = away * p->weight;

		central_square += (u64)(weighted * away);
		central_product += weighted * ((s64)p->log - log);
	}
	slope = sscop_segment_slope(central_product, central_square);
	if (((u64)slope * frame) >>
	    (SSCOP_SEGMENT_H_BITS - SSCOP_SEGMENT_LOG_BITS) > log)
		return sscop_segment_slope((s64)product, square);
	return slope;
}

/* Half a loss in all that was sent, as h: with few frames, no loss proves little. */
static inline u32 sscop_segment_doubt(const struct sscop_segment *s)
{
	u64 octets = 1;
	u32 left = s->used;

	while (left)
		octets += s->classes[sscop_segment_next(&left)].octets;
	return (u32)div64_u64(1ULL << (SSCOP_SEGMENT_H_BITS - 1), octets);
}

/* Bit errors by all classes or, if this is more, by those that are not hopeless: the
 * hopeless ones lose alike, whatever their length.
 */
static inline u32 sscop_segment_hazard(const struct sscop_segment *s)
{
	struct sscop_segment_plot plot;
	u32 h;

	sscop_segment_plot(s, &plot);
	h = max_t(u32, sscop_segment_doubt(s), sscop_segment_fit(&plot));
	if (sscop_segment_omit(&plot))
		h = max_t(u32, h, sscop_segment_fit(&plot));
	return h;
}

/* Evaluate what is new. */
static inline void sscop_segment_review(struct sscop_segment *s)
{
	if (sscop_segment_test(s))
		sscop_segment_forget(s);
	sscop_segment_merge(s);
	s->h = sscop_segment_hazard(s);
	s->best = 0;
	s->fresh = 0;
}

/**
 * sscop_segment_outcome() - what became of a frame
 * @s: the state
 * @frame: octets of the whole frame on the link
 * @lost: whether it was lost
 *
 * To be called once for each transmission.
 */
static inline void sscop_segment_outcome(struct sscop_segment *s, u32 frame,
					 bool lost)
{
	struct sscop_segment_class *c;
	u32 index;

	frame = clamp_t(u32, frame, SSCOP_SEGMENT_FRAME, SSCOP_SEGMENT_PACKET);
	index = sscop_segment_index(frame);
	s->used |= 1U << index;
	c = &s->classes[index];
	c->octets += frame;
	c->sent += SSCOP_SEGMENT_ONE;
	c->new_sent++;
	s->fresh++;
	if (lost) {
		c->lost += SSCOP_SEGMENT_ONE;
		c->new_lost++;
		s->fresh += SSCOP_SEGMENT_LOSS - 1;
	}
	if (s->fresh >= SSCOP_SEGMENT_REVIEW)
		sscop_segment_review(s);
}

/**
 * sscop_segment_best() - the best length of a piece, without bounds
 * @h: bit errors, in 1/2^SSCOP_SEGMENT_H_BITS per octet, at most 2^28
 * @overhead: octets of overhead per piece, at most SSCOP_SEGMENT_OVERHEAD
 *
 * Return: the largest s <= U16_MAX with h s (s + overhead) <= overhead, at least 1.
 */
static inline u32 sscop_segment_best(u32 h, u32 overhead)
{
	u64 most = (u64)overhead << SSCOP_SEGMENT_H_BITS;
	u32 best = 0, bit;

	for (bit = 1U << 15; bit; bit >>= 1) {
		u32 s = best | bit;

		if ((u64)h * s * (s + overhead) <= most)
			best = s;
	}
	return max_t(u32, best, 1);
}

/* Are n + 1 pieces better than n? ln(1 + x) is taken as 2 x / (2 + x), too small by less
 * than x^2 / 12 of it.
 */
static inline bool sscop_segment_is_more(const struct sscop_segment *s,
					 u32 packet, u32 n)
{
	u64 twice = 2 * ((u64)packet + (u64)n * s->overhead) + s->overhead;

	return (u64)s->h * packet * twice >
	       ((2ULL * s->overhead * n * (n + 1)) << SSCOP_SEGMENT_H_BITS);
}

/* The number of pieces, at least @least, if @n are the best: half as many in a trial. */
static inline u32 sscop_segment_try(struct sscop_segment *s, u32 packet, u32 n,
				    u32 least)
{
	u32 half = max_t(u32, (n + 1) / 2, least);
	u32 frame = (packet - 1) / half + 1 + s->overhead;
	u32 sent = s->classes[sscop_segment_index(frame)].sent;

	if (half >= n ||
	    ++s->cut < (sent < SSCOP_SEGMENT_TRIED * SSCOP_SEGMENT_ONE ?
				SSCOP_SEGMENT_OFTEN : SSCOP_SEGMENT_SELDOM))
		return n;
	s->cut = 0;
	return half;
}

/**
 * sscop_segment_choose() - the length of a packet's pieces
 * @s: the state
 * @packet: octets of the packet
 * @overhead: octets of the frame besides the piece; more if each piece costs more
 * @limit: longest piece, at least 1
 *
 * Return: octets per piece. The last one may be shorter.
 */
static inline u32 sscop_segment_choose(struct sscop_segment *s, u32 packet,
				       u32 overhead, u32 limit)
{
	u32 least, most, n;

	limit = max_t(u32, limit, 1);
	if (packet <= SSCOP_SEGMENT_LEAST)
		return clamp_t(u32, packet, 1, limit);
	overhead = clamp_t(u32, overhead, 1, SSCOP_SEGMENT_OVERHEAD);
	if (!s->best || s->overhead != overhead) {
		s->overhead = (u16)overhead;
		s->best = (u16)sscop_segment_best(s->h, overhead);
	}
	most = packet / SSCOP_SEGMENT_LEAST;
	n = clamp_t(u32, packet / s->best, 1, most);
	if (packet <= SSCOP_SEGMENT_PACKET && n < most &&
	    sscop_segment_is_more(s, packet, n))
		n++;
	least = (packet - 1) / limit + 1;
	n = n > least ? sscop_segment_try(s, packet, n, least) : least;
	return (packet - 1) / n + 1;
}

#endif /* _APOGEE_SSCOP_SEGMENT_H */
