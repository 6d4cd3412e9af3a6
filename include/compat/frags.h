/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since Linux 6.12 a packet's pages may be a device's memory, which the CPU can't read.
 */
#ifndef APOGEE_COMPAT_FRAGS_H
#define APOGEE_COMPAT_FRAGS_H

#include <linux/skbuff.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define apogee_frags_readable(skb) skb_frags_readable(skb)
#else
#define apogee_frags_readable(skb) true
#endif

#endif /* APOGEE_COMPAT_FRAGS_H */
