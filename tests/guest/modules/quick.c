// SPDX-License-Identifier: GPL-2.0
/*
 * quick - a reliable stream over UDP with the loss detection of QUIC
 *
 *   quick send HOST PORT SECONDS
 *	Send as fast as congestion control allows; then a line "sent N lost N spurious N": packets,
 *	those taken for lost, and those of them that came.
 *
 *   quick read PORT FILE MILLISECONDS
 *	Until SIGTERM, a line "ms OCTETS" in FILE each MILLISECONDS: what has come by then, each
 *	octet counted once.
 *
 * RFC 9002: a packet is lost if one three numbers later was acknowledged, or one that was sent 9/8
 * round trips after it; probes after a timeout. RFC 9000, 13.2: the receiver acknowledges each
 * second packet, and at once what is out of order. RFC 9438: CUBIC, paced at 1.25 windows a round
 * trip.
 */
#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKET 1200		/* octets of data in a packet */
#define ROOM 65536		/* packets under way, at most */
#define UNITS 4194304		/* pieces of the stream, at most */
#define RANGES 32		/* of an ACK */
#define THRESHOLD 3		/* RFC 9002, 6.1.1 */
#define ACK_S 0.025		/* the longest time to an ACK */
#define GRANULE_S 0.001

struct data {
	uint64_t number;
	uint32_t unit;
	uint8_t octets[PACKET - 12];
};

struct ack {
	uint32_t count;
	float held;
	uint64_t range[RANGES][2];	/* first and last number, the newest first */
};

enum fate { NONE, FLYING, LOST, CAME };

static struct sent {
	double at;
	uint32_t unit;
	enum fate fate;
} sent[ROOM];

static uint32_t again[ROOM];
static uint32_t again_from, again_to;
static uint64_t next = 1, largest, oldest = 1;
static uint32_t unit, flying, probes, lost, spurious;
static double srtt, rttvar = 0.5, least = 1e9, latest;
static double window = 10, threshold = 1e9, most, recovery, epoch;
static volatile sig_atomic_t stop;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void end(int signal)
{
	stop = signal;
}

