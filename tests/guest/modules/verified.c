// SPDX-License-Identifier: GPL-2.0
/*
 * verified - traffic whose every octet the receiver checks
 *
 *   verified pour HOST PORT BYTES SECONDS
 *	Send a TCP stream of BYTES, or for SECONDS, whichever ends first.
 *
 *   verified hand HOST PORT BYTES
 *	Send a TCP stream; done when the receiver has read all of it and closed.
 *
 *   verified pours HOST PORT BYTES SECONDS
 *	For SECONDS one TCP stream of BYTES after the other, each until the receiver has
 *	closed it; then "ended N reset N unreached N longest MS": how many, how many of
 *	another end, and how long one took at most.
 *
 *   verified lend HOST PORT BYTES
 *	Send a TCP stream from a file by sendfile(): packets have the file's own pages.
 *
 *   verified drink PORT FILE
 *	Accept connections one after the other; at the end of each a line
 *	"octets N damaged N" in FILE.
 *
 *   verified drinkers PORT FILE
 *	Accept connections beside each other; the lines go on with " gap MS", the
 *	longest time without an octet.
 *
 *   verified sip PORT FILE MILLISECONDS
 *	Receive one TCP stream, and write a line "ms OCTETS DAMAGED" to FILE, not more often
 *	than so: how much has come by then. After the stream's end "end OCTETS DAMAGED".
 *
 *   verified tick HOST PORT MILLISECONDS SECONDS
 *	Send a numbered datagram of 100 octets every MILLISECONDS.
 *
 *   verified tock PORT FILE
 *	Until SIGTERM, a line "ms NUMBER" in FILE for each datagram: when it came, and
 *	which one it is.
 *
 *   verified mark HOST PORT TOS COUNT
 *	Send so many datagrams of 200 octets with this traffic class, one every 20 ms.
 *
 *   verified marked PORT FILE
 *	Until SIGTERM, a line "TOS TTL" in FILE for each datagram.
 *
 *   verified look DEVICE FILE
 *	Until SIGTERM, a line "PROTOCOL TOS TTL LENGTH FRAGMENT" in FILE for each IP packet
 *	that comes in by a device; the last one is 0 if it is whole and may not be cut, 1
 *	if it may be, 2 for a piece.
 *
 *   verified wire TAP TAP
 *	Carry frames between two new tap devices, short ones padded to 60 octets as on
 *	Ethernet, and with four octets behind.
 */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <netinet/in.h>
#include <linux/if_tun.h>

#include "frames.h"

#define CHUNK (32 * 1024)
#define DATAGRAM 100
#define MARKED 200
#define RECEIVED (8 << 20)	/* octets of datagrams that wait for their reader */
#define FRAME_LEAST 60
#define TRAILER 4

/* A socket to a host whose address is written in figures; -1: it cannot be reached. */
static int reach(const char *host, const char *port, int type)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int is_six = !!strchr(host, ':');
	struct sockaddr *to = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
	void *address = is_six ? (void *)&six.sin6_addr : (void *)&four.sin_addr;
	int fd = socket(to->sa_family, type, 0);

	if (inet_pton(to->sa_family, host, address) != 1)
		errx(1, "%s: not an address", host);
	if (fd < 0)
		err(1, "socket");
	if (!connect(fd, to, is_six ? sizeof(six) : sizeof(four)))
		return fd;
	close(fd);
	return -1;
}

static int socket_to(const char *host, const char *port, int type)
{
	int fd = reach(host, port, type);

	if (fd < 0)
		err(1, "%s", host);
	return fd;
}

static int socket_at(const char *port, int type)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	int fd = socket(AF_INET6, type, 0), no = 0, yes = 1;

	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(1, "%s", port);
	return fd;
}

/* Send until @end at most; how many octets, -1 with an error. */
static int64_t pour_into(int fd, uint64_t bytes, double end)
{
	unsigned char octets[CHUNK];
	uint64_t at = 0;

	while (at < bytes && now() < end) {
		ssize_t sent;

		fill(octets, CHUNK, at);
		sent = send(fd, octets, bytes - at < CHUNK ? bytes - at : CHUNK, MSG_NOSIGNAL);
		if (sent < 0)
			return -1;
		at += sent;
	}
	return at;
}

static void pour(char **words)
{
	double end = now() + atof(words[3]);
	int fd = socket_to(words[0], words[1], SOCK_STREAM);
	int64_t at = pour_into(fd, strtoull(words[2], NULL, 0), end);

	if (at < 0)
		err(1, "send");
	printf("%lld\n", (long long)at);
}

