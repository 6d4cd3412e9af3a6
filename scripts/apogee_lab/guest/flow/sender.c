// SPDX-License-Identifier: GPL-2.0
/* flow send, request and chunks: connect, send, sample TCP_INFO, log. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <linux/inet_diag.h>
#include <linux/mptcp.h>

#include "flow.h"

#ifndef SOL_MPTCP
#define SOL_MPTCP	284
#endif
#define MOST_SUBFLOWS	8
#define LONGEST_US	(600 * 1000000LL)	/* time limit of a transfer */

/* Fields of a sample, in the order of its columns (after t_us). */
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

/* What is a sum over the subflows of MPTCP. */
#define FIELDS_ADDED(X)		\
	X(snd_cwnd)		\
	X(unacked)		\
	X(sacked)		\
	X(lost)			\
	X(retrans)		\
	X(total_retrans)	\
	X(delivered)		\
	X(bytes_acked)		\
	X(bytes_sent)		\
	X(bytes_retrans)	\
	X(segs_out)		\
	X(segs_in)		\
	X(data_segs_out)	\
	X(dsack_dups)		\
	X(reord_seen)
#define ADD_FIELD(f) ti->tcpi_##f += more->tcpi_##f;

/* MPTCP: what the kernel tells of a connection's subflows. */
struct subflows {
	struct mptcp_subflow_data head;
	struct tcp_info info[MOST_SUBFLOWS];
};

/* Add up the subflows' counts; all else is the first one's, and the least of the min_rtt. */
static int get_subflows(int fd, struct tcp_info *ti)
{
	struct subflows s = {
		.head.size_subflow_data = sizeof(s.head),
		.head.size_user = sizeof(*ti),
	};
	socklen_t len = sizeof(s);
	uint32_t i;

	if (getsockopt(fd, SOL_MPTCP, MPTCP_TCPINFO, &s, &len) || !s.head.num_subflows)
		return -1;
	*ti = s.info[0];
	for (i = 1; i < s.head.num_subflows && i < MOST_SUBFLOWS; i++) {
		const struct tcp_info *more = &s.info[i];

		FIELDS_ADDED(ADD_FIELD)
		if (more->tcpi_min_rtt < ti->tcpi_min_rtt)
			ti->tcpi_min_rtt = more->tcpi_min_rtt;
	}
	return 0;
}

static int get_info(int fd, struct tcp_info *ti)
{
	socklen_t len = sizeof(*ti);

	memset(ti, 0, sizeof(*ti));
	if (protocol == IPPROTO_MPTCP && !get_subflows(fd, ti))
		return 0;
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, ti, &len);
}

#define PRINT_COLUMN(f) fprintf(log, ",%lld", (long long)ti.tcpi_##f);
#define PRINT_NAME(f) fprintf(log, ",\"" #f "\"");
#define PRINT_FIELD(f) fprintf(log, "%s\"" #f "\":%lld", sep, (long long)ti.tcpi_##f), sep = ",";

/* A sender's samples: time of the next one, and their number in the log. */
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

/* Wait for the socket, the next sample or the end, whichever comes first. */
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

int set_target(struct target *t, const char *host, const char *port)
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

/* Return a connected socket. After two lost SYNs or SYN-ACKs, give up and try again with a new
 * socket, as applications do, for up to a minute. From the fourth on each waits for longer, 7, 15
 * and 31 s: the path may take more than the 3 s of the others.
 */
static int connected(const struct target *t)
{
	const int64_t end = now_us() + 60000000;
	int fd, tries, retries;

	for (tries = 1;; tries++) {
		retries = tries < 4 ? 1 : tries - 2;
		fd = socket(t->to.ss_family, SOCK_STREAM, protocol);
		if (fd < 0)
			die("socket");
		reset_at_close(fd, 1);
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, t->cc,
			       (socklen_t)strlen(t->cc))) {
			fprintf(stderr, "flow: congestion control %s: %s\n", t->cc,
				strerror(errno));
			exit(1);
		}
		/* MPTCP has no such option */
		if (setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &retries, sizeof(retries)) &&
		    !protocol)
			die("TCP_SYNCNT");
		if (!connect(fd, (const struct sockaddr *)&t->to, t->length))
			return fd;
		if (errno != ETIMEDOUT || now_us() >= end)
			die("connect");
		close(fd);
	}
}

/* Send what there is room for, up to *left bytes (less than 0: no end); then wait for the peer to
 * close. Returns whether it has.
 */
