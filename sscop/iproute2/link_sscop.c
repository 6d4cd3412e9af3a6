// SPDX-License-Identifier: GPL-2.0
/*
 * Links of type sscop in iproute2's ip(8): the words after "type sscop", and what
 * "ip -d link show" prints.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/iproute2/link_words.h"
#include "../uapi.h"

#define ADDRESS 6		/* octets of a hardware address */
#define LIST 192		/* octets that a list of all DSCPs takes */

/* What follows a word. */
enum kind {
	SEGMENT,		/* octets, or "auto", as u16 */
	NUMBER,
	NUMBER_OR_AUTO,		/* octets, or "auto" */
	TIME,
	TIME_OR_0,
	SWITCH,
	PEER,
	DSCPS,			/* bits of them, as u64 */
	NUMBER_16,		/* as u16 */
	HOST,			/* an address of IPv4 or IPv6 */
};

/**
 * struct word - a word, in the order of "ip -d link show"
 * @text: the word
 * @key: its name in JSON
 * @kind: what follows
 * @attr: its attribute, an u32 unless the kind is another
 * @min: smallest number allowed
 * @max: greatest number allowed
 */
struct word {
	const char *text;
	const char *key;
	enum kind kind;
	int attr;
	__u32 min;
	__u32 max;
};

static const struct word words[] = {
	{"segment", "segment", SEGMENT, IFLA_SSCOP_SEGMENT, 64, 65000},
	{"window", "window", NUMBER, IFLA_SSCOP_WINDOW, 1, 65536},
	{"poll-bytes", "poll_bytes", NUMBER, IFLA_SSCOP_POLL_BYTES, 0, MAX_U32},
	{"poll-sds", "poll_sds", NUMBER, IFLA_SSCOP_POLL_SDS, 0, MAX_U32},
	{"poll-time", "poll_time_us", TIME, IFLA_SSCOP_POLL_TIME, 1000, 10000000},
	{"poll-idle", "poll_idle_us", TIME_OR_0, IFLA_SSCOP_POLL_IDLE, 100, 10000000},
	{"ustat", "ustat", SWITCH, IFLA_SSCOP_USTAT, 0, 1},
	{"peer", "peer", PEER, IFLA_SSCOP_PEER, 0, 0},
	{"link-id", "link_id", NUMBER_16, IFLA_SSCOP_LINK_ID, 0, 65535},
	{"backlog", "backlog", NUMBER_OR_AUTO, IFLA_SSCOP_BACKLOG, 64, 16777216},
	{"unassured", "unassured", DSCPS, IFLA_SSCOP_UNASSURED, 0, 63},
	{"bounded", "bounded", DSCPS, IFLA_SSCOP_BOUNDED, 0, 63},
	{"small", "small", NUMBER, IFLA_SSCOP_SMALL, 0, 65535},
	{"persist", "persist_us", TIME, IFLA_SSCOP_PERSIST, 1000, 10000000},
	{"port", "port", NUMBER_16, IFLA_SSCOP_PORT, 1, 65535},
	{"remote", "remote", HOST, IFLA_SSCOP_REMOTE, 0, 0},
	{"local", "local", HOST, IFLA_SSCOP_LOCAL, 0, 0},
};

/* by enum sscop_state */
static const char *const states[] = {
	"idle", "beginning", "confirming", "ready", "resyncing",
};

/* --- words to attributes -------------------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("Usage: ... sscop [ segment { BYTES | auto } ] [ window SDS ]\n"
	      "                 [ poll-bytes BYTES ] [ poll-sds SDS ]\n"
	      "                 [ poll-time TIME ] [ poll-idle TIME ]\n"
	      "                 [ ustat { on | off } ] [ peer LLADDR ] [ link-id NUMBER ]\n"
	      "                 [ backlog { BYTES | auto } ]\n"
	      "                 [ unassured DSCPS ] [ bounded DSCPS ] [ small BYTES ]\n"
	      "                 [ persist TIME ]\n"
	      "                 [ port PORT [ remote ADDRESS ] [ local ADDRESS ] ]\n"
	      "\n"
	      "Where:  TIME := NUMBER{ us | ms | s }\n"
	      "        DSCPS := { none | DSCP,... }\n"
	      "        DSCP := { NUMBER | ef }\n"
	      "        poll-bytes, poll-sds and poll-idle 0: no such rule\n"
	      "See sscop(8).\n", out);
}

/* six pairs of hexadecimal digits between colons */
static bool parse_address(const char *text, __u8 *address)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	int i;

	for (i = 0; i < ADDRESS; i++, text += 3) {
		if (strspn(text, hex) != 2 || text[2] != (i < ADDRESS - 1 ? ':' : '\0'))
			return false;
		address[i] = strtoul(text, NULL, 16);
	}
	return true;
}

