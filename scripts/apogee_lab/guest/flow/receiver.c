// SPDX-License-Identifier: GPL-2.0
/* flow recv, serve and answer: read, count in bins, log. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "flow.h"

#define BIN_US		10000	/* resolution of the receiver's series */

/* A receiver's counts: bytes in bins of BIN_US; empty bins are not logged; transfers. */
struct series {
	FILE *log;
	int64_t first, end;	/* ends of the first bin and of the open one, -1: none */
	int64_t bytes;
	int bins;
	FILE *list;
	int transfers;
};

static void close_bin(struct series *s)
{
	if (s->end >= 0)
		fprintf(s->log, "%s[%lld,%lld]", s->bins++ ? ",\n" : "\n",
			(long long)s->end, (long long)s->bytes);
	if (s->first < 0)
		s->first = s->end;
}

static void count(struct series *s, int64_t now, int64_t bytes)
{
	int64_t end = (now + BIN_US - 1) / BIN_US * BIN_US;

	if (end != s->end) {
		close_bin(s);
		s->end = end;
	}
	s->bytes += bytes;
}

/* A transfer that began with so many bytes has ended. */
static void note_transfer(struct series *s, int64_t before, int64_t now)
{
	fprintf(s->list, "%s[%lld,%lld]", s->transfers++ ? ",\n" : "\n",
		(long long)(s->bytes - before), (long long)now);
}

/* Read a connection, a transfer, to its end. */
static void read_out(int fd, struct series *s)
{
	const int64_t before = s->bytes;
	int64_t last = now_us();
	static char dummy[1];
	ssize_t n;

	reset_at_close(fd, 0); /* the client waits for our FIN */
	while (!stop && (n = recv(fd, dummy, 1 << 30, MSG_TRUNC)) > 0) {
		last = now_us();
		count(s, last, n);
	}
	note_transfer(s, before, last);
}

/* Read a connection, of which each chunk is a transfer, and answer each. */
static void read_chunks(int fd, struct series *s)
{
	int64_t before = s->bytes;
	static char data[CHUNK];
	ssize_t n;

	while (!stop && (n = recv(fd, data, sizeof(data), 0)) > 0) {
		count(s, now_us(), n);
		if (data[n - 1] != LAST)
			continue;
		note_transfer(s, before, now_us());
		before = s->bytes;
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
}

/* Take one connection after the other until SIGTERM. */
static int take(const char *port, const char *path, void (*read_one)(int fd, struct series *s))
{
	struct series s = { .log = create(path), .first = -1, .end = -1 };
	char *transfers = NULL;
	size_t length;
	int lfd, fd;

	end_on_term();
	lfd = listening(port);
	s.list = open_memstream(&transfers, &length);
	if (!s.list)
		die("transfers");
	fprintf(s.log, "{\"bins\":[");
	while (!stop) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0 && !stop)
			die("accept");
		if (fd < 0)
			break;
		read_one(fd, &s);
		close(fd);
	}
	close_bin(&s);
	finish(s.list, "transfers");
	fprintf(s.log, "],\n\"first_us\":%lld,\"end_us\":%lld,\"bytes\":%lld,\n"
		"\"transfers\":[%s]}\n", (long long)s.first, (long long)now_us(),
		(long long)s.bytes, transfers);
	finish(s.log, path);
	free(transfers);
	return 0;
}

int flow_serve(const char *port, const char *path)
{
	return take(port, path, read_out);
}

int flow_answer(const char *port, const char *path)
{
	return take(port, path, read_chunks);
}

int flow_recv(const char *port, const char *path)
{
	int64_t first = -1, bytes = 0, bins = 0, t;
	FILE *log = create(path);
	static char dummy[1];
	int lfd, fd;

	end_on_term();
	lfd = listening(port);
	fd = accept(lfd, NULL, NULL);
	if (fd < 0 && !stop)
		die("accept");
	fprintf(log, "{\"bins\":[");
	for (t = now_us() / BIN_US * BIN_US; fd >= 0 && !stop;) {
		int64_t before = bytes;
		ssize_t n;

		t += BIN_US;
		sleep_until(t);
		do {
			n = recv(fd, dummy, 1 << 30, MSG_TRUNC | MSG_DONTWAIT);
			if (n > 0)
				bytes += n;
		} while (n > 0);
		if (bytes != before) {
			if (first < 0)
				first = t;
			fprintf(log, "%s[%lld,%lld]", bins++ ? ",\n" : "\n",
				(long long)t, (long long)bytes);
		}
		if (!n)
			reset_at_close(fd, 0); /* a sender of so many bytes waits for our FIN */
		if (!n || (errno != EAGAIN && errno != EINTR))
			break;
	}
	fprintf(log, "],\n\"first_us\":%lld,\"end_us\":%lld,\"bytes\":%lld}\n",
		(long long)first, (long long)now_us(), (long long)bytes);
	finish(log, path);
	return 0;
}
