// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: sscop_decode() of any octets, as they are and with a right CRC.
 * What is taken is written again and must read the same.
 */
#include <linux/crc32c.h>

#include "input.h"
#include <sscop/core/pdu.h>

#define SEAL 0x12345678U
#define SHORT_FLAG 0x20

static void check_list(const struct sscop_pdu *pdu)
{
	u32 i;

	expect(pdu->elements <= SSCOP_LIST_MAX);
	for (i = 1; i < pdu->elements; i++)
		expect(sscop_before(pdu->list[i - 1], pdu->list[i]));
}

static void encode_again(const struct sscop_pdu *pdu)
{
	u8 octets[SSCOP_CONTROL_MAX];
	struct sscop_pdu again = {};
	u32 length = sscop_encode(octets, pdu, SEAL);

	expect(length <= sizeof(octets));
	expect(sscop_decode(&again, octets, length, SEAL) == SSCOP_TAKEN);
	expect(!memcmp(pdu, &again, sizeof(again)));
}

static void decode(const u8 *octets, u32 length)
{
	struct sscop_pdu pdu = {};

	if (sscop_decode(&pdu, octets, length, SEAL) != SSCOP_TAKEN)
		return;
	if (pdu.type == SSCOP_SD || pdu.type == SSCOP_UD) {
		expect(pdu.length && pdu.header + pdu.length <= length);
		return;
	}
	check_list(&pdu);
	encode_again(&pdu);
}

/* Write the CRC that the receiver expects. */
static void repair(u8 *octets, u32 length)
{
	u8 type = octets[4] & 0xf;
	u32 crc, until = length;

	if (octets[4] & SHORT_FLAG && octets[8] >= 4 && octets[8] < length)
		until = octets[8];
	crc = crc32c(type == SSCOP_SD || (type >= SSCOP_POLL && type <= SSCOP_UDSTAT) ?
		     SEAL : ~0U, octets + 4, until - 4);
	octets[0] = crc >> 24;
	octets[1] = crc >> 16;
	octets[2] = crc >> 8;
	octets[3] = crc;
}

int fuzz(const u8 *octets, size_t length)
{
	u8 *copy;

	decode(octets, length);
	if (length < SSCOP_SHORT_HEADER)
		return 0;
	copy = copy_of(octets, length);
	repair(copy, length);
	decode(copy, length);
	free(copy);
	return 0;
}
