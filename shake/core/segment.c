// SPDX-License-Identifier: GPL-2.0
/*
 * TCP segments inside SHAKE's tunnel: octets to fields. Nothing is read beyond what the
 * caller says is there, whatever the lengths in the packet say.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "segment.h"

#define PROTOCOL_HOP_BY_HOP 0
#define PROTOCOL_TCP 6
#define PROTOCOL_ROUTING 43
#define PROTOCOL_DESTINATION 60

#define IPV4_HEADER 20
#define IPV4_FRAGMENT 0x3fff	/* more fragments, or an offset */
#define IPV6_HEADER 40
#define IPV6_EXTENSIONS 8	/* headers that are skipped at most */

#define TCP_HEADER 20
#define TCP_SUM 16		/* octets in front of the checksum */
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_FLAGS 0x0fff

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_SACK 5
#define OPTION_TIMESTAMPS 8
#define OPTION_AO 29
#define TIMESTAMPS_ALONE 0x0101080aU	/* two NOPs, kind and length */
#define SACK_BLOCK 8

/*
 * struct reader - the octets, and where TCP's header is
 * @octets: the packet
 * @linear: octets that may be read
 * @at: of TCP's header
 * @end: first octet behind the IP packet
 */
struct reader {
	const u8 *octets;
	u32 linear;
	u32 at;
	u32 end;
};

static u16 get16(const u8 *octets)
{
	return (u16)(octets[0] << 8 | octets[1]);
}

static u32 get32(const u8 *octets)
{
	return (u32)get16(octets) << 16 | get16(octets + 2);
}

static bool read_ipv4(struct reader *r, u32 length, struct shake_tuple *tuple)
{
	const u8 *octets = r->octets;

	if (r->linear < IPV4_HEADER)
		return false;
	r->at = (octets[0] & 0xfU) * 4;
	r->end = get16(octets + 2);
	if (r->at < IPV4_HEADER || r->end < r->at || r->end > length ||
	    get16(octets + 6) & IPV4_FRAGMENT || octets[9] != PROTOCOL_TCP)
		return false;
	memcpy(tuple->source, octets + 12, 4);
	memcpy(tuple->destination, octets + 16, 4);
	return true;
}

static bool is_skipped(u8 protocol)
{
	return protocol == PROTOCOL_HOP_BY_HOP || protocol == PROTOCOL_ROUTING ||
	       protocol == PROTOCOL_DESTINATION;
}

static bool read_ipv6(struct reader *r, u32 length, struct shake_tuple *tuple)
{
	const u8 *octets = r->octets;
	u8 protocol;
	u32 i;

	if (r->linear < IPV6_HEADER)
		return false;
	r->at = IPV6_HEADER;
	r->end = IPV6_HEADER + get16(octets + 4);
	if (r->end > length)
		return false;
	protocol = octets[6];
	for (i = 0; i < IPV6_EXTENSIONS && is_skipped(protocol); i++) {
		if (r->at + 2 > r->linear)
			return false;
		protocol = octets[r->at];
		r->at += (octets[r->at + 1] + 1U) * 8;
	}
	memcpy(tuple->source, octets + 8, 16);
	memcpy(tuple->destination, octets + 24, 16);
	return protocol == PROTOCOL_TCP && r->at <= r->end;
}

/* Whether the first SACK block reports what was received twice, RFC 2883. */
static bool is_dsack(const u8 *blocks, u32 octets, u32 ack)
{
	u32 first = get32(blocks), end = get32(blocks + 4);

	if ((s32)(end - ack) <= 0)
		return true;
	return octets >= 2 * SACK_BLOCK && (s32)(first - get32(blocks + 8)) >= 0 &&
	       (s32)(get32(blocks + 12) - end) >= 0;
}

static void read_option(const u8 *option, u32 length, u32 at, struct shake_segment *segment)
{
	if (option[0] == OPTION_TIMESTAMPS && length == 10)
		segment->has_timestamps = true;
	if (option[0] == OPTION_AO)
		segment->fixed = true;
	if (option[0] != OPTION_SACK || length < 2 + SACK_BLOCK || (length - 2) % SACK_BLOCK)
		return;
	segment->fixed |= segment->has_sack;
	segment->has_sack = true;
	segment->sack_at = (u16)at;
	segment->sacked = get32(option + 6);
	segment->has_dsack |= is_dsack(option + 2, length - 2, segment->ack);
}

