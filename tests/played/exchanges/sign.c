// SPDX-License-Identifier: GPL-2.0
/* Signatures of segments: MD5 (RFC 2385), and TCP-AO with HMAC-SHA-1-96 (RFC 5925, 5926). */
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/tcp.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "exchange.h"

#define MD5_OPTION	19
#define MD5_BYTES	16
#define AO_OPTION	29
#define AO_BYTES	12
#define SHA1_BYTES	20
#define PSEUDO		12
#define MOST_KEY	80
#define ADD_AO_KEY	38	/* TCP_AO_ADD_KEY, and its argument: since Linux 6.7 */

struct ao_key {
	struct sockaddr_storage peer;
	char algorithm[64];
	__s32 ifindex;
	__u32 flags;
	__u16 reserved;
	__u8 prefix;
	__u8 send_id;
	__u8 receive_id;
	__u8 mac_length;
	__u8 key_flags;
	__u8 key_length;
	__u8 key[MOST_KEY];
};

static int kind;		/* the option that the peer's segments have, or 0 */
static int send_id, receive_id;	/* of TCP-AO, the peer's */
static char key[MOST_KEY + 1];

/* "md5 KEY", or "ao SEND RECEIVE KEY" with the numbers of the key in each direction, or "none". */
static int read_key(const char *text, int *ids, char *secret)
{
	if (sscanf(text, "md5 %80s", secret) == 1)
		return MD5_OPTION;
	if (sscanf(text, "ao %d %d %80s", ids, ids + 1, secret) == 3)
		return AO_OPTION;
	if (strncmp(text, "none", 4))
		refuse(text);
	return 0;
}

/* Let the library set itself up, which takes 5 ms of a stock guest, before the first exchange. */
void sign_begin(void)
{
	unsigned char mac[SHA1_BYTES];

	EVP_Q_digest(NULL, "MD5", NULL, "", 0, mac, NULL);
	HMAC(EVP_sha1(), "", 0, mac, 0, mac, NULL);
}

static int add_md5_key(int fd, const struct sockaddr_in *to, const char *secret)
{
	struct tcp_md5sig sig = { .tcpm_keylen = (__u16)strlen(secret) };

	memcpy(&sig.tcpm_addr, to, sizeof(*to));
	memcpy(sig.tcpm_key, secret, strlen(secret));
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig));
}

static int add_ao_key(int fd, const struct sockaddr_in *to, const int *ids, const char *secret)
{
	struct ao_key add = {
		.algorithm = "hmac(sha1)", .prefix = 32, .key_length = (__u8)strlen(secret),
		.send_id = (__u8)ids[0], .receive_id = (__u8)ids[1],
	};

	memcpy(&add.peer, to, sizeof(*to));
	memcpy(add.key, secret, strlen(secret));
	return setsockopt(fd, IPPROTO_TCP, ADD_AO_KEY, &add, sizeof(add));
}

/* The same for a socket of the stack. */
int sign_socket(int fd, const struct sockaddr_in *to, const char *text)
{
	char secret[MOST_KEY + 1];
	int ids[2];

	if (read_key(text, ids, secret) == MD5_OPTION)
		return add_md5_key(fd, to, secret);
	return add_ao_key(fd, to, ids, secret);
}

/* Room for the signature in a segment of the peer. Return: the option's length. */
int sign_option(unsigned char *o)
{
	const int length = kind == MD5_OPTION ? 2 + MD5_BYTES : 4 + AO_BYTES;

	if (!kind)
		return 0;
	memset(o, 0, (size_t)length);
	o[0] = (unsigned char)kind;
	o[1] = (unsigned char)length;
	if (kind == AO_OPTION) {
		o[2] = (unsigned char)send_id;
		o[3] = (unsigned char)receive_id;
	}
	return length;
}

/* --- what is hashed --- */

/* Addresses, protocol and length, as below the checksum. Return: their length. */
static int put_pseudo(unsigned char *at, const unsigned char *ip, int length)
{
	memcpy(at, ip + 12, 8);
	set16(at + 8, PROTO_TCP);
	set16(at + 10, (__u32)length);
	return PSEUDO;
}

