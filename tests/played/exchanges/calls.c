// SPDX-License-Identifier: GPL-2.0
/* Calls of the program whose socket is at the stack's end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "exchange.h"

#define MOST_SEND	6000000
#define MPTCP		262
#define OPTION_MSS	2
#define OPTION_WSCALE	3
#define OPTION_SACK_PERMITTED	4

static int listener = -1, sock = -1;
static int protocol;
static __u32 written;		/* bytes, of this connection */

struct name {
	const char *name;
	int level;
	int value;
};

static const struct name options[] = {
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY },
	{ "TCP_CORK", IPPROTO_TCP, TCP_CORK },
	{ "TCP_QUICKACK", IPPROTO_TCP, TCP_QUICKACK },
	{ "TCP_DEFER_ACCEPT", IPPROTO_TCP, TCP_DEFER_ACCEPT },
	{ "TCP_FASTOPEN", IPPROTO_TCP, TCP_FASTOPEN },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT },
	{ "TCP_MD5SIG", IPPROTO_TCP, TCP_MD5SIG },
};

static const struct name flags[] = {
	{ "oob", 0, MSG_OOB },
	{ "more", 0, MSG_MORE },
	{ "fastopen", 0, MSG_FASTOPEN },
};

static const struct name *find(const struct name *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].name, name))
			return &table[i];
	}
	refuse(name);
	return NULL;
}

/* A call that fails is part of the exchange. */
static void result(const char *what, long long value)
{
	if (value < 0)
		note("%s = -%s", what, strerrorname_np(errno));
	else
		note("%s = %lld", what, value);
}

static struct sockaddr_in address(__u32 host, int port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons((__u16)port),
		.sin_addr.s_addr = htonl(host),
	};
}

static void set_algorithm(int fd, const char *name)
{
	must(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)), name);
}

/* The socket that is there, or a new one. All that a script writes has room. */
static int any(void)
{
	static const int room = 8 << 20, one = 1;
	const struct sockaddr_in at = address(0x0a080001, STACK_PORT);
	int fd;

	if (sock >= 0 || listener >= 0)
		return sock >= 0 ? sock : listener;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, protocol);
	must(fd, "socket");
	must(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), "SO_REUSEADDR");
	must(setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)), "SO_SNDBUFFORCE");
	set_algorithm(fd, congestion_control);
	must(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind");
	sock = fd;
	return fd;
}

static void call_socket(char *arguments)
{
	protocol = strcmp(arguments, "mptcp") ? 0 : MPTCP;
	any();
}

/* Without a name it is the exchange's. */
static void call_cc(char *arguments)
{
	arguments[strcspn(arguments, BLANKS)] = 0;
	set_algorithm(any(), *arguments ? arguments : congestion_control);
}

static void call_listen(char *arguments)
{
	(void)arguments;
	must(listen(any(), 8), "listen");
	listener = sock;
	sock = -1;
	peer.stack_port = STACK_PORT;
}

static void call_accept(char *arguments)
{
	(void)arguments;
	if (sock >= 0)
		close(sock);
	sock = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	result("accept", sock < 0 ? -1 : 0);
}

static void call_connect(char *arguments)
{
	const struct sockaddr_in to = address(0x0a080002, peer.port);

	(void)arguments;
	result("connect", connect(any(), (const struct sockaddr *)&to, sizeof(to)));
}

static void call_set(char *arguments)
{
	char *save, *name = strtok_r(arguments, " ", &save);
	const struct name *o;
	int value;

	if (!name)
		refuse("set");
	o = find(options, sizeof(options) / sizeof(*options), name);
	value = number(save);
	result(name, setsockopt(any(), o->level, o->value, &value, sizeof(value)));
}

/* Signatures, as the peer's line "sign" has them. */
static void call_key(char *arguments)
{
	const struct sockaddr_in to = address(0x0a080002, 0);

	arguments[strcspn(arguments, "=\n")] = 0;
	result("key", sign_socket(any(), &to, arguments));
}

/* Byte N of the stream is N, modulo 256; those of a Fast Open that failed are sent again. */
static void call_send(char *arguments)
{
	static unsigned char data[MOST_SEND];
	const struct sockaddr_in to = address(0x0a080002, peer.port);
	char *save;
	const int length = number(strtok_r(arguments, " ", &save));
	int mode = MSG_NOSIGNAL;
	ssize_t n;

	for (char *w = strtok_r(NULL, " ", &save); w && *w != '='; w = strtok_r(NULL, " ", &save))
		mode |= find(flags, sizeof(flags) / sizeof(*flags), w)->value;
	if (length < 0 || length > MOST_SEND)
		refuse("too much at once");
	for (int i = 0; i < length; i++)
		data[i] = (unsigned char)(1 + written + (__u32)i);
	n = sendto(any(), data, (size_t)length, mode, (const struct sockaddr *)&to,
		   mode & MSG_FASTOPEN ? sizeof(to) : 0);
	written += n > 0 ? (__u32)n : 0;
	result("send", n);
}

static void call_recv(char *arguments)
{
	static char data[MOST_PACKET];
	const int oob = strstr(arguments, "oob") ? MSG_OOB : 0;

	result("recv", recv(sock, data, sizeof(data), oob));
}

static void call_shutdown(char *arguments)
{
	(void)arguments;
	result("shutdown", shutdown(sock, SHUT_WR));
}

static void call_close(char *arguments)
{
	(void)arguments;
	result("close", close(sock));
	sock = -1;
	written = 0;
}

