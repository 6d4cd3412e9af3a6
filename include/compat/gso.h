/* SPDX-License-Identifier: GPL-2.0 */
/*
 * skb_gso_segment() moved from <linux/netdevice.h> to <net/gso.h> in Linux 6.5. No
 * stable kernel before 6.5 has that header.
 */
#ifndef APOGEE_COMPAT_GSO_H
#define APOGEE_COMPAT_GSO_H

#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#endif /* APOGEE_COMPAT_GSO_H */
