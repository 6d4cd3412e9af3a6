/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a packet may be that goes by a path of SHAKE: RFC 8899 (DPLPMTUD), as an end of the
 * tunnel does it for what it sends. Lengths are those of the packet inside, in octets; a probe is
 * padded so that it is as long outside as DATA with such a packet, and must not be cut.
 *
 * The search, RFC 8899, 5.2 and 5.3:
 *
 *	begin      The longest is what the route takes (MAX_PLPMTU). What BASE_PLPMTU leaves is
 *	           taken to pass, 5.1.2.
 *	sizes      First the longest: mostly it passes, and that is all. If not, the longest of a
 *	           table of usual MTUs, then the middle one of those that are left, and between
 *	           them the middle, until less than SHAKE_PLPMTU_STEP is left.
 *	lost       Behind each probe goes a short one. If that was answered, and the long one not
 *	           half a round trip later, it is lost; if neither was, nothing is known. Three
 *	           lost in a row (MAX_PROBES) say that the size does not pass.
 *	error      If BASE does not pass, either, there are shorter ones down to
 *	           SHAKE_PLPMTU_LEAST; that is not probed.
 *	done       What passes is the limit. After 600 s (PMTU_RAISE_TIMER) a search begins anew
 *	           from there, if the route takes more. It goes on beside data, which keeps the
 *	           limit until more has passed (5.3.3).
 *	doubt      A path that comes back is asked whether it takes what it took; and one that did
 *	           not bring several long packets one after the other, while pseudo-ACKs come
 *	           (4.3, black hole detection): SHAKE_PLPMTU_MISSES, or two if no other came for
 *	           SHAKE_PLPMTU_QUIET. If three probes are lost, a search begins below.
 *
 * What differs: PROBE_TIMER counts only if the path is silent. It is not less than a second, as
 * 5.1.1 says; a size is lost sooner as something sent later has come, as in QUIC (RFC 9002).
 *
 * Two numbers follow. What is known to pass (shake_plpmtu_takes()) says by which paths a packet
 * goes that several would take. What is not known not to (shake_plpmtu_bound()) is what senders are
 * told; for a while it is more than that: who is told of less makes short packets for minutes.
 */
#ifndef _APOGEE_SHAKE_PLPMTU_H
#define _APOGEE_SHAKE_PLPMTU_H

#include <apogee/int.h>

/* Octets outside, 5.1.2; IPv6 has no less than its. */
#define SHAKE_PLPMTU_BASE4	1200U
#define SHAKE_PLPMTU_BASE6	1280U
/* Octets inside that are not doubted. */
#define SHAKE_PLPMTU_LEAST	512U
/* What is left between a size that passes and one that does not. */
#define SHAKE_PLPMTU_STEP	8U
/* MAX_PROBES */
#define SHAKE_PLPMTU_PROBES	3U
/* Long packets in a row that did not come before a path is asked; us, see above. */
#define SHAKE_PLPMTU_MISSES	10U
#define SHAKE_PLPMTU_QUIET	(APOGEE_USEC_PER_SEC / 2U)
/* us: PROBE_TIMER, and so often it is doubled; PMTU_RAISE_TIMER; until senders are told. */
#define SHAKE_PLPMTU_TIMER	APOGEE_USEC_PER_SEC
#define SHAKE_PLPMTU_BACKOFF	6U
#define SHAKE_PLPMTU_RAISE	(600ULL * APOGEE_USEC_PER_SEC)
#define SHAKE_PLPMTU_PATIENCE	(2U * APOGEE_USEC_PER_SEC)
/* us that a long packet may come behind a short one that left later, at least. */
#define SHAKE_PLPMTU_LATE	(APOGEE_USEC_PER_SEC / 50U)

