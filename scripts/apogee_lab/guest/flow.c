// SPDX-License-Identifier: GPL-2.0
/*
 * flow - the lab's traffic tool: a bulk TCP flow, or transfers one after the other, in time
 *
 *   flow recv PORT LOG
 *	Accept one connection and throw its data away (MSG_TRUNC: nothing is
 *	copied). Every 10 ms of CLOCK_MONOTONIC the bytes received so far are
 *	noted if they changed. The log is written when the sender is gone or
 *	on SIGTERM.
 *
 *   flow send HOST PORT --cc NAME --duration SECONDS LOG
 *	Connect with the congestion control NAME, send for SECONDS counted from
 *	the end of the handshake or until SIGTERM, note TCP_INFO every 100 ms,
 *	then reset the connection so that nothing lingers, neither data nor the
 *	module.
 *
 *   flow serve PORT LOG
 *	Accept one connection after the other until SIGTERM, read each to its
 *	end and close it. The log is as that of recv, with the time of each
 *	connection's last byte and its bytes as transfers. It waits for data
 *	instead of polling, so that these times are exact.
 *
 *   flow request HOST PORT --cc NAME --duration SECONDS LOG SIZE+SIZE...
 *	Transfers to a server, each on a connection of its own: connect, send
 *	SIZE bytes, wait until the server has closed, begin the next. They go
 *	round by round, each round has every SIZE once, in random order; none
 *	begins after SECONDS, the last is finished. The log is as that of send,
 *	with counts over all connections and, as transfers, the time of each
 *	connect() and the bytes sent.
 *
 *   flow every SECONDS LINE PID
 *	Print LINE at once and then every SECONDS while the process PID lives:
 *	feeds `tc -batch -` without a process per sample.
 *
 *   flow replay PID
 *	Print each line of standard input, SECONDS and text, when that long has
 *	passed since the start, while the process PID lives.
 *
 * All times are microseconds of CLOCK_MONOTONIC. The receiver polls on a timer
 * instead of waking up for each segment: in a guest whose time is its count of
 * instructions a wakeup per segment is a tenth of the whole run.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <linux/inet_diag.h>

#define BIN_US		10000	/* resolution of the receiver's series */
#define SAMPLE_US	100000	/* interval of the sender's TCP_INFO samples */
#define CHUNK		(256 * 1024)
#define MOST_SIZES	64
#define LONGEST_US	(600 * 1000000LL)	/* after which a transfer has failed */

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void end_on_term(void)
{
	const struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGTERM, &sa, NULL);
}

static void die(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reset the connection when the socket is closed, also because its owner was killed: else the
 * kernel goes on sending for up to minutes, and keeps the congestion control's module that long.
 */
static void reset_at_close(int fd, int on)
{
	const struct linger reset = { .l_onoff = on };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)))
		die("SO_LINGER");
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Sleep until an absolute time; a signal ends the sleep early. */
static void sleep_until(int64_t t_us)
{
	struct timespec ts = {
		.tv_sec = t_us / 1000000,
		.tv_nsec = t_us % 1000000 * 1000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die(path);
	return f;
}

static void finish(FILE *f, const char *path)
{
	if (ferror(f) || fclose(f))
		die(path);
}

/* A socket that listens for IPv4 and IPv6. */
static int listening(const char *port)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	int lfd, one = 1, off = 0;

	lfd = socket(AF_INET6, SOCK_STREAM, 0);
	if (lfd < 0)
		die("socket");
	reset_at_close(lfd, 1); /* what it accepts takes over its options */
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(lfd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	addr.sin6_port = htons((uint16_t)atoi(port));
	if (bind(lfd, (struct sockaddr *)&addr, sizeof(addr)) || listen(lfd, 1))
		die("listen");
	return lfd;
}

/* What a receiver has counted: bytes in bins of BIN_US, noted when something came in one. */
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

/* Read a connection to its end; its bytes, and the time of the last one. */
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

static int flow_serve(const char *port, const char *path)
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
	close_bin(&s);
	finish(list, "transfers");
	fprintf(s.log, "],\n\"first_us\":%lld,\"end_us\":%lld,\"bytes\":%lld,\n"
		"\"transfers\":[%s]}\n", (long long)s.first, (long long)now_us(),
		(long long)s.bytes, transfers);
	finish(s.log, path);
	free(transfers);
	return 0;
}

static int flow_recv(const char *port, const char *path)
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
		if (!n || (errno != EAGAIN && errno != EINTR))
			break;
	}
	fprintf(log, "],\n\"first_us\":%lld,\"end_us\":%lld,\"bytes\":%lld}\n",
		(long long)first, (long long)now_us(), (long long)bytes);
	finish(log, path);
	return 0;
}

