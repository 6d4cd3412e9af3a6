/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mac_pton() moved from <linux/kernel.h> to <linux/hex.h>, a new header, in Linux 6.4.
 * No stable kernel before 6.4 has that header.
 */
#ifndef APOGEE_COMPAT_HEX_H
#define APOGEE_COMPAT_HEX_H

#include <linux/kernel.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#include <linux/hex.h>
#endif

#endif /* APOGEE_COMPAT_HEX_H */
