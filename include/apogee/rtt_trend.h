/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does the RTT rise or fall over a window of packets? Gentle HighSpeed TCP uses this
 * to detect whether the queue grows (section 5.1.2), and specifies no test.
 *
 * This is the test of Pearson's correlation r between the times t and the RTTs
 * d of the n samples of one window:
 *
 *	Sxy = sum (t - mean t)(d - mean d), Sxx and Syy alike
 *	r^2 = Sxy^2 / (Sxx Syy)
 *	T^2 = r^2 (n - 2) / (1 - r^2)
 *
 * Without a trend, and with independent samples, T has Student's distribution
 * with n - 2 degrees of freedom. T beyond the critical value of the level means
 * a trend, in the direction of the sign of Sxy; the level is the probability of a
 * false alarm in each direction. T^2 > c^2 is computed as
 *
 *	r^2 > c^2 / (n - 2 + c^2)
 *
 * Successive samples of a queue are correlated, so there are more false alarms. Also,
 * not every significant trend is relevant: among 8000 samples, one of a fifteenth of the
 * noise's standard deviation is significant. rtt_trend_change_us() gives the size of
 * the trend, Sxy / Sxx times the length of the window.
 *
 * The computation takes one pass over the samples, with integers:
 *
 *  - t and d are relative to the first sample. That one is part of the sums, as
 *    zeros, so the largest distance M from it is a lower bound of the spread: Sxx is
 *    at least M^2 / 2 and cannot vanish beside the sum of t^2 by cancellation.
 *  - They are summed in units of 1/256 us. When M would exceed 2^21 units, the unit
 *    doubles and the sums shrink. So the largest sum, of 2^20 squares, is at most
 *    2^62, and the unit at most M / 2^20. Rounding to a unit turns each of the vectors
 *    by an angle of at most 2^-20 sqrt(n / 2), with one outlier of size M and all
 *    other values within a unit, so T changes by less than 2^-19 n, and by far less
 *    if the spread is of the order of M.
 *  - A sum about the means is the sum about zero minus n times the product of the
 *    means; divided with remainder, no product exceeds 2^62.
 *  - For r^2 the 31 or 32 leading bits of Sxx and of Syy are used.
 *
 * So T agrees with exact arithmetic within a thousandth, and the 2^-19 n above.
 * The critical value is interpolated above 32 samples, within 0.3 %, and within
 * 0.04 % at the level of 5 %. Divisions are only done for a result, not per sample;
 * they are 64 by 32 bits, except one of 64 by 64.
 *
 * Ranges: windows of up to 2^31 us and 2^20 samples, later samples are ignored; RTTs
 * to 10 s, larger ones are clamped.
 */
#ifndef _APOGEE_RTT_TREND_H
#define _APOGEE_RTT_TREND_H

#include "rtt_trend_table.h"

/* With fewer samples the level depends on the distribution of the noise. */
#define RTT_TREND_SAMPLES_MIN	(RTT_TREND_DF_FIRST + 2U)
#define RTT_TREND_SAMPLES_MAX	(1U << 20)
#define RTT_TREND_SPAN_MAX_US	(1U << 31)
/* RTTs above 10 s are clamped. */
#define RTT_TREND_RTT_MAX_US	(10U * APOGEE_USEC_PER_SEC)
/* Samples are summed in units of at least 1/256 us ... */
#define RTT_TREND_UNIT_SHIFT	8
/* ... and large enough that this is the largest value. */
#define RTT_TREND_UNITS_MAX	(1U << 21)
/* So often a unit doubles at most: 2^31 us are 2^21 times 2^18 units. */
#define RTT_TREND_SHIFTS	18U
/* r^2 is in 2^-40. */
#define RTT_TREND_R2_SHIFT	40
/* The table's unit is 2^-16. */
#define RTT_TREND_T2_SHIFT	16

/* Probability of a false alarm in one direction, with independent samples. */
enum rtt_trend_level {
	RTT_TREND_10_PERCENT,
	RTT_TREND_5_PERCENT,
	RTT_TREND_1_PERCENT,
	RTT_TREND_TENTH_PERCENT,
};

enum rtt_trend_verdict {
	RTT_TREND_NONE,
	RTT_TREND_RISING,
	RTT_TREND_FALLING,
};

/**
 * struct rtt_trend - samples of one window, zeroed before the first
 * @sum_t: sum of t, in time units
 * @sum_d: sum of d, in RTT units
 * @sum_tt: sum of t^2
 * @sum_td: sum of t d
 * @sum_dd: sum of d^2
 * @first_us: time of the first sample, in us, modulo 2^32
 * @first_rtt_us: RTT of the first sample in us
 * @n: number of samples, up to 2^20
 * @t_shift: a time unit is 2^(@t_shift - 8) us
 * @d_shift: an RTT unit is 2^(@d_shift - 8) us
 */
