// SPDX-License-Identifier: GPL-2.0
/*
 * flow - the lab's traffic tool: a bulk TCP flow or successive transfers, logged over time
 *
 *   flow recv PORT LOG
 *	Accept one connection and discard its data (MSG_TRUNC: nothing is
 *	copied). Every 10 ms of CLOCK_MONOTONIC the bytes received so far are
 *	logged if they changed. The log ends when the sender closes or on
 *	SIGTERM.
 *
 *   flow send HOST PORT --cc NAME --duration SECONDS LOG [BYTES]
 *	Connect with the congestion control NAME, send for SECONDS counted from
 *	the end of the handshake or until SIGTERM, log TCP_INFO every 100 ms,
 *	then reset the connection, so that neither queued data nor a reference
 *	to the module remains. With BYTES it ends as soon as the receiver has
 *	read so many.
 *
 *   flow serve PORT LOG
 *	Accept one connection after the other until SIGTERM, read each to its
 *	end and close it. The log is that of recv plus "transfers": the time of
 *	each connection's last byte and its number of bytes. It waits for data
 *	instead of polling, so that these times are exact.
 *
 *   flow answer PORT LOG
 *	The same, but each chunk of a connection is a transfer, which is
 *	answered by a byte when all of it was read.
 *
 *   flow request HOST PORT --cc NAME --duration SECONDS LOG SIZE+SIZE... [PERIOD IDLE]
 *	Transfers to a server, each on a new connection: connect, send SIZE
 *	bytes, wait until the server has closed, begin the next. Each round has
 *	every SIZE once, in random order. None begins after SECONDS; the last
 *	one is completed. The log is that of send, with counts over all
 *	connections, plus "transfers": the time of each connect() and the bytes
 *	sent. With PERIOD and IDLE (s) none begins sooner than PERIOD after the
 *	one before it began, nor a round sooner than IDLE after the last one
 *	ended.
 *
 *   flow chunks ...
 *	The same on one connection to flow answer; "transfers" has the time at
 *	which each began to be written.
 *
 *   flow every SECONDS LINE PID
 *	Print LINE at once and then every SECONDS while the process PID is
 *	alive. This feeds `tc -batch -` without a process per sample.
 *
 *   flow replay PID
 *	Each line of standard input has SECONDS and a text: print the text when
 *	that long has passed since the start, while the process PID is alive.
 *
 *   flow datagrams HOST PORT BYTES SECONDS PID LOG
 *	Send a UDP datagram with BYTES of payload at once and then every
 *	SECONDS while the process PID is alive. The log has how many were sent
 *	and how many the kernel refused (a full queue of the own device).
 *
 *   flow sink PORT LOG
 *	Count UDP datagrams and their bytes until SIGTERM.
 *
 *   flow opportunities PROGRAM ZERO [LIMIT[+SECONDS:LIMIT...] PERIOD_MS OFFSET_MS]
 *	Load the BPF program of opportunities.c, whose times are the lines of
 *	standard input (MS [COUNT [STEP_MS]]), repeated every PERIOD, and begin
 *	OFFSET into them. PROGRAM and ZERO are names below /sys/fs/bpf; programs
 *	with the same ZERO count from the same frame. LIMIT: packets that the
 *	queue holds, from a time on. Without times it only sets ZERO.
 *
 *   flow pppoe DEVICE MAC NUMBER
 *	Until SIGTERM, be one end of the PPPoE session NUMBER over DEVICE with
 *	the host that has this hardware address, with the device pppNUMBER.
 *
 *   flow mptcp recv|send ...
 *	The same over MPTCP. The samples are the sums over its subflows.
 *
 * All times are microseconds of CLOCK_MONOTONIC. The receiver polls on a timer
 * instead of waking up for each segment: in a guest whose clock counts
 * instructions, a wakeup per segment would cost a tenth of the run.
 */
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>

#include "flow.h"

static int flow_every(double seconds, const char *line, pid_t pid)
{
	int64_t t = now_us();

	while (!kill(pid, 0) && puts(line) >= 0 && !fflush(stdout)) {
		t += (int64_t)(seconds * 1e6);
		sleep_until(t);
	}
	return 0;
}

/* flow send HOST PORT --cc NAME --duration SECONDS LOG [BYTES]
 * flow request|chunks HOST PORT --cc NAME --duration SECONDS LOG SIZES [PERIOD IDLE]
 */
