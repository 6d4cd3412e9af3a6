/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A variable that the compiler does not have to zero. Stable kernels have the word from late
 * 6.1 on.
 */
#ifndef APOGEE_COMPAT_UNINITIALIZED_H
#define APOGEE_COMPAT_UNINITIALIZED_H

#include <linux/compiler_attributes.h>

#ifndef __uninitialized
#define __uninitialized
#endif

#endif /* APOGEE_COMPAT_UNINITIALIZED_H */
