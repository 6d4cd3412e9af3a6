/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since Linux 6.12 a packet's pages may be a device's memory, which the CPU can't read.
 */
#ifndef APOGEE_COMPAT_FRAGS_H
#define APOGEE_COMPAT_FRAGS_H

#include <linux/skbuff.h>

#ifdef APOGEE_HAS_FRAGS_READABLE
#define apogee_frags_readable(skb) skb_frags_readable(skb)
#else
#define apogee_frags_readable(skb) true
#endif

#endif /* APOGEE_COMPAT_FRAGS_H */
