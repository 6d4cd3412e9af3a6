/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Octets outside of packets, and the MTU that they leave.
 */
#ifndef _SHAKE_OVERHEAD_H
#define _SHAKE_OVERHEAD_H

#include "state.h"

#define SHAKE_MTU_LINK 1500	/* octets: of the links that paths go by, usually */

u32 shake_overhead(const struct shake_dev *d, sa_family_t family);
u32 shake_default_mtu(struct shake_dev *d);
void shake_update_mtu(struct shake_dev *d);

#endif /* _SHAKE_OVERHEAD_H */
