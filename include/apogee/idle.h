/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reduction of the window after an idle period (RFC 5681 4.1, RFC 7661 4.4).
 *
 * The stack does this for modules that leave the window to it.
 */
#ifndef _APOGEE_IDLE_H
#define _APOGEE_IDLE_H

#include "int.h"

/**
 * idle_cwnd() - window after an idle period
 * @cwnd: congestion window before, in segments
 * @restart: the window of a new connection, in segments
 * @idle: duration of the idle period, in any unit
 * @valid: time for which a window is valid, same unit; 0 counts as 1
 *
 * Halved once per @valid, but not below @restart.
 *
 * Return: the window in segments, not above @cwnd.
 */
static inline u32 idle_cwnd(u32 cwnd, u32 restart, u32 idle, u32 valid)
{
	u32 halvings = idle ? (idle - 1) / max_t(u32, valid, 1) : 0;
	u32 halved = halvings < 32 ? cwnd >> halvings : 0;

	return max(halved, min(restart, cwnd));
}

#endif /* _APOGEE_IDLE_H */
