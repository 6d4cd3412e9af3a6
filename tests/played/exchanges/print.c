// SPDX-License-Identifier: GPL-2.0
/* Packets as lines of the log, in the language of scripts. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exchange.h"

/* A line, and whose positions and clocks it is about. */
struct line {
	char text[512];
	int length;
	bool stack;		/* the stack has sent it */
};

static void add(struct line *l, const char *format, ...)
{
	const int room = (int)sizeof(l->text) - l->length;
	va_list args;

	va_start(args, format);
	l->length += vsnprintf(l->text + l->length, (size_t)room, format, args);
	va_end(args);
	if (l->length >= (int)sizeof(l->text))
		l->length = (int)sizeof(l->text) - 1;
}

static void add_flags(struct line *l, int flags)
{
	static const char letters[] = "SFRPEWAU.";
	static const int bits[] = { SYN, FIN, RST, PSH, ECE, CWR, AE, URG, ACK };

	for (int i = 0; i < 9; i++) {
		if (flags & bits[i])
			add(l, "%c", letters[i]);
	}
	if (!flags)
		add(l, "-");
}

/* Milliseconds of one side's clock since the exchange or the connection began. */
static void add_clock(struct line *l, const char *name, __u32 stamp, bool stack)
{
	const __u32 zero = stack ? peer.stack_clock : PEER_CLOCK;

	add(l, " %s %d", name, stamp ? (int)(stamp - zero) : 0);
}

static void add_blocks(struct line *l, const unsigned char *o)
{
	const __u32 isn = l->stack ? PEER_ISN : peer.isn;

	add(l, "sack");
	for (int i = 2; i + 8 <= o[1]; i += 8)
		add(l, " %u:%u", get32(o + i) - isn, get32(o + i + 4) - isn);
}

/* AccECN's octets: of ECT(0), CE, ECT(1), or of these in the other order. */
static void add_counters(struct line *l, const unsigned char *o)
{
	add(l, "AccECN%d", *o == ACCECN1);
	for (int i = 2; i + 3 <= o[1]; i += 3)
		add(l, " %u", get32(o + i - 1) & 0xffffff);
}

static void add_option(struct line *l, const unsigned char *o)
{
	switch (*o) {
	case 2:
		add(l, "mss %d", get16(o + 2));
		break;
	case 3:
		add(l, "wscale %d", o[2]);
		break;
	case 4:
		add(l, "sackOK");
		break;
	case 5:
		add_blocks(l, o);
		break;
	case 8:
		add(l, "TS");
		add_clock(l, "val", get32(o + 2), l->stack);
		add_clock(l, "ecr", get32(o + 6), !l->stack);
		break;
	case 19:
		add(l, "md5");
		break;
	case 29:
		add(l, "ao %d %d", o[2], o[3]);
		break;
	case 30:
		add(l, "mptcp %d", o[2] >> 4);
		break;
	case ACCECN0:
	case ACCECN1:
		add_counters(l, o);
		break;
	case 34:
		add(l, o[1] > 2 ? "FO cookie" : "FO");
		break;
	default:
		add(l, "option %d", *o);
	}
}

/* Without the blanks (nop) between them. */
static void add_options(struct line *l, const unsigned char *o, const unsigned char *end)
{
	const char *before = " <";

	while (o < end && *o) {
		if (*o == 1) {
			o++;
			continue;
		}
		add(l, "%s", before);
		add_option(l, o);
		before = ",";
		o += o[1];
	}
	if (*before == ',')
		add(l, ">");
}

static void add_ecn(struct line *l, int bits)
{
	static const char * const names[] = { "", "[ect1] ", "[ect0] ", "[ce] " };

	add(l, "%s", names[bits]);
}

/* Each direction's own ISN is that of its sender. */
void print_packet(char direction, const unsigned char *packet, int length)
{
	struct line l = { .stack = direction == '>' };
	const unsigned char *tcp = packet + 20;
	const int header = (tcp[12] >> 4) * 4;
	const __u32 own = l.stack ? peer.isn : PEER_ISN, other = l.stack ? PEER_ISN : peer.isn;
	const __u32 seq = get32(tcp + 4) - own;

	length -= 20 + header;
	add_ecn(&l, packet[1] & 3);
	add_flags(&l, (tcp[12] & 1) << 8 | tcp[13]);
	add(&l, " %u:%u(%d)", seq, seq + (__u32)length, length);
	if (tcp[13] & ACK)
		add(&l, " ack %u", get32(tcp + 8) - other);
	add(&l, " win %d", get16(tcp + 14));
	if (tcp[13] & URG)
		add(&l, " urg %d", get16(tcp + 18));
	add_options(&l, tcp + 20, tcp + header);
	note("%c %s", direction, l.text);
}
