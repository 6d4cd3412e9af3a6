// SPDX-License-Identifier: GPL-2.0
/*
 * shake_forge - packets that SHAKE has to drop
 *
 *   shake_forge flood DEVICE KIND RATE SECONDS [FILE]
 *	Who is on the way: send RATE packets per second out of DEVICE, beside the real ones,
 *	whose addresses, ports and session they have. KIND:
 *
 *	random	 octets of random value and number
 *	short	 the first 0 to 7 octets of a real packet
 *	type	 types and flags that are none
 *	session	 random indices of sessions
 *	data	 DATA of the session, its counter ahead, all else random
 *	ack	 ACK likewise
 *	probe	 PROBE likewise
 *	cut	 real packets with their counter ahead, 1 to 16 octets cut off
 *	long	 real packets with their counter ahead, random octets behind them
 *	flip	 real packets with their counter ahead, one bit flipped
 *	hello	 HELLO of leader 1, all else random
 *	stranger HELLO of leaders that are not known, or for paths that cannot be
 *	confirm	 CONFIRM of the session, tag random
 *	welcome	 WELCOME for leader 1, all else random
 *	given	 what is in a file (FILE), 256 packets of one length, from any of 10.50.0.0/16
 *	ready	 READY of the session, tag random
 *	replay	 packets that went out of DEVICE before
 *	reflect	 packets that came in by DEVICE, back to their sender
 *
 *   shake_forge record DEVICE TYPE NUMBER FILE
 *	Keep the first NUMBER packets of a type that go out of DEVICE.
 *
 *   shake_forge resend DEVICE FILE RATE SECONDS [SOURCE]
 *	Send them again and again, from another address if it is given (IPv4).
 *
 *   shake_forge seek DEVICE TEXT SECONDS
 *	Print how many packets went out of DEVICE, and in how many of them TEXT can be read.
 *
 *   shake_forge leader HOST PORT ID KIND RATE SECONDS
 *	Register as leader ID at an agent without authentication, then send what a leader
 *	should not. KIND:
 *
 *	flows	 every packet another TCP flow
 *	holes	 every other segment of a flow is left out
 *	mal	 random M_AL and random sequence numbers
 *	reset	 TCP RST and SYN in turn, in many flows
 *	inner	 random octets as inner packet
 *	brief	 an inner packet that claims to be shorter than its header
 *	source	 an inner source that is another leader's (source6: IPv6)
 *	between	 an inner destination that is another leader's (between6: IPv6)
 *	probe	 PROBEs
 *	again	 registrations
 */
#define _GNU_SOURCE	/* memmem() */
#include <fcntl.h>
#include <unistd.h>

#include "frames.h"

#define PORT 4790
#define KEPT 256
#define UDP 8
#define HEAD 8
#define TAG 16
#define FRAME 2048
#define LONG 1952	/* octets that a link of 2000 carries above UDP over IPv6 */

enum { HELLO = 1, WELCOME, CONFIRM, READY, DATA, ACK, PROBE, RESET };
enum { OPEN = 1, SHARED };	/* kinds of handshakes */

#define HELLO_OCTETS 96
#define WELCOME_OCTETS 88
#define ANSWER 128	/* where an answer is read to */
#define INDEX_AT 44	/* of a session, in a WELCOME */

struct frame {
	int length;
	int ip;		/* octets of the IP header */
	unsigned char octets[FRAME];
};

static struct frame kept[KEPT];
static int kept_count;

/* --- frames -------------------------------------------------------------------------------- */

static unsigned char *payload_of(struct frame *frame)
{
	return frame->octets + ETH_HLEN + frame->ip + UDP;
}

static int payload_length(const struct frame *frame)
{
	return frame->length - ETH_HLEN - frame->ip - UDP;
}

