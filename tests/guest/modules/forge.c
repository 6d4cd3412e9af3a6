// SPDX-License-Identifier: GPL-2.0
/*
 * forge - frames that SSCOP has to drop
 *
 *   forge DEVICE TO FROM KIND RATE SECONDS
 *	Send RATE frames per second to the hardware address TO, as if from FROM. KIND:
 *
 *	random	octets of random value and number
 *	short	the first octets of a PDU
 *	begin	BGNs with a good CRC and random connection numbers
 *	control	BGAK, END, RS, ER, ENDAK, RSAK, ERAK likewise
 *	replay	frames that DEVICE has sent before
 *	reflect	frames that DEVICE has received, back to their sender
 *	cut	frames that DEVICE has sent before, their last octets cut off
 *	flip	such frames with one bit flipped
 *	long	such frames, longer than any that may come
 *	sd, poll, stat, ustat
 *		PDUs with the connection's seal, which who hears frames can compute, and all
 *		else random but near what was sent last
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#define ETHERTYPE 0x88b5
#define SHOT 10		/* frames sent at once */
#define KEPT 256	/* frames to replay */
#define CONTROL 19	/* octets of a control PDU */
#define ROOM 9014	/* octets of the longest frame */
#define HEADER 8	/* octets in front of an SD's payload */
#define NEAR 1024	/* numbers from the last one on */
#define SHORT 0x20
#define POLYNOMIAL 0x82f63b78

struct frame {
	int length;
	unsigned char octets[ROOM];
};

static struct frame kept[KEPT];
static uint64_t state = 88172645463325252;

