/* SPDX-License-Identifier: GPL-2.0 */
/* Keys as text: base64, as wg(8) writes it, or hexadecimal digits. */
#ifndef _SHAKE_KEY_TEXT_H
#define _SHAKE_KEY_TEXT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEY 32			/* octets of a key */
#define KEY_BASE64 44		/* letters of one in base64, with the "=" at the end */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static inline bool parse_key_hex(const char *text, __u8 *key)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	char pair[3] = "";
	size_t i;

	for (i = 0; i < 2 * KEY; i += 2) {
		memcpy(pair, text + i, 2);
		if (strspn(pair, hex) != 2)
			return false;
		key[i / 2] = strtoul(pair, NULL, 16);
	}
	return true;
}

/* Bits behind the last octet have to be zero: a key has one text. */
static inline bool parse_key_base64(const char *text, __u8 *key)
{
	const char *letter;
	__u32 bits = 0;
	size_t i, at = 0;

	if (text[KEY_BASE64 - 1] != '=')
		return false;
	for (i = 0; i < KEY_BASE64 - 1; i++) {
		letter = text[i] ? strchr(base64, text[i]) : NULL;
		if (!letter)
			return false;
		bits = bits << 6 | (__u32)(letter - base64);
		/* of four letters the second to the fourth each end an octet */
		if (i % 4)
			key[at++] = bits >> (6 - i % 4 * 2);
	}
	return !(bits & 3);
}

/* the octets that a text means, which blanks or a newline may follow */
static inline bool parse_key(const char *text, size_t length, __u8 *key)
{
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	if (length == 2 * KEY)
		return parse_key_hex(text, key);
	return length == KEY_BASE64 && parse_key_base64(text, key);
}

static inline void key_text(const __u8 *key, char text[KEY_BASE64 + 1])
{
	__u32 bits;
	size_t i, j;

	for (i = 0; i < KEY_BASE64 / 4; i++) {
		bits = 0;
		for (j = 3 * i; j < 3 * i + 3; j++)
			bits = bits << 8 | (j < KEY ? key[j] : 0);
		for (j = 0; j < 4; j++)
			text[4 * i + j] = base64[bits >> (18 - 6 * j) & 63];
	}
	text[KEY_BASE64 - 1] = '=';
	text[KEY_BASE64] = 0;
}

#endif /* _SHAKE_KEY_TEXT_H */
