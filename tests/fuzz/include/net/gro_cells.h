/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_NET_GRO_CELLS_H
#define _FUZZ_NET_GRO_CELLS_H

#include <linux/netdevice.h>

#endif /* _FUZZ_NET_GRO_CELLS_H */
