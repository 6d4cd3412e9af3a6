/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <asm/unaligned.h> became <linux/unaligned.h> in Linux 6.12.
 */
#ifndef APOGEE_COMPAT_UNALIGNED_H
#define APOGEE_COMPAT_UNALIGNED_H

#ifdef APOGEE_HAS_UNALIGNED_H
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* APOGEE_COMPAT_UNALIGNED_H */
