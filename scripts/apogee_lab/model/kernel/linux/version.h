/* SPDX-License-Identifier: GPL-2.0 */
/* To congestion controls all from 6.1 are alike; packets have no memory of devices up to 6.11. */
#ifndef _TEST_LINUX_VERSION_H
#define _TEST_LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 6, 0)

#endif /* _TEST_LINUX_VERSION_H */
