// SPDX-License-Identifier: GPL-2.0
/* Multipath TCP at the peer (RFC 8684): one subflow, whose segments acknowledge data. */
#include <string.h>
#include <sodium.h>

#include "exchange.h"

#define MPTCP		30
#define CAPABLE		0	/* subtypes */
#define DSS		2
#define VERSION		1
#define HMAC_SHA256	0x01	/* flag of CAPABLE */
#define HAS_ACK		0x01	/* flags of DSS */
#define LONG_ACK	0x02
#define HAS_MAPPING	0x04
#define LONG_SEQUENCE	0x08

/* The data sequence before the first octet (3.1): the end of the hash of the stack's key. */
static void learn(const unsigned char *key)
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, key, MPTCP_KEY);
	peer.data_zero = get32(hash + sizeof(hash) - 4);
	peer.multipath = true;
}

/* Data at position N of the subflow is that at N of the stream, as there is but one (3.3.1). */
static void check_mapping(const unsigned char *o)
{
	const unsigned char *at = o + 4;
	__u32 data, subflow;

	if (o[3] & HAS_ACK)
		at += o[3] & LONG_ACK ? 8 : 4;
	if (!(o[3] & HAS_MAPPING))
		return;
	at += o[3] & LONG_SEQUENCE ? 4 : 0;
	data = get32(at) - peer.data_zero;
	subflow = get32(at + 4);
	if (data != subflow)
		note("wrong mapping of %u to %u", subflow, data);
}

/* Of the stack's segments: both keys come with the third of the handshake, mappings with data. */
void mptcp_taken(const unsigned char *tcp)
{
	const unsigned char *o = find_option(tcp, MPTCP);

	if (!o)
		return;
	if (o[2] >> 4 == CAPABLE && o[1] >= 4 + 2 * MPTCP_KEY)
		learn(o + 4);
	else if (o[2] >> 4 == DSS)
		check_mapping(o);
}

/* The peer's key, in its SYN-ACK. Return: the option's length. */
int mptcp_capable(unsigned char *o)
{
	const unsigned char head[] = { MPTCP, 4 + MPTCP_KEY, CAPABLE << 4 | VERSION, HMAC_SHA256 };

	memcpy(o, head, sizeof(head));
	memset(o + sizeof(head), 1, MPTCP_KEY);
	return o[1];
}

/* What acknowledges data up to a position of the subflow. Return: the option's length. */
int mptcp_ack(unsigned char *o, __u32 ack)
{
	const unsigned char head[] = { MPTCP, 8, DSS << 4, HAS_ACK };

	memcpy(o, head, sizeof(head));
	set32(o + sizeof(head), peer.data_zero + ack);
	return o[1];
}