/* What a sample holds, in the order of its columns (after t_us). */
#define FIELDS(X)		\
	X(snd_cwnd)		\
	X(snd_ssthresh)		\
	X(rtt)			\
	X(min_rtt)		\
	X(unacked)		\
	X(sacked)		\
	X(lost)			\
	X(retrans)		\
	X(total_retrans)	\
	X(ca_state)		\
	X(delivered)		\
	X(bytes_acked)		\
	X(notsent_bytes)	\
	X(pacing_rate)		\
	X(delivery_rate)	\
	X(busy_time)		\
	X(rwnd_limited)		\
	X(sndbuf_limited)

static int get_info(int fd, struct tcp_info *ti)
{
	socklen_t len = sizeof(*ti);

	memset(ti, 0, sizeof(*ti));
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, ti, &len);
}

#define PRINT_COLUMN(f) fprintf(log, ",%lld", (long long)ti.tcpi_##f);
#define PRINT_NAME(f) fprintf(log, ",\"" #f "\"");
#define PRINT_FIELD(f) fprintf(log, "%s\"" #f "\":%lld", sep, (long long)ti.tcpi_##f), sep = ",";

/* A sender's samples: the next is due at that time, so many are in the log. */
struct samples {
	FILE *log;
	int64_t due;
	int n;
};

static void print_columns(FILE *log)
{
	fprintf(log, "{\"fields\":[\"t_us\"");
	FIELDS(PRINT_NAME)
	fprintf(log, "],\n\"samples\":[");
}

static void sample(struct samples *s, int fd, int64_t now)
{
	struct tcp_info ti;
	FILE *log = s->log;

	if (now < s->due)
		return;
	get_info(fd, &ti);
	fprintf(log, "%s\n[%lld", s->n++ ? "," : "", (long long)now);
	FIELDS(PRINT_COLUMN)
	fprintf(log, "]");
	s->due += SAMPLE_US;
}

/* Wait for the socket, a sample or the end, whatever comes first. */
static void wait_for(int fd, short events, const struct samples *s, int64_t end)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t wait = (s->due < end ? s->due : end) - now_us();

	if (wait > 0)
		poll(&p, 1, (int)((wait + 999) / 1000));
}

static void print_cc_info(FILE *log, int fd)
{
	union tcp_cc_info cc;
	socklen_t len = sizeof(cc);

	if (getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &cc, &len) || !len)
		return;
	if (len == sizeof(cc.bbr))
		fprintf(log, ",\n\"cc_info\":{\"bw\":%llu,\"min_rtt\":%u,\"pacing_gain\":%u,"
			"\"cwnd_gain\":%u}",
			((unsigned long long)cc.bbr.bbr_bw_hi << 32) | cc.bbr.bbr_bw_lo,
			cc.bbr.bbr_min_rtt, cc.bbr.bbr_pacing_gain, cc.bbr.bbr_cwnd_gain);
	else if (len == sizeof(cc.vegas))
		fprintf(log, ",\n\"cc_info\":{\"enabled\":%u,\"rttcnt\":%u,"
			"\"rtt\":%u,\"minrtt\":%u}",
			cc.vegas.tcpv_enabled, cc.vegas.tcpv_rttcnt, cc.vegas.tcpv_rtt,
			cc.vegas.tcpv_minrtt);
}

/* Where a connection goes, and with which congestion control. */
struct target {
	struct sockaddr_storage to;
	socklen_t length;
	const char *cc;
};

static int set_target(struct target *t, const char *host, const char *port)
{
	struct sockaddr_in6 *to6 = (struct sockaddr_in6 *)&t->to;
	struct sockaddr_in *to4 = (struct sockaddr_in *)&t->to;

	if (inet_pton(AF_INET6, host, &to6->sin6_addr) == 1) {
		to6->sin6_family = AF_INET6;
		to6->sin6_port = htons((uint16_t)atoi(port));
		t->length = sizeof(*to6);
	} else if (inet_pton(AF_INET, host, &to4->sin_addr) == 1) {
		to4->sin_family = AF_INET;
		to4->sin_port = htons((uint16_t)atoi(port));
		t->length = sizeof(*to4);
	} else {
		fprintf(stderr, "flow: %s is not a numeric address\n", host);
		return -1;
	}
	return 0;
}

/* A socket that is connected; those whose SYN or its answer is lost twice are given up and
 * tried again, as applications do, for a minute.
 */
static int connected(const struct target *t)
{
	const int64_t end = now_us() + 60000000;
	int fd, retries = 1;

	for (;;) {
		fd = socket(t->to.ss_family, SOCK_STREAM, 0);
		if (fd < 0)
			die("socket");
		reset_at_close(fd, 1);
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, t->cc,
			       (socklen_t)strlen(t->cc))) {
			fprintf(stderr, "flow: congestion control %s: %s\n", t->cc,
				strerror(errno));
			return -1;
		}
		if (setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &retries, sizeof(retries)))
			die("TCP_SYNCNT");
		if (!connect(fd, (const struct sockaddr *)&t->to, t->length))
			return fd;
		if (errno != ETIMEDOUT || now_us() >= end)
			die("connect");
		close(fd);
	}
}