/**
 * struct shake_plpmtu - what is known of a path
 * @around: octets that the tunnel adds
 * @base: taken to pass
 * @most: what the route takes; 0: nothing is known, all may go
 * @sure: passes, or is taken to
 * @high: longest size that is not known not to
 * @proven: @sure passed
 * @done: nothing is searched
 * @later: a search has ended with @sure, and another one looks for more
 * @asks: whether @sure still passes
 * @refuted: sizes that did not pass, in this search
 * @size: probed
 * @lost: probes of it, in a row
 * @silent: probes without any answer, in a row
 * @asked: a probe is out
 * @big: its counter
 * @small: counter of the short one behind it
 * @small_came: that was answered
 * @at: us: when the probe left, or the short one was answered; or when to go on; or since when
 *      nothing is searched
 * @since: us, when the search began
 * @sampled: it is to be seen whether a long packet comes
 * @sample: its counter
 * @misses: long ones that did not, in a row
 * @came_at: us, when one came last
 */
struct shake_plpmtu {
	u32 around;
	u32 base;
	u32 most;
	u32 sure;
	u32 high;
	bool proven;
	bool done;
	bool later;
	bool asks;
	u8 refuted;
	u32 size;
	u8 lost;
	u8 silent;
	bool asked;
	u32 big;
	u32 small;
	bool small_came;
	u64 at;
	u64 since;
	bool sampled;
	u32 sample;
	u8 misses;
	u64 came_at;
};

/* A search begins: up to @high. */
static inline void shake_plpmtu_search(struct shake_plpmtu *p, u32 high, u64 now)
{
	p->high = high;
	p->later = p->proven && (p->done || p->later);
	p->done = false;
	p->asks = false;
	p->refuted = 0;
	p->lost = 0;
	p->silent = 0;
	p->asked = false;
	p->sampled = false;
	p->misses = 0;
	p->came_at = now;
	p->at = now;
	p->since = now;
}

/* Nothing is known of a path that takes so much. */
static inline void shake_plpmtu_begin(struct shake_plpmtu *p, u32 most, u64 now)
{
	p->most = most;
	p->sure = min_t(u32, p->base, most);
	p->proven = false;
	shake_plpmtu_search(p, most, now);
}

/**
 * shake_plpmtu_route() - what the route takes, which may have changed
 * @p: the path
 * @base: BASE_PLPMTU, octets outside
 * @around: octets that the tunnel adds
 * @most: longest packet inside that the route takes; 0: not known
 * @now: time in us
 */
static inline void shake_plpmtu_route(struct shake_plpmtu *p, u32 base, u32 around, u32 most,
				      u64 now)
{
	u32 inside = base > around ? base - around : 1;

	if (!most || (most == p->most && around == p->around && inside == p->base))
		return;
	if (!p->most || around != p->around || inside != p->base) {
		p->around = around;
		p->base = inside;
		shake_plpmtu_begin(p, most, now);
	} else if (most > p->most) {	/* RFC 8899, 5.2: MAX_PLPMTU rose */
		p->most = most;
		shake_plpmtu_search(p, most, now);
	} else {
		p->most = most;
		p->sure = min(p->sure, most);
		if (most < p->high)
			shake_plpmtu_search(p, most, now);
	}
}

/**
 * shake_plpmtu_doubt() - it may no longer be as it was
 * @p: the path
 * @now: time in us
 */
static inline void shake_plpmtu_doubt(struct shake_plpmtu *p, u64 now)
{
	if (!p->asked)		/* a silent path is not silent any more */
		p->at = p->done ? p->at : now;
	if (!p->most || !p->done)
		return;
	shake_plpmtu_search(p, p->sure, now);
	p->asks = true;
}

/* The size to be probed between one that passes and one that does not. */
static inline u32 shake_plpmtu_middle(const struct shake_plpmtu *p)
{
	/* dial-up, tunnels, DSL, Ethernet */
	static const u16 usual[] = {
		1280, 1340, 1380, 1400, 1420, 1440, 1460, 1476, 1480, 1492, 1500,
	};
	u32 i, size, count = 0, first = 0;

	for (i = 0; i < ARRAY_SIZE(usual); i++) {
		size = usual[i] > p->around ? usual[i] - p->around : 0;
		if (size <= p->sure || size > p->high)
			continue;
		if (!count)
			first = i;
		count++;
	}
	if (!count)
		return p->sure + (p->high - p->sure + 1) / 2;
	return usual[first + (p->refuted == 1 ? count - 1 : count / 2)] - p->around;
}

