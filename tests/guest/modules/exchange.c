// SPDX-License-Identifier: GPL-2.0
/*
 * exchange - the other end of one TCP connection, segment by segment, as a script says
 *
 *   exchange DEVICE SCRIPT
 *
 * DEVICE is a tun device that is up and has the address 10.8.0.1/24; the peer is
 * 10.8.0.2, its port is 7. Each line of the script is a command; relative sequence
 * numbers begin with 0 for the SYN, data with 1.
 *
 *   cc NAME               congestion control of the socket, before or after it is connected
 *   offload               the device takes segments of up to 64 kB (before connect)
 *   defer                 the listening socket waits for data (TCP_DEFER_ACCEPT)
 *   limit RATE            SO_MAX_PACING_RATE in B/s
 *   connect               the socket connects
 *   connect fast BYTES    the same with so much data in the SYN
 *   listen, accept        the socket is the one that a peer has connected to
 *   write BYTES           the socket sends
 *   wait MS               nothing but to note what leaves
 *   info NAME             notes TCP_INFO, what the peer has acknowledged, and the least RTT of
 *                         TCP_CC_INFO if it is as BBR's
 *   syn | synack | ack    the peer sends, with these words behind:
 *       N                   acknowledges up to N; else all that has arrived in order
 *       more BYTES          acknowledges so much more than before
 *       mss N, sackok, ts   options of a SYN
 *       data BYTES          payload
 *       sack A B            a SACK block, several if given several times
 *       hole N              nothing new, but SACKs N segments behind the first one
 *       twice N             a D-SACK for the Nth segment (from 0) not acknowledged before
 *       ece                 the ECN echo; in a SYN and SYN-ACK its negotiation
 *   train US [N] [ece]    ACKs for what has arrived in order, N segments (else 1) each, US apart
 *   path MS DELAY US [lose N]
 *                         for MS a path of DELAY ms: each segment is acknowledged so long after
 *                         it left, US after the one before at least; what a wait has held comes
 *                         at once. With lose, every Nth new segment is lost, and what is beyond
 *                         a hole is SACKed
 *   set FILE VALUE        writes to a file, as a module's parameter
 *   shrink MTU            a router says that the last segment was too large
 *
 * Each segment is a line on standard output, and so is each info:
 *
 *   TIME > SEQ END ACK FLAGS      from the socket; time in us since the start
 *   TIME < SEQ END ACK FLAGS      from the peer
 *   TIME info NAME KEY=VALUE...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <linux/if_tun.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <linux/virtio_net.h>

#define PEER_PORT	7
#define OUR_PORT	7000
#define PEER_ISN	1000000u
#define MOST		65536
#define MOST_BLOCKS	3
#define QUEUE		8192
#define TS_BASE		1000000u	/* the peer's clock at the start, ms */
#define WSCALE		7
#define FIN		0x01
#define SYN		0x02
#define RST		0x04
#define ACK		0x10
#define ECE		0x40
#define CWR		0x80
#define BLANKS		"\n "

/* The connection as the peer knows it. */
static struct {
	int tun, listener, sock;
	char cc[16];
	uint32_t isn;		/* the socket's */
	uint32_t next;		/* expected next, relative */
	uint32_t acked;		/* acknowledged so far, relative */
	uint32_t sent;		/* the peer's own next, relative */
	uint32_t ts_recent;	/* to be echoed */
	int mss, ts;
	uint16_t port;		/* the socket's, network order */
	uint32_t most[4096][2];	/* segments that are beyond a hole */
	int held;
	struct {
		long long at;
		uint32_t ack, sack[2];	/* a block if it is beyond the acknowledgment */
	} queue[QUEUE];		/* as sent, to be acknowledged by `path` */
	unsigned int first, behind;
	uint32_t highest;	/* end of the newest data sent */
	unsigned int lose, count;	/* every how manyeth new segment is lost; since then */
	long long due;		/* when the last of them was */
	unsigned char last[64];	/* the last packet's headers, as ICMP returns them */
	struct timespec start;
} c = { .listener = -1, .sock = -1, .mss = 1000 };

