/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_NET_DST_CACHE_H
#define _FUZZ_NET_DST_CACHE_H

#include <linux/netdevice.h>

#endif /* _FUZZ_NET_DST_CACHE_H */
