// SPDX-License-Identifier: GPL-2.0
/*
 * hostile - a receiver that wants more than its share, or harm, at the end of an emulated path
 *
 *   hostile OUT PATH ALGORITHM[,ALGORITHM...] ATTACK[,ATTACK...]
 *
 * Runs in a guest of engine uml, where computing takes no time. Each run has a network namespace
 * of its own with a tun device, behind a line of the sender of 50 Mbit/s. The stack sends as
 * much as it can; the receiver is hostile first, then honest. OUT gets two lines for each run:
 * what was counted while it was hostile, with the time until data flowed again, and the
 * kernel's counters of the run.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/tcp.h>

#include "hostile.h"

#define SAMPLE_US	10000
#define BIN_US		100000
#define BINS		10	/* what arrives in a second */

const struct path paths[] = {
	{ "short", 10000000, 25000, 62500, 8 * SECOND_US, 30 * SECOND_US },
	{ "long", 10000000, 250000, 625000, 15 * SECOND_US, 90 * SECOND_US },
	{ NULL }
};

struct peer peer = { .port = PEER_PORT };
struct counts counts;
const struct path *path;
const struct attack *attack;
static int sock;
static const char *running = "";

/* After the attack: when data arrived again, and when half of the rate did, or -1. */
static long long resumed_us = -1, half_us = -1;

void die(const char *what)
{
	fprintf(stderr, "hostile: %s: %s: %s\n", running, what, strerror(errno));
	exit(1);
}

void require(bool is, const char *what)
{
	errno = EINVAL;
	if (!is)
		die(what);
}

/* --- the stack's end --- */