/* Send all, wait for the receiver's end. */
static void pour_whole(int fd, uint64_t bytes, unsigned long *ended, unsigned long *reset)
{
	char none;

	if (pour_into(fd, bytes, HUGE_VAL) >= 0 && !shutdown(fd, SHUT_WR) &&
	    !recv(fd, &none, 1, 0))
		++*ended;
	else if (errno == ECONNRESET || errno == EPIPE)
		++*reset;
	else
		err(1, "end");
	close(fd);
}

static void hand(char **words)
{
	int fd = socket_to(words[0], words[1], SOCK_STREAM);
	unsigned long ended = 0, reset = 0;

	pour_whole(fd, strtoull(words[2], NULL, 0), &ended, &reset);
	if (!ended)
		err(1, "the end");
}

static void pours(char **words)
{
	double end = now() + atof(words[3]), longest = 0;
	unsigned long ended = 0, reset = 0, unreached = 0;

	do {
		double start = now(), took;
		int fd = reach(words[0], words[1], SOCK_STREAM);

		if (fd < 0)
			unreached++;
		else
			pour_whole(fd, strtoull(words[2], NULL, 0), &ended, &reset);
		took = now() - start;
		longest = took > longest ? took : longest;
	} while (now() < end);
	printf("ended %lu reset %lu unreached %lu longest %.0f\n", ended, reset, unreached,
	       longest * 1e3);
}

static void lend(char **words)
{
	unsigned char octets[CHUNK];
	uint64_t bytes = strtoull(words[2], NULL, 0), at;
	int fd = socket_to(words[0], words[1], SOCK_STREAM);
	FILE *file = tmpfile();

	if (!file)
		err(1, "tmpfile");
	for (at = 0; at < bytes; at += CHUNK) {
		fill(octets, CHUNK, at);
		if (write(fileno(file), octets, CHUNK) != CHUNK)
			err(1, "write");
	}
	lseek(fileno(file), 0, SEEK_SET);
	for (at = 0; at < bytes;) {
		ssize_t sent = sendfile(fd, fileno(file), NULL, bytes - at);

		if (sent <= 0)
			err(1, "sendfile");
		at += sent;
	}
	fclose(file);
	printf("%llu\n", (unsigned long long)at);
}

/*
 * Open a file to append to it, alone. UML's hostfs takes a file's length from the host when it is
 * opened, so that nothing may be left to be written then. Writes the lock.
 */
static FILE *append(const char *file, int *lock)
{
	FILE *out;

	*lock = open(file, O_CREAT | O_RDWR, 0644);
	if (*lock < 0 || flock(*lock, LOCK_EX))
		err(1, "%s", file);
	out = fopen(file, "a");
	if (!out)
		err(1, "%s", file);
	return out;
}

static void written(FILE *out, int lock)
{
	if (fflush(out) || fsync(fileno(out)) || fclose(out) || close(lock))
		err(1, "write");
}

/* The next octets of a stream, from *@at on; those that are wrong count as damaged. */
static ssize_t taste(int fd, uint64_t *at, uint64_t *damaged)
{
	unsigned char octets[CHUNK], wanted[CHUNK];
	ssize_t n = recv(fd, octets, CHUNK, 0);

	if (n <= 0)
		return n;
	*damaged += damaged_in(octets, wanted, n, *at);
	*at += n;
	return n;
}

static void drink_one(int fd, const char *file, int timed)
{
	uint64_t at = 0, damaged = 0;
	double last = now(), gap = 0;
	FILE *out;
	int lock;

	while (taste(fd, &at, &damaged) > 0) {
		gap = now() - last > gap ? now() - last : gap;
		last = now();
	}
	close(fd);
	out = append(file, &lock);
	fprintf(out, "octets %llu damaged %llu", (unsigned long long)at,
		(unsigned long long)damaged);
	if (timed)
		fprintf(out, " gap %.0f", gap * 1e3);
	fputc('\n', out);
	written(out, lock);
}

static void drink(char **words)
{
	int fd = socket_at(words[0], SOCK_STREAM);

	if (listen(fd, 8))
		err(1, "listen");
	for (;;)
		drink_one(accept(fd, NULL, NULL), words[1], 0);
}

static void drinkers(char **words)
{
	int fd = socket_at(words[0], SOCK_STREAM), one;

	signal(SIGCHLD, SIG_IGN);
	if (listen(fd, 1024))
		err(1, "listen");
	for (;;) {
		one = accept(fd, NULL, NULL);
		if (!fork()) {
			drink_one(one, words[1], 1);
			exit(0);
		}
		close(one);
	}
}

