/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compound TCP and Compound TCP+: the two windows, and their changes per round trip.
 *
 *	swnd = cwnd + dwnd	send window
 *	cwnd			loss window: as in Reno, but 1/swnd per segment
 *	dwnd			delay window: grows with swnd^k while few packets
 *				are queued, shrinks while many are
 *
 * Diff is the number of queued packets, from the RTT of a round trip and baseRTT, the
 * RTT of the empty path. Compound TCP+ interprets dwnd = 0 as mild congestion: the
 * loss window then does not grow, and one of three rules changes it per round trip.
 *
 * Diff depends on the accuracy of baseRTT. A flow that joins late mistakes the standing
 * queue for path delay, takes more than its share and maintains a queue that it cannot
 * detect. So Compound TCP+ dips: flows that have not measured baseRTT for some time
 * reduce their windows together, when the clock reaches a multiple of a period, or when
 * the RTT falls because other flows dip; the queue drains, and all flows measure the
 * same baseRTT. The first periods are shorter, since a new flow knows least. Their
 * offset depends on the next hop, so that unrelated networks do not dip at the same
 * time.
 *
 * Windows and Diff are in 1/256 segment (COMPOUND_SEGMENT), for decrements of half a
 * segment and increments of less than one. The window to be sent is rounded up to whole
 * segments. alpha, beta, k and zeta are in permille.
 */
#ifndef _APOGEE_COMPOUND_H
#define _APOGEE_COMPOUND_H

#include "int.h"

/* One segment. */
#define COMPOUND_SEGMENT	256U

/* No rule reduces the loss window below this, in segments. */
#define COMPOUND_CWND_MIN	2U

/* Round trips of a dip. Three with half the window: the RTTs of the first are of packets
 * sent before the dip, those of the second of packets sent when other flows had only
 * begun to dip, so with a queue the third shows whether they do. Then two with a part of
 * what fills the path: in one the queue drains, and the other measures the empty path.
 */
#define COMPOUND_DIP_ROUNDS	5
#define COMPOUND_DIP_DEEP	2

/* In these two the window is this part of what fills the path. */
#define COMPOUND_DIP_PART	4

/* The window of a dip is at least RFC 6928's initial window: with ACK losses a smaller
 * one may lose all its ACKs, and wait for a timeout.
 */
#define COMPOUND_DIP_LEAST	10U

/* The first period is halved this often; each dip without a new baseRTT doubles it. */
#define COMPOUND_HALVED		3

/* After this many consecutive dips without baseRTT the path is taken as changed. */
#define COMPOUND_DIPS_UNSEEN	4

/* Rules for the loss window while dwnd = 0 (section 3; equation numbers). */
enum compound_rule {
	COMPOUND_PLAIN = 0,	/* none: Compound TCP */
	COMPOUND_TWO_THIRDS = 2,
	COMPOUND_HALF_LESS = 3,
	COMPOUND_HOLD = 4,
};

/**
 * struct compound_rules - parameters
 * @gamma: Diff from which the path is congested, in segments
 * @alpha: factor of the delay window's increase, in permille
 * @beta: decrease of swnd at a loss, in permille, at most 1000
 * @k: exponent of the delay window's increase, in permille, at most 1000
 * @zeta: part of Diff by which the delay window shrinks, in permille
 * @excess: part of Diff - gamma by which the loss window shrinks, in addition to @rule,
 *	in permille; as published: 0
 * @rule: rule for the loss window
 * @letter: @rule applies while dwnd = 0, whatever Diff is, as published
 */
struct compound_rules {
	u32 gamma;
	u32 alpha;
	u32 beta;
	u32 k;
	u32 zeta;
	u32 excess;
	enum compound_rule rule;
	bool letter;
};

/**
 * struct compound_windows - both windows, in 1/256 segment, below 2^41
 * @cwnd: loss window
 * @dwnd: delay window, 0 in slow start
 */
struct compound_windows {
	u64 cwnd;
	u64 dwnd;
};

