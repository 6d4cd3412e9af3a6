/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_CRC32C_H
#define _FUZZ_LINUX_CRC32C_H

#include <apogee/int.h>

u32 crc32c(u32 crc, const void *address, unsigned int length);

#endif /* _FUZZ_LINUX_CRC32C_H */