static void sip(char **words)
{
	int fd = socket_at(words[0], SOCK_STREAM);
	double every = atof(words[2]) / 1e3, next = 0;
	uint64_t at = 0, damaged = 0;
	FILE *out = file_of_lines(words[1]);

	if (listen(fd, 1))
		err(1, "listen");
	fd = accept(fd, NULL, NULL);
	while (taste(fd, &at, &damaged) > 0) {
		if (now() < next)
			continue;
		next = now() + every;
		fprintf(out, "%.0f %llu %llu\n", now() * 1e3, (unsigned long long)at,
			(unsigned long long)damaged);
	}
	fprintf(out, "end %llu %llu\n", (unsigned long long)at, (unsigned long long)damaged);
	fclose(out);
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
	int fd = socket_at(words[0], SOCK_DGRAM), room = RECEIVED;
	unsigned char datagram[DATAGRAM], wanted[DATAGRAM];
	FILE *out = file_of_lines(words[1]);

	/* What waits for a frame that was lost comes all at once. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	while (recv(fd, datagram, DATAGRAM, 0) == DATAGRAM) {
		uint32_t n;

		memcpy(&n, datagram, sizeof(n));
		fill(wanted, DATAGRAM - 4, n);
		fprintf(out, "%.0f %s%u\n", now() * 1e3,
			memcmp(wanted, datagram + 4, DATAGRAM - 4) ? "damaged " : "", n);
	}
	fclose(out);
}

static void mark(char **words)
{
	int fd = socket_to(words[0], words[1], SOCK_DGRAM), tos = strtol(words[2], NULL, 0);
	unsigned char datagram[MARKED] = { 0 };

	if (setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)))
		err(1, "traffic class");
	setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	for (int n = atoi(words[3]); n > 0; n--) {
		send(fd, datagram, MARKED, 0);
		usleep(20000);
	}
}

/* What a control message tells; -1: it is another one. */
static int told(struct cmsghdr *message, int four, int six)
{
	int value = -1;

	if ((message->cmsg_level == IPPROTO_IP && message->cmsg_type == four) ||
	    (message->cmsg_level == IPPROTO_IPV6 && message->cmsg_type == six)) {
		if (message->cmsg_len >= CMSG_LEN(sizeof(value)))
			memcpy(&value, CMSG_DATA(message), sizeof(value));
		else
			value = *CMSG_DATA(message);
	}
	return value;
}

static void marked(char **words)
{
	int fd = socket_at(words[0], SOCK_DGRAM), yes = 1;
	char datagram[MARKED], control[256];
	FILE *out = file_of_lines(words[1]);

	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &yes, sizeof(yes));
	for (;;) {
		struct iovec part = { datagram, MARKED };
		struct msghdr whole = {
			.msg_iov = &part, .msg_iovlen = 1,
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		int tos = -1, ttl = -1, value;

		if (recvmsg(fd, &whole, 0) < 0)
			err(1, "recvmsg");
		for (struct cmsghdr *m = CMSG_FIRSTHDR(&whole); m; m = CMSG_NXTHDR(&whole, m)) {
			value = told(m, IP_TOS, IPV6_TCLASS);
			tos = value < 0 ? tos : value;
			value = told(m, IP_TTL, IPV6_HOPLIMIT);
			ttl = value < 0 ? ttl : value;
		}
		fprintf(out, "%d %d\n", tos, ttl);
	}
}

static void tell(FILE *out, const unsigned char *ip, int length)
{
	if (ip[0] >> 4 == 4 && length >= 20) {
		int fragment = (ip[6] & 0x3f) || ip[7] ? 2 : !(ip[6] & 0x40);

		fprintf(out, "%d %d %d %d %d\n", ip[9], ip[1], ip[8], ip[2] << 8 | ip[3],
			fragment);
	} else if (ip[0] >> 4 == 6 && length >= 40) {
		fprintf(out, "%d %d %d %d %d\n", ip[6], (ip[0] & 15) << 4 | ip[1] >> 4, ip[7],
			(ip[4] << 8 | ip[5]) + 40, ip[6] == 44 ? 2 : 0);
	}
}

static void look(char **words)
{
	FILE *out = file_of_lines(words[1]);
	int fd = packets_of(words[0]);
	unsigned char packet[128];
	bool sent;

	if (fd < 0)
		err(1, "%s", words[0]);
	for (;;) {
		ssize_t n = next_frame(fd, packet, sizeof(packet), 0, &sent);

		if (n > 0 && !sent)
			tell(out, packet, n);
	}
}

static int tap(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR);

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		err(1, "%s", name);
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
		err(1, "write");
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
	{ "pour", 4, pour }, { "pours", 4, pours }, { "lend", 3, lend }, { "drink", 2, drink },
	{ "drinkers", 2, drinkers }, { "tick", 4, tick }, { "tock", 2, tock },
	{ "mark", 4, mark }, { "marked", 2, marked }, { "look", 2, look }, { "wire", 2, wire },
	{ "hand", 3, hand }, { "sip", 3, sip },
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
