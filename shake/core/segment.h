/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP segments inside SHAKE's tunnel, read from an IP packet. No kernel in here.
 */
#ifndef _SHAKE_SEGMENT_H
#define _SHAKE_SEGMENT_H

#include <apogee/int.h>

/* of @flags: congestion was seen (RFC 3168) */
#define SHAKE_SEGMENT_ECE 0x40

/**
 * struct shake_tuple - the ends of a flow, as they are in the packet
 * @source: address; of IPv4 the first four octets, the rest is zero
 * @destination: address, likewise
 * @source_port: two octets
 * @destination_port: two octets
 * @version: of IP, 4 or 6
 * @zero: no hole in the structure: it is hashed as octets
 */
struct shake_tuple {
	u8 source[16];
	u8 destination[16];
	u8 source_port[2];
	u8 destination_port[2];
	u8 version;
	u8 zero[3];
};

/**
 * struct shake_segment - what is read of a TCP segment
 * @tuple: the ends of its flow
 * @seq: its first sequence number
 * @end: first number behind its data, SYN and FIN; @seq if it has none of these
 * @ack: acknowledgment number, if @has_ack
 * @sacked: end of its first SACK block, of what came last (RFC 2018), if @has_sack
 * @window: as in the header, not scaled
 * @at: octets in front of TCP's header
 * @options: octets of its options
 * @sack_at: octets in front of its SACK option, if @has_sack
 * @flags: offset 12 and 13 of the TCP header without the length: AE, CWR, ECE, URG, ...
 * @syn: SYN
 * @fin: FIN
 * @rst: RST
 * @has_ack: ACK
 * @pure_ack: an ACK with neither data nor SYN, FIN, RST, URG
 * @has_sack: with SACK blocks
 * @has_dsack: its first block reports data received twice (RFC 2883)
 * @has_timestamps: with timestamps (RFC 7323)
 * @fixed: its options must stay as they are: authenticated (RFC 5925), or SACK twice
 */
struct shake_segment {
	struct shake_tuple tuple;
	u32 seq;
	u32 end;
	u32 ack;
	u32 sacked;
	u16 window;
	u16 at;
	u16 options;
	u16 sack_at;
	u16 flags;
	bool syn;
	bool fin;
	bool rst;
	bool has_ack;
	bool pure_ack;
	bool has_sack;
	bool has_dsack;
	bool has_timestamps;
	bool fixed;
};

bool shake_segment_read(const u8 *packet, u32 linear, u32 length,
			struct shake_segment *segment);
void shake_segment_unsack(u8 *packet, const struct shake_segment *segment, bool summed);
void shake_tuple_reverse(struct shake_tuple *to, const struct shake_tuple *from);

#endif /* _SHAKE_SEGMENT_H */