static int open_socket(const char *host, const char *port, struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;

	*to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	if (fd < 0 || (host && inet_pton(AF_INET, host, &to->sin_addr) != 1)) {
		perror("quick");
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	return fd;
}

/* --- congestion control -------------------------------------------------------------------- */

/* Packets came that were sent then; the window was full. */
static void grow(double at, double packets)
{
	double t, target;

	if (at <= recovery)
		return;
	if (window < threshold) {
		window += packets;
		return;
	}
	if (!epoch)
		epoch = now();
	t = now() - epoch + srtt - cbrt(most * 0.3 / 0.4);
	target = fmax(most + 0.4 * t * t * t, window);
	target = fmin(target, 1.5 * window);
	window += fmax((target - window) / window, 0.53 / window) * packets;
}

static void shrink(double at)
{
	if (at <= recovery)
		return;
	recovery = now();
	most = window;
	window = fmax(window * 0.7, 2);
	threshold = window;
	epoch = 0;
}

/* --- the sender ---------------------------------------------------------------------------- */

static void round_trip(double rtt, double held)
{
	latest = rtt;
	least = fmin(least, rtt);
	if (rtt - held >= least)
		rtt -= held;
	rttvar = srtt ? 0.75 * rttvar + 0.25 * fabs(srtt - rtt) : rtt / 2;
	srtt = srtt ? 0.875 * srtt + 0.125 * rtt : rtt;
}

static void send_one(int fd)
{
	static struct data data;
	struct sent *s = &sent[next % ROOM];

	if (next - oldest >= ROOM)
		return;
	data.number = next;
	data.unit = again_from != again_to ? again[again_from++ % ROOM] : unit++ % UNITS;
	*s = (struct sent){ .at = now(), .unit = data.unit, .fate = FLYING };
	send(fd, &data, sizeof(data), MSG_DONTWAIT);	/* what is refused is lost */
	next++;
	flying++;
}

static void lose(struct sent *s)
{
	s->fate = LOST;
	flying--;
	lost++;
	again[again_to++ % ROOM] = s->unit;
	shrink(s->at);
}

/* Returns when the next one is lost by time. */
static double find_lost(void)
{
	double delay = fmax(1.125 * fmax(srtt, latest), GRANULE_S), due = 1e18;
	uint64_t n;

	for (n = oldest; n < largest; n++) {
		struct sent *s = &sent[n % ROOM];

		if (s->fate == FLYING) {
			if (n + THRESHOLD <= largest || s->at + delay <= now())
				lose(s);
			else
				due = fmin(due, s->at + delay);
		}
	}
	/* what was lost long ago is no longer looked for */
	while (oldest < next && sent[oldest % ROOM].fate != FLYING &&
	       now() - sent[oldest % ROOM].at > 2)
		oldest++;
	return due;
}

static void ack_in(const struct ack *ack)
{
	bool full = flying * 2 >= window;
	double newest = 0;
	uint64_t n;

	for (uint32_t i = 0; i < ack->count && i < RANGES; i++)
		for (n = ack->range[i][0]; n <= ack->range[i][1] && n < next; n++) {
			struct sent *s = &sent[n % ROOM];

			if (n < oldest || s->fate == CAME)
				continue;
			if (s->fate == LOST)
				spurious++;
			else
				flying--;
			if (s->fate == FLYING && full)
				grow(s->at, 1);
			s->fate = CAME;
			if (n > largest)
				newest = s->at;
			largest = n > largest ? n : largest;
		}
	if (newest) {
		round_trip(now() - newest, ack->held);
		probes = 0;
	}
}

static int send_all(const char *host, const char *port, double seconds)
{
	double until = now() + seconds, pace = now(), last = 0, due, timeout;
	struct sockaddr_in to;
	int fd = open_socket(host, port, &to);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct ack ack;

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return 1;
	while (now() < until) {
		while (recv(fd, &ack, sizeof(ack), MSG_DONTWAIT) > 0)
			ack_in(&ack);
		due = find_lost();
		pace = fmax(pace, now() - 10 * (srtt ?: 0.1) / window);
		while (flying < window && pace <= now()) {
			send_one(fd);
			last = now();
			pace += (srtt ?: 0.1) / (1.25 * window);
		}
		timeout = last + ((srtt ?: 0.333) + fmax(4 * rttvar, GRANULE_S) + ACK_S) *
			  (1 << (probes < 6 ? probes : 6));
		if (flying && timeout <= now()) {
			probes++;
			send_one(fd);
			last = now();
		}
		due = fmin(due, timeout);
		if (flying < window)
			due = fmin(due, pace);
		poll(&poll_fd, 1, (int)ceil(fmin(fmax(due - now(), 0.0005), 0.1) * 1000));
	}
	printf("sent %llu lost %u spurious %u\n", (unsigned long long)next - 1, lost, spurious);
	return 0;
}

/* --- the receiver -------------------------------------------------------------------------- */

static struct ack seen;

/* Note a number. Returns whether it is in order. */
static bool note(uint64_t n)
{
	uint64_t (*r)[2] = seen.range;
	uint32_t i = 0, count = seen.count;

	while (i < count && r[i][0] > n + 1)
		i++;
	if (i < count && n + 1 == r[i][0]) {
		r[i][0] = n;
		if (i + 1 < count && r[i + 1][1] + 1 == n) {
			r[i][0] = r[i + 1][0];
			memmove(r + i + 1, r + i + 2, (count - i - 2) * sizeof(*r));
			seen.count--;
		}
		return false;
	}
	if (i < count && n <= r[i][1])
		return false;
	if (i < count && n == r[i][1] + 1) {
		r[i][1] = n;
		return !i;
	}
	if (i == RANGES)
		return false;
	memmove(r + i + 1, r + i, ((count < RANGES ? count : RANGES - 1) - i) * sizeof(*r));
	r[i][0] = n;
	r[i][1] = n;
	seen.count = count < RANGES ? count + 1 : RANGES;
	return seen.count == 1;
}

static int read_all(const char *port, const char *name, double each)
{
	static uint8_t have[UNITS];
	struct sockaddr_in at, from;
	int fd = open_socket(NULL, port, &at);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	double told = now(), due = 0, came = 0, wait;
	unsigned long long octets = 0;
	uint32_t waiting = 0;
	FILE *file;
	struct data data;

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return 1;
	file = fopen(name, "w");
	if (!file)
		return 1;
	signal(SIGTERM, end);
	while (!stop) {
		socklen_t length = sizeof(from);
		bool order = true;

		while (recvfrom(fd, &data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from,
				&length) == sizeof(data)) {
			order &= note(data.number);
			octets += have[data.unit % UNITS] ? 0 : sizeof(data.octets);
			have[data.unit % UNITS] = 1;
			came = now();
			due = waiting++ ? due : came + ACK_S;
			if (waiting >= 2 || !order)
				break;
		}
		if (waiting >= 2 || (waiting && (!order || due <= now()))) {
			seen.held = now() - came;
			sendto(fd, &seen, sizeof(seen), 0, (struct sockaddr *)&from, sizeof(from));
			waiting = 0;
			continue;
		}
		if (now() >= told) {
			fprintf(file, "%.0f %llu\n", told * 1000, octets);
			told += each;
		}
		wait = fmax(fmin(told, waiting ? due : 1e18) - now(), 0);
		poll(&poll_fd, 1, (int)ceil(wait * 1000));
	}
	fclose(file);
	return 0;
}

int main(int count, char **words)
{
	if (count == 5 && !strcmp(words[1], "send"))
		return send_all(words[2], words[3], atof(words[4]));
	if (count == 5 && !strcmp(words[1], "read"))
		return read_all(words[2], words[3], atof(words[4]) / 1000);
	fputs("Usage: quick send HOST PORT SECONDS | quick read PORT FILE MILLISECONDS\n", stderr);
	return 2;
}
