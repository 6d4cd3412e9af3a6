// SPDX-License-Identifier: GPL-2.0
/*
 * storm - a TCP stream whose every octet is checked, watched from both ends
 *
 *   storm send HOST PORT BYTES SECONDS FILE
 *	Send a stream of BYTES, close it, wait until the receiver has closed, too. FILE
 *	gets a line each 100 ms (struct sample). After SECONDS it gives up: status 1.
 *
 *   storm drink PORT FILE MSS
 *	Accept one connection and read it to its end. FILE gets a line "ms OCTETS" each
 *	100 ms, in the end "octets N damaged N". MSS is what it offers to receive in a
 *	segment, 0: what the device can.
 *
 *   storm tap DEVICE FILE
 *	Until SIGTERM a line in FILE for each TCP segment: "us out SEQ LENGTH" for those
 *	that are sent with data, "us in ACK" for those that come in.
 *
 * Both ends of a stream look every 10 ms instead of being woken by each segment.
 */
#include <poll.h>
#include <unistd.h>
#include <linux/tcp.h>

#include "../../guest/modules/frames.h"
#include "../../guest/modules/sockets.h"

#define CHUNK	(32 * 1024)
#define TICK	0.01	/* s */
#define TICKS	10	/* to a line */

/* The smallest and the largest window since the line before. */
struct range { unsigned int least, most; };

static struct tcp_info look(int fd, struct range *cwnd)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		err(2, "TCP_INFO");
	if (info.tcpi_snd_cwnd < cwnd->least)
		cwnd->least = info.tcpi_snd_cwnd;
	if (info.tcpi_snd_cwnd > cwnd->most)
		cwnd->most = info.tcpi_snd_cwnd;
	return info;
}

static void tell(FILE *out, const struct tcp_info *info, struct range *cwnd)
{
	fprintf(out, "%.0f %llu %u %u %u %u %u %u %u %u %u\n", now() * 1e3,
		(unsigned long long)info->tcpi_bytes_acked, info->tcpi_snd_cwnd, cwnd->least,
		cwnd->most, info->tcpi_unacked, info->tcpi_total_retrans,
		info->tcpi_rto / 1000, info->tcpi_rtt / 1000, info->tcpi_segs_out,
		info->tcpi_snd_mss);
	*cwnd = (struct range){ info->tcpi_snd_cwnd, info->tcpi_snd_cwnd };
}

/* Send what the socket takes; whether all has been sent. */
static int push(int fd, __u64 bytes, __u64 *at)
{
	static unsigned char octets[CHUNK];

	while (*at < bytes) {
		size_t length = bytes - *at < CHUNK ? bytes - *at : CHUNK;
		ssize_t sent;

		fill(octets, length, *at);
		sent = send(fd, octets, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EAGAIN)
			return 0;
		if (sent < 0)
			err(2, "send");
		*at += sent;
	}
	return 1;
}

static int closed(int fd)
{
	char octet;
	ssize_t n = recv(fd, &octet, 1, MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN)
		err(2, "recv");
	return !n;
}

static int storm_send(char **words)
{
	__u64 bytes = strtoull(words[2], NULL, 0), at = 0;
	double next = now(), end = next + atof(words[3]);
	int fd = connected(SOCK_STREAM, words[0], words[1]), all = 0;
	struct range cwnd = { ~0U, 0 };
	FILE *out = file_of_lines(words[4]);
	struct tcp_info info;

	for (unsigned int tick = 0; !closed(fd) && now() < end; tick++) {
		if (!all && push(fd, bytes, &at))
			all = !shutdown(fd, SHUT_WR);
		info = look(fd, &cwnd);
		if (tick % TICKS == 0)
			tell(out, &info, &cwnd);
		sleep_until(next += TICK);
	}
	if (fclose(out))
		err(2, "%s", words[4]);
	return now() >= end;
}

static int accepted(const char *port, int mss)
{
	int fd = bound(SOCK_STREAM, port), one;

	if (mss && setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss)))
		err(2, "TCP_MAXSEG");
	if (listen(fd, 1))
		err(2, "%s", port);
	one = accept(fd, NULL, NULL);
	close(fd);
	return one;
}

static int storm_drink(char **words)
{
	static unsigned char octets[CHUNK], wanted[CHUNK];
	int fd = accepted(words[0], atoi(words[2]));
	__u64 at = 0, damaged = 0;
	FILE *out = file_of_lines(words[1]);
	double next = now();
	ssize_t n;

	for (unsigned int tick = 0;; tick++) {
		while ((n = recv(fd, octets, CHUNK, MSG_DONTWAIT)) > 0) {
			damaged += damaged_in(octets, wanted, n, at);
			at += n;
		}
		if (tick % TICKS == 0 || n >= 0)
			fprintf(out, "%.0f %llu\n", now() * 1e3, (unsigned long long)at);
		if (n >= 0 || errno != EAGAIN)
			break;
		next = next + TICK > now() ? next + TICK : now() + TICK;	/* was stopped */
		sleep_until(next);
	}
	fprintf(out, "octets %llu damaged %llu\n", (unsigned long long)at,
		(unsigned long long)damaged);
	return fclose(out) || n;
}

static void note(FILE *out, const unsigned char *ip, ssize_t size, int sent)
{
	const unsigned char *tcp = ip + (ip[0] & 15) * 4;
	unsigned int data;
	__u32 seq, ack;

	if (size < 40 || ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP)
		return;
	data = (ip[2] << 8 | ip[3]) - (ip[0] & 15) * 4 - (tcp[12] >> 4) * 4;
	memcpy(&seq, tcp + 4, sizeof(seq));
	memcpy(&ack, tcp + 8, sizeof(ack));
	if (sent && data)
		fprintf(out, "%.0f out %u %u\n", now() * 1e6, ntohl(seq), data);
	else if (!sent)
		fprintf(out, "%.0f in %u\n", now() * 1e6, ntohl(ack));
}

static int storm_tap(char **words)
{
	FILE *out = file_of_lines(words[1]);
	int fd = packets_of(words[0]);
	unsigned char packet[128];
	bool sent;
	ssize_t n;

	if (fd < 0)
		err(2, "%s", words[0]);
	while ((n = next_frame(fd, packet, sizeof(packet), 0, &sent)) >= 0)
		note(out, packet, n, sent);
	fclose(out);
	return 2;
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **words);
} commands[] = {
	{ "send", 5, storm_send }, { "drink", 3, storm_drink }, { "tap", 2, storm_tap },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (argc == commands[i].words + 2 && !strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2);
	fprintf(stderr, "storm: what is to be done? See the source's first lines.\n");
	return 2;
}