static uint32_t sum(const unsigned char *octets, int length, uint32_t sum)
{
	for (int i = 0; i + 1 < length; i += 2)
		sum += get16(octets + i);
	if (length & 1)
		sum += octets[length - 1] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Lengths and checksums for a payload of that length. */
static void finish(struct frame *frame, int payload)
{
	unsigned char *ip = frame->octets + ETH_HLEN, *udp = ip + frame->ip;
	int length = UDP + payload;
	uint16_t checksum;

	frame->length = ETH_HLEN + frame->ip + length;
	set16(udp + 4, length);
	set16(udp + 6, 0);
	if (frame->ip == 20) {
		set16(ip + 2, 20 + length);
		set16(ip + 10, 0);
		set16(ip + 10, fold(sum(ip, 20, 0)));
		return;
	}
	set16(ip + 4, length);
	checksum = fold(sum(udp, length, sum(ip + 8, 32, length + IPPROTO_UDP)));
	set16(udp + 6, checksum ? checksum : 0xffff);
}

/* Whether a frame is between leader and agent; learns where its parts are. */
static int is_tunnels(struct frame *frame)
{
	const unsigned char *ip = frame->octets + ETH_HLEN;
	uint16_t type = get16(frame->octets + 12);

	frame->ip = type == ETH_P_IP ? 20 : 40;
	if (frame->length < ETH_HLEN + frame->ip + UDP ||
	    (type != ETH_P_IP && type != ETH_P_IPV6) ||
	    ip[type == ETH_P_IP ? 9 : 6] != IPPROTO_UDP)
		return 0;
	ip += frame->ip;
	return get16(ip) == PORT || get16(ip + 2) == PORT;
}

/* Wait for the next of the tunnel's frames, in the direction that is asked for. */
static void next_of_tunnel(int fd, bool outgoing, struct frame *frame)
{
	bool sent;

	do {
		frame->length = next_frame(fd, frame->octets, FRAME, 0, &sent);
		if (frame->length < 0)
			err(1, "recvfrom");
	} while (sent != outgoing || !is_tunnels(frame));
}

static int type_of(struct frame *frame)
{
	return payload_length(frame) ? payload_of(frame)[0] >> 4 : 0;
}

static void send_frame(int fd, const struct frame *frame)
{
	send_octets(fd, frame->octets, frame->length);
}

/* --- forged frames ------------------------------------------------------------------------- */

struct flood {
	int fd;
	const char *kind;
	struct frame frame;		/* addresses and ports */
	uint16_t index;			/* of the session, at the receiver */
	uint32_t counter;		/* ahead of what was sent */
};

static int is_kind(const struct flood *flood, const char *kind)
{
	return !strcmp(flood->kind, kind);
}

static int head(struct flood *flood, unsigned char *p, int type, int flags, int length)
{
	fill_random(p, length);
	p[0] = type << 4;
	p[1] = flags;
	set16(p + 2, flood->index);
	set32(p + 4, flood->counter++);
	return length;
}

static int registration(unsigned char *p, int type, int path, int kind, uint32_t id)
{
	int length = type == HELLO ? HELLO_OCTETS : WELCOME_OCTETS;

	fill_random(p, length);
	p[0] = type << 4;
	p[1] = path;
	p[2] = kind;
	p[3] = 0;
	if (type == HELLO)
		set32(p + 4, id);
	return length;
}

/* A real packet, but for its counter. */
static int ahead(struct flood *flood, unsigned char *p)
{
	struct frame *old = &kept[draw() % kept_count];
	int length = payload_length(old);

	memcpy(p, payload_of(old), length);
	set32(p + 4, flood->counter++);
	return length;
}

static int lengthened(struct flood *flood, unsigned char *p)
{
	int length = ahead(flood, p), more = 1 + draw() % (LONG - length);

	fill_random(p + length, more);
	return length + more;
}

static int flipped(struct flood *flood, unsigned char *p)
{
	int length = ahead(flood, p);
	int bit = draw() % ((length - HEAD) * 8);

	p[HEAD + bit / 8] ^= 1 << bit % 8;
	return length;
}

static int of_session(struct flood *flood, unsigned char *p)
{
	if (is_kind(flood, "type"))
		return head(flood, p, draw() % 2 ? 9 + draw() % 7 : DATA, 0xf0, 64 + draw() % 64);
	if (is_kind(flood, "data"))
		return head(flood, p, DATA, 1, 100 + draw() % 1300);
	if (is_kind(flood, "ack"))
		return head(flood, p, ACK, 0, HEAD + 24 + TAG);
	if (is_kind(flood, "probe"))
		return head(flood, p, PROBE, 1, HEAD + TAG);
	if (is_kind(flood, "cut"))
		return ahead(flood, p) - 1 - draw() % TAG;
	if (is_kind(flood, "long"))
		return lengthened(flood, p);
	if (is_kind(flood, "flip"))
		return flipped(flood, p);
	if (is_kind(flood, "ready") || is_kind(flood, "confirm")) {
		flood->counter = 0;
		return head(flood, p, is_kind(flood, "ready") ? READY : CONFIRM, 0,
			    HEAD + 4 + TAG);
	}
	head(flood, p, DATA, 1, 100 + draw() % 1300);
	set16(p + 2, 1000 + draw() % 60000);
	return 100;
}

static int of_registration(struct flood *flood, unsigned char *p)
{
	if (is_kind(flood, "hello"))
		return registration(p, HELLO, 1 + draw() % 8, SHARED, 1);
	if (is_kind(flood, "stranger"))
		return registration(p, HELLO, draw() % 2 ? 1 : 9 + draw() % 200, SHARED,
				    draw() | 1 << 31);
	return registration(p, WELCOME, 1, SHARED, 0);
}

/* Return: octets of the payload. */
static int forged(struct flood *flood, unsigned char *p)
{
	static const char *const registrations[] = { "hello", "stranger", "welcome" };
	int length = draw() % 1400;

	if (is_kind(flood, "random")) {
		fill_random(p, length);
		return length;
	}
	if (is_kind(flood, "short")) {
		ahead(flood, p);
		return draw() % HEAD;
	}
	for (unsigned int i = 0; i < sizeof(registrations) / sizeof(*registrations); i++)
		if (is_kind(flood, registrations[i]))
			return of_registration(flood, p);
	return of_session(flood, p);
}

static unsigned char given[KEPT * 256];
static int given_length;

static void read_given(const char *name)
{
	int file = open(name, O_RDONLY);

	given_length = file < 0 ? -1 : (int)read(file, given, sizeof(given)) / KEPT;
	if (given_length <= 0)
		err(1, "%s", name);
}

static int take_given(struct flood *flood, unsigned char *p)
{
	set32(flood->frame.octets + ETH_HLEN + 12, 0x0a320000 | (draw() & 0xffff));
	memcpy(p, given + draw() % KEPT * given_length, given_length);
	return given_length;
}

static void shoot_forged(void *with)
{
	struct flood *flood = with;

	if (is_kind(flood, "replay") || is_kind(flood, "reflect")) {
		send_frame(flood->fd, &kept[draw() % kept_count]);
		return;
	}
	finish(&flood->frame, given_length ? take_given(flood, payload_of(&flood->frame)) :
					     forged(flood, payload_of(&flood->frame)));
	send_frame(flood->fd, &flood->frame);
}

static void swap(unsigned char *a, unsigned char *b, int length)
{
	while (length--) {
		unsigned char octet = *a;

		*a++ = *b;
		*b++ = octet;
	}
}

/* Back to who sent it. */
static void turn(struct frame *frame)
{
	unsigned char *ip = frame->octets + ETH_HLEN, *udp = ip + frame->ip;

	swap(frame->octets, frame->octets + ETH_ALEN, ETH_ALEN);
	if (frame->ip == 20)
		swap(ip + 12, ip + 16, 4);
	else
		swap(ip + 8, ip + 24, 16);
	swap(udp, udp + 2, 2);
	finish(frame, payload_length(frame));
}

static void keep(struct flood *flood)
{
	int outgoing = !is_kind(flood, "reflect");

	while (kept_count < KEPT) {
		struct frame *frame = &kept[kept_count];

		next_of_tunnel(flood->fd, outgoing, frame);
		if (type_of(frame) < DATA || type_of(frame) > PROBE)
			continue;
		if (!outgoing)
			turn(frame);
		finish(frame, payload_length(frame));
		kept_count++;
	}
	flood->frame = kept[KEPT - 1];
	flood->index = get16(payload_of(&flood->frame) + 2);
	flood->counter = get32(payload_of(&flood->frame) + 4) + 1000000;
}

static int do_flood(int argc, char **argv)
{
	struct flood flood = { .kind = argv[3] };

	flood.fd = frames_of(argv[2]);
	if (argc > 6)
		read_given(argv[6]);
	keep(&flood);
	stop_listening(flood.fd, argv[2]);
	paced(atof(argv[4]), atof(argv[5]), shoot_forged, &flood);
	return 0;
}

/* --- recorded frames ----------------------------------------------------------------------- */

static int do_record(int argc, char **argv)
{
	int fd = frames_of(argv[2]), type = atoi(argv[3]), left = atoi(argv[4]);
	int file = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct frame frame;

	(void)argc;
	if (file < 0)
		err(1, "%s", argv[5]);
	while (left) {
		memset(&frame, 0, sizeof(frame));
		next_of_tunnel(fd, 1, &frame);
		if (type_of(&frame) != type)
			continue;
		if (write(file, &frame, sizeof(frame)) != sizeof(frame))
			err(1, "%s", argv[5]);
		left--;
	}
	return 0;
}

static void shoot_recorded(void *with)
{
	static int at;

	send_frame(*(int *)with, &kept[at++ % kept_count]);
}

static int do_resend(int argc, char **argv)
{
	int fd = frames_of(argv[2]), file = open(argv[3], O_RDONLY);

	if (file < 0)
		err(1, "%s", argv[3]);
	while (kept_count < KEPT && read(file, &kept[kept_count], sizeof(*kept)) == sizeof(*kept)) {
		struct frame *frame = &kept[kept_count++];

		if (argc > 6 && inet_pton(AF_INET, argv[6], frame->octets + ETH_HLEN + 12) != 1)
			err(1, "%s", argv[6]);
		finish(frame, payload_length(frame));
	}
	if (!kept_count) {
		fprintf(stderr, "shake_forge: %s: no packets\n", argv[3]);
		return 1;
	}
	stop_listening(fd, argv[2]);
	paced(atof(argv[4]), atof(argv[5]), shoot_recorded, &fd);
	return 0;
}

static int do_seek(int argc, char **argv)
{
	int fd = frames_of(argv[2]), seen = 0, read = 0;
	double end = now() + atof(argv[4]);
	struct timeval wait = { .tv_sec = 1 };
	struct frame frame;
	bool sent;

	(void)argc;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	while (now() < end) {
		frame.length = next_frame(fd, frame.octets, FRAME, 0, &sent);
		if (frame.length < 0 || !sent || !is_tunnels(&frame) || type_of(&frame) != DATA)
			continue;
		seen++;
		read += !!memmem(frame.octets, frame.length, argv[3], strlen(argv[3]));
	}
	printf("%d %d\n", seen, read);
	return 0;
}

/* --- a leader that is hostile -------------------------------------------------------------- */

struct leader {
	int fd;
	const char *kind;
	uint32_t id;
	uint32_t counter;
	uint32_t sequence;
	uint16_t index;
};

static int ask_agent(struct leader *l, unsigned char *p, int length, int type)
{
	struct timeval wait = { .tv_sec = 1 };
	int n;

	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	for (int i = 0; i < 5; i++) {
		if (send(l->fd, p, length, 0) < 0)
			err(1, "send");
		do
			n = recv(l->fd, p + ANSWER, FRAME - ANSWER, 0);
		while (n > 0 && p[ANSWER] >> 4 != type);
		if (n > 0)
			return n;
	}
	fprintf(stderr, "shake_forge: the agent does not answer\n");
	exit(1);
}

/* Without authentication nobody looks at tags, and there are none behind a head. */
static void register_leader(struct leader *l)
{
	unsigned char p[FRAME];

	ask_agent(l, p, registration(p, HELLO, 1, OPEN, l->id), WELCOME);
	memset(p, 0, HEAD + 4);
	p[0] = CONFIRM << 4;
	memcpy(p + 2, p + ANSWER + INDEX_AT, 2);
	set16(p + HEAD, 1);
	ask_agent(l, p, HEAD + 4, READY);
	l->index = get16(p + ANSWER + HEAD);
	l->counter = 1;
}

static int is_leaders(const struct leader *l, const char *kind)
{
	return !strcmp(l->kind, kind);
}

/* A TCP segment from this leader's 10.7.0.ID or fd07::ID, to where it leads nowhere. */
static int inner4(const struct leader *l, unsigned char *p, int data)
{
	int length = 20 + 20 + data;

	memset(p, 0, length);
	p[0] = 0x45;
	set16(p + 2, length);
	p[8] = 64;
	p[9] = IPPROTO_TCP;
	set32(p + 12, 0x0a070000 + (is_leaders(l, "source") ? 1 : l->id));
	set32(p + 16, is_leaders(l, "between") ? 0x0a070001 : 0x0a090001);
	set16(p + 10, fold(sum(p, 20, 0)));
	p[20 + 12] = 0x50;
	p[20 + 13] = 0x10;
	return length;
}

static int inner6(const struct leader *l, unsigned char *p)
{
	memset(p, 0, 40);
	p[0] = 0x60;
	p[6] = 59;
	p[7] = 64;
	set16(p + 8, 0xfd07);
	p[23] = is_leaders(l, "source6") ? 1 : l->id;
	set16(p + 24, is_leaders(l, "between6") ? 0xfd07 : 0xfd09);
	p[39] = 1;
	return 40;
}

/* Return: octets of the inner packet. */
static int hostile(struct leader *l, unsigned char *p, uint32_t *mal)
{
	unsigned char *tcp = p + 20;
	int length, data = is_leaders(l, "reset") ? 0 : 10;

	if (is_leaders(l, "inner")) {
		fill_random(p, 200);
		return 200;
	}
	if (is_leaders(l, "source6") || is_leaders(l, "between6"))
		return inner6(l, p);
	length = inner4(l, p, data);
	if (is_leaders(l, "brief"))
		set16(p + 2, draw() % 20);
	set16(tcp, 1000);
	set16(tcp + 2, 2000);
	l->sequence += 2 * data;
	*mal = l->sequence - data;
	if (is_leaders(l, "flows") || is_leaders(l, "reset"))
		set32(tcp, draw());
	if (is_leaders(l, "holes") && draw() % 1000 == 0)
		set16(tcp, 1000 + draw() % 256);
	if (is_leaders(l, "mal")) {
		set16(tcp, 1000 + draw() % 64);
		l->sequence += draw() % 3 ? 0 : draw();
		*mal = draw() % 2 ? draw() : l->sequence + draw() % 100000 - 50000;
	}
	if (is_leaders(l, "reset"))
		tcp[13] = draw() % 2 ? 0x02 : 0x04;
	set32(tcp + 4, l->sequence);
	return length;
}

static void shoot_hostile(void *with)
{
	struct leader *l = with;
	unsigned char p[FRAME];
	uint32_t mal = 0;
	int length = HEAD;

	if (is_leaders(l, "again")) {
		register_leader(l);
		return;
	}
	p[0] = (is_leaders(l, "probe") ? PROBE : DATA) << 4 | draw() % 9;
	p[1] = is_leaders(l, "probe") ? 1 : 3;
	set16(p + 2, l->index);
	set32(p + 4, l->counter++);
	if (!is_leaders(l, "probe")) {
		length = HEAD + 4 + hostile(l, p + HEAD + 4, &mal);
		set32(p + HEAD, mal);
	}
	send_octets(l->fd, p, length);
}

static int do_leader(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[3])) };
	struct leader l = { .kind = argv[5], .id = atoi(argv[4]) };

	(void)argc;
	if (inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		err(1, "%s", argv[2]);
	l.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (l.fd < 0 || connect(l.fd, (void *)&to, sizeof(to)))
		err(1, "%s", argv[2]);
	srand48(l.id);
	register_leader(&l);
	paced(atof(argv[6]), atof(argv[7]), shoot_hostile, &l);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 6 && !strcmp(argv[1], "flood"))
		return do_flood(argc, argv);
	if (argc == 6 && !strcmp(argv[1], "record"))
		return do_record(argc, argv);
	if (argc >= 6 && !strcmp(argv[1], "resend"))
		return do_resend(argc, argv);
	if (argc == 5 && !strcmp(argv[1], "seek"))
		return do_seek(argc, argv);
	if (argc == 8 && !strcmp(argv[1], "leader"))
		return do_leader(argc, argv);
	fprintf(stderr, "shake_forge: flood, record, resend, seek or leader\n");
	return 2;
}