/**
 * struct compound_base - RTT of the empty path
 * @rtt_us: baseRTT in us, 0 if unknown
 * @mean_us: moving average of the round trips' RTTs in us, 0 if none
 * @before_us: RTT before the current dip in us
 * @least_us: minimum RTT of the dips since baseRTT was last measured, in us, 0 if
 *	none
 * @seen_ms: when baseRTT was last measured or a dip ended, in ms, modulo 2^32
 * @period_ms: start of the period in which the last round trip ended, in ms, modulo
 *	2^32
 * @rounds: remaining round trips of the current dip, 0 if none
 * @unseen: consecutive dips that have not measured baseRTT
 * @doubled: number of times the period was doubled, up to COMPOUND_HALVED
 * @sure: a whole dip has ended near baseRTT, and none has found less than 8/9 of it
 *	since
 */
struct compound_base {
	u32 rtt_us;
	u32 mean_us;
	u32 before_us;
	u32 least_us;
	u32 seen_ms;
	u32 period_ms;
	u8 rounds;
	u8 unseen;
	u8 doubled;
	bool sure;
};

/**
 * compound_base_near() - is an RTT near that of the empty path?
 * @base: RTT of the empty path
 * @rtt_us: RTT in us
 *
 * Return: true if it is at most an eighth above baseRTT.
 */
static inline bool compound_base_near(const struct compound_base *base,
				      u32 rtt_us)
{
	return (u64)rtt_us * 8 <= (u64)base->rtt_us * 9;
}

/**
 * compound_base_update() - update baseRTT, once per round trip (section 2.1)
 * @base: RTT of the empty path
 * @rtt_us: minimum RTT of the round trip in us, not 0
 * @now_ms: current time in ms, modulo 2^32
 *
 * baseRTT is the minimum RTT of the connection, unless dips replace it.
 */
static inline void compound_base_update(struct compound_base *base, u32 rtt_us,
					u32 now_ms)
{
	if (!base->rtt_us || rtt_us < base->rtt_us)
		base->rtt_us = rtt_us;
	if (!compound_base_near(base, rtt_us))
		return;
	base->seen_ms = now_ms;
	base->least_us = 0;
	base->unseen = 0;
}

/**
 * compound_period_ms() - period of the dips
 * @base: RTT of the empty path
 * @longest_ms: longest period in ms
 *
 * Return: the period in ms, at least 1.
 */
static inline u32 compound_period_ms(const struct compound_base *base,
				     u32 longest_ms)
{
	return max(longest_ms >> (COMPOUND_HALVED - base->doubled), 1U);
}

/**
 * compound_phase_ms() - offset of the periods
 * @address: link address of the next hop, its last eight bytes; 0 if it has none
 *
 * A multiplicative hash by the golden ratio (Knuth, volume 3, section 6.4).
 *
 * Return: ms, the same for all flows behind a next hop; 0 without one.
 */
static inline u32 compound_phase_ms(u64 address)
{
	return (u32)(address * 0x9e3779b97f4a7c15ULL >> 32);
}

/**
 * compound_period_start_ms() - start of the current period
 * @now_ms: time of the clock that hosts share, in ms
 * @phase_ms: compound_phase_ms()
 * @length_ms: length of a period in ms, not 0
 *
 * Periods start @phase_ms before the multiples of their length. Longer periods are
 * multiples of the shorter ones, so a start of the longest is one of all.
 *
 * Return: ms of that clock, modulo 2^32.
 */
static inline u32 compound_period_start_ms(u64 now_ms, u32 phase_ms,
					   u32 length_ms)
{
	u64 shifted = now_ms + phase_ms;

	return (u32)(div_u64(shifted, length_ms) * length_ms - phase_ms);
}

/**
 * compound_period_begins() - has a new period begun since the last round trip?
 * @base: RTT of the empty path
 * @period_ms: start of the current period by the clock that hosts share, modulo
 *	2^32
 *
 * Called once per round trip. A period that was doubled has started earlier; this does
 * not count.
 *
 * Return: true if a new period has begun.
 */
static inline bool compound_period_begins(struct compound_base *base,
					  u32 period_ms)
{
	bool begins = (s32)(period_ms - base->period_ms) > 0;

	base->period_ms = period_ms;
	return begins;
}