struct rtt_trend {
	s64 sum_t;
	s64 sum_d;
	s64 sum_tt;
	s64 sum_td;
	s64 sum_dd;
	u32 first_us;
	u32 first_rtt_us;
	u32 n;
	u8 t_shift;
	u8 d_shift;
};

/* us in units, rounded to the nearest */
static inline u64 rtt_trend_units(u32 us, u8 shift)
{
	u64 fine = (u64)us << RTT_TREND_UNIT_SHIFT;

	return (fine + ((1ULL << shift) >> 1)) >> shift;
}

/* Enlarge the time unit until the time fits; returns the time in it. */
static inline s64 rtt_trend_time(struct rtt_trend *w, u32 t_us)
{
	u64 t = rtt_trend_units(t_us, w->t_shift);
	u32 i;

	for (i = 0; i < RTT_TREND_SHIFTS && t > RTT_TREND_UNITS_MAX; i++) {
		w->t_shift++;
		w->sum_t >>= 1;
		w->sum_tt >>= 2;
		w->sum_td >>= 1;
		t = rtt_trend_units(t_us, w->t_shift);
	}
	return (s64)t;
}

/* The same for the RTT unit and the distance from the first RTT. */
static inline s64 rtt_trend_distance(struct rtt_trend *w, u32 d_us)
{
	u64 d = rtt_trend_units(d_us, w->d_shift);
	u32 i;

	for (i = 0; i < RTT_TREND_SHIFTS && d > RTT_TREND_UNITS_MAX; i++) {
		w->d_shift++;
		w->sum_d >>= 1;
		w->sum_dd >>= 2;
		w->sum_td >>= 1;
		d = rtt_trend_units(d_us, w->d_shift);
	}
	return (s64)d;
}

/**
 * rtt_trend_sample() - add one RTT sample
 * @w: the window
 * @now_us: time of the sample, in us, modulo 2^32
 * @rtt_us: its RTT in us
 *
 * A sample before the first one, or 2^31 us or more after it, is dropped.
 */
static inline void rtt_trend_sample(struct rtt_trend *w, u32 now_us, u32 rtt_us)
{
	u32 t_us, d_us;
	s64 t, d;

	rtt_us = min_t(u32, rtt_us, RTT_TREND_RTT_MAX_US);
	if (!w->n) {
		w->first_us = now_us;
		w->first_rtt_us = rtt_us;
	}
	t_us = now_us - w->first_us;
	if (t_us >= RTT_TREND_SPAN_MAX_US || w->n >= RTT_TREND_SAMPLES_MAX)
		return;

	d_us = rtt_us < w->first_rtt_us ? w->first_rtt_us - rtt_us :
					  rtt_us - w->first_rtt_us;
	t = rtt_trend_time(w, t_us);
	d = rtt_trend_distance(w, d_us);
	if (rtt_us < w->first_rtt_us)
		d = -d;

	w->n++;
	w->sum_t += t;
	w->sum_d += d;
	w->sum_tt += t * t;
	w->sum_td += t * d;
	w->sum_dd += d * d;
}

/* The sum of (x - mean x)(y - mean y), from the sums of x y, x and y. With
 * x = n qx + rx, and y alike, x y / n is qx y + rx qy + rx ry / n.
 */
static inline s64 rtt_trend_about_means(s64 xy, s64 x, s64 y, u32 n)
{
	s64 qx = div_s64(x, (s32)n);
	s64 qy = div_s64(y, (s32)n);
	s64 rx = x - qx * n;
	s64 ry = y - qy * n;

	return xy - qx * y - rx * qy - div_s64(rx * ry, (s32)n);
}

static inline u64 rtt_trend_abs(s64 value)
{
	return value < 0 ? -(u64)value : (u64)value;
}

/* value * 2^-shift, for either sign of shift */
static inline u64 rtt_trend_shifted(u64 value, int shift)
{
	return shift < 0 ? value << -shift : value >> shift;
}

/* r^2 in 2^-40. Sxx and Syy are each scaled to 2^30 .. 2^32 by an even number of
 * bits, Sxy by the mean of both, so that |Sxy| / Sxx and |Sxy| / Syy are below 2 and
 * their product is r^2.
 */
static inline u64 rtt_trend_r2(u64 sxx, u64 syy, u64 sxy)
{
	int x = (fls64(sxx) - 31) & ~1;
	int y = (fls64(syy) - 31) & ~1;
	u64 c = rtt_trend_shifted(sxy, (x + y) >> 1) << 31;
	u64 slope = div_u64(c, (u32)rtt_trend_shifted(sxx, x));
	u64 inverse = div_u64(c, (u32)rtt_trend_shifted(syy, y));

	return (slope * inverse) >> (62 - RTT_TREND_R2_SHIFT);
}

