/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plug-ins of ip(8) share: words to numbers, numbers to text or JSON.
 */
#ifndef _LINK_WORDS_H
#define _LINK_WORDS_H

#include <stdlib.h>
#include <string.h>

#include "link_util.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define REQUEST_ROOM 1024	/* octets that ip has for its request */
#define MAX_U32 0xffffffffU

/* --- words to numbers ----------------------------------------------------------------- */

/* digits only, at most an u32 */
static inline bool parse_number(const char *text, __u32 *number)
{
	unsigned long long value;

	if (!*text || strlen(text) > 10 || text[strspn(text, "0123456789")])
		return false;
	value = strtoull(text, NULL, 10);
	*number = value;
	return value <= MAX_U32;
}

/* a number with a unit, to us */
static inline bool parse_time(const char *text, __u32 *us)
{
	size_t digits = strspn(text, "0123456789.");
	const char *unit = text + digits;
	double value;
	char *end;

	if (!strcmp(text, "0")) {
		*us = 0;
		return true;
	}
	value = strtod(text, &end);
	if (!digits || end != unit)
		return false;
	if (!strcmp(unit, "s"))
		value *= 1e6;
	else if (!strcmp(unit, "ms"))
		value *= 1e3;
	else if (strcmp(unit, "us"))
		return false;
	if (value > MAX_U32 || (value > 0 && value < 1))
		return false;
	*us = value + .5;
	return true;
}

/* --- numbers to text or JSON ---------------------------------------------------------- */

/* the number in an attribute, by its length */
static inline __u64 number_of(const struct rtattr *attr)
{
	size_t length = RTA_PAYLOAD(attr);
	__u64 u64 = 0;
	__u32 u32 = 0;
	__u16 u16 = 0;
	__u8 u8 = 0;

	if (length >= sizeof(u64)) {
		memcpy(&u64, RTA_DATA(attr), sizeof(u64));
		return u64;
	}
	if (length >= sizeof(u32)) {
		memcpy(&u32, RTA_DATA(attr), sizeof(u32));
		return u32;
	}
	if (length >= sizeof(u16)) {
		memcpy(&u16, RTA_DATA(attr), sizeof(u16));
		return u16;
	}
	if (length)
		memcpy(&u8, RTA_DATA(attr), sizeof(u8));
	return u8;
}

static inline void print_number(FILE *out, const char *word, const char *key, __u32 number)
{
	if (is_json_context())
		jsonw_uint_field(get_json_writer(), key, number);
	else
		fprintf(out, "%s %u ", word, number);
}

static inline void print_text(FILE *out, const char *word, const char *key, const char *text)
{
	if (is_json_context())
		jsonw_string_field(get_json_writer(), key, text);
	else
		fprintf(out, "%s %s ", word, text);
}

static inline void print_switch(FILE *out, const char *word, const char *key, bool on)
{
	if (is_json_context())
		jsonw_bool_field(get_json_writer(), key, on);
	else
		fprintf(out, "%s %s ", word, on ? "on" : "off");
}

/* in the largest unit that makes it a whole number; JSON: us */
static inline void print_time(FILE *out, const char *word, const char *key, __u32 us)
{
	if (is_json_context() || !us)
		print_number(out, word, key, us);
	else if (us % 1000)
		fprintf(out, "%s %uus ", word, us);
	else if (us % 1000000)
		fprintf(out, "%s %ums ", word, us / 1000);
	else
		fprintf(out, "%s %us ", word, us / 1000000);
}

/* a word for each number, or the number where there is no word */
static inline void print_name(FILE *out, const char *word, const char *key,
			      const char *const *names, size_t count, __u32 number)
{
	if (number < count)
		print_text(out, word, key, names[number]);
	else
		print_number(out, word, key, number);
}

#endif /* _LINK_WORDS_H */