static int flow_send(const struct target *to, double duration, const char *path)
{
	int64_t syn, t0, end, now;
	const char *sep = "";
	FILE *log = create(path);
	struct samples s = { .log = log };
	struct tcp_info ti;
	static char chunk[CHUNK];
	int fd, error = 0;

	end_on_term();
	syn = now_us();
	fd = connected(to);
	if (fd < 0)
		return 1;
	t0 = now_us();
	end = t0 + (int64_t)(duration * 1e6);
	print_columns(log);
	s.due = t0;
	for (now = t0; now < end && !stop; now = now_us()) {
		sample(&s, fd, now);
		while (send(fd, chunk, sizeof(chunk), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (errno != EAGAIN && errno != EINTR) {
			error = errno;
			break;
		}
		wait_for(fd, POLLOUT, &s, end);
	}
	get_info(fd, &ti);
	fprintf(log, "],\n\"info\":{");
	FIELDS(PRINT_FIELD)
	fprintf(log, ",\"state\":%u,\"backoff\":%u,\"rto\":%u,\"rttvar\":%u,\"snd_mss\":%u,"
		"\"snd_wscale\":%u,\"rcv_wscale\":%u,\"options\":%u,\"pmtu\":%u,\"advmss\":%u,"
		"\"reordering\":%u,\"bytes_sent\":%llu,\"bytes_retrans\":%llu,\"segs_out\":%u,"
		"\"segs_in\":%u,\"data_segs_out\":%u,\"dsack_dups\":%u,\"reord_seen\":%u,"
		"\"delivered_ce\":%u}",
		ti.tcpi_state, ti.tcpi_backoff, ti.tcpi_rto, ti.tcpi_rttvar, ti.tcpi_snd_mss,
		ti.tcpi_snd_wscale, ti.tcpi_rcv_wscale, ti.tcpi_options, ti.tcpi_pmtu,
		ti.tcpi_advmss, ti.tcpi_reordering, (unsigned long long)ti.tcpi_bytes_sent,
		(unsigned long long)ti.tcpi_bytes_retrans, ti.tcpi_segs_out, ti.tcpi_segs_in,
		ti.tcpi_data_segs_out, ti.tcpi_dsack_dups, ti.tcpi_reord_seen,
		ti.tcpi_delivered_ce);
	print_cc_info(log, fd);
	fprintf(log, ",\n\"cc\":\"%s\",\"syn_us\":%lld,\"t0_us\":%lld,\"end_us\":%lld,"
		"\"error\":\"%s\"}\n", to->cc, (long long)syn, (long long)t0, (long long)now_us(),
		error ? strerror(error) : "");
	finish(log, path);
	close(fd);
	if (error)
		fprintf(stderr, "flow: connection lost: %s\n", strerror(error));
	return error != 0;
}

/* Send so many bytes and wait until the server has closed, which has read all by then. */
static int transfer(int fd, int64_t left, struct samples *s)
{
	const int64_t end = now_us() + LONGEST_US;
	static char chunk[CHUNK];

	s->due = now_us();
	for (;;) {
		int64_t now;
		ssize_t n;

		if (left)
			n = send(fd, chunk, left < CHUNK ? (size_t)left : CHUNK,
				 MSG_DONTWAIT | MSG_NOSIGNAL);
		else
			n = recv(fd, chunk, 1, MSG_DONTWAIT);
		if (left && n > 0) {
			left -= n;
			if (!left)
				shutdown(fd, SHUT_WR);
			continue;
		}
		if (n >= 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		now = now_us();
		sample(s, fd, now);
		if (now >= end) {
			errno = ETIMEDOUT;
			return -1;
		}
		wait_for(fd, left ? POLLOUT : POLLIN, s, end);
	}
}

/* What all connections have counted together. */
struct counts {
	uint32_t min_rtt, total_retrans, data_segs_out, snd_mss;
};

static void add_counts(struct counts *c, int fd)
{
	struct tcp_info ti;

	get_info(fd, &ti);
	if (!c->min_rtt || ti.tcpi_min_rtt < c->min_rtt)
		c->min_rtt = ti.tcpi_min_rtt;
	c->total_retrans += ti.tcpi_total_retrans;
	c->data_segs_out += ti.tcpi_data_segs_out;
	c->snd_mss = ti.tcpi_snd_mss;
}

/* Whole numbers joined by +; how many, 0 if they are not. */
static int read_sizes(const char *text, int64_t *sizes)
{
	int n = 0;
	char *end;

	for (;; text = end + 1) {
		sizes[n] = strtoll(text, &end, 10);
		if (sizes[n++] <= 0)
			return 0;
		if (*end != '+' || n == MOST_SIZES)
			return *end ? 0 : n;
	}
}

static void shuffle(int64_t *sizes, int n)
{
	while (n > 1) {
		uint32_t dice;
		int64_t last = sizes[n - 1];

		if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice))
			die("getrandom");
		dice %= (uint32_t)n--;
		sizes[n] = sizes[dice];
		sizes[dice] = last;
	}
}

static int flow_request(const struct target *to, double duration, const char *path,
			int64_t *sizes, int n)
{
	const int64_t first = now_us(), end = first + (int64_t)(duration * 1e6);
	struct samples s = { .log = create(path) };
	struct counts c = { 0 };
	int64_t syn, t0 = 0;
	char *transfers = NULL;
	int fd, made, error = 0;
	size_t length;
	FILE *list;

	list = open_memstream(&transfers, &length);
	if (!list)
		die("transfers");
	print_columns(s.log);
	for (made = 0; !error && (syn = now_us()) < end; made++) {
		if (made % n == 0)
			shuffle(sizes, n);
		fd = connected(to);
		if (fd < 0)
			return 1;
		if (!t0)
			t0 = now_us();
		error = transfer(fd, sizes[made % n], &s) ? errno : 0;
		add_counts(&c, fd);
		fprintf(list, "%s[%lld,%lld]", made ? ",\n" : "\n", (long long)syn,
			(long long)sizes[made % n]);
		close(fd);
	}
	finish(list, "transfers");
	fprintf(s.log, "],\n\"info\":{\"min_rtt\":%u,\"total_retrans\":%u,\"data_segs_out\":%u,"
		"\"snd_mss\":%u},\n\"transfers\":[%s],\n\"cc\":\"%s\",\"syn_us\":%lld,"
		"\"t0_us\":%lld,\"end_us\":%lld,\"error\":\"%s\"}\n", c.min_rtt, c.total_retrans,
		c.data_segs_out, c.snd_mss, transfers, to->cc, (long long)first, (long long)t0,
		(long long)now_us(), error ? strerror(error) : "");
	finish(s.log, path);
	free(transfers);
	if (error)
		fprintf(stderr, "flow: transfer of %lld bytes: %s\n",
			(long long)sizes[(made - 1) % n], strerror(error));
	return error != 0;
}

static int flow_every(double seconds, const char *line, pid_t pid)
{
	int64_t t = now_us();

	while (!kill(pid, 0) && puts(line) >= 0 && !fflush(stdout)) {
		t += (int64_t)(seconds * 1e6);
		sleep_until(t);
	}
	return 0;
}

/* flow send or request HOST PORT --cc NAME --duration SECONDS LOG [SIZES] */
static int flow_client(int argc, char **argv)
{
	struct target to = { .cc = argv[5] };
	int64_t sizes[MOST_SIZES];
	int n;

	if (strcmp(argv[4], "--cc") || strcmp(argv[6], "--duration") || atof(argv[7]) <= 0)
		return 2;
	if (set_target(&to, argv[2], argv[3]))
		return 1;
	if (argc == 9)
		return flow_send(&to, atof(argv[7]), argv[8]);
	n = read_sizes(argv[9], sizes);
	return n ? flow_request(&to, atof(argv[7]), argv[8], sizes, n) : 2;
}

static int flow_replay(pid_t pid)
{
	int64_t zero = now_us(), now, at;
	char line[1024], *text;

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
	if (argc == 4 && !strcmp(argv[1], "recv"))
		status = flow_recv(argv[2], argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "serve"))
		status = flow_serve(argv[2], argv[3]);
	else if ((argc == 9 && !strcmp(argv[1], "send")) ||
		 (argc == 10 && !strcmp(argv[1], "request")))
		status = flow_client(argc, argv);
	else if (argc == 5 && !strcmp(argv[1], "every") && atof(argv[2]) > 0)
		status = flow_every(atof(argv[2]), argv[3], atoi(argv[4]));
	else if (argc == 3 && !strcmp(argv[1], "replay"))
		status = flow_replay(atoi(argv[2]));
	if (status == 2)
		fprintf(stderr, "usage: flow recv PORT LOG\n"
			"       flow serve PORT LOG\n"
			"       flow send HOST PORT --cc NAME --duration SECONDS LOG\n"
			"       flow request HOST PORT --cc NAME --duration SECONDS LOG SIZE+SIZE...\n"
			"       flow every SECONDS LINE PID\n"
			"       flow replay PID\n");
	return status;
}
