/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_TYPES_H
#define _TEST_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef __UINT8_TYPE__ u8, __u8;
typedef __UINT16_TYPE__ u16, __u16;
typedef __UINT32_TYPE__ u32, __u32;
typedef __UINT64_TYPE__ u64, __u64;
typedef __INT8_TYPE__ s8;
typedef __INT16_TYPE__ s16;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;

#endif /* _TEST_LINUX_TYPES_H */
