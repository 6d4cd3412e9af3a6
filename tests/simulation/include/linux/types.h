/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's integer types, and the arithmetic of include/apogee. */
#ifndef _MODEL_TYPES_H
#define _MODEL_TYPES_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apogee/int.h>

typedef __UINT16_TYPE__ u16;
typedef __INT16_TYPE__ s16;
typedef __INT8_TYPE__ s8;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;

#endif /* _MODEL_TYPES_H */