/* The next size; 0: nothing is left to be asked. */
static inline u32 shake_plpmtu_pick(const struct shake_plpmtu *p)
{
	if (p->asks)
		return p->sure;
	if (!p->refuted && p->high > p->sure)
		return p->high;
	if (p->high >= p->sure + SHAKE_PLPMTU_STEP)
		return shake_plpmtu_middle(p);
	return p->proven || p->sure <= SHAKE_PLPMTU_LEAST ? 0 : p->sure;
}

/* A size does not pass. */
static inline void shake_plpmtu_refute(struct shake_plpmtu *p)
{
	p->lost = 0;
	p->refuted += p->refuted < 255;
	p->high = p->size - 1;
	if (p->size > p->sure)
		return;
	/* what passed does no longer; or BASE does not: 5.2, ERROR */
	p->sure = min(p->asks && p->high > p->base ? p->base : SHAKE_PLPMTU_LEAST, p->high);
	p->asks = false;
	p->proven = false;
	p->later = false;
}

/**
 * shake_plpmtu_due() - when shake_plpmtu_next() is to be called
 * @p: the path
 * @srtt: its round trip in us
 *
 * Return: us; U64_MAX: not at all.
 */
static inline u64 shake_plpmtu_due(const struct shake_plpmtu *p, u32 srtt)
{
	if (!p->most || (p->done && p->sure >= p->most))
		return ~0ULL;
	if (p->done)
		return p->at + SHAKE_PLPMTU_RAISE;
	if (!p->asked)
		return p->at;
	if (p->small_came)
		return p->at + max_t(u32, SHAKE_PLPMTU_LATE, srtt / 2);
	return p->at + max_t(u64, SHAKE_PLPMTU_TIMER, 3ULL * srtt);
}

/* A probe's time is over. Returns whether another may follow at once. */
static inline bool shake_plpmtu_expired(struct shake_plpmtu *p, u64 now)
{
	p->asked = false;
	if (!p->small_came) {
		p->at = now + ((u64)SHAKE_PLPMTU_TIMER << p->silent);
		p->silent += p->silent < SHAKE_PLPMTU_BACKOFF;
		return false;
	}
	p->silent = 0;
	if (++p->lost >= SHAKE_PLPMTU_PROBES)
		shake_plpmtu_refute(p);
	return true;
}

/**
 * shake_plpmtu_next() - what is to be sent now
 * @p: the path
 * @srtt: its round trip in us
 * @now: time in us
 *
 * Return: the size to be probed, shake_plpmtu_asked() follows; 0: none.
 */
static inline u32 shake_plpmtu_next(struct shake_plpmtu *p, u32 srtt, u64 now)
{
	u32 size;

	if (shake_plpmtu_due(p, srtt) > now)
		return 0;
	if (p->done)
		shake_plpmtu_search(p, p->most, now);
	if (p->asked && !shake_plpmtu_expired(p, now))
		return 0;
	size = p->lost ? p->size : shake_plpmtu_pick(p);
	if (!size) {
		p->done = true;
		p->at = now;
	}
	p->size = size;
	return size;
}

/**
 * shake_plpmtu_asked() - a probe leaves, and a short one behind it
 * @p: the path
 * @big: counter of the probe, low 32 bits
 * @small: of the short one
 * @now: time in us
 */
static inline void shake_plpmtu_asked(struct shake_plpmtu *p, u32 big, u32 small, u64 now)
{
	p->asked = true;
	p->small_came = false;
	p->big = big;
	p->small = small;
	p->at = now;
}

/**
 * shake_plpmtu_came() - the other end says that a probe came
 * @p: the path
 * @counter: of that probe, low 32 bits
 * @now: time in us
 */
