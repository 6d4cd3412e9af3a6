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
 *	links	BGNs that name links, some by ids of other lengths
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
#include "frames.h"

#define ETHERTYPE 0x88b5
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

static uint32_t crc32c(uint32_t crc, const unsigned char *octets, int length)
{
	while (length--) {
		crc ^= *octets++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

/* A control PDU with a good CRC and all else random, of CONTROL octets or more. */
static int control_of(unsigned char *pdu, int type, int length)
{
	pdu[4] = 0x20 | type;
	pdu[8] = length;
	pdu[9] = 1;
	set32(pdu, crc32c(~0U, pdu + 4, length - 4));
	return length;
}

static int control(unsigned char *pdu, int type)
{
	return control_of(pdu, type, fill_random(pdu, CONTROL));
}

/* A BGN of one of eight links, with as many octets for its id, and others behind. */
static int of_a_link(unsigned char *pdu)
{
	int length = fill_random(pdu, CONTROL + 2 + draw() % 8);

	pdu[CONTROL] = 2;
	pdu[CONTROL + 1] = draw() % 8 ? 2 : draw() % 8;
	pdu[CONTROL + 2] = 0;
	pdu[CONTROL + 3] = draw() % 8;
	return control_of(pdu, 1, length);
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
	if (!strcmp(kind, "links"))
		return of_a_link(pdu);
	return control(pdu, types[draw() % sizeof(types)]);
}

/* Keep frames that pass by. */
static void keep(int fd, bool outgoing)
{
	bool sent;

	for (int i = 0; i < KEPT;) {
		int n = next_frame(fd, kept[i].octets, ROOM, 0, &sent);

		if (n < ETH_HLEN || kept[i].octets[12] != ETHERTYPE >> 8 ||
		    kept[i].octets[13] != (ETHERTYPE & 0xff) || sent != outgoing)
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
	return !!strstr(" random short begin links control ", kind);
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
	bool sent;
	int n;

	while ((n = next_frame(fd, frame, ROOM, MSG_DONTWAIT, &sent)) > 0) {
		if (!sent || (pdu[4] & (0x0f | SHORT)) != 8)
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
	int length;

	follow(fd, &seal, &seq);
	length = fields(kind, pdu, seq);
	put24(pdu + 5, seq + draw() % NEAR);
	set32(pdu, crc32c(seal, pdu + 4, length - 4));
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

/* What is sent: from address to EtherType it is written already. */
struct flood {
	int fd;
	const char *kind;
	struct frame frame;
};

static void shoot(void *with)
{
	struct flood *flood = with;
	struct frame *frame = &flood->frame;
	const struct frame *old = &kept[draw() % KEPT];

	if (is_sealed(flood->kind)) {
		frame->length = ETH_HLEN + sealed(flood->fd, flood->kind, frame->octets + ETH_HLEN);
	} else if (old->length) {
		memcpy(frame->octets + ETH_ALEN, old->octets + ETH_ALEN, old->length - ETH_ALEN);
		frame->length = old->length;
		spoil(flood->kind, frame);
	} else {
		frame->length = ETH_HLEN + forged(flood->kind, frame->octets + ETH_HLEN);
	}
	send_octets(flood->fd, frame->octets, frame->length);
}

int main(int argc, char **argv)
{
	struct flood flood = { .frame.octets = { [12] = ETHERTYPE >> 8, [13] = ETHERTYPE & 0xff } };

	if (argc != 7) {
		fprintf(stderr, "forge: DEVICE TO FROM KIND RATE SECONDS\n");
		return 2;
	}
	flood.kind = argv[4];
	flood.fd = frames_of(argv[1]);
	read_address(argv[2], flood.frame.octets);
	read_address(argv[3], flood.frame.octets + ETH_ALEN);
	if (!is_made_up(flood.kind) && !is_sealed(flood.kind))
		keep(flood.fd, !is_kind(flood.kind, "reflect"));
	if (!is_sealed(flood.kind))
		stop_listening(flood.fd, argv[1]);
	paced(atof(argv[5]), atof(argv[6]), shoot, &flood);
	return 0;
}
