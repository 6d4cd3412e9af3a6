// SPDX-License-Identifier: GPL-2.0
/* Packets of both directions on the tun device. */
#include <string.h>

#include "exchange.h"

#define PROTO_ICMP	1
#define CLOCK_US	100	/* what reading the clock for a burst takes, at most */

/* --- from the stack --- */

static struct sent *find_sent(__u32 begin)
{
	for (int i = 0; i < peer.sents; i++) {
		if (peer.sent[i].begin == begin)
			return &peer.sent[i];
	}
	return NULL;
}

static void remember(__u32 begin, __u32 end, const unsigned char *stamps)
{
	const __u32 stamp = stamps ? get32(stamps + 2) : 0;
	struct sent *s = begin < peer.nxt ? find_sent(begin) : NULL;

	if (end > peer.nxt)
		peer.nxt = end;
	if (!s && peer.sents < MOST_SENT) {
		s = &peer.sent[peer.sents++];
		s->begin = begin;
		s->first_stamp = stamp;
		s->at_us = now_us();
	}
	if (!s)
		return;
	s->end = end;
	s->last_stamp = stamp;
}

/* The end of what has been sent a round trip ago: a peer on this path acknowledges that now. */
__u32 packet_arrived(void)
{
	const long long until = now_us() - peer.path_us + CLOCK_US;
	__u32 end = peer.una;

	for (int i = 0; i < peer.sents; i++) {
		if (peer.sent[i].at_us <= until && peer.sent[i].end > end)
			end = peer.sent[i].end;
	}
	return end;
}

static const struct sent *find_holder(__u32 position)
{
	for (int i = peer.sents; i--;) {
		const struct sent *s = &peer.sent[i];

		if (s->begin <= position && position < s->end)
			return s;
	}
	return NULL;
}

/*
 * What the peer echoes (RFC 7323 4.3): the timestamp of the segment that has moved the
 * acknowledgment, of its last transmission or of its first.
 */
__u32 packet_stamp(__u32 ack, bool first)
{
	const struct sent *s = ack > peer.una ? find_holder(peer.una) : NULL;

	if (s)
		peer.recent = first ? s->first_stamp : s->last_stamp;
	return peer.recent;
}

/* A SYN begins a connection. */
static void begin(void)
{
	peer.nxt = 0;
	peer.una = 0;
	peer.next = 0;
	peer.sents = 0;
	peer.stamped = false;
	peer.multipath = false;
	path_begin();
}

static void taken_syn(const unsigned char *tcp, const unsigned char *stamps)
{
	const unsigned char *cookie = find_option(tcp, 34);

	if (!(tcp[13] & ACK) && peer.isn != get32(tcp + 4))
		begin();
	peer.isn = get32(tcp + 4);
	peer.stack_port = (__u16)(tcp[0] << 8 | tcp[1]);
	if (stamps && !peer.stamped) {
		peer.stack_clock = get32(stamps + 2);
		peer.recent = peer.stack_clock;
		peer.stamped = true;
	} else if (stamps && !peer.next) {
		peer.recent = get32(stamps + 2);	/* it answers the last SYN */
	}
	if (cookie && cookie[1] > 2 && cookie[1] <= 2 + MOST_COOKIE) {
		peer.cookie_length = cookie[1] - 2;
		memcpy(peer.cookie, cookie + 2, (size_t)peer.cookie_length);
	}
}

/* The byte at position N of the stream is N, modulo 256. */
static void check_payload(const unsigned char *payload, int length, __u32 begin)
{
	for (int i = 0; i < length; i++) {
		if (payload[i] != (unsigned char)(begin + (__u32)i)) {
			note("wrong payload at %u", begin + (__u32)i);
			return;
		}
	}
}

void packet_taken(const unsigned char *packet, int length)
{
	const unsigned char *tcp = packet + IP_HEADER, *stamps;
	__u32 seq, flags;
	int header;

	if (length < IP_HEADER + TCP_HEADER || packet[0] != 0x45 || packet[9] != PROTO_TCP)
		return;
	header = IP_HEADER + (tcp[12] >> 4) * 4;
	stamps = find_option(tcp, 8);
	flags = tcp[13];
	if (flags & SYN)
		taken_syn(tcp, stamps);
	mptcp_taken(tcp);
	seq = get32(tcp + 4) - peer.isn;
	print_packet('>', packet, length);
	sign_check(packet, length - IP_HEADER);
	length -= header;
	seq += !!(flags & SYN);
	check_payload(packet + header, length, seq);
	if (length || flags & FIN) {
		remember(seq, seq + (__u32)length + (flags & FIN), stamps);
		path_taken(seq, seq + (__u32)length);
	} else if (flags & SYN) {
		peer.nxt = 1;
	}
}

/* --- to the stack --- */

/* What the segment changes at the peer. */
static void account(const struct segment *s)
{
	const __u32 end = s->seq + (__u32)s->length + !!(s->flags & (SYN | FIN));

	if (s->flags & SYN && !(s->flags & ACK))
		begin();
	if (!(s->flags & SYN))
		peer.window = s->window;
	if (end > peer.next)
		peer.next = end;
	if (s->flags & ACK && s->ack > peer.una)
		peer.una = s->ack;
}

void packet_send(const struct segment *s)
{
	static unsigned char packet[MOST_PACKET];
	const int length = wire_build(packet, s);

	print_packet('<', packet, length);
	account(s);
	wire_write(packet, length);
}

/* ICMP: a router's link carries no more than so much, and a segment was larger. */
void packet_too_big(__u32 seq, int mtu)
{
	unsigned char packet[IP_HEADER + 8 + IP_HEADER + 8] = { 0 };
	unsigned char *icmp = packet + IP_HEADER, *quoted = icmp + 8;

	set_ip(packet, sizeof(packet), PROTO_ICMP);
	set_ip(quoted, 1500, PROTO_TCP);
	set32(quoted + 12, 0x0a080001);
	set32(quoted + 16, 0x0a080002);
	set16(quoted + IP_HEADER, peer.stack_port);
	set16(quoted + IP_HEADER + 2, peer.port);
	set32(quoted + IP_HEADER + 4, peer.isn + seq);
	icmp[0] = 3;
	icmp[1] = 4;
	set16(icmp + 6, (__u32)mtu);
	set_checksum(icmp + 2, 0, icmp, sizeof(packet) - IP_HEADER);
	note("< icmp frag_needed mtu %d %u", mtu, seq);
	wire_write(packet, sizeof(packet));
}
