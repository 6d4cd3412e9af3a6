/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HighSpeed TCP (RFC 3649): the increase of a window per round trip, a(w), and its
 * decrease at a loss, b(w).
 *
 * Up to W_low they are Reno's: one segment, and half. Above,
 *
 *	x(w) = (log w - log W_low) / (log W_high - log W_low)
 *	b(w) = (b_high - 0.5) x(w) + 0.5
 *	p(w) = exp(x(w) (log P_high - log P_low) + log P_low)
 *	a(w) = 2 w^2 b(w) p(w) / (2 - b(w))
 *
 * with W_high = 83000, P_high = 1e-7, b_high = 0.1. There are two tables:
 *
 *  - RFC 3649, Appendix B: W_low = 38 and p(w) = 0.078 / w^1.2.
 *  - the Gentle HighSpeed TCP paper's own: W_low = 31, P_low = 1.5 / W_low^2.
 *
 * A row applies to the windows above the previous row's, up to and including its own,
 * as in Linux's tcp_highspeed. So between rows a(w) is up to one segment ahead of the
 * formula, and b(w) up to 1/16 below it. Any other reading of the table would make
 * results differ from highspeed for this reason alone.
 *
 * The last row (94717 segments, and 97095 in the paper's table) applies to all larger
 * windows: the RFC's table ends there, and b(w) would fall to zero.
 *
 * Any u32 is a valid window; no intermediate result has more than 40 bits.
 */
#ifndef _APOGEE_HSTCP_H
#define _APOGEE_HSTCP_H

#include "hstcp_table.h"

/* Minimum window: a single segment would wait for the delayed ACK. */
#define HSTCP_CWND_MIN		2U
/* b(w) is in 1/256. */
#define HSTCP_DECREASE_SHIFT	8
/* A table has fewer rows. */
#define HSTCP_ROWS_MAX		128U

/* Response function. */
enum hstcp_response {
	HSTCP_RFC3649,
	HSTCP_PAPER,
};

/**
 * hstcp_row() - the row of the table that applies to a window
 * @response: the table
 * @cwnd: congestion window in segments
 *
 * Return: the first row whose window is not below @cwnd, or the last row.
 */
static inline const struct hstcp_row *hstcp_row(enum hstcp_response response,
						u32 cwnd)
{
	const struct hstcp_row *rows = hstcp_rfc3649;
	u32 last = ARRAY_SIZE(hstcp_rfc3649) - 1;
	u32 row = 0, step;

	if (response == HSTCP_PAPER) {
		rows = hstcp_paper;
		last = ARRAY_SIZE(hstcp_paper) - 1;
	}
	/* Bisection without a branch on the window, so that the BPF verifier has one path
	 * instead of 73: bit 32 of the sum says that the row before is large enough.
	 */
	for (step = HSTCP_ROWS_MAX / 2; step; step >>= 1) {
		u32 next = min(row + step, last);
		u64 sum = (1ULL << 32) + rows[next - 1].cwnd - cwnd;

		row += step * (1 - (u32)(sum >> 32));
		row = min(row, last);
	}
	return &rows[row];
}

/**
 * hstcp_increase() - increase of a window per round trip without a loss, a(w)
 * @response: the table
 * @cwnd: congestion window in segments
 *
 * Return: segments per round trip, 1 to 73, or to 75 with the paper's table.
 */
static inline u32 hstcp_increase(enum hstcp_response response, u32 cwnd)
{
	return hstcp_row(response, cwnd)->increase;
}

/**
 * hstcp_ssthresh() - the window after a loss, w (1 - b(w))
 * @response: the table
 * @cwnd: congestion window at the time of the loss, in segments
 *
 * Return: the window, rounded up to a whole segment, at least 2 segments.
 */
static inline u32 hstcp_ssthresh(enum hstcp_response response, u32 cwnd)
{
	u32 decrease = hstcp_row(response, cwnd)->decrease;
	u32 lost = (u32)(((u64)cwnd * decrease) >> HSTCP_DECREASE_SHIFT);

	return max_t(u32, cwnd - lost, HSTCP_CWND_MIN);
}

#endif /* _APOGEE_HSTCP_H */
