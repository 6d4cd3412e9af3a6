/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is left of a window that has not been used (RFC 5681 4.1, RFC 2861).
 *
 * The stack does this by itself for modules that do not own the window.
 */
#ifndef _APOGEE_IDLE_H
#define _APOGEE_IDLE_H

#include "int.h"

/**
 * idle_cwnd() - window after a time without sending
 * @cwnd: congestion window before, in segments
 * @restart: the window of a new connection, in segments
 * @idle: how long nothing was sent, any unit
 * @rto: retransmission timeout, same unit; 0 counts as 1
 *
 * Halved for each timeout's time, but not below @restart.
 *
 * Return: the window in segments, not above @cwnd.
 */
static inline u32 idle_cwnd(u32 cwnd, u32 restart, u32 idle, u32 rto)
{
	if (!rto)
		rto = 1;
	restart = min(restart, cwnd);
	while (idle > rto && cwnd > restart) {
		idle -= rto;
		cwnd >>= 1;
	}
	return max(cwnd, restart);
}

/**
 * idle_unused_cwnd() - window of a sender that has not used it for a while
 * @cwnd: congestion window before, in segments
 * @restart: the window of a new connection, in segments
 * @used: most segments that were under way, within a retransmission timeout
 *
 * Return: half way from @cwnd to what was used (or @restart, if that is more), in
 * segments, not above @cwnd.
 */
static inline u32 idle_unused_cwnd(u32 cwnd, u32 restart, u32 used)
{
	used = max(used, restart);
	return used < cwnd ? used + ((cwnd - used) >> 1) : cwnd;
}

#endif /* _APOGEE_IDLE_H */
