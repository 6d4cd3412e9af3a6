// SPDX-License-Identifier: GPL-2.0
/*
 * peer - what the tests in the guest need and the lab's `flow` does not do
 *
 *   peer sink PORT
 *	Accept connections one after the other and throw their data away.
 *
 *   peer send HOST PORT SECONDS [AT:NAME]...
 *	Connect without choosing a congestion control, send for SECONDS, switch to
 *	NAME at AT seconds. Every 50 ms a line with the time in s, the congestion
 *	control the socket really has, window, slow start threshold (segments),
 *	pacing rate (B/s) and bytes acknowledged. A switch that fails ends it.
 *	A NAME that is a number is the greatest pacing rate from then on, in B/s.
 *
 *   peer watched HOST PORT SECONDS
 *	Connect and send for SECONDS; beside it a second process asks for the state of
 *	the congestion control without a pause. Its last line is how often.
 *
 *   peer blast HOST PORT LENGTH COUNT
 *	Send COUNT datagrams, each one frame of LENGTH bytes (IPv4 on Ethernet).
 *
 *   peer count PORT FILE
 *	Count datagrams by frame length until SIGTERM, then write "LENGTH COUNT"
 *	lines.
 *
 *   peer hold PORT COUNT SECONDS
 *	Open COUNT connections to this machine, send an octet on each, say "open", and
 *	hold them for SECONDS.
 *
 *   peer tai SECONDS
 *	Set the kernel's difference between TAI and UTC, as a time daemon does.
 *
 *   peer locked FOLDER SECONDS
 *	Hold the lock of a folder.
 *
 *   peer blocked SIGNAL COMMAND [WORD]...
 *	Run a command with a signal blocked, by number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "octets.h"
#include "sockets.h"

#define HEADERS		(14 + 20 + 8)	/* Ethernet, IPv4, UDP */
#define LONGEST		1514
#define CHUNK		(64 * 1024)
#define SAMPLE_MS	50

static int stop;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
}

static int sink(const char *port)
{
	int lfd = bound(SOCK_STREAM, port), fd;
	static char byte[1];

	if (listen(lfd, 8))
		err(1, "listen");
	while ((fd = accept(lfd, NULL, NULL)) >= 0) {
		while (recv(fd, byte, 1 << 30, MSG_TRUNC) > 0)
			usleep(10000);
		close(fd);
	}
	err(1, "accept");
	return 1;
}

static void sample(int fd)
{
	char name[16] = "";
	socklen_t len = sizeof(name);
	struct tcp_info ti = { 0 };

	getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len);
	len = sizeof(ti);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len);
	printf("%.3f %s %u %u %llu %llu\n", now(), name, ti.tcpi_snd_cwnd, ti.tcpi_snd_ssthresh,
	       (unsigned long long)ti.tcpi_pacing_rate, (unsigned long long)ti.tcpi_bytes_acked);
	fflush(stdout);
}

static void change(int fd, const char *name)
{
	char *end;
	unsigned int rate = strtoul(name, &end, 10);
	int failed;

	if (*name && !*end)
		failed = setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
	else
		failed = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name));
	if (failed)
		err(1, "%s", name);
}

static int send_data(char **argv, int switches)
{
	int fd = connected(SOCK_STREAM, argv[0], argv[1]), next = 0;
	double start = now(), end = start + atof(argv[2]);
	struct linger abort_it = { .l_onoff = 1 };
	static char chunk[CHUNK];

	while (now() < end) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (next < switches && now() >= start + atof(argv[3 + next])) {
			const char *name = strchr(argv[3 + next], ':');

			name = name ? name + 1 : "";
			change(fd, name);
			next++;
		}
		sample(fd);
		while (send(fd, chunk, sizeof(chunk), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (errno != EAGAIN)
			err(1, "send");
		poll(&p, 0, SAMPLE_MS);
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof(abort_it));
	close(fd);
	return 0;
}

static void watch(int fd, double end)
{
	union tcp_cc_info info;
	unsigned long asked = 0;

	for (; now() < end; asked++) {
		socklen_t len = sizeof(info);

		if (getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &info, &len))
			err(1, "TCP_CC_INFO");
	}
	printf("%lu\n", asked);
	fflush(stdout);
	_exit(0);
}

static int send_watched(char **argv)
{
	int fd = connected(SOCK_STREAM, argv[0], argv[1]);
	double end = now() + atof(argv[2]);
	static char chunk[CHUNK];

	if (!fork())
		watch(fd, end);
	while (now() < end)
		if (send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL) < 0)
			err(1, "send");
	wait(NULL);
	return 0;
}

static int blast(char **argv)
{
	int fd = connected(SOCK_DGRAM, argv[0], argv[1]);
	int length = atoi(argv[2]), count = atoi(argv[3]), i;
	static char data[LONGEST];

	for (i = 0; i < count; i++) {
		/* A full socket buffer blocks here: nothing is lost at the sender. */
		if (send(fd, data, (size_t)(length - HEADERS), 0) < 0)
			err(1, "send");
	}
	return 0;
}

static int count(const char *port, const char *path)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int fd = bound(SOCK_DGRAM, port), size = 64 << 20, i;
	static int seen[LONGEST + 1];
	static char byte[1];
	FILE *f;

	sigaction(SIGTERM, &sa, NULL);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ssize_t n = recv(fd, byte, sizeof(byte), MSG_TRUNC);

		if (n >= 0 && n + HEADERS <= LONGEST)
			seen[n + HEADERS]++;
	}
	f = fopen(path, "w");
	for (i = 0; f && i <= LONGEST; i++)
		if (seen[i])
			fprintf(f, "%d %d\n", i, seen[i]);
	if (!f || fclose(f))
		err(1, "%s", path);
	return 0;
}

static int hold(const char *port, int count, int seconds)
{
	int lfd = bound(SOCK_STREAM, port), i;

	if (listen(lfd, count))
		err(1, "listen");
	for (i = 0; i < count; i++) {
		int fd = connected(SOCK_STREAM, "127.0.0.1", port);

		if (accept(lfd, NULL, NULL) < 0 || send(fd, "", 1, 0) != 1)
			err(1, "accept");
	}
	puts("open");
	fflush(stdout);
	sleep(seconds);
	return 0;
}

static int set_tai(int seconds)
{
	struct timex clock = { .modes = ADJ_TAI, .constant = seconds };

	if (adjtimex(&clock) < 0)
		err(1, "adjtimex");
	return 0;
}

static int hold_lock(const char *folder, int seconds)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || flock(fd, LOCK_EX))
		err(1, "%s", folder);
	sleep(seconds);
	return 0;
}

static int run_blocked(int signal, char **command)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, signal);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	execvp(command[0], command);
	err(1, "%s", command[0]);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		return sink(argv[2]);
	if (argc >= 5 && !strcmp(argv[1], "send"))
		return send_data(argv + 2, argc - 5);
	if (argc == 5 && !strcmp(argv[1], "watched"))
		return send_watched(argv + 2);
	if (argc == 6 && !strcmp(argv[1], "blast"))
		return blast(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "count"))
		return count(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "hold"))
		return hold(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "locked"))
		return hold_lock(argv[2], atoi(argv[3]));
	if (argc >= 4 && !strcmp(argv[1], "blocked"))
		return run_blocked(atoi(argv[2]), argv + 3);
	if (argc == 3 && !strcmp(argv[1], "tai"))
		return set_tai(atoi(argv[2]));
	fprintf(stderr, "usage: peer sink|send|watched|blast|count|hold|tai|locked|blocked ...\n");
	return 2;
}
