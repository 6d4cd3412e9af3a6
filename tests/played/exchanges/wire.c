// SPDX-License-Identifier: GPL-2.0
/* Octets of packets: to read them, and to build what the peer sends. */
#include <string.h>
#include <sys/uio.h>

#include "exchange.h"

/* Options of the peer's segment. */
void put_octets(struct segment *s, const void *octets, int length)
{
	if (s->options_length + length > MOST_OPTIONS)
		die("too many options");
	memcpy(s->options + s->options_length, octets, (size_t)length);
	s->options_length += length;
}

void put_number(struct segment *s, __u32 value)
{
	unsigned char octets[4];

	set32(octets, value);
	put_octets(s, octets, 4);
}

const unsigned char *find_option(const unsigned char *tcp, int kind)
{
	const unsigned char *end = tcp + (tcp[12] >> 4) * 4;

	for (const unsigned char *o = tcp + TCP_HEADER; o < end && *o;) {
		if (*o == kind)
			return o;
		o += *o == 1 ? 1 : o[1];
	}
	return NULL;
}

void set_checksum(unsigned char *at, __u32 sum, const unsigned char *p, int length)
{
	set16(at, 0);
	for (int i = 0; i < length; i++)
		sum += i & 1 ? p[i] : (__u32)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	set16(at, ~sum);
}

void set_ip(unsigned char *ip, int length, int protocol)
{
	ip[0] = 0x45;
	set16(ip + 2, (__u32)length);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = (unsigned char)protocol;
	set32(ip + 12, 0x0a080002);
	set32(ip + 16, 0x0a080001);
	set_checksum(ip + 10, 0, ip, IP_HEADER);
}

static void set_tcp(unsigned char *tcp, const struct segment *s, int header)
{
	set16(tcp, peer.port);
	set16(tcp + 2, peer.stack_port);
	set32(tcp + 4, PEER_ISN + s->seq);
	set32(tcp + 8, s->flags & ACK ? peer.isn + s->ack : 0);
	tcp[12] = (unsigned char)(header / 4 << 4 | !!(s->flags & AE));
	tcp[13] = (unsigned char)s->flags;
	set16(tcp + 14, (__u32)s->window);
	set16(tcp + 18, (__u32)s->urgent);
	memcpy(tcp + TCP_HEADER, s->options, (size_t)s->options_length);
}

/* Return: the packet's length. */
int wire_build(unsigned char *packet, const struct segment *s)
{
	const int header = TCP_HEADER + s->options_length;
	const int length = IP_HEADER + header + s->length;
	unsigned char *tcp = packet + IP_HEADER;

	memset(packet, 0, (size_t)length);
	packet[1] = (unsigned char)s->ecn;
	set_ip(packet, length, PROTO_TCP);
	set_tcp(tcp, s, header);
	if (peer.sign)
		peer.sign(packet, length - IP_HEADER);
	set_checksum(tcp + 16, 0x0a08 * 2 + 3 + PROTO_TCP + (__u32)(length - IP_HEADER), tcp,
		     length - IP_HEADER);
	return length;
}

/* What stands before each packet of the device: of what is written nothing is offloaded. */
static unsigned char head[10];

/* Return: octets of the next packet that the stack has sent; there is room for MOST_PACKET. */
int wire_read(unsigned char *packet)
{
	unsigned char before[sizeof(head)];
	const struct iovec parts[] = { { before, sizeof(head) }, { packet, MOST_PACKET } };
	const ssize_t n = readv(peer.tun, parts, 2);

	return n > (ssize_t)sizeof(head) ? (int)n - (int)sizeof(head) : 0;
}

void wire_write(unsigned char *packet, int length)
{
	const struct iovec parts[] = { { head, sizeof(head) }, { packet, (size_t)length } };

	if (writev(peer.tun, parts, 2) != (ssize_t)sizeof(head) + length)
		die("write to the device");
}
