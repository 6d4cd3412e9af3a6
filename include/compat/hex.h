/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mac_pton() moved from <linux/kernel.h> to <linux/hex.h>, a new header, in Linux 6.4.
 */
#ifndef APOGEE_COMPAT_HEX_H
#define APOGEE_COMPAT_HEX_H

#include <linux/kernel.h>

#ifdef APOGEE_HAS_HEX_H
#include <linux/hex.h>
#endif

#endif /* APOGEE_COMPAT_HEX_H */
