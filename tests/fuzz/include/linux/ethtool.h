/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_ETHTOOL_H
#define _FUZZ_LINUX_ETHTOOL_H

#include <linux/netdevice.h>

#endif /* _FUZZ_LINUX_ETHTOOL_H */
