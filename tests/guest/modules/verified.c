// SPDX-License-Identifier: GPL-2.0
/*
 * verified - traffic whose every octet the receiver checks
 *
 *   verified pour HOST PORT BYTES SECONDS
 *	Send a TCP stream of BYTES, or for SECONDS, whichever ends first.
 *
 *   verified drink PORT FILE
 *	Accept connections one after the other; at the end of each a line
 *	"octets N damaged N" in FILE.
 *
 *   verified tick HOST PORT MILLISECONDS SECONDS
 *	Send a numbered datagram of 100 octets every MILLISECONDS.
 *
 *   verified tock PORT FILE
 *	Until SIGTERM, a line "ms NUMBER" in FILE for each datagram: when it came, and
 *	which one it is.
 *
 *   verified wire TAP TAP
 *	Carry frames between two new tap devices, short ones padded to 60 octets as on
 *	Ethernet, and with four octets behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <linux/if.h>
#include <linux/if_tun.h>

#define CHUNK (32 * 1024)
#define DATAGRAM 100
#define FRAME_LEAST 60
#define TRAILER 4

static void die(const char *what)
{
	fprintf(stderr, "verified: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* The octets of a stream from @at on. */
static void fill(unsigned char *octets, size_t length, uint64_t at)
{
	for (size_t i = 0; i < length; i++) {
		uint64_t x = (at + i) / 4 * 0x9e3779b97f4a7c15;

		octets[i] = x >> (8 * ((at + i) % 4) + 24);
	}
}

/* A socket to a host whose address is written in figures. */
static int socket_to(const char *host, const char *port, int type)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int is_six = !!strchr(host, ':');
	struct sockaddr *to = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
	void *address = is_six ? (void *)&six.sin6_addr : (void *)&four.sin_addr;
	int fd = socket(to->sa_family, type, 0);

	if (inet_pton(to->sa_family, host, address) != 1) {
		fprintf(stderr, "verified: %s: not an address\n", host);
		exit(1);
	}
	if (fd < 0 || connect(fd, to, is_six ? sizeof(six) : sizeof(four)))
		die(host);
	return fd;
}

static int socket_at(const char *port, int type)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	int fd = socket(AF_INET6, type, 0), no = 0, yes = 1;

	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die(port);
	return fd;
}

static void pour(char **words)
{
	unsigned char octets[CHUNK];
	uint64_t bytes = strtoull(words[2], NULL, 0), at = 0;
	double end = now() + atof(words[3]);
	int fd = socket_to(words[0], words[1], SOCK_STREAM);

	while (at < bytes && now() < end) {
		ssize_t sent;

		fill(octets, CHUNK, at);
		sent = send(fd, octets, bytes - at < CHUNK ? bytes - at : CHUNK, MSG_NOSIGNAL);
		if (sent < 0)
			die("send");
		at += sent;
	}
	printf("%llu\n", (unsigned long long)at);
}

static void drink_one(int fd, const char *file)
{
	unsigned char octets[CHUNK], wanted[CHUNK];
	uint64_t at = 0, damaged = 0;
	FILE *out;
	ssize_t n;

	while ((n = recv(fd, octets, CHUNK, 0)) > 0) {
		fill(wanted, n, at);
		for (ssize_t i = 0; i < n; i++)
			damaged += octets[i] != wanted[i];
		at += n;
	}
	close(fd);
	out = fopen(file, "a");
	if (!out)
		die(file);
	fprintf(out, "octets %llu damaged %llu\n", (unsigned long long)at,
		(unsigned long long)damaged);
	fclose(out);
}

static void drink(char **words)
{
	int fd = socket_at(words[0], SOCK_STREAM);

	if (listen(fd, 8))
		die("listen");
	for (;;)
		drink_one(accept(fd, NULL, NULL), words[1]);
}

static void tick(char **words)
{
	int fd = socket_to(words[0], words[1], SOCK_DGRAM);
	double every = atof(words[2]) / 1e3, next = now(), end = next + atof(words[3]);
	unsigned char datagram[DATAGRAM] = { 0 };

	for (uint32_t n = 0; next < end; n++, next += every) {
		double wait = next - now();

		if (wait > 0)
			usleep(wait * 1e6);
		memcpy(datagram, &n, sizeof(n));
		fill(datagram + 4, DATAGRAM - 4, n);
		send(fd, datagram, DATAGRAM, 0);	/* without a link: lost */
	}
}

static void tock(char **words)
{
	int fd = socket_at(words[0], SOCK_DGRAM);
	unsigned char datagram[DATAGRAM], wanted[DATAGRAM];
	FILE *out = fopen(words[1], "w");

	if (!out)
		die(words[1]);
	setlinebuf(out);
	while (recv(fd, datagram, DATAGRAM, 0) == DATAGRAM) {
		uint32_t n;

		memcpy(&n, datagram, sizeof(n));
		fill(wanted, DATAGRAM - 4, n);
		fprintf(out, "%.0f %s%u\n", now() * 1e3,
			memcmp(wanted, datagram + 4, DATAGRAM - 4) ? "damaged " : "", n);
	}
}

static int tap(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR);

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		die(name);
	return fd;
}

static void carry(int from, int to)
{
	unsigned char frame[70000];
	ssize_t n = read(from, frame, sizeof(frame) - FRAME_LEAST - TRAILER);

	if (n <= 0)
		return;
	memset(frame + n, 0xa5, FRAME_LEAST + TRAILER);
	if (n < FRAME_LEAST)
		n = FRAME_LEAST + TRAILER;
	if (write(to, frame, n) < 0 && errno != EIO)	/* EIO: the device is down */
		die("write");
}

static void wire(char **words)
{
	struct pollfd ends[2] = { { .events = POLLIN }, { .events = POLLIN } };

	ends[0].fd = tap(words[0]);
	ends[1].fd = tap(words[1]);
	while (poll(ends, 2, -1) > 0)
		for (int i = 0; i < 2; i++)
			if (ends[i].revents & POLLIN)
				carry(ends[i].fd, ends[!i].fd);
}

static const struct {
	const char *name;
	int words;
	void (*run)(char **words);
} commands[] = {
	{ "pour", 4, pour }, { "drink", 2, drink }, { "tick", 4, tick }, { "tock", 2, tock },
	{ "wire", 2, wire },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (argc == commands[i].words + 2 && !strcmp(argv[1], commands[i].name)) {
			commands[i].run(argv + 2);
			return 0;
		}
	fprintf(stderr, "verified: what is to be done? See the source's first lines.\n");
	return 2;
}