static inline void shake_plpmtu_came(struct shake_plpmtu *p, u32 counter, u64 now)
{
	if (!p->asked)
		return;
	if (counter == p->small && !p->small_came) {
		p->small_came = true;
		p->at = now;
	}
	if (counter != p->big)
		return;
	p->asked = false;
	p->lost = 0;
	p->silent = 0;
	p->at = now;
	p->came_at = now;
	p->sure = max(p->sure, p->size);
	p->proven = true;
	p->asks = false;
	p->done = !shake_plpmtu_pick(p);
}

/**
 * shake_plpmtu_bound() - what senders may be told
 * @p: the path
 * @now: time in us
 *
 * Return: octets of the longest packet that may pass; U32_MAX: nothing is known.
 */
static inline u32 shake_plpmtu_bound(const struct shake_plpmtu *p, u64 now)
{
	if (!p->most)
		return 0xffffffffU;
	if (!p->done && !p->proven &&
	    (!p->refuted || now - p->since < SHAKE_PLPMTU_PATIENCE))
		return max(p->sure, p->high);
	return p->sure;
}

/**
 * shake_plpmtu_takes() - whether a packet of this length goes by a path if others take it, too
 * @p: the path
 * @length: octets
 *
 * Before the first probe of all is answered or lost, packets of any length do: else others would
 * carry all of them meanwhile. Of what passed before, if no probe has been lost since.
 *
 * Return: true if it does.
 */
static inline bool shake_plpmtu_takes(const struct shake_plpmtu *p, u32 length)
{
	u32 most = p->sure;

	if (p->asks && p->lost)
		most = min(p->base, most);
	else if (!p->proven && !p->refuted && !p->lost)
		most = max(most, p->high);
	return !p->most || length <= most;
}

/**
 * shake_plpmtu_is_known() - whether senders of what is longer than passes are told
 * @p: the path
 *
 * Not in the middle of the first search: they would be told of less than passes, for minutes.
 *
 * Return: true if they are.
 */
static inline bool shake_plpmtu_is_known(const struct shake_plpmtu *p)
{
	return !p->most || p->done || p->later;
}

/**
 * shake_plpmtu_cuts() - whether routers may cut a packet to pieces
 * @p: the path
 * @length: octets
 *
 * While it is not known whether it passes as it is: TCP would have to send it again.
 *
 * Return: true if they may.
 */
static inline bool shake_plpmtu_cuts(const struct shake_plpmtu *p, u32 length)
{
	if (!p->most)
		return true;
	if (p->done || (p->later && length > p->sure))
		return false;
	return length > (p->asks ? p->base : p->sure);
}

/**
 * shake_plpmtu_sent() - a packet leaves that a pseudo-ACK will tell of
 * @p: the path
 * @counter: its counter, low 32 bits
 * @length: its octets
 */
static inline void shake_plpmtu_sent(struct shake_plpmtu *p, u32 counter, u32 length)
{
	if (p->sampled || !p->done || length <= p->base)
		return;
	p->sampled = true;
	p->sample = counter;
}

/**
 * shake_plpmtu_acked() - a pseudo-ACK came
 * @p: the path
 * @echo: counter of the newest packet that it tells of, low 32 bits
 * @seen: bit i: the packet @echo - 64 + i came, or it is not known
 * @now: time in us
 *
 * Return: true if the path is to be doubted.
 */
static inline bool shake_plpmtu_acked(struct shake_plpmtu *p, u32 echo, u64 seen, u64 now)
{
	s32 behind = (s32)(echo - p->sample);

	if (!p->sampled || behind < 0)
		return false;
	p->sampled = false;
	if (behind > 64)
		return false;
	if (!behind || seen >> (64 - behind) & 1) {
		p->misses = 0;
		p->came_at = now;
	} else {
		p->misses++;
	}
	return p->misses >= SHAKE_PLPMTU_MISSES ||
	       (p->misses > 1 && now - p->came_at > SHAKE_PLPMTU_QUIET);
}

#endif /* _APOGEE_SHAKE_PLPMTU_H */
