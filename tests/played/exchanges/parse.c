// SPDX-License-Identifier: GPL-2.0
/* The language of scripts: times, positions, segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

#define SYN_WINDOW	65535

static long long microseconds(const char *text)
{
	return (long long)(strtod(text, NULL) * 1e6 + 0.5);
}

/*
 * A line may begin with its time in s: 1.5, or +.1 since the line before. Of a range, +.1~+.2,
 * the end counts. Returns whether there is one.
 */
int time_of(char **line, long long *at)
{
	char *end = *line + strcspn(*line, BLANKS), *last = *line;

	if (!strchr("+.0123456789", **line))
		return 0;
	for (char *c = *line; c < end; c++) {
		if (*c == '~')
			last = c + 1;
	}
	*at = microseconds(last) + (*last == '+' ? *at : 0);
	*line = end + strspn(end, BLANKS);
	return 1;
}

int number(const char *text)
{
	char *end;
	long value;

	if (!text)
		refuse("an operand is missing");
	value = strtol(text, &end, 0);
	if (end == text)
		refuse(text);
	return (int)value;
}

/*
 * A relative sequence number of the stack: a number, or, plus or minus a number, nxt, the end
 * of what it has sent, una, what is acknowledged, or arr, the end of what it has sent a round
 * trip ago.
 */
__u32 position(const char *text)
{
	__u32 from = 0;

	if (!text)
		refuse("an operand is missing");
	if (!strncmp(text, "nxt", 3))
		from = peer.nxt;
	else if (!strncmp(text, "una", 3))
		from = peer.una;
	else if (!strncmp(text, "arr", 3))
		from = packet_arrived();
	else
		return (__u32)number(text);
	return from + (__u32)strtol(text + 3, NULL, 10);
}

/* --- options --- */

/* The head of an option; blanks (nop) before it align its end. */
static void put_head(struct segment *s, int kind, int length)
{
	const unsigned char head[] = { (unsigned char)kind, (unsigned char)length };

	for (int pad = -length & 3; pad; pad--)
		put_octets(s, "\1", 1);
	put_octets(s, head, 2);
}

static void stamp(struct segment *s, const char *how)
{
	const bool first = how && strstr(how, "ecr first");

	put_head(s, 8, 10);
	put_number(s, PEER_CLOCK + (__u32)(now_us() / 1000));
	put_number(s, s->flags & ACK ? packet_stamp(s->ack, first) : 0);
	s->stamped = true;
}

/* Blocks as A:B, separated by blanks. */
static void sack(struct segment *s, char *text)
{
	__u32 edges[8];
	int n = 0;
	char *save;

	for (char *w = strtok_r(text, BLANKS ":", &save); w && n < 8;
	     w = strtok_r(NULL, BLANKS ":", &save))
		edges[n++] = position(w);
	put_head(s, 5, 2 + 4 * n);
	for (int i = 0; i < n; i++)
		put_number(s, peer.isn + edges[i]);
}

static int hex(const char *text, unsigned char *bytes)
{
	int n = 0;
	unsigned int byte;

	while (n < MOST_COOKIE && sscanf(text + 2 * n, "%2x", &byte) == 1)
		bytes[n++] = (unsigned char)byte;
	return n;
}

/* A request, a cookie in hexadecimal, or the one that the stack has given. */
static void fast_open(struct segment *s, const char *text)
{
	unsigned char cookie[MOST_COOKIE];
	int n = hex(text, cookie);

	if (!strcmp(text, "cookie")) {
		n = peer.cookie_length;
		memcpy(cookie, peer.cookie, (size_t)n);
	}
	put_head(s, 34, 2 + n);
	put_octets(s, cookie, n);
}

/* AccECN's counters of octets, in the order of the wire. */
static void counters(struct segment *s, int kind, char *text)
{
	unsigned char bytes[4 * 3];
	int n = 0;
	char *save;

	for (char *w = strtok_r(text, BLANKS, &save); w && n < 3; w = strtok_r(NULL, BLANKS, &save))
		set32(bytes + 3 * n++, (__u32)number(w) << 8);
	put_head(s, kind, 2 + 3 * n);
	put_octets(s, bytes, 3 * n);
}

