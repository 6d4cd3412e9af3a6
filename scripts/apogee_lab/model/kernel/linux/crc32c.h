/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_CRC32C_H
#define _TEST_LINUX_CRC32C_H

#include <apogee/int.h>

u32 crc32c(u32 crc, const void *address, u32 length);

#endif /* _TEST_LINUX_CRC32C_H */
