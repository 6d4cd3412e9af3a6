/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device that needs no lock around ndo_start_xmit() says so by the feature
 * NETIF_F_LLTX up to Linux 6.11, by net_device::lltx from 6.12 on. No stable kernel
 * before 6.12 has the latter.
 */
#ifndef APOGEE_COMPAT_LLTX_H
#define APOGEE_COMPAT_LLTX_H

#include <linux/netdevice.h>
#include <linux/version.h>

static inline void apogee_set_lltx(struct net_device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

#endif /* APOGEE_COMPAT_LLTX_H */
