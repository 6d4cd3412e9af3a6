// SPDX-License-Identifier: GPL-2.0
/*
 * exchange - the remote end of a TCP connection, segment by segment, as a script says
 *
 *   exchange OUT PERIODS ALGORITHM[,ALGORITHM...] SCRIPT...
 *
 * Each script is played for each algorithm, one after the other, each time in a network
 * namespace of its own with a tun device: the stack is 10.8.0.1, the peer 10.8.0.2. The log is
 * OUT/SCRIPT.ALGORITHM. scripts.md describes the language of scripts and logs.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"

struct peer peer;
const char *congestion_control;
int script_line;

void die(const char *what)
{
	fprintf(stderr, "exchange: line %d: %s: %s\n", script_line, what, strerror(errno));
	exit(1);
}

/* The script is wrong. */
void refuse(const char *what)
{
	errno = EINVAL;
	die(what);
}

/* A line of the log; what the stack does has no line of the script. */
void note(const char *format, ...)
{
	const long long us = now_us();
	va_list args;

	printf("%lld.%06lld %d ", us / SECOND_US, us % SECOND_US, script_line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void drain(void)
{
	static unsigned char packet[MOST_PACKET];
	const int line = script_line;
	int n;

	script_line = 0;
	while ((n = wire_read(packet)))
		packet_taken(packet, n);
	script_line = line;
}

/* Note what the stack sends until it is this time. */
void wait_until(long long us)
{
	struct pollfd fds[] = {
		{ .fd = peer.tun, .events = POLLIN },
		{ .fd = clock_alarm(us), .events = POLLIN },
	};

	do {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		drain();
	} while (!(fds[1].revents & POLLIN));
}

void peer_sends(char *text)
{
	struct segment s = { 0 };
	char seq[32] = "una";
	int mtu;

	if (sscanf(text, " icmp frag_needed mtu %d %31s", &mtu, seq) >= 1) {
		packet_too_big(position(seq), mtu);
		return;
	}
	parse_segment(text, &s);
	packet_send(&s);
}

/* NAME=VALUE */
static void setting(char *text, void (*set)(const char *name, const char *value))
{
	char *value = strchr(text, '=');

	if (!value)
		refuse("a name without a value");
	*value++ = 0;
	set(text, value);
}

static long long at_us;	/* the time of the script's line */

/* What the stack should send ('>') is checked by the reader of the log. */
static void obey(char *text)
{
	char *arguments;

	text[strcspn(text, "{\n")] = 0;
	if (*text == '>')
		return;
	if (*text == '<') {
		peer_sends(text + 1);
		return;
	}
	arguments = text + strcspn(text, " ");
	if (*arguments)
		*arguments++ = 0;
	if (!strcmp(text, "sysctl"))
		setting(arguments, set_sysctl);
	else if (!strcmp(text, "file"))
		setting(arguments, write_file);
	else if (!strcmp(text, "offload"))
		device_offload();
	else if (!strcmp(text, "mtu"))
		device_mtu(number(arguments));
	else if (!strcmp(text, "run"))
		run_command(arguments);
	else if (!strcmp(text, "path"))
		peer.path_us = number(arguments) * 1000LL;
	else if (!strcmp(text, "train"))
		at_us = path_train(arguments);
	else if (!strcmp(text, "carry"))
		at_us = path_carry(arguments);
	else if (!strcmp(text, "sign"))
		sign_by(arguments);
	else if (!strcmp(text, "port"))
		peer.port = (__u16)number(arguments);
	else if (strcmp(text, "wait") && !call(text, arguments))
		refuse(text);
}

static void play(FILE *script)
{
	char line[512];

	while (fgets(line, sizeof(line), script)) {
		char *text = line + strspn(line, " \t");

		script_line++;
		if (*text == '\n' || !strncmp(text, "//", 2))
			continue;
		if (time_of(&text, &at_us))
			wait_until(at_us);
		obey(text);
		drain();
	}
	calls_end();
	note_counters();
}

static int periods;	/* before an exchange begins, see clock_begin() */
static const char *out;	/* the folder of logs */

static void exchange(const char *path, const char *algorithm)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	FILE *script = fopen(path, "r");
	char log[256];

	if (!script)
		die(path);
	congestion_control = algorithm;
	snprintf(log, sizeof(log), "%s/%s.%s", out, name, algorithm);
	if (!freopen(log, "w", stdout))
		die(log);
	peer.port = PEER_PORT;
	peer.window = 1000;
	peer.path_us = 100000;
	device_up();
	clock_begin(periods);
	wait_until(0);
	play(script);
	fclose(script);
}

int main(int argc, char **argv)
{
	int failed = 0;

	periods = argc > 2 ? atoi(argv[2]) : 0;
	if (argc < 5 || periods < 1) {
		fprintf(stderr, "usage: exchange OUT PERIODS ALGORITHM[,ALGORITHM...] SCRIPT...\n");
		return 2;
	}
	out = argv[1];
	sign_begin();
	for (char *name = strtok(argv[3], ","); name; name = strtok(NULL, ",")) {
		for (int i = 4; i < argc; i++)
			failed |= apart(exchange, argv[i], name);
	}
	return failed;
}