/**
 * compound_dip_due() - is it time for a dip?
 * @base: RTT of the empty path
 * @rtt_us: minimum RTT of the round trip in us
 * @now_ms: current time in ms, modulo 2^32
 * @length_ms: length of a period in ms
 * @begins: a period has begun
 *
 * If baseRTT has not been measured for three tenths of a period: at the start of a new
 * period, or if the RTT is 5 % below its moving average, since other flows dip. A flow
 * that has not yet confirmed baseRTT follows other flows in any case.
 *
 * Return: true if a dip should begin.
 */
static inline bool compound_dip_due(struct compound_base *base, u32 rtt_us,
				    u32 now_ms, u32 length_ms, bool begins)
{
	bool missed = (u64)(now_ms - base->seen_ms) * 10 >= (u64)length_ms * 3;
	bool learns = !base->sure && base->doubled < COMPOUND_HALVED;

	base->mean_us = base->mean_us ? base->mean_us - base->mean_us / 4 +
					rtt_us / 4 : rtt_us;
	if (missed && begins)
		return true;
	return (missed || learns) &&
	       (u64)rtt_us * 20 < (u64)base->mean_us * 19;
}

/**
 * compound_dip_window() - the window of a dip's next round trip
 * @base: RTT of the empty path, in a dip
 * @swnd: send window before the dip, in segments
 *
 * Return: first half of @swnd, then a quarter of what fills the path by baseRTT,
 * swnd baseRTT / RTT; in segments, at least 10, but not above @swnd.
 */
static inline u32 compound_dip_window(const struct compound_base *base, u32 swnd)
{
	u32 rtt_us = max3(base->before_us, base->rtt_us, 1U);
	u32 fills = (u32)div_u64((u64)swnd * base->rtt_us, rtt_us);
	u32 next = swnd / 2;

	if (base->rounds <= COMPOUND_DIP_DEEP)
		next = min(next, fills / COMPOUND_DIP_PART);
	return min(swnd, max(next, COMPOUND_DIP_LEAST));
}

/**
 * compound_dip_begin() - the window of a dip's first round trip
 * @base: RTT of the empty path
 * @swnd: send window in segments
 * @rtt_us: minimum RTT of the last round trip in us
 *
 * Return: as compound_dip_window().
 */
static inline u32 compound_dip_begin(struct compound_base *base, u32 swnd,
				     u32 rtt_us)
{
	base->before_us = rtt_us;
	base->rounds = COMPOUND_DIP_ROUNDS;
	return compound_dip_window(base, swnd);
}

/**
 * compound_dip_end() - end a dip, after its round trips or at a loss
 * @base: RTT of the empty path
 * @now_ms: current time in ms, modulo 2^32
 */
static inline void compound_dip_end(struct compound_base *base, u32 now_ms)
{
	base->rounds = 0;
	base->seen_ms = now_ms;
	base->mean_us = 0;
}

/**
 * compound_dip_left() - remaining round trips of a dip at the end of one of them
 * @base: RTT of the empty path, in a dip
 * @rtt_us: minimum RTT of the round trip in us, not 0
 *
 * Half the window suffices if the RTT is near baseRTT and a previous whole dip has
 * confirmed that. A flow that dips alone changes little, and only loses its share: if
 * half the window does not reduce the RTT by an eighth, the dip ends.
 *
 * Return: round trips, 0 if the dip has ended.
 */
static inline u8 compound_dip_left(const struct compound_base *base, u32 rtt_us)
{
	u8 left = base->rounds - 1;

	if (left < COMPOUND_DIP_DEEP)
		return left;
	if (base->sure && compound_base_near(base, rtt_us))
		return 0;
	if ((u64)rtt_us * 8 <= (u64)base->before_us * 7)
		return COMPOUND_DIP_DEEP;
	return left > COMPOUND_DIP_DEEP ? left : 0;
}

/**
 * compound_dip_learn() - update baseRTT with the RTT of a dip's round trip
 * @base: RTT of the empty path, in a dip
 * @rtt_us: minimum RTT of the round trip in us, not 0
 * @now_ms: current time in ms, modulo 2^32
 */
static inline void compound_dip_learn(struct compound_base *base, u32 rtt_us,
				      u32 now_ms)
{
	if ((u64)rtt_us * 9 < (u64)base->rtt_us * 8) {
		base->doubled = 0;
		base->sure = false;
	}
	compound_base_update(base, rtt_us, now_ms);
	if (!compound_base_near(base, rtt_us) &&
	    (!base->least_us || rtt_us < base->least_us))
		base->least_us = rtt_us;
	if (base->rounds == 1)
		base->sure = compound_base_near(base, rtt_us);
}

