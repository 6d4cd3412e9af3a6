/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device that needs no lock around ndo_start_xmit() says so by the feature
 * NETIF_F_LLTX up to Linux 6.11, by net_device::lltx from 6.12 on.
 */
#ifndef APOGEE_COMPAT_LLTX_H
#define APOGEE_COMPAT_LLTX_H

#include <linux/netdevice.h>

static inline void apogee_set_lltx(struct net_device *dev)
{
#ifdef NETIF_F_LLTX
	dev->features |= NETIF_F_LLTX;
#else
	dev->lltx = true;
#endif
}

#endif /* APOGEE_COMPAT_LLTX_H */
