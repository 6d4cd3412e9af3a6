// SPDX-License-Identifier: GPL-2.0
/* flow recv, serve and answer: read, count in bins, log. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "flow.h"

#define BIN_US		10000	/* resolution of the receiver's series */

/* A receiver's counts: bytes in bins of BIN_US; empty bins are not logged. */
struct series {
	FILE *log;
	int64_t first, end;	/* ends of the first bin and of the open one, -1: none */
	int64_t bytes;
	int bins;
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

/* Read a connection to its end; returns its bytes, and the time of the last one. */
static int64_t read_out(int fd, struct series *s, int64_t *last)
{
	const int64_t before = s->bytes;
	static char dummy[1];
	ssize_t n;

	*last = now_us();
	while (!stop && (n = recv(fd, dummy, 1 << 30, MSG_TRUNC)) > 0) {
		*last = now_us();
		count(s, *last, n);
	}
	return s->bytes - before;
}

/* End the log: its last bin, its counts, the list of transfers. */
static void finish_transfers(struct series *s, FILE *list, char **transfers, const char *path)
{
	close_bin(s);
	finish(list, "transfers");
	fprintf(s->log, "],\n\"first_us\":%lld,\"end_us\":%lld,\"bytes\":%lld,\n"
		"\"transfers\":[%s]}\n", (long long)s->first, (long long)now_us(),
		(long long)s->bytes, *transfers);
	finish(s->log, path);
	free(*transfers);
}

int flow_serve(const char *port, const char *path)
{
	struct series s = { .log = create(path), .first = -1, .end = -1 };
	char *transfers = NULL;
	int lfd, fd, n = 0;
	FILE *list;
	size_t length;
	int64_t last;

	end_on_term();
	lfd = listening(port);
	list = open_memstream(&transfers, &length);
	if (!list)
		die("transfers");
	fprintf(s.log, "{\"bins\":[");
	while (!stop) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0 && !stop)
			die("accept");
		if (fd < 0)
			break;
		reset_at_close(fd, 0); /* the client waits for our FIN */
		fprintf(list, "%s[%lld,", n++ ? ",\n" : "\n",
			(long long)read_out(fd, &s, &last));
		fprintf(list, "%lld]", (long long)last);
		close(fd);
	}
	finish_transfers(&s, list, &transfers, path);
	return 0;
}

/* Read until a chunk is whole; returns its bytes, 0 at the connection's end. */
static int64_t read_chunk(int fd, struct series *s)
{
	const int64_t before = s->bytes;
	static char data[CHUNK];
	ssize_t n;

	while (!stop && (n = recv(fd, data, sizeof(data), 0)) > 0) {
		count(s, now_us(), n);
		if (data[n - 1] == LAST)
			return s->bytes - before;
	}
	return 0;
}

int flow_answer(const char *port, const char *path)
{
	struct series s = { .log = create(path), .first = -1, .end = -1 };
	char *transfers = NULL;
	int lfd, fd, n = 0;
	FILE *list;
	size_t length;
	int64_t bytes;

	end_on_term();
	lfd = listening(port);
	fd = accept(lfd, NULL, NULL);
	if (fd < 0 && !stop)
		die("accept");
	list = open_memstream(&transfers, &length);
	if (!list)
		die("transfers");
	fprintf(s.log, "{\"bins\":[");
	while (fd >= 0 && (bytes = read_chunk(fd, &s))) {
		fprintf(list, "%s[%lld,%lld]", n++ ? ",\n" : "\n", (long long)bytes,
			(long long)now_us());
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	finish_transfers(&s, list, &transfers, path);
	return 0;
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