static int flow_client(int argc, char **argv)
{
	struct target to = { .cc = argv[5] };
	struct requests r = { .kept = !strcmp(argv[1], "chunks") };

	if (strcmp(argv[4], "--cc") || strcmp(argv[6], "--duration") || atof(argv[7]) <= 0)
		return 2;
	if (set_target(&to, argv[2], argv[3]))
		return 1;
	r.n = argc >= 10 ? read_sizes(argv[9], r.sizes) : 0;
	if (!strcmp(argv[1], "send"))
		return argc == 10 && r.n != 1 ? 2 :
			flow_send(&to, atof(argv[7]), argv[8], r.n ? r.sizes[0] : 0);
	r.period = argc == 12 ? (int64_t)(atof(argv[10]) * 1e6) : 0;
	r.idle = argc == 12 ? (int64_t)(atof(argv[11]) * 1e6) : 0;
	return r.n ? flow_request(&to, atof(argv[7]), argv[8], &r) : 2;
}

/* flow datagrams HOST PORT BYTES SECONDS PID LOG */
static int flow_udp(char **argv)
{
	struct target to = { .cc = "" };

	if (atoi(argv[4]) <= 0 || atoi(argv[4]) > MOST_DATAGRAM || atof(argv[5]) <= 0)
		return 2;
	if (set_target(&to, argv[2], argv[3]))
		return 1;
	return flow_datagrams(&to, atoi(argv[4]), atof(argv[5]), atoi(argv[6]), argv[7]);
}

static int flow_replay(pid_t pid)
{
	int64_t zero = now_us(), now, at;
	char line[4096], *text;

	while (fgets(line, sizeof(line), stdin)) {
		at = zero + (int64_t)(strtod(line, &text) * 1e6);
		while (!kill(pid, 0) && (now = now_us()) < at)
			sleep_until(at < now + SAMPLE_US ? at : now + SAMPLE_US);
		if (kill(pid, 0) || fputs(text + strspn(text, " "), stdout) < 0 || fflush(stdout))
			break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status = 2;

	signal(SIGPIPE, SIG_DFL);
	if (argc > 2 && !strcmp(argv[1], "mptcp") &&
	    (!strcmp(argv[2], "recv") || !strcmp(argv[2], "send"))) {
		protocol = IPPROTO_MPTCP;
		argv++;
		argc--;
	}
	if (argc == 4 && !strcmp(argv[1], "recv"))
		status = flow_recv(argv[2], argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "serve"))
		status = flow_serve(argv[2], argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "answer"))
		status = flow_answer(argv[2], argv[3]);
	else if (((argc == 9 || argc == 10) && !strcmp(argv[1], "send")) ||
		 ((argc == 10 || argc == 12) &&
		  (!strcmp(argv[1], "request") || !strcmp(argv[1], "chunks"))))
		status = flow_client(argc, argv);
	else if (argc == 5 && !strcmp(argv[1], "every") && atof(argv[2]) > 0)
		status = flow_every(atof(argv[2]), argv[3], atoi(argv[4]));
	else if (argc == 3 && !strcmp(argv[1], "replay"))
		status = flow_replay(atoi(argv[2]));
	else if (argc == 8 && !strcmp(argv[1], "datagrams"))
		status = flow_udp(argv);
	else if (argc == 4 && !strcmp(argv[1], "sink"))
		status = flow_sink(argv[2], argv[3]);
	else if ((argc == 4 || argc == 7) && !strcmp(argv[1], "opportunities"))
		status = flow_opportunities(argc, argv);
	else if (argc == 5 && !strcmp(argv[1], "pppoe"))
		status = flow_pppoe(argv[2], argv[3], atoi(argv[4]));
	if (status == 2)
		fprintf(stderr, "usage: flow recv PORT LOG\n"
			"       flow serve|answer PORT LOG\n"
			"       flow send HOST PORT --cc NAME --duration SECONDS LOG [BYTES]\n"
			"       flow request|chunks HOST PORT --cc NAME --duration SECONDS LOG "
			"SIZE+SIZE... [PERIOD IDLE]\n"
			"       flow every SECONDS LINE PID\n"
			"       flow replay PID\n"
			"       flow datagrams HOST PORT BYTES SECONDS PID LOG\n"
			"       flow sink PORT LOG\n"
			"       flow opportunities PROGRAM ZERO [LIMITS PERIOD_MS OFFSET_MS]\n"
			"       flow pppoe DEVICE MAC NUMBER\n"
			"       flow mptcp recv|send ...\n");
	return status;
}