/* none, or numbers and "ef" between commas, to bits */
static bool parse_dscps(const char *text, __u64 *bits)
{
	char list[LIST], *rest = list, *one;
	__u32 number;

	*bits = 0;
	if (!strcmp(text, "none"))
		return true;
	if (strlen(text) >= sizeof(list))
		return false;
	strcpy(list, text);
	while ((one = strsep(&rest, ","))) {
		if (!strcmp(one, "ef"))
			number = 46;
		else if (!parse_number(one, &number) || number > 63)
			return false;
		*bits |= 1ULL << number;
	}
	return true;
}

/* octets of the address, 0: none */
static int parse_host(const char *text, __u8 *address)
{
	if (inet_pton(AF_INET, text, address) == 1)
		return 4;
	return inet_pton(AF_INET6, text, address) == 1 ? 16 : 0;
}

/* one line about a value that is refused */
static int refuse(const struct word *word, const char *value)
{
	fprintf(stderr, "sscop: %s \"%s\": must be ", word->text, value);
	switch (word->kind) {
	case SEGMENT:
	case NUMBER_OR_AUTO:
		fprintf(stderr, "auto or octets from %u to %u\n", word->min, word->max);
		break;
	case NUMBER:
	case NUMBER_16:
		fprintf(stderr, "a number from %u to %u\n", word->min, word->max);
		break;
	case TIME:
		fputs("a time from 1ms to 10s, with us, ms or s\n", stderr);
		break;
	case TIME_OR_0:
		fputs("0 or a time from 100us to 10s, with us, ms or s\n", stderr);
		break;
	case SWITCH:
		fputs("on or off\n", stderr);
		break;
	case PEER:
		fputs("a hardware address such as 02:00:00:00:00:01\n", stderr);
		break;
	case DSCPS:
		fputs("none, or DSCPs from 0 to 63 or ef, with commas\n", stderr);
		break;
	case HOST:
		fputs("an IPv4 or IPv6 address\n", stderr);
		break;
	}
	return -1;
}

static int parse_value(const struct word *word, const char *value, struct nlmsghdr *request)
{
	__u8 address[sizeof(struct in6_addr)];
	__u32 least = word->min;
	__u32 number = 0;
	__u16 segment;
	__u64 bits;
	int octets;
	bool good;
	__u8 on;

	if (word->kind == SEGMENT && !strcmp(value, "auto")) {
		segment = 0;
		return addattr_l(request, REQUEST_ROOM, word->attr, &segment, sizeof(segment));
	}
	if (word->kind == NUMBER_OR_AUTO && !strcmp(value, "auto"))
		return addattr_l(request, REQUEST_ROOM, word->attr, &number, sizeof(number));
	switch (word->kind) {
	case PEER:
		if (!parse_address(value, address))
			return refuse(word, value);
		return addattr_l(request, REQUEST_ROOM, word->attr, address, ADDRESS);
	case DSCPS:
		if (!parse_dscps(value, &bits))
			return refuse(word, value);
		return addattr_l(request, REQUEST_ROOM, word->attr, &bits, sizeof(bits));
	case HOST:
		octets = parse_host(value, address);
		if (!octets)
			return refuse(word, value);
		return addattr_l(request, REQUEST_ROOM, word->attr, address, octets);
	case SWITCH:
		number = !strcmp(value, "on");
		good = number || !strcmp(value, "off");
		break;
	case TIME:
	case TIME_OR_0:
		good = parse_time(value, &number);
		break;
	default:
		good = parse_number(value, &number);
	}
	if (word->kind == TIME_OR_0 && !number)
		least = 0;
	if (!good || number < least || number > word->max)
		return refuse(word, value);
	segment = number;
	on = number;
	if (word->kind == SEGMENT || word->kind == NUMBER_16)
		return addattr_l(request, REQUEST_ROOM, word->attr, &segment, sizeof(segment));
	if (word->kind == SWITCH)
		return addattr_l(request, REQUEST_ROOM, word->attr, &on, sizeof(on));
	return addattr_l(request, REQUEST_ROOM, word->attr, &number, sizeof(number));
}