static void die(const char *what)
{
	fprintf(stderr, "forge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static uint32_t crc32c(uint32_t crc, const unsigned char *octets, int length)
{
	while (length--) {
		crc ^= *octets++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

static int fill_random(unsigned char *pdu, int length)
{
	for (int i = 0; i < length; i++)
		pdu[i] = draw();
	return length;
}

/* A control PDU with a good CRC and all else random. */
static int control(unsigned char *pdu, int type)
{
	uint32_t crc;

	fill_random(pdu, CONTROL);
	pdu[4] = 0x20 | type;
	pdu[8] = CONTROL;
	pdu[9] = 1;
	crc = htonl(crc32c(~0U, pdu + 4, CONTROL - 4));
	memcpy(pdu, &crc, sizeof(crc));
	return CONTROL;
}

/* Return: octets of a PDU of a kind. */
static int forged(const char *kind, unsigned char *pdu)
{
	static const unsigned char types[] = { 2, 3, 4, 5, 6, 9, 15 };

	if (!strcmp(kind, "random"))
		return fill_random(pdu, draw() % ETH_DATA_LEN);
	if (!strcmp(kind, "short"))
		return control(pdu, types[draw() % sizeof(types)]), draw() % 9;
	if (!strcmp(kind, "begin"))
		return control(pdu, 1);
	return control(pdu, types[draw() % sizeof(types)]);
}

static int is_outgoing(const struct sockaddr_ll *from)
{
	return from->sll_pkttype == PACKET_OUTGOING;
}

/* Keep frames that pass by. */
static void keep(int fd, int outgoing)
{
	struct sockaddr_ll from;

	for (int i = 0; i < KEPT;) {
		socklen_t size = sizeof(from);
		int n = recvfrom(fd, kept[i].octets, ROOM, 0, (void *)&from, &size);

		if (n < ETH_HLEN || kept[i].octets[12] != ETHERTYPE >> 8 ||
		    kept[i].octets[13] != (ETHERTYPE & 0xff) ||
		    is_outgoing(&from) != outgoing)
			continue;
		kept[i++].length = n;
	}
}

static void read_address(const char *text, unsigned char *address)
{
	unsigned int octet[ETH_ALEN];

	if (sscanf(text, "%x:%x:%x:%x:%x:%x", octet, octet + 1, octet + 2, octet + 3, octet + 4,
		   octet + 5) != ETH_ALEN) {
		fprintf(stderr, "forge: %s: not a hardware address\n", text);
		exit(1);
	}
	for (int i = 0; i < ETH_ALEN; i++)
		address[i] = octet[i];
}

/* --- frames made of others --------------------------------------------------------------- */

static int is_kind(const char *kind, const char *word)
{
	return !strcmp(kind, word);
}

static int is_sealed(const char *kind)
{
	return !!strstr(" sd poll stat ustat ", kind);
}

static int is_made_up(const char *kind)
{
	return !!strstr(" random short begin control ", kind);
}

/* What the CRC over these octets began with. */
static uint32_t crc_start(uint32_t crc, const unsigned char *octets, int length)
{
	while (length--) {
		for (int i = 0; i < 8; i++)
			crc = crc & 1U << 31 ? (crc ^ POLYNOMIAL) << 1 | 1 : crc << 1;
		crc ^= octets[length];
	}
	return crc;
}

static uint32_t get32(const unsigned char *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return ntohl(value);
}

static void put24(unsigned char *octets, uint32_t value)
{
	octets[0] = value >> 16;
	octets[1] = value >> 8;
	octets[2] = value;
}

/* Seal and number of the newest SD that DEVICE has sent: a reset changes both. */
static void follow(int fd, uint32_t *seal, uint32_t *seq)
{
	static unsigned char frame[ROOM];
	const unsigned char *pdu = frame + ETH_HLEN;
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	int n;

	while ((n = recvfrom(fd, frame, ROOM, MSG_DONTWAIT, (void *)&from, &size)) > 0) {
		if (!is_outgoing(&from) || (pdu[4] & (0x0f | SHORT)) != 8)
			continue;
		*seal = crc_start(get32(pdu), pdu + 4, n - ETH_HLEN - 4);
		*seq = get32(pdu + 4) & 0xffffff;
	}
}

/* Return: octets of a PDU whose type is in the first, without its CRC; STAT: 8 elements. */
static int fields(const char *kind, unsigned char *pdu, uint32_t seq)
{
	const int control = is_kind(kind, "poll") ? 12 : is_kind(kind, "stat") ? 39 : 18;
	static uint32_t asked;

	if (is_kind(kind, "sd")) {
		pdu[4] = 8 | (draw() & 0xc0);
		return fill_random(pdu + HEADER, 64 + draw() % 1300) + HEADER;
	}
	pdu[4] = SHORT | (is_kind(kind, "poll") ? 10 : is_kind(kind, "stat") ? 11 : 12);
	pdu[8] = control;
	for (int at = 9; at < control; at += 3)
		put24(pdu + at, seq += draw() % 16);
	if (is_kind(kind, "poll"))
		put24(pdu + 9, asked += 1 + draw() % 4);
	return control;
}

static int sealed(int fd, const char *kind, unsigned char *pdu)
{
	static uint32_t seal, seq;
	uint32_t crc;
	int length;

	follow(fd, &seal, &seq);
	length = fields(kind, pdu, seq);
	put24(pdu + 5, seq + draw() % NEAR);
	crc = htonl(crc32c(seal, pdu + 4, length - 4));
	memcpy(pdu, &crc, sizeof(crc));
	return length;
}

static void spoil(const char *kind, struct frame *frame)
{
	const int pdu = frame->length - ETH_HLEN;
	const uint32_t bit = draw() % (pdu * 8);

	if (is_kind(kind, "cut"))
		frame->length -= 1 + draw() % pdu;
	else if (is_kind(kind, "flip"))
		frame->octets[ETH_HLEN + bit / 8] ^= 1 << bit % 8;
	else if (is_kind(kind, "long"))
		frame->length += fill_random(frame->octets + frame->length,
					     1 + draw() % (ROOM - frame->length));
}

/* The next frame, from address to EtherType already written. */
static void next_frame(int fd, const char *kind, struct frame *frame)
{
	const struct frame *old = &kept[draw() % KEPT];

	if (is_sealed(kind)) {
		frame->length = ETH_HLEN + sealed(fd, kind, frame->octets + ETH_HLEN);
	} else if (old->length) {
		memcpy(frame->octets + ETH_ALEN, old->octets + ETH_ALEN, old->length - ETH_ALEN);
		frame->length = old->length;
		spoil(kind, frame);
	} else {
		frame->length = ETH_HLEN + forged(kind, frame->octets + ETH_HLEN);
	}
}

static int open_device(const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), one = 1;

	at.sll_ifindex = if_nametoindex(name);
	if (fd < 0 || !at.sll_ifindex || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		die(name);
	return fd;
}

/* Frames that come in are not read. */
static void stop_listening(int fd, const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };

	at.sll_ifindex = if_nametoindex(name);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die(name);
}

static void shoot(int fd, const char *kind, struct frame *frame, double rate, double seconds)
{
	struct timespec wait = { .tv_nsec = SHOT / rate * 1e9 };

	for (long n = 0; n < rate * seconds; n++) {
		next_frame(fd, kind, frame);
		if (send(fd, frame->octets, frame->length, 0) < 0 && errno != ENOBUFS)
			die("send");
		if (n % SHOT == SHOT - 1)
			nanosleep(&wait, NULL);
	}
}

int main(int argc, char **argv)
{
	struct frame frame = { .octets = { [12] = ETHERTYPE >> 8, [13] = ETHERTYPE & 0xff } };
	int fd;

	if (argc != 7) {
		fprintf(stderr, "forge: DEVICE TO FROM KIND RATE SECONDS\n");
		return 2;
	}
	fd = open_device(argv[1]);
	read_address(argv[2], frame.octets);
	read_address(argv[3], frame.octets + ETH_ALEN);
	if (!is_made_up(argv[4]) && !is_sealed(argv[4]))
		keep(fd, strcmp(argv[4], "reflect") != 0);
	if (!is_sealed(argv[4]))
		stop_listening(fd, argv[1]);
	shoot(fd, argv[4], &frame, atof(argv[5]), atof(argv[6]));
	return 0;
}
