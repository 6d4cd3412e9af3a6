// SPDX-License-Identifier: GPL-2.0
/*
 * flow - the lab's traffic tool: one bulk TCP flow and its time series
 *
 *   flow recv PORT LOG
 *	Accept one connection and throw its data away (MSG_TRUNC: nothing is
 *	copied). Every 10 ms of CLOCK_MONOTONIC the bytes received so far are
 *	noted if they changed. The log is written when the sender is gone or
 *	on SIGTERM.
 *
 *   flow send HOST PORT --cc NAME --duration SECONDS LOG
 *	Connect with the congestion control NAME, send for SECONDS counted from
 *	the end of the handshake, note TCP_INFO every 100 ms, then reset the
 *	connection so that nothing lingers, neither data nor the module.
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

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reset the connection when the socket is closed, also because its owner was killed: else the
 * kernel goes on sending for up to minutes, and keeps the congestion control's module that long.
 */
static void reset_at_close(int fd)
{
	const struct linger reset = { .l_onoff = 1 };

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

static int flow_recv(const char *port, const char *path)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	struct sigaction sa = { .sa_handler = on_signal };
	int64_t first = -1, bytes = 0, bins = 0, t;
	int lfd, fd, one = 1, off = 0;
	FILE *log = create(path);
	static char dummy[1];

	sigaction(SIGTERM, &sa, NULL);
	lfd = socket(AF_INET6, SOCK_STREAM, 0);
	if (lfd < 0)
		die("socket");
	reset_at_close(lfd); /* what it accepts takes over its options */
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(lfd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	addr.sin6_port = htons((uint16_t)atoi(port));
	if (bind(lfd, (struct sockaddr *)&addr, sizeof(addr)) || listen(lfd, 1))
		die("listen");
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

/* A socket that is connected; those whose SYN or its answer is lost twice are given up and
 * tried again, as applications do, for a minute.
 */
static int connected(const struct sockaddr *to, socklen_t length, const char *cc)
{
	const int64_t end = now_us() + 60000000;
	int fd, retries = 1;

	for (;;) {
		fd = socket(to->sa_family, SOCK_STREAM, 0);
		if (fd < 0)
			die("socket");
		reset_at_close(fd);
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc))) {
			fprintf(stderr, "flow: congestion control %s: %s\n", cc, strerror(errno));
			return -1;
		}
		if (setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &retries, sizeof(retries)))
			die("TCP_SYNCNT");
		if (!connect(fd, to, length))
			return fd;
		if (errno != ETIMEDOUT || now_us() >= end)
			die("connect");
		close(fd);
	}
}

static int flow_send(const char *host, const char *port, const char *cc, double duration,
		     const char *path)
{
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int64_t syn, t0, end, sample, now;
	const char *sep = "";
	FILE *log = create(path);
	struct tcp_info ti;
	static char chunk[CHUNK];
	int fd, v6, n = 0, error = 0;

	v6 = inet_pton(AF_INET6, host, &to6.sin6_addr) == 1;
	if (!v6 && inet_pton(AF_INET, host, &to4.sin_addr) != 1) {
		fprintf(stderr, "flow: %s is not a numeric address\n", host);
		return 1;
	}
	syn = now_us();
	fd = v6 ? connected((struct sockaddr *)&to6, sizeof(to6), cc) :
		  connected((struct sockaddr *)&to4, sizeof(to4), cc);
	if (fd < 0)
		return 1;
	t0 = now_us();
	end = t0 + (int64_t)(duration * 1e6);
	fprintf(log, "{\"fields\":[\"t_us\"");
	FIELDS(PRINT_NAME)
	fprintf(log, "],\n\"samples\":[");
	for (sample = t0, now = t0; now < end; now = now_us()) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		int64_t wait;

		if (now >= sample) {
			get_info(fd, &ti);
			fprintf(log, "%s\n[%lld", n++ ? "," : "", (long long)now);
			FIELDS(PRINT_COLUMN)
			fprintf(log, "]");
			sample += SAMPLE_US;
		}
		while (send(fd, chunk, sizeof(chunk), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (errno != EAGAIN && errno != EINTR) {
			error = errno;
			break;
		}
		wait = (sample < end ? sample : end) - now_us();
		if (wait > 0)
			poll(&p, 1, (int)((wait + 999) / 1000));
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
		"\"error\":\"%s\"}\n", cc, (long long)syn, (long long)t0, (long long)now_us(),
		error ? strerror(error) : "");
	finish(log, path);
	close(fd);
	if (error)
		fprintf(stderr, "flow: connection lost: %s\n", strerror(error));
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
	signal(SIGPIPE, SIG_DFL);
	if (argc == 4 && !strcmp(argv[1], "recv"))
		return flow_recv(argv[2], argv[3]);
	if (argc == 9 && !strcmp(argv[1], "send") && !strcmp(argv[4], "--cc") &&
	    !strcmp(argv[6], "--duration") && atof(argv[7]) > 0)
		return flow_send(argv[2], argv[3], argv[5], atof(argv[7]), argv[8]);
	if (argc == 5 && !strcmp(argv[1], "every") && atof(argv[2]) > 0)
		return flow_every(atof(argv[2]), argv[3], atoi(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "replay"))
		return flow_replay(atoi(argv[2]));
	fprintf(stderr, "usage: flow recv PORT LOG\n"
		"       flow send HOST PORT --cc NAME --duration SECONDS LOG\n"
		"       flow every SECONDS LINE PID\n"
		"       flow replay PID\n");
	return 2;
}