static const struct word *find(const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i].text))
			return &words[i];
	return NULL;
}

static int parse_opt(struct link_util *util, int argc, char **argv, struct nlmsghdr *request)
{
	unsigned int seen = 0;

	(void)util;
	for (; argc > 0; argc -= 2, argv += 2) {
		const struct word *word = find(*argv);

		if (!strcmp(*argv, "help")) {
			usage(stderr);
			return -1;
		}
		if (!word) {
			fprintf(stderr, "sscop: unknown word \"%s\", see: ip link help sscop\n",
				*argv);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "sscop: %s needs a value\n", word->text);
			return -1;
		}
		if (seen & 1U << (word - words)) {
			fprintf(stderr, "sscop: %s is given twice\n", word->text);
			return -1;
		}
		seen |= 1U << (word - words);
		if (parse_value(word, argv[1], request))
			return -1;
	}
	return 0;
}

static void print_help(struct link_util *util, int argc, char **argv, FILE *out)
{
	(void)util;
	(void)argc;
	(void)argv;
	usage(out);
}

/* --- attributes to text or JSON ------------------------------------------------------- */

static void print_address(FILE *out, const struct word *word, const struct rtattr *attr)
{
	const __u8 *octets = RTA_DATA(attr);
	char text[3 * ADDRESS];

	if (RTA_PAYLOAD(attr) < ADDRESS)
		return;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x",
		 octets[0], octets[1], octets[2], octets[3], octets[4], octets[5]);
	print_text(out, word->text, word->key, text);
}

static void print_dscps(FILE *out, const struct word *word, __u64 bits)
{
	char text[LIST + 1] = "none";
	size_t at = 0;
	int dscp;

	for (dscp = 0; dscp < 64; dscp++)
		if (bits >> dscp & 1)
			at += snprintf(text + at, sizeof(text) - at, at ? ",%d" : "%d", dscp);
	print_text(out, word->text, word->key, text);
}

static void print_host(FILE *out, const struct word *word, const struct rtattr *attr)
{
	int family = RTA_PAYLOAD(attr) == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	char text[INET6_ADDRSTRLEN];

	if (RTA_PAYLOAD(attr) < sizeof(struct in_addr) ||
	    (family == AF_INET6 && RTA_PAYLOAD(attr) < sizeof(struct in6_addr)) ||
	    !inet_ntop(family, RTA_DATA(attr), text, sizeof(text)))
		return;
	print_text(out, word->text, word->key, text);
}

static void print_or_auto(FILE *out, const struct word *word, __u32 octets)
{
	if (octets)
		print_number(out, word->text, word->key, octets);
	else
		print_text(out, word->text, word->key, "auto");
}

static void print_word(FILE *out, const struct word *word, const struct rtattr *attr)
{
	__u64 bits = number_of(attr);
	__u32 number = bits;

	switch (word->kind) {
	case DSCPS:
		print_dscps(out, word, bits);
		break;
	case SEGMENT:
	case NUMBER_OR_AUTO:
		print_or_auto(out, word, number);
		break;
	case NUMBER:
	case NUMBER_16:
		print_number(out, word->text, word->key, number);
		break;
	case TIME:
	case TIME_OR_0:
		print_time(out, word->text, word->key, number);
		break;
	case SWITCH:
		print_switch(out, word->text, word->key, number);
		break;
	case PEER:
		print_address(out, word, attr);
		break;
	case HOST:
		print_host(out, word, attr);
		break;
	}
}

static void print_opt(struct link_util *util, FILE *out, struct rtattr **attrs)
{
	size_t i;

	(void)util;
	if (!attrs)
		return;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (attrs[words[i].attr])
			print_word(out, &words[i], attrs[words[i].attr]);
	if (attrs[IFLA_SSCOP_STATE])
		print_name(out, "state", "state", states, ARRAY_SIZE(states),
			   number_of(attrs[IFLA_SSCOP_STATE]));
	if (attrs[IFLA_SSCOP_SEGMENT_NOW])
		print_number(out, "segment-now", "segment_now",
			     number_of(attrs[IFLA_SSCOP_SEGMENT_NOW]));
}

struct link_util sscop_link_util = {
	.id = "sscop",
	.maxattr = IFLA_SSCOP_MAX,
	.parse_opt = parse_opt,
	.print_opt = print_opt,
	.print_help = print_help,
};