/* Return: false if an option's length cannot be right. */
static bool read_options(const u8 *options, u32 length, struct shake_segment *segment)
{
	u32 front = segment->at + TCP_HEADER;
	u32 at = 0;

	/* as most segments have them: NOP, NOP, timestamps */
	if (length == 12 && get32(options) == TIMESTAMPS_ALONE) {
		segment->has_timestamps = true;
		return true;
	}
	while (at < length && options[at] != OPTION_END) {
		if (options[at] == OPTION_NOP) {
			at++;
			continue;
		}
		if (at + 2 > length || options[at + 1] < 2 || options[at + 1] > length - at)
			return false;
		read_option(options + at, options[at + 1], front + at, segment);
		at += options[at + 1];
	}
	return true;
}

static bool read_tcp(const struct reader *r, struct shake_segment *segment)
{
	const u8 *tcp = r->octets + r->at;
	u32 header, data;
	u16 flags;

	if (r->at + TCP_HEADER > r->linear)
		return false;
	header = (tcp[12] >> 4) * 4U;
	if (header < TCP_HEADER || r->at + header > r->linear || r->at + header > r->end)
		return false;
	flags = get16(tcp + 12) & TCP_FLAGS;
	data = r->end - r->at - header;
	memcpy(segment->tuple.source_port, tcp, 2);
	memcpy(segment->tuple.destination_port, tcp + 2, 2);
	segment->seq = get32(tcp + 4);
	segment->ack = get32(tcp + 8);
	segment->window = get16(tcp + 14);
	segment->at = (u16)r->at;
	segment->options = (u16)(header - TCP_HEADER);
	segment->flags = flags;
	segment->syn = flags & TCP_SYN;
	segment->fin = flags & TCP_FIN;
	segment->rst = flags & TCP_RST;
	segment->has_ack = flags & TCP_ACK;
	segment->end = segment->seq + data + segment->syn + segment->fin;
	segment->pure_ack = segment->has_ack && segment->end == segment->seq &&
			    !(flags & (TCP_RST | TCP_URG));
	return read_options(tcp + TCP_HEADER, header - TCP_HEADER, segment);
}

/**
 * shake_segment_read() - read a TCP segment from an IP packet
 * @packet: its octets
 * @linear: how many of them may be read, at most @length
 * @length: of the whole packet
 * @segment: what is read
 *
 * Return: false if it is not TCP, a fragment, nonsense, or if its headers aren't linear.
 */
bool shake_segment_read(const u8 *packet, u32 linear, u32 length,
			struct shake_segment *segment)
{
	struct reader r = { .octets = packet, .linear = min(linear, length) };

	memset(segment, 0, sizeof(*segment));
	if (!r.linear)
		return false;
	segment->tuple.version = packet[0] >> 4;
	if (segment->tuple.version == 4)
		return read_ipv4(&r, length, &segment->tuple) && read_tcp(&r, segment);
	if (segment->tuple.version == 6)
		return read_ipv6(&r, length, &segment->tuple) && read_tcp(&r, segment);
	return false;
}

static u16 fold(u32 total)
{
	total = (total & 0xffff) + (total >> 16);
	return (u16)(total + (total >> 16));
}

/* The sum of an even number of octets, RFC 1071. */
static u16 sum(const u8 *octets, u32 length)
{
	u32 total = 0, at;

	for (at = 0; at < length; at += 2)
		total += get16(octets + at);
	return fold(total);
}

/**
 * shake_segment_unsack() - take the SACK blocks away
 * @packet: its octets; its headers are linear and may be written
 * @segment: as read of it, with a SACK option
 * @summed: its checksum covers its options, and has to follow (RFC 1624)
 *
 * NOPs take their place.
 */
void shake_segment_unsack(u8 *packet, const struct shake_segment *segment, bool summed)
{
	u8 *tcp = packet + segment->at, *options = tcp + TCP_HEADER;
	u16 before = sum(options, segment->options), check;

	memset(packet + segment->sack_at, OPTION_NOP, packet[segment->sack_at + 1]);
	if (!summed)
		return;
	check = (u16)~fold((u32)(u16)~get16(tcp + TCP_SUM) + (u16)~before +
			   sum(options, segment->options));
	tcp[TCP_SUM] = (u8)(check >> 8);
	tcp[TCP_SUM + 1] = (u8)check;
}

/**
 * shake_tuple_reverse() - the flow in the other direction
 * @to: it
 * @from: a flow
 */
void shake_tuple_reverse(struct shake_tuple *to, const struct shake_tuple *from)
{
	*to = *from;
	memcpy(to->source, from->destination, sizeof(to->source));
	memcpy(to->destination, from->source, sizeof(to->destination));
	memcpy(to->source_port, from->destination_port, sizeof(to->source_port));
	memcpy(to->destination_port, from->source_port, sizeof(to->destination_port));
}