/**
 * compound_dip_round() - process the end of a dip's round trip
 * @base: RTT of the empty path, in a dip
 * @rtt_us: minimum RTT of the round trip in us, not 0
 * @now_ms: current time in ms, modulo 2^32
 *
 * If COMPOUND_DIPS_UNSEEN consecutive dips have not measured baseRTT, the path has
 * become longer, or other flows never let the queue drain: the minimum RTT of these
 * dips becomes baseRTT.
 *
 * Return: true if the dip has ended.
 */
static inline bool compound_dip_round(struct compound_base *base, u32 rtt_us,
				      u32 now_ms)
{
	compound_dip_learn(base, rtt_us, now_ms);
	base->rounds = compound_dip_left(base, rtt_us);
	if (base->rounds)
		return false;
	compound_dip_end(base, now_ms);
	base->doubled = min(base->doubled + 1, COMPOUND_HALVED);
	if (!base->least_us || ++base->unseen < COMPOUND_DIPS_UNSEEN)
		return true;
	base->rtt_us = base->least_us;
	base->least_us = 0;
	base->unseen = 0;
	base->sure = false;
	return true;
}

/**
 * compound_log2() - binary logarithm
 * @x: at least 1
 *
 * Each squaring of x gives one bit of the result, as x^2 >= 2 means log2 x >= 1/2.
 *
 * Return: log2 x in 1/2^24, never too large, and too small by less than 2 units;
 * exact for powers of two.
 */
static inline u32 compound_log2(u32 x)
{
	u32 log = fls64(x) - 1;
	u64 m = (u64)x << (31 - log);
	int bit;

	for (bit = 0; bit < 24; bit++) {
		m = m * m >> 31;
		log <<= 1;
		if (m > U32_MAX) {
			m >>= 1;
			log |= 1;
		}
	}
	return log;
}

/**
 * compound_exp2() - power of two
 * @x: exponent in 1/2^24, below 33 * 2^24
 *
 * Return: 2^x in 1/256, rounded down from a product that is never too large, and too
 * small by less than 2^-25 of itself; exact for whole exponents.
 */
static inline u64 compound_exp2(u32 x)
{
	/* 2^(1/2), 2^(1/4), ... 2^(1/2^24), in 1/2^31, rounded down. */
	static const u32 roots[] = {
		0xb504f333, 0x9837f051, 0x8b95c1e3, 0x85aac367,
		0x82cd8698, 0x8164d1f3, 0x80b1ed4f, 0x8058d7d2,
		0x802c6436, 0x8016302f, 0x800b179c, 0x80058baf,
		0x8002c5d0, 0x800162e6, 0x8000b172, 0x800058b9,
		0x80002c5c, 0x8000162e, 0x80000b17, 0x8000058b,
		0x800002c5, 0x80000162, 0x800000b1, 0x80000058,
	};
	int shift = (int)(x >> 24) + 8 - 31;
	u64 m = 1ULL << 31;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		if (x & (1U << (23 - i)))
			m = m * roots[i] >> 31;
	}
	return shift < 0 ? m >> -shift : m << shift;
}

/**
 * compound_power() - swnd^k
 * @swnd: segments
 * @k: permille, at most 1000
 *
 * Return: in 1/256 segment, rounded down from a value that is never too large, and too
 * small by less than 2^-22 of itself. Exact if both swnd and swnd^k are powers of two.
 */
static inline u64 compound_power(u32 swnd, u32 k)
{
	if (!swnd)
		return 0;
	return compound_exp2((u32)div_u64((u64)compound_log2(swnd) * k, 1000));
}

/**
 * compound_increase() - increase of the delay window per round trip
 *	(section 2.1)
 * @swnd: segments
 * @alpha: permille
 * @k: permille, at most 1000
 *
 * Return: (alpha swnd^k - 1)+, in 1/256 segment.
 */
static inline u64 compound_increase(u32 swnd, u32 alpha, u32 k)
{
	u64 grown = div_u64(compound_power(swnd, k) * alpha, 1000);

	return grown > COMPOUND_SEGMENT ? grown - COMPOUND_SEGMENT : 0;
}