static void call_error(char *arguments)
{
	socklen_t length = sizeof(int);
	int error = 0;

	(void)arguments;
	must(getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &length), "SO_ERROR");
	note("error = %s", error ? strerrorname_np(error) : "0");
}

static struct tcp_info tcp_info(void)
{
	struct tcp_info t = { 0 };
	socklen_t length = sizeof(t);

	must(getsockopt(sock, IPPROTO_TCP, TCP_INFO, &t, &length), "TCP_INFO");
	return t;
}

/* As an algorithm tells it that has TCP_CC_INFO of BBR's form. */
static __u32 least_rtt_us(void)
{
	struct tcp_bbr_info own = { 0 };
	socklen_t length = sizeof(own);

	must(getsockopt(sock, IPPROTO_TCP, TCP_CC_INFO, &own, &length), "TCP_CC_INFO");
	return own.bbr_min_rtt;
}

/* Times in ms; the pacing rate in B/s, the least RTT in us. */
static void call_info(char *arguments)
{
	const struct tcp_info t = tcp_info();
	const struct {
		const char *name;
		unsigned long long value;
	} fields[] = {
		{ "tcp", t.tcpi_state },
		{ "state", t.tcpi_ca_state },
		{ "cwnd", t.tcpi_snd_cwnd },
		{ "ssthresh", t.tcpi_snd_ssthresh },
		{ "unacked", t.tcpi_unacked },
		{ "sacked", t.tcpi_sacked },
		{ "lost", t.tcpi_lost },
		{ "retrans", t.tcpi_retrans },
		{ "reordering", t.tcpi_reordering },
		{ "reord_seen", t.tcpi_reord_seen },
		{ "dsack_dups", t.tcpi_dsack_dups },
		{ "retransmits", t.tcpi_retransmits },
		{ "probes", t.tcpi_probes },
		{ "backoff", t.tcpi_backoff },
		{ "rto", t.tcpi_rto / 1000 },
		{ "rtt", (t.tcpi_rtt + 500) / 1000 },
		{ "rttvar", (t.tcpi_rttvar + 500) / 1000 },
		{ "mss", t.tcpi_snd_mss },
		{ "pmtu", t.tcpi_pmtu },
		{ "total_retrans", t.tcpi_total_retrans },
		{ "delivered", t.tcpi_delivered },
		{ "delivered_ce", t.tcpi_delivered_ce },
		{ "options", t.tcpi_options },
		{ "notsent", t.tcpi_notsent_bytes },
		{ "pacing", t.tcpi_pacing_rate },
		{ "base", least_rtt_us() },
	};
	char text[1024], *at = text;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		at += sprintf(at, " %s=%llu", fields[i].name, fields[i].value);
	arguments[strcspn(arguments, BLANKS)] = 0;
	note("info %s%s", arguments, text);
}

/* --- TCP_REPAIR: a connection as if it had been there before --- */

static void repair_set(int option, int value)
{
	must(setsockopt(sock, IPPROTO_TCP, option, &value, sizeof(value)), "TCP_REPAIR");
}

static void repair_options(void)
{
	const struct tcp_repair_opt opts[] = {
		{ OPTION_MSS, 1460 }, { OPTION_WSCALE, 7 | 7 << 16 },
		{ OPTION_SACK_PERMITTED, 0 },
	};
	const struct tcp_repair_window window = {
		.snd_wl1 = PEER_ISN, .snd_wnd = 65535, .max_window = 65535, .rcv_wnd = 65535,
		.rcv_wup = PEER_ISN + 1,
	};

	must(setsockopt(sock, IPPROTO_TCP, TCP_REPAIR_OPTIONS, opts, sizeof(opts)), "options");
	must(setsockopt(sock, IPPROTO_TCP, TCP_REPAIR_WINDOW, &window, sizeof(window)), "window");
}

static void call_repair(char *arguments)
{
	const struct sockaddr_in to = address(0x0a080002, peer.port);
	const char *text = arguments + strspn(arguments, BLANKS);
	const int first = *text && *text != '=' ? number(text) : REPAIR_FIRST;

	sock = any();
	repair_set(TCP_REPAIR, 1);
	repair_set(TCP_REPAIR_QUEUE, TCP_SEND_QUEUE);
	repair_set(TCP_QUEUE_SEQ, first);
	repair_set(TCP_REPAIR_QUEUE, TCP_RECV_QUEUE);
	repair_set(TCP_QUEUE_SEQ, (int)(PEER_ISN + 1));
	must(connect(sock, (const struct sockaddr *)&to, sizeof(to)), "connect");
	repair_options();
	peer.isn = (__u32)first - 1;
	peer.stack_port = STACK_PORT;
	peer.next = 1;
	peer.nxt = 1;
	path_begin();
	repair_set(TCP_REPAIR, 0);
	note("repair = 0");
}

/* --- */

static const struct {
	const char *name;
	void (*run)(char *arguments);
} calls[] = {
	{ "socket", call_socket }, { "cc", call_cc }, { "listen", call_listen },
	{ "accept", call_accept }, { "connect", call_connect }, { "set", call_set },
	{ "send", call_send }, { "recv", call_recv }, { "shutdown", call_shutdown },
	{ "close", call_close }, { "error", call_error }, { "key", call_key },
	{ "info", call_info }, { "repair", call_repair },
};

bool call(const char *name, char *arguments)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!strcmp(calls[i].name, name)) {
			calls[i].run(arguments);
			return true;
		}
	}
	return false;
}

/* Reset what is open. */
void calls_end(void)
{
	if (sock >= 0)
		reset(sock);
}