/* RFC 2385 2.0: the header without options, the data, the key. */
static void md5(const unsigned char *ip, int length, unsigned char *mac)
{
	static unsigned char text[MOST_PACKET];
	const unsigned char *tcp = ip + IP_HEADER;
	const int header = (tcp[12] >> 4) * 4;
	int n = put_pseudo(text, ip, length);

	memcpy(text + n, tcp, TCP_HEADER);
	set16(text + n + 16, 0);
	n += TCP_HEADER;
	memcpy(text + n, tcp + header, (size_t)(length - header));
	n += length - header;
	memcpy(text + n, key, strlen(key));
	n += (int)strlen(key);
	if (!EVP_Q_digest(NULL, "MD5", NULL, text, (size_t)n, mac, NULL))
		refuse("MD5");
}

/* RFC 5926 3.1.1: the key of a connection and direction. That of a SYN does not know both ISNs. */
static void traffic_key(const unsigned char *ip, bool stack, unsigned char *traffic)
{
	const unsigned char *tcp = ip + IP_HEADER;
	const bool first = (tcp[13] & (SYN | ACK)) == SYN;
	const __u32 isn = stack ? peer.isn : PEER_ISN, other = stack ? PEER_ISN : peer.isn;
	unsigned char text[] = "\1TCP-AO........PP..SSSSDDDDLL";

	memcpy(text + 7, ip + 12, 8);
	memcpy(text + 15, tcp, 4);
	set32(text + 19, isn);
	set32(text + 23, first ? 0 : other);
	set16(text + 27, 8 * SHA1_BYTES);
	HMAC(EVP_sha1(), key, (int)strlen(key), text, 29, traffic, NULL);
}

/* RFC 5925 5.1: all of the segment, with a signature of zeros; its sequence has not wrapped. */
static void ao(const unsigned char *ip, int length, bool stack, unsigned char *mac)
{
	static unsigned char text[4 + PSEUDO + MOST_PACKET];
	unsigned char traffic[SHA1_BYTES], full[SHA1_BYTES], *tcp = text + 4 + PSEUDO, *o;

	put_pseudo(text + 4, ip, length);
	memcpy(tcp, ip + IP_HEADER, (size_t)length);
	set16(tcp + 16, 0);
	o = tcp + (find_option(ip + IP_HEADER, AO_OPTION) - (ip + IP_HEADER));
	memset(o + 4, 0, AO_BYTES);
	traffic_key(ip, stack, traffic);
	HMAC(EVP_sha1(), traffic, SHA1_BYTES, text, (size_t)(4 + PSEUDO + length), full, NULL);
	memcpy(mac, full, AO_BYTES);
}

/* Return: how long the signature is; where it stands is the rest of the option. */
static int signature(const unsigned char *ip, int length, bool stack, unsigned char *mac)
{
	if (kind == AO_OPTION)
		ao(ip, length, stack, mac);
	else
		md5(ip, length, mac);
	return kind == AO_OPTION ? AO_BYTES : MD5_BYTES;
}

/* Sign a segment of the peer; its checksum is made after that. */
static void sign_packet(unsigned char *ip, int length)
{
	const unsigned char *o = find_option(ip + IP_HEADER, kind);
	unsigned char mac[SHA1_BYTES];
	int n;

	if (!o)
		return;
	n = signature(ip, length, false, mac);
	memcpy(ip + (o - ip) + o[1] - n, mac, (size_t)n);
}

/* What the peer signs its segments by, and expects of the stack's. */
void sign_by(const char *text)
{
	int ids[2] = { 0 };

	kind = read_key(text, ids, key);
	send_id = ids[0];
	receive_id = ids[1];
	peer.sign = kind ? sign_packet : NULL;
}

/* Each segment of the stack has to be signed by the peer's key. */
void sign_check(const unsigned char *ip, int length)
{
	const unsigned char *o = find_option(ip + IP_HEADER, kind);
	unsigned char mac[SHA1_BYTES];
	int n;

	if (!kind)
		return;
	if (!o) {
		note("wrong signature: none");
		return;
	}
	n = signature(ip, length, true, mac);
	if (memcmp(o + o[1] - n, mac, (size_t)n))
		note("wrong signature");
}
