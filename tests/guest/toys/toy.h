/* SPDX-License-Identifier: GPL-2.0 */
/* The toy's one rule. */
#ifndef _APOGEE_TOY_H
#define _APOGEE_TOY_H

#include "int.h"

/**
 * toy_reduced() - window after a loss
 * @cwnd: window before, in segments
 *
 * Return: three quarters of it, at least 2.
 */
static inline u32 toy_reduced(u32 cwnd)
{
	return max(cwnd - cwnd / 4, 2U);
}

#endif /* _APOGEE_TOY_H */