static void stack_connect(const char *algorithm)
{
	static const int room = 8 << 20;
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(PEER_PORT),
		.sin_addr.s_addr = htonl(0x0a080002),
	};

	sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	must(sock, "socket");
	must(setsockopt(sock, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)), "SO_SNDBUFFORCE");
	must(setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, algorithm, (socklen_t)strlen(algorithm)),
	     algorithm);
	if (connect(sock, (const struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS)
		die("connect");
}

/* Write all that there is room for. */
static void stack_fill(void)
{
	static const char data[1 << 16];

	while (send(sock, data, sizeof(data), MSG_NOSIGNAL) > 0)
		;
	if (errno != EAGAIN)
		die("send");
}

static void sample_window(void)
{
	struct tcp_info t = { 0 };
	socklen_t length = sizeof(t);

	must(getsockopt(sock, IPPROTO_TCP, TCP_INFO, &t, &length), "TCP_INFO");
	if (t.tcpi_snd_cwnd > counts.cwnd)
		counts.cwnd = t.tcpi_snd_cwnd;
	require(t.tcpi_snd_cwnd, "a window of 0");
}

/* --- what it sends --- */

static __u32 stamp_of(const unsigned char *tcp)
{
	const unsigned char *option = find_option(tcp, 8);

	require(option, "no timestamp");
	return get32(option + 2);
}

static void taken_syn(const unsigned char *tcp)
{
	peer.isn = get32(tcp + 4);
	peer.stack_port = (__u16)(tcp[0] << 8 | tcp[1]);
	path_syn_answer(stamp_of(tcp), attack->ecn);
}

static void count_sent(const struct data *d)
{
	const __u32 flight = peer.nxt - path_acknowledged;

	counts.segments++;
	counts.again += d->again;
	counts.dropped += d->dropped;
	if (peer.nxt > path_acknowledged && flight > counts.flight)
		counts.flight = flight;
}

static void taken_data(struct data *d, int octets)
{
	d->again = d->is.begin < peer.nxt;
	if (d->is.end > peer.nxt)
		peer.nxt = d->is.end;
	d->dropped = !path_enter(d, octets);
	count_sent(d);
	if (attack->sent)
		attack->sent(d);
}

static void taken(const unsigned char *packet, int length)
{
	const unsigned char *tcp = packet + IP_HEADER;
	const int header = IP_HEADER + (tcp[12] >> 4) * 4;
	struct data d = { 0 };

	if (length < IP_HEADER + TCP_HEADER || packet[0] != 0x45 || packet[9] != PROTO_TCP)
		return;
	if (tcp[13] & SYN) {
		taken_syn(tcp);
		return;
	}
	d.is.begin = get32(tcp + 4) - peer.isn;
	d.is.end = d.is.begin + (__u32)(length - header);
	d.stamp = stamp_of(tcp);
	d.marked = packet[1] & 3;
	d.reduced = tcp[13] & CWR;
	if (length > header)
		taken_data(&d, length);
	else if (d.is.begin < peer.nxt)
		path_enter(&d, length);
}

void drain(void)
{
	static unsigned char packet[MOST_PACKET];
	int n;

	while ((n = wire_read(packet)))
		taken(packet, n);
}

/* --- time --- */

/* Run until then. */
static void run_until(long long end)
{
	while (now_us() < end) {
		const long long next = path_next();
		struct pollfd fds[] = {
			{ .fd = peer.tun, .events = POLLIN },
			{ .fd = clock_alarm(next < end ? next : end), .events = POLLIN },
			{ .fd = sock, .events = POLLOUT },
		};

		must(poll(fds, sock ? 3 : 2, -1), "poll");
		drain();
		path_run();
		if (sock && fds[2].revents & POLLOUT)
			stack_fill();
	}
}

static void run_hostile(void)
{
	for (long long at = 0; at < path->attack_us; at += SAMPLE_US) {
		run_until(at + SAMPLE_US);
		sample_window();
	}
}

/* Run until a second has brought half of the rate. */
static void run_honest(void)
{
	const long long begin = now_us(), half = path->rate / 8 / 2 * BINS * BIN_US / SECOND_US;
	__u32 bins[BINS] = { 0 }, before = received, first = received;

	answer(&(struct data) { 0 });	/* the window is open */
	for (int i = 0; i * BIN_US < path->after_us; i++) {
		__u32 sum = 0;

		run_until(begin + (i + 1) * BIN_US);
		bins[i % BINS] = received - before;
		before = received;
		for (int j = 0; j < BINS; j++)
			sum += bins[j];
		if (resumed_us < 0 && received > first)
			resumed_us = (i + 1) * BIN_US;
		if (sum >= half) {
			half_us = (i + 1) * BIN_US;
			return;
		}
	}
}

/* --- runs --- */

static void access_line(void)
{
	must(system("tc qdisc add dev wire root tbf rate 50mbit burst 6kb limit 64mb") ? -1 : 0,
	     "tc");
}

static void print(const char *algorithm, const struct counts *c)
{
	printf("path=%s attack=%s cc=%s segments=%u again=%u dropped=%u flight=%u cwnd=%u ",
	       path->name, running, algorithm, c->segments, c->again, c->dropped,
	       c->flight / SEGMENT, c->cwnd);
	printf("resumed_ms=%lld half_ms=%lld\n", resumed_us < 0 ? -1 : resumed_us / 1000,
	       half_us < 0 ? -1 : half_us / 1000);
	note_counters();
}

static void run(const char *name, const char *algorithm)
{
	struct counts during;

	running = name;
	attack = find_attack(name);
	device_up();
	access_line();
	set_sysctl("tcp_ecn", attack->ecn ? "1" : "0");
	clock_begin(1);
	run_until(0);
	stack_connect(algorithm);
	run_hostile();
	during = counts;
	attack = find_attack(attack->no_sack ? "honest-nosack" :
			     attack->ecn ? "honest-ecn" : "honest");
	run_honest();
	print(algorithm, &during);
	reset(sock);
}

static const struct path *find_path(const char *name)
{
	for (const struct path *p = paths; p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
	}
	require(false, name);
	return NULL;
}

static int of_algorithm(const char *algorithm, const char *names)
{
	char list[1024], *save;
	int failed = 0;

	snprintf(list, sizeof(list), "%s", names);
	for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save))
		failed |= apart(run, name, algorithm);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: hostile OUT PATH ALGORITHM,... ATTACK,...\n");
		return 2;
	}
	path = find_path(argv[2]);
	if (!freopen(argv[1], "a", stdout))
		die(argv[1]);
	for (char *cc = strtok(argv[3], ","); cc; cc = strtok(NULL, ","))
		failed |= of_algorithm(cc, argv[4]);
	return failed;
}
