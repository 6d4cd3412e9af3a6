/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header: a kernel without memory of devices in packets.
 */
#ifndef _FUZZ_LINUX_VERSION_H
#define _FUZZ_LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c) ((a) * 65536 + (b) * 256 + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 6, 0)

#endif /* _FUZZ_LINUX_VERSION_H */
