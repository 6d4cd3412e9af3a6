/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <asm/unaligned.h> became <linux/unaligned.h> in Linux 6.12. No stable kernel before 6.12
 * has the latter.
 */
#ifndef APOGEE_COMPAT_UNALIGNED_H
#define APOGEE_COMPAT_UNALIGNED_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* APOGEE_COMPAT_UNALIGNED_H */
