/* SPDX-License-Identifier: GPL-2.0 */
/* The simulated stack is that of Linux 6.1. */
#ifndef _MODEL_VERSION_H
#define _MODEL_VERSION_H

#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 1, 0)

#endif /* _MODEL_VERSION_H */