static int send_some(int fd, int64_t *left)
{
	static char chunk[CHUNK];
	ssize_t n;

	while (*left) {
		n = send(fd, chunk, *left < 0 || *left > CHUNK ? CHUNK : (size_t)*left,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
		if (*left < 0)
			continue;
		*left -= n;
		if (!*left)
			shutdown(fd, SHUT_WR);
	}
	return !recv(fd, chunk, 1, MSG_DONTWAIT);
}

int flow_send(const struct target *to, double duration, const char *path, int64_t bytes)
{
	int64_t syn, t0, end, now, left = bytes ? bytes : -1;
	const char *sep = "";
	FILE *log = create(path);
	struct samples s = { .log = log };
	struct tcp_info ti;
	int fd, error = 0;

	end_on_term();
	syn = now_us();
	fd = connected(to);
	t0 = now_us();
	end = t0 + (int64_t)(duration * 1e6);
	print_columns(log);
	s.due = t0;
	for (now = t0; now < end && !stop; now = now_us()) {
		sample(&s, fd, now);
		if (send_some(fd, &left))
			break;
		if (errno != EAGAIN && errno != EINTR) {
			error = errno;
			break;
		}
		wait_for(fd, left ? POLLOUT : POLLIN, &s, end);
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

/* Send this many bytes and wait until the server has read all of them: then it closes, or answers
 * by a byte on a connection that is kept.
 */
static int transfer(int fd, int64_t left, struct samples *s, int kept)
{
	static char chunk[CHUNK], tail[CHUNK] = { [CHUNK - 1] = LAST };
	const int64_t end = now_us() + LONGEST_US;
	char answer;

	s->due = now_us();
	for (;;) {
		int64_t now;
		ssize_t n;

		if (left)
			n = send(fd, left > CHUNK ? chunk : tail + CHUNK - left,
				 left > CHUNK ? CHUNK : (size_t)left, MSG_DONTWAIT | MSG_NOSIGNAL);
		else
			n = recv(fd, &answer, 1, MSG_DONTWAIT);
		if (left && n > 0) {
			left -= n;
			if (!left && !kept)
				shutdown(fd, SHUT_WR);
			continue;
		}
		if (!n && kept)
			errno = ECONNRESET;
		if (n >= 0)
			return kept && !n ? -1 : 0;
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

/* Counters summed over all connections. */
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

/* Parse integers joined by +; returns how many, 0 if the text is invalid. */
int read_sizes(const char *text, int64_t *sizes)
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

/* A connection that is kept sends the end of each chunk at once. */
static int connected_for(const struct target *to, const struct requests *r)
{
	const int fd = connected(to), one = r->kept;

	if (r->kept && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	return fd;
}

/* When the next transfer begins, if one began at a time and so many are complete. */
static int64_t next_begin(const struct requests *r, int64_t begun, int made)
{
	int64_t next = now_us() + (made % r->n ? 0 : r->idle);

	return next > begun + r->period ? next : begun + r->period;
}

int flow_request(const struct target *to, double duration, const char *path,
		 struct requests *r)
{
	const int64_t first = now_us(), end = first + (int64_t)(duration * 1e6);
	struct samples s = { .log = create(path) };
	struct counts c = { 0 };
	int64_t begun, next = first, t0 = 0, size = 0;
	char *transfers = NULL;
	int fd = -1, made, error = 0;
	size_t length;
	FILE *list;

	list = open_memstream(&transfers, &length);
	if (!list)
		die("transfers");
	print_columns(s.log);
	for (made = 0; !error && next < end; next = next_begin(r, begun, ++made)) {
		if (made % r->n == 0)
			shuffle(r->sizes, r->n);
		sleep_until(next);
		begun = now_us();
		if (fd < 0)
			fd = connected_for(to, r);
		if (!t0)
			t0 = now_us();
		if (r->kept && !made)
			begun = t0;
		size = r->sizes[made % r->n];
		error = transfer(fd, size, &s, r->kept) ? errno : 0;
		fprintf(list, "%s[%lld,%lld]", made ? ",\n" : "\n", (long long)begun,
			(long long)size);
		if (!r->kept) {
			add_counts(&c, fd);
			close(fd);
			fd = -1;
		}
	}
	if (!error)
		sleep_until(end);
	if (fd >= 0)
		add_counts(&c, fd);
	finish(list, "transfers");
	fprintf(s.log, "],\n\"info\":{\"min_rtt\":%u,\"total_retrans\":%u,\"data_segs_out\":%u,"
		"\"snd_mss\":%u},\n\"transfers\":[%s],\n\"cc\":\"%s\",\"syn_us\":%lld,"
		"\"t0_us\":%lld,\"end_us\":%lld,\"error\":\"%s\"}\n", c.min_rtt, c.total_retrans,
		c.data_segs_out, c.snd_mss, transfers, to->cc, (long long)first, (long long)t0,
		(long long)now_us(), error ? strerror(error) : "");
	finish(s.log, path);
	free(transfers);
	if (error)
		fprintf(stderr, "flow: transfer of %lld bytes: %s\n", (long long)size,
			strerror(error));
	return error != 0;
}