/* Room for a signature. */
static void sign(struct segment *s)
{
	unsigned char bytes[MOST_OPTIONS];
	const int length = sign_option(bytes);

	for (int pad = -length & 3; pad; pad--)
		put_octets(s, "\1", 1);
	put_octets(s, bytes, length);
}

static void option(struct segment *s, char *text)
{
	char *value = text + strcspn(text, " ");
	unsigned char byte, bytes[MOST_OPTIONS];

	if (*value)
		*value++ = 0;
	if (!strcmp(text, "mss")) {
		peer.mss = number(value);
		put_number(s, 0x02040000U | (__u32)peer.mss);
	} else if (!strcmp(text, "wscale")) {
		byte = (unsigned char)number(value);
		put_head(s, 3, 3);
		put_octets(s, &byte, 1);
	} else if (!strcmp(text, "sackOK")) {
		put_head(s, 4, 2);
	} else if (!strcmp(text, "TS")) {
		stamp(s, value);
	} else if (!strcmp(text, "sack")) {
		sack(s, value);
	} else if (!strcmp(text, "mptcp")) {
		put_octets(s, bytes, mptcp_capable(bytes));
	} else if (!strncmp(text, "AccECN", 6)) {
		counters(s, text[6] == '0' ? ACCECN0 : ACCECN1, value);
	} else if (!strcmp(text, "FO")) {
		fast_open(s, value);
	} else if (strcmp(text, "nop")) {
		refuse(text);
	}
}

/*
 * Segments after a SYN with timestamps have them, too, first; those of Multipath TCP acknowledge
 * its data; all have room for a signature.
 */
static void options(struct segment *s, char *text)
{
	unsigned char bytes[MOST_OPTIONS];
	char *save;

	if (peer.stamps && !(s->flags & SYN) && !(text && strstr(text, "TS")))
		stamp(s, NULL);
	if (peer.multipath && s->flags & ACK)
		put_octets(s, bytes, mptcp_ack(bytes, s->ack));
	sign(s);
	if (!text)
		return;
	for (char *w = strtok_r(text, ",>", &save); w; w = strtok_r(NULL, ",>", &save)) {
		if (*w != '\n')
			option(s, w);
	}
	if (s->flags & SYN)
		peer.stamps = s->stamped;
}

/* --- segments --- */

static int flags_of(const char *text)
{
	static const char letters[] = "FSRP.UEWA";
	int flags = 0;

	for (; *text; text++) {
		const char *at = strchr(letters, *text);

		if (!at)
			refuse(text);
		flags |= 1 << (at - letters);
	}
	return flags;
}

static int ecn_of(const char *text)
{
	if (!strcmp(text, "[ce]"))
		return 3;
	if (!strcmp(text, "[ect0]"))
		return 2;
	return !strcmp(text, "[ect1]");
}

/* FIRST:END(LENGTH) */
static void range(struct segment *s, const char *text)
{
	__u32 first, end;

	if (sscanf(text, "%u:%u(%d)", &first, &end, &s->length) != 3 ||
	    first + (__u32)s->length != end)
		refuse(text);
	s->seq = first;
}

static void word(struct segment *s, const char *w, char **save)
{
	if (strchr(w, '('))
		range(s, w);
	else if (!strcmp(w, "ack"))
		s->ack = position(strtok_r(NULL, BLANKS, save));
	else if (!strcmp(w, "win"))
		s->window = number(strtok_r(NULL, BLANKS, save));
	else if (!strcmp(w, "urg"))
		s->urgent = number(strtok_r(NULL, BLANKS, save));
	else
		refuse(w);
}

/* [ECN] FLAGS [FIRST:END(LENGTH)] [ack N] [win N] [urg N] [<OPTIONS>] */
void parse_segment(char *text, struct segment *s)
{
	char *opts = strchr(text, '<'), *save, *w;

	if (opts)
		*opts++ = 0;
	s->seq = peer.next;
	s->window = peer.window;
	w = strtok_r(text, BLANKS, &save);
	if (w && *w == '[') {
		s->ecn = ecn_of(w);
		w = strtok_r(NULL, BLANKS, &save);
	}
	if (!w)
		refuse("no flags");
	s->flags = flags_of(w);
	if (s->flags & SYN)
		s->window = SYN_WINDOW;
	for (w = strtok_r(NULL, BLANKS, &save); w; w = strtok_r(NULL, BLANKS, &save))
		word(s, w, &save);
	options(s, opts);
}