/**
 * compound_diff() - number of queued packets (equation 1)
 * @swnd: window with which the RTT was measured, in segments
 * @base_rtt_us: baseRTT in us
 * @rtt_us: RTT in us
 *
 * (swnd / baseRTT - swnd / RTT) baseRTT = swnd (RTT - baseRTT) / RTT.
 *
 * Return: Diff in 1/256 segment, rounded down; 0 unless RTT is above baseRTT.
 */
static inline u64 compound_diff(u32 swnd, u32 base_rtt_us, u32 rtt_us)
{
	u64 product, whole;

	if (rtt_us <= base_rtt_us)
		return 0;
	product = (u64)swnd * (rtt_us - base_rtt_us);
	whole = div_u64(product, rtt_us);
	return whole * COMPOUND_SEGMENT +
	       div_u64((product - whole * rtt_us) * COMPOUND_SEGMENT, rtt_us);
}

/**
 * compound_crowded() - is Diff >= gamma?
 * @rules: parameters
 * @diff: Diff in 1/256 segment
 *
 * Return: true if the delay shows congestion.
 */
static inline bool compound_crowded(const struct compound_rules *rules, u64 diff)
{
	return diff >= (u64)rules->gamma * COMPOUND_SEGMENT;
}

/**
 * compound_delay_window() - the delay window after a round trip (section 2.1)
 * @rules: parameters
 * @dwnd: delay window in 1/256 segment
 * @swnd: send window in segments
 * @diff: Diff in 1/256 segment
 * @may_grow: the flow is limited by its window
 *
 * dwnd + (alpha swnd^k - 1)+ if Diff < gamma, else (dwnd - zeta Diff)+.
 *
 * Return: delay window in 1/256 segment.
 */
static inline u64 compound_delay_window(const struct compound_rules *rules,
					u64 dwnd, u32 swnd, u64 diff,
					bool may_grow)
{
	u64 less;

	if (!compound_crowded(rules, diff))
		return may_grow ? dwnd + compound_increase(swnd, rules->alpha,
							   rules->k) : dwnd;
	less = div_u64(diff * rules->zeta, 1000);
	return dwnd > less ? dwnd - less : 0;
}

/**
 * compound_held() - does Compound TCP+ hold the loss window? (section 3)
 * @rules: parameters
 * @dwnd: delay window in 1/256 segment
 * @diff: Diff of the last round trip in 1/256 segment
 *
 * As published, while dwnd = 0. But (alpha swnd^k - 1)+ is 0 up to a window of 16
 * segments, so a flow that small would shrink for ever, even on an empty path: unless
 * @rules->letter is set, only while Diff >= gamma, too.
 *
 * Return: true if the loss window must not grow, and @rules->rule applies once per
 * round trip.
 */
static inline bool compound_held(const struct compound_rules *rules, u64 dwnd,
				 u64 diff)
{
	if (rules->rule == COMPOUND_PLAIN || dwnd)
		return false;
	return rules->letter || compound_crowded(rules, diff);
}

/**
 * compound_loss_window() - the loss window after a round trip with dwnd = 0
 *	(equations 2 to 4)
 * @rules: parameters
 * @cwnd: loss window in 1/256 segment
 * @diff: Diff in 1/256 segment
 *
 * As published (3) never reduces a whole window, although the text says that the
 * window falls by half a segment per round trip. So the window has a fraction, and only
 * the window to be sent is rounded up. If Diff is far above gamma, half a segment per
 * round trip takes minutes, so @excess of Diff - gamma is subtracted as well.
 *
 * Return: loss window in 1/256 segment; not below 2 segments, unless it was.
 */
static inline u64 compound_loss_window(const struct compound_rules *rules,
				       u64 cwnd, u64 diff)
{
	const u64 gamma = (u64)rules->gamma * COMPOUND_SEGMENT;
	const u32 low = COMPOUND_CWND_MIN * COMPOUND_SEGMENT;
	u64 less = 0;

	if (cwnd <= low)
		return cwnd;
	if (rules->rule == COMPOUND_TWO_THIRDS)
		less = cwnd - div_u64(cwnd * 2 + 3 * COMPOUND_SEGMENT - 1,
				      3 * COMPOUND_SEGMENT) * COMPOUND_SEGMENT;
	else if (rules->rule == COMPOUND_HALF_LESS)
		less = COMPOUND_SEGMENT / 2;
	if (diff > gamma)
		less += div_u64((diff - gamma) * rules->excess, 1000);
	return cwnd > low + less ? cwnd - less : low;
}

