/* SPDX-License-Identifier: GPL-2.0 */
/* Declared only: a division that bypasses these shows as a call into libgcc. */
#ifndef _TEST_LINUX_MATH64_H
#define _TEST_LINUX_MATH64_H

#include <linux/types.h>

u64 div_u64(u64 dividend, u32 divisor);
s64 div_s64(s64 dividend, s32 divisor);
u64 div64_u64(u64 dividend, u64 divisor);

#endif /* _TEST_LINUX_MATH64_H */