/* Critical t^2 in 2^-16; nearly linear in 1 / df beyond the end of the table. Neither
 * argument reaches beyond the table, whatever it is.
 */
static inline u32 rtt_trend_critical_t2(enum rtt_trend_level level, u32 df)
{
	const u32 *t2 = rtt_trend_t2[min_t(u32, level, RTT_TREND_TENTH_PERCENT)];
	u32 last = t2[RTT_TREND_DF_LAST - RTT_TREND_DF_FIRST];
	u32 limit = t2[RTT_TREND_DF_LAST - RTT_TREND_DF_FIRST + 1];
	u32 row = max_t(u32, df, RTT_TREND_DF_FIRST) - RTT_TREND_DF_FIRST;

	if (row <= RTT_TREND_DF_LAST - RTT_TREND_DF_FIRST)
		return t2[row];
	return limit + (last - limit) * RTT_TREND_DF_LAST / df;
}

/* Critical r^2 in 2^-40. */
static inline u64 rtt_trend_critical_r2(enum rtt_trend_level level, u32 df)
{
	u64 t2 = rtt_trend_critical_t2(level, df);

	return div64_u64(t2 << RTT_TREND_R2_SHIFT,
			 ((u64)df << RTT_TREND_T2_SHIFT) + t2);
}

/**
 * rtt_trend_verdict() - does the RTT rise or fall? (section 5.1.2)
 * @w: the window
 * @level: probability of a false alarm in one direction
 *
 * Return: RTT_TREND_RISING or RTT_TREND_FALLING if that is significant;
 * RTT_TREND_NONE if not, with fewer than 8 samples, or if all have the same time or
 * the same RTT.
 */
static inline enum rtt_trend_verdict
rtt_trend_verdict(const struct rtt_trend *w, enum rtt_trend_level level)
{
	s64 sxx, syy, sxy;

	if (w->n < RTT_TREND_SAMPLES_MIN)
		return RTT_TREND_NONE;
	sxx = rtt_trend_about_means(w->sum_tt, w->sum_t, w->sum_t, w->n);
	syy = rtt_trend_about_means(w->sum_dd, w->sum_d, w->sum_d, w->n);
	sxy = rtt_trend_about_means(w->sum_td, w->sum_t, w->sum_d, w->n);
	if (!sxx || !syy)
		return RTT_TREND_NONE;
	if (rtt_trend_r2((u64)sxx, (u64)syy, rtt_trend_abs(sxy)) <=
	    rtt_trend_critical_r2(level, w->n - 2))
		return RTT_TREND_NONE;
	return sxy > 0 ? RTT_TREND_RISING : RTT_TREND_FALLING;
}

/**
 * rtt_trend_change_us() - change of the RTT by the fitted line
 * @w: the window
 * @now_us: time of its last sample, in us, modulo 2^32; a later time extrapolates the
 *	line, up to 2^21 time units
 *
 * The slope Sxy / Sxx times the time since the first sample, whether it is
 * significant or not.
 *
 * Return: the change in us, at most 2^31 - 1 either way, negative if the RTT
 * fell; 0 if all samples have the same time.
 */
static inline s32 rtt_trend_change_us(const struct rtt_trend *w, u32 now_us)
{
	u64 c, units, span;
	s64 sxx, sxy;
	int shift;
	s32 us;

	if (!w->n)
		return 0;
	sxx = rtt_trend_about_means(w->sum_tt, w->sum_t, w->sum_t, w->n);
	sxy = rtt_trend_about_means(w->sum_td, w->sum_t, w->sum_d, w->n);
	if (!sxx)
		return 0;

	/* At most 31 bits for Sxx, 42 for Sxy, and 22 for the span. Sxx keeps 20 bits or
	 * more, as Sxy^2 is at most Sxx Syy; sums that no samples have may leave none.
	 */
	c = rtt_trend_abs(sxy);
	shift = max_t(int, fls64((u64)sxx) - 31, fls64(c) - 42);
	span = rtt_trend_units(now_us - w->first_us, w->t_shift);
	span = min_t(u64, span, RTT_TREND_UNITS_MAX);
	units = div_u64(rtt_trend_shifted(c, shift) * span,
			max_t(u32, (u32)rtt_trend_shifted((u64)sxx, shift), 1));
	units <<= w->d_shift;
	units += (1U << RTT_TREND_UNIT_SHIFT) / 2;
	us = (s32)min_t(u64, units >> RTT_TREND_UNIT_SHIFT, S32_MAX);
	return sxy < 0 ? -us : us;
}

#endif /* _APOGEE_RTT_TREND_H */
