/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netdev_lockdep_set_classes() moved from <linux/netdevice.h> to <net/netdev_lock.h> in
 * Linux 6.15.
 */
#ifndef APOGEE_COMPAT_NETDEV_LOCK_H
#define APOGEE_COMPAT_NETDEV_LOCK_H

#include <linux/netdevice.h>

#ifdef APOGEE_HAS_NETDEV_LOCK_H
#include <net/netdev_lock.h>
#endif

#endif /* APOGEE_COMPAT_NETDEV_LOCK_H */
