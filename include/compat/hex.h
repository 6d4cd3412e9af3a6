/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mac_pton() moved from <linux/kernel.h> to <linux/hex.h>, a new header, in Linux 6.4.
 */
#ifndef APOGEE_COMPAT_HEX_H
#define APOGEE_COMPAT_HEX_H

#include <linux/kernel.h>

#if __has_include(<linux/hex.h>)
#include <linux/hex.h>
#endif

#endif /* APOGEE_COMPAT_HEX_H */
