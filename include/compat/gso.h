/* SPDX-License-Identifier: GPL-2.0 */
/*
 * skb_gso_segment() moved from <linux/netdevice.h> to <net/gso.h> in Linux 6.5.
 */
#ifndef APOGEE_COMPAT_GSO_H
#define APOGEE_COMPAT_GSO_H

#include <linux/netdevice.h>

#ifdef APOGEE_HAS_GSO_H
#include <net/gso.h>
#endif

#endif /* APOGEE_COMPAT_GSO_H */