/**
 * compound_fitted() - the window that leaves gamma packets queued
 * @rules: parameters
 * @swnd: window with which Diff was measured, in segments
 * @diff: Diff in 1/256 segment, clamped to @swnd
 *
 * Return: swnd - Diff + gamma in segments, rounded down, at least 2.
 */
static inline u32 compound_fitted(const struct compound_rules *rules, u32 swnd,
				  u64 diff)
{
	u64 all = (u64)swnd * COMPOUND_SEGMENT;
	u64 fits = all - min(all, diff);
	u64 fitted = div_u64(fits, COMPOUND_SEGMENT) + rules->gamma;

	return (u32)clamp_t(u64, fitted, COMPOUND_CWND_MIN, S32_MAX);
}

/**
 * compound_sent() - window for the stack to send by (section 2.1)
 * @windows: both windows
 *
 * Return: swnd = cwnd + dwnd in segments, rounded up, at most 2^31 - 1.
 */
static inline u32 compound_sent(const struct compound_windows *windows)
{
	u64 swnd = windows->cwnd + windows->dwnd + COMPOUND_SEGMENT - 1;

	return (u32)min_t(u64, div_u64(swnd, COMPOUND_SEGMENT), S32_MAX);
}

/**
 * compound_follow() - take over a window that the stack has set
 * @windows: both windows, whose sum, at most 2^31 - 1 segments, becomes @swnd
 * @swnd: the stack's window in segments, 1 to 2^31 - 1
 *
 * Growth belongs to the loss window. A reduction (idle flows) is taken from the delay
 * window first, since this is what exceeds Reno's share.
 */
static inline void compound_follow(struct compound_windows *windows, u32 swnd)
{
	u32 sent = compound_sent(windows);
	u64 less;

	if (swnd >= sent) {
		windows->cwnd += (u64)(swnd - sent) * COMPOUND_SEGMENT;
		return;
	}
	less = (u64)(sent - swnd) * COMPOUND_SEGMENT;
	if (less <= windows->dwnd) {
		windows->dwnd -= less;
		return;
	}
	windows->cwnd -= less - windows->dwnd;
	windows->dwnd = 0;
}

/**
 * compound_loss() - both windows after duplicate ACKs (section 2.1)
 * @windows: both windows
 * @beta: permille, at most 1000
 *
 * cwnd / 2 and (swnd (1 - beta) - cwnd / 2)+: cwnd / 2 and swnd (1 - beta) are
 * each rounded down to whole segments, as Reno does; cwnd is at least 2.
 */
static inline void compound_loss(struct compound_windows *windows, u32 beta)
{
	u64 swnd = windows->cwnd + windows->dwnd;
	u64 left = div_u64(swnd * (1000 - beta), 1000 * COMPOUND_SEGMENT);
	u64 half = max_t(u64, div_u64(windows->cwnd, 2 * COMPOUND_SEGMENT),
			 COMPOUND_CWND_MIN);

	windows->cwnd = half * COMPOUND_SEGMENT;
	windows->dwnd = left > half ? (left - half) * COMPOUND_SEGMENT : 0;
}

/**
 * compound_loss_once() - both windows after duplicate ACKs for a flight sent with a
 *	window that has been reduced since
 * @windows: both windows, as they are now
 * @swnd: window with which the flight was sent, in segments, 1 to 2^31 - 1
 * @beta: permille, at most 1000
 *
 * There is only one reduction per flight: the result is at most what compound_loss()
 * leaves of @swnd.
 */
static inline void compound_loss_once(struct compound_windows *windows, u32 swnd,
				      u32 beta)
{
	struct compound_windows then = { .cwnd = (u64)swnd * COMPOUND_SEGMENT };

	compound_loss(&then, beta);
	if (compound_sent(&then) < compound_sent(windows))
		compound_follow(windows, compound_sent(&then));
}

#endif /* _APOGEE_COMPOUND_H */
