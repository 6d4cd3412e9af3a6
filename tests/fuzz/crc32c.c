// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32C (RFC 3720, appendix B.4) as the kernel's crc32c(): neither the start nor the
 * result is inverted.
 */
#include <linux/crc32c.h>

#define CASTAGNOLI 0x82f63b78U	/* 0x1edc6f41, bits reversed */

static u32 table[256];

__attribute__((constructor)) static void fill_table(void)
{
	u32 octet, crc, bit;

	for (octet = 0; octet < ARRAY_SIZE(table); octet++) {
		crc = octet;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CASTAGNOLI : 0);
		table[octet] = crc;
	}
}

u32 crc32c(u32 crc, const void *address, u32 length)
{
	const u8 *octets = address;

	while (length--)
		crc = crc >> 8 ^ table[(crc ^ *octets++) & 0xff];
	return crc;
}
