/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netdev_lockdep_set_classes() moved from <linux/netdevice.h> to <net/netdev_lock.h> in
 * Linux 6.15. No stable kernel before 6.15 has that header.
 */
#ifndef APOGEE_COMPAT_NETDEV_LOCK_H
#define APOGEE_COMPAT_NETDEV_LOCK_H

#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <net/netdev_lock.h>
#endif

#endif /* APOGEE_COMPAT_NETDEV_LOCK_H */