static void die(const char *what)
{
	fprintf(stderr, "exchange: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - c.start.tv_sec) * 1000000LL + (t.tv_nsec - c.start.tv_nsec) / 1000;
}

static void note(const char *format, ...)
{
	va_list args;

	printf("%lld ", now_us());
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static const char *flag_names(int flags)
{
	static char text[16];
	char *at = text;

	for (int i = 0; i < 8; i++)
		if (flags & (1 << i))
			*at++ = "FSRPAUEC"[i];
	*at = 0;
	return text;
}

/* --- what the socket sends ------------------------------------------------------------------- */

/* A segment has arrived: what is in order now, holes filled. */
static void arrived(uint32_t seq, uint32_t end)
{
	int again = 1;

	if (seq > c.next) {
		if (c.held < 4096) {
			c.most[c.held][0] = seq;
			c.most[c.held++][1] = end;
		}
		return;
	}
	c.next = end > c.next ? end : c.next;
	while (again) {
		again = 0;
		for (int i = 0; i < c.held; i++) {
			if (c.most[i][0] <= c.next && c.most[i][1] > c.next) {
				c.next = c.most[i][1];
				again = 1;
			}
		}
	}
	for (int i = 0; i < c.held;) {
		if (c.most[i][1] > c.next) {
			i++;
			continue;
		}
		memcpy(c.most[i], c.most[--c.held], sizeof(c.most[i]));
	}
}

/* All that has arrived around a segment without a hole. */
static void block_around(uint32_t seq, uint32_t end, uint32_t *block)
{
	int again = 1;

	block[0] = seq;
	block[1] = end;
	while (again) {
		again = 0;
		for (int i = 0; i < c.held; i++) {
			if (c.most[i][0] <= block[1] && c.most[i][1] > block[1]) {
				block[1] = c.most[i][1];
				again = 1;
			}
			if (c.most[i][1] >= block[0] && c.most[i][0] < block[0]) {
				block[0] = c.most[i][0];
				again = 1;
			}
		}
	}
}

/* Whether the path loses a segment. */
static int is_lost(uint32_t seq, uint32_t end)
{
	if (seq < c.highest)
		return 0;
	c.highest = end;
	return c.lose && ++c.count % c.lose == 0;
}

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void take(const unsigned char *packet, int length)
{
	const unsigned char *tcp = packet + 20, *option;
	uint32_t seq, end;
	int flags, header;

	if (length < 40 || packet[0] != 0x45 || packet[9] != IPPROTO_TCP)
		return;
	memcpy(c.last, packet, sizeof(c.last));
	header = (tcp[12] >> 4) * 4;
	flags = tcp[13];
	if (flags & SYN) {
		c.isn = get32(tcp + 4);
		memcpy(&c.port, tcp, 2);
	}
	for (option = tcp + 20; option < tcp + header && *option;) {
		if (*option == 8)
			c.ts_recent = get32(option + 2);
		option += *option == 1 ? 1 : option[1];
	}
	seq = get32(tcp + 4) - c.isn;
	end = seq + (uint32_t)(length - 20 - header) + !!(flags & (SYN | FIN));
	note("> %u %u %u %s", seq, end, flags & ACK ? get32(tcp + 8) - PEER_ISN : 0,
	     flag_names(flags));
	if (end == seq || is_lost(seq, end))
		return;
	arrived(seq, end);
	if (!(flags & SYN)) {
		c.queue[c.behind % QUEUE].at = now_us();
		c.queue[c.behind % QUEUE].ack = c.next;
		block_around(seq, end, c.queue[c.behind++ % QUEUE].sack);
	}
}

/* Note what leaves until so much time has passed. */
static void listen_for(long long us)
{
	static unsigned char buffer[MOST];
	const long long end = now_us() + us;
	const int head = sizeof(struct virtio_net_hdr);

	for (;;) {
		struct pollfd p = { .fd = c.tun, .events = POLLIN };
		long long left = end - now_us();
		struct timespec t = { left / 1000000, left % 1000000 * 1000 };
		ssize_t n = read(c.tun, buffer, sizeof(buffer));

		if (n > head) {
			take(buffer + head, (int)n - head);
			continue;
		}
		if (left <= 0)
			return;
		if (ppoll(&p, 1, &t, NULL) < 0)
			die("poll");
	}
}

/* --- what the peer sends --------------------------------------------------------------------- */

static uint16_t checksum(uint32_t sum, const unsigned char *p, int length)
{
	for (int i = 0; i < length; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void put32(unsigned char **at, uint32_t value)
{
	value = htonl(value);
	memcpy(*at, &value, 4);
	*at += 4;
}

static void deliver(unsigned char *frame, int length, int protocol)
{
	const int head = sizeof(struct virtio_net_hdr);
	unsigned char *ip = frame + head;
	const uint16_t total = htons((uint16_t)length);
	const uint32_t from = inet_addr("10.8.0.2"), to = inet_addr("10.8.0.1");
	uint16_t sum;

	memset(frame, 0, (size_t)head);
	memset(ip, 0, 20);
	ip[0] = 0x45;
	memcpy(ip + 2, &total, 2);
	ip[8] = 64;
	ip[9] = (unsigned char)protocol;
	memcpy(ip + 12, &from, 4);
	memcpy(ip + 16, &to, 4);
	sum = checksum(0, ip, 20);
	memcpy(ip + 10, &sum, 2);
	if (protocol == IPPROTO_TCP) {
		uint32_t pseudo = 10 * 256 + 8 + 1 + 10 * 256 + 8 + 2 + IPPROTO_TCP;

		sum = checksum(pseudo + (uint32_t)(length - 20), ip + 20, length - 20);
		memcpy(ip + 36, &sum, 2);
	} else {
		sum = checksum(0, ip + 20, length - 20);
		memcpy(ip + 22, &sum, 2);
	}
	if (write(c.tun, frame, (size_t)(head + length)) != head + length)
		die("write to the device");
}

struct segment {
	int flags, sackok, data, blocks;
	uint32_t ack, sack[MOST_BLOCKS][2];
};

static void send_segment(const struct segment *s)
{
	static unsigned char frame[MOST];
	unsigned char *tcp = frame + sizeof(struct virtio_net_hdr) + 20, *at = tcp;
	const uint16_t peer = htons(PEER_PORT), window = htons(s->flags & SYN ? 65535 : 32000);
	int header;

	memcpy(at, &peer, 2);
	memcpy(at + 2, &c.port, 2);
	at += 4;
	put32(&at, PEER_ISN + c.sent);
	put32(&at, s->flags & ACK ? c.isn + s->ack : 0);
	at[0] = 0;
	at[1] = (unsigned char)s->flags;
	memcpy(at + 2, &window, 2);
	memset(at + 4, 0, 4);
	at += 8;
	if (s->flags & SYN) {
		put32(&at, 0x02040000u | (uint32_t)c.mss);
		put32(&at, 0x01030300u | WSCALE);
		if (s->sackok)
			put32(&at, 0x01010402);
	}
	if (c.ts) {
		put32(&at, 0x0101080a);
		put32(&at, TS_BASE + (uint32_t)(now_us() / 1000));
		put32(&at, s->flags & ACK ? c.ts_recent : 0);
	}
	if (s->blocks) {
		put32(&at, 0x01010500u | (uint32_t)(2 + 8 * s->blocks));
		for (int i = 0; i < s->blocks; i++) {
			put32(&at, c.isn + s->sack[i][0]);
			put32(&at, c.isn + s->sack[i][1]);
		}
	}
	header = (int)(at - tcp);
	tcp[12] = (unsigned char)(header / 4 << 4);
	memset(at, 0, (size_t)s->data);
	note("< %u %u %u %s", c.sent, c.sent + (uint32_t)s->data + !!(s->flags & SYN), s->ack,
	     flag_names(s->flags));
	c.sent += (uint32_t)s->data + !!(s->flags & SYN);
	if (s->flags & ACK && s->ack > c.acked)
		c.acked = s->ack;
	deliver(frame, 20 + header + s->data, IPPROTO_TCP);
	listen_for(0);
}

static void icmp_too_big(uint32_t mtu)
{
	unsigned char frame[256] = { 0 };
	unsigned char *icmp = frame + sizeof(struct virtio_net_hdr) + 20;

	icmp[0] = ICMP_DEST_UNREACH;
	icmp[1] = ICMP_FRAG_NEEDED;
	icmp[6] = (unsigned char)(mtu >> 8);
	icmp[7] = (unsigned char)mtu;
	memcpy(icmp + 8, c.last, 28);
	deliver(frame, 20 + 8 + 28, IPPROTO_ICMP);
	listen_for(0);
}

/* --- the socket ------------------------------------------------------------------------------ */

static struct sockaddr_in address(const char *host, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, host, &at.sin_addr);
	return at;
}

static int socket_here(void)
{
	struct sockaddr_in at = address("10.8.0.1", OUR_PORT);
	static const int room = 8 << 20;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;

	/* All that a script writes has room at once. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("bind");
	return fd;
}

static int any_socket(void)
{
	if (c.sock >= 0)
		return c.sock;
	if (c.listener < 0)
		c.listener = socket_here();
	return c.listener;
}

static void connect_it(int fast)
{
	struct sockaddr_in to = address("10.8.0.2", PEER_PORT);
	static char data[MOST];
	int ret;

	c.sock = any_socket();
	c.listener = -1;
	ret = fast ? (int)sendto(c.sock, data, (size_t)fast, MSG_FASTOPEN, (struct sockaddr *)&to,
				 sizeof(to))
		   : connect(c.sock, (struct sockaddr *)&to, sizeof(to));
	if (ret < 0 && errno != EINPROGRESS)
		die("connect");
	listen_for(0);
}

static void note_info(const char *name)
{
	struct tcp_info t = { 0 };
	struct tcp_bbr_info own = { 0 };
	socklen_t length = sizeof(t), own_length = sizeof(own);

	if (getsockopt(c.sock, IPPROTO_TCP, TCP_INFO, &t, &length) ||
	    getsockopt(c.sock, IPPROTO_TCP, TCP_CC_INFO, &own, &own_length))
		die("TCP_INFO");
	note("info %s cwnd=%u ssthresh=%u unacked=%u sacked=%u lost=%u state=%u pacing=%llu "
	     "rto=%u rtt=%u retransmits=%u acked=%u base=%u",
	     name, t.tcpi_snd_cwnd, t.tcpi_snd_ssthresh,
	     t.tcpi_unacked, t.tcpi_sacked, t.tcpi_lost, t.tcpi_ca_state,
	     (unsigned long long)t.tcpi_pacing_rate, t.tcpi_rto, t.tcpi_rtt,
	     t.tcpi_total_retrans, c.acked, own.bbr_min_rtt);
}

static void send_data(long bytes)
{
	static char data[MOST];

	while (bytes > 0) {
		ssize_t n = send(c.sock, data, bytes < MOST ? (size_t)bytes : MOST, MSG_NOSIGNAL);

		if (n < 0)
			die("write");
		bytes -= n;
	}
	listen_for(0);
}

/* --- the script ------------------------------------------------------------------------------ */

static char *word(void)
{
	return strtok(NULL, BLANKS);
}

static long number(void)
{
	const char *text = word();

	if (!text) {
		errno = EINVAL;
		die("missing operand");
	}
	return atol(text);
}

static void block(struct segment *s, uint32_t begin, uint32_t end)
{
	if (s->blocks < MOST_BLOCKS) {
		s->sack[s->blocks][0] = begin;
		s->sack[s->blocks++][1] = end;
	}
}

/* A block of segments, counted from what is acknowledged. */
static void sack(struct segment *s, uint32_t first, uint32_t count)
{
	const uint32_t each = (uint32_t)(c.mss - 12 * c.ts);

	block(s, c.acked + first * each, c.acked + (first + count) * each);
}

/* One of the words behind syn, synack and ack. */
static void peer_word(struct segment *s, const char *w)
{
	uint32_t begin;

	if (!strcmp(w, "mss")) {
		c.mss = (int)number();
	} else if (!strcmp(w, "sackok")) {
		s->sackok = 1;
	} else if (!strcmp(w, "ts")) {
		c.ts = 1;
	} else if (!strcmp(w, "more")) {
		s->ack = c.acked + (uint32_t)number();
	} else if (!strcmp(w, "data")) {
		s->data = (int)number();
	} else if (!strcmp(w, "ece")) {
		s->flags |= s->flags == SYN ? ECE | CWR : ECE;
	} else if (!strcmp(w, "twice")) {
		sack(s, (uint32_t)number(), 1);
	} else if (!strcmp(w, "hole")) {
		s->ack = c.acked;
		sack(s, 1, (uint32_t)number());
	} else if (!strcmp(w, "sack")) {
		begin = (uint32_t)number();
		block(s, begin, (uint32_t)number());
	} else {
		s->ack = (uint32_t)atol(w);
	}
}

static void peer_sends(int flags)
{
	struct segment s = { .flags = flags, .ack = c.next };

	for (char *w = word(); w; w = word())
		peer_word(&s, w);
	send_segment(&s);
}

static void train(void)
{
	const long gap = number();
	const uint32_t until = c.next;
	struct segment s = { .flags = ACK };
	uint32_t each = 1;

	for (char *w = word(); w; w = word()) {
		if (!strcmp(w, "ece"))
			s.flags |= ECE;
		else
			each = (uint32_t)atol(w);
	}
	while (c.acked < until) {
		uint32_t step = each * (uint32_t)(c.mss - 12 * c.ts);

		s.ack = until - c.acked < step ? until : c.acked + step;
		send_segment(&s);
		listen_for(gap);
	}
}

static void path(void)
{
	const long long until = now_us() + number() * 1000, delay = number() * 1000;
	const long gap = number();

	c.lose = word() ? (unsigned int)number() : 0;
	while (now_us() < until) {
		const uint32_t *sacked = c.queue[c.first % QUEUE].sack;
		struct segment s = { .flags = ACK, .ack = c.queue[c.first % QUEUE].ack };
		long long due = c.queue[c.first % QUEUE].at + delay, now = now_us();

		due = due < c.due + gap ? c.due + gap : due;
		if (c.first == c.behind || due > now) {
			listen_for((c.first == c.behind || due > until ? until : due) - now);
			continue;
		}
		if (sacked[0] > s.ack)
			block(&s, sacked[0], sacked[1]);
		c.first++;
		c.due = due;
		send_segment(&s);
	}
	c.lose = 0;
}

static void set_file(const char *name)
{
	const char *value = word();
	int fd = open(name, O_WRONLY);

	if (fd < 0 || !value || write(fd, value, strlen(value)) < 0)
		die(name);
	close(fd);
}

static void obey(const char *command)
{
	static const int waits = 1;
	int ret = 0;

	if (!strcmp(command, "cc")) {
		const char *name = word();

		ret = setsockopt(any_socket(), IPPROTO_TCP, TCP_CONGESTION, name,
				 (socklen_t)strlen(name));
	} else if (!strcmp(command, "offload")) {
		ret = ioctl(c.tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4);
	} else if (!strcmp(command, "defer")) {
		ret = setsockopt(any_socket(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &waits,
				 sizeof(waits));
	} else if (!strcmp(command, "limit")) {
		unsigned int rate = (unsigned int)number();

		ret = setsockopt(any_socket(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
	} else if (!strcmp(command, "connect")) {
		connect_it(word() ? (int)number() : 0);
	} else if (!strcmp(command, "listen")) {
		c.port = htons(OUR_PORT);
		ret = listen(any_socket(), 8);
	} else if (!strcmp(command, "accept")) {
		ret = accept4(c.listener, NULL, NULL, SOCK_NONBLOCK);
		c.sock = ret;
	} else if (!strcmp(command, "write")) {
		send_data(number());
	} else if (!strcmp(command, "wait")) {
		listen_for(number() * 1000);
	} else if (!strcmp(command, "info")) {
		note_info(word());
	} else if (!strcmp(command, "syn")) {
		peer_sends(SYN);
	} else if (!strcmp(command, "synack")) {
		peer_sends(SYN | ACK);
	} else if (!strcmp(command, "ack")) {
		peer_sends(ACK);
	} else if (!strcmp(command, "train")) {
		train();
	} else if (!strcmp(command, "path")) {
		path();
	} else if (!strcmp(command, "set")) {
		set_file(word());
	} else if (!strcmp(command, "shrink")) {
		icmp_too_big((uint32_t)number());
	} else {
		errno = EINVAL;
		ret = -1;
	}
	if (ret < 0)
		die(command);
}

int main(int argc, char **argv)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };
	char line[256];
	FILE *script;

	if (argc != 3) {
		fprintf(stderr, "usage: exchange DEVICE SCRIPT\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &c.start);
	c.tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	strncpy(ifr.ifr_name, argv[1], IFNAMSIZ - 1);
	if (c.tun < 0 || ioctl(c.tun, TUNSETIFF, &ifr))
		die(argv[1]);
	script = fopen(argv[2], "r");
	if (!script)
		die(argv[2]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), script)) {
		const char *command = strtok(line, BLANKS);

		if (command && *command != '#')
			obey(command);
	}
	return 0;
}
