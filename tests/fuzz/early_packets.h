/* SPDX-License-Identifier: GPL-2.0 */
/* Packets for shake_flows_order(), known by numbers. */
#ifndef _FUZZ_EARLY_PACKETS_H
#define _FUZZ_EARLY_PACKETS_H

#include <apogee/int.h>

void *early_packet(u32 number);
u32 early_number(void *packet);
void *early_rest(void *packet);		/* frees the first one of a list */

#endif /* _FUZZ_EARLY_PACKETS_H */
