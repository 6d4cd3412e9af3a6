/* SPDX-License-Identifier: GPL-2.0 */
/* flow - shared declarations; all times are microseconds of CLOCK_MONOTONIC. */
#ifndef FLOW_H
#define FLOW_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdnoreturn.h>
#include <sys/socket.h>

#define SAMPLE_US	100000	/* interval of the sender's TCP_INFO samples */
#define CHUNK		(256 * 1024)
#define MOST_SIZES	64
#define MOST_DATAGRAM	65000
#define LAST		1	/* a chunk's last byte; all others are 0 */

/* Destination and congestion control of a connection. */
struct target {
	struct sockaddr_storage to;
	socklen_t length;
	const char *cc;
};

/* Transfers one after the other. The next begins period after the last one began, and after idle
 * if that was a round's last, but never before it is complete. kept: all on one connection.
 */
struct requests {
	int64_t sizes[MOST_SIZES];
	int n;
	int64_t period, idle;
	int kept;
};

extern volatile sig_atomic_t stop;	/* SIGTERM was received */
extern int protocol;			/* of connections: 0 for TCP, or IPPROTO_MPTCP */

/* common.c */
void end_on_term(void);
noreturn void die(const char *what);
void reset_at_close(int fd, int on);
int64_t now_us(void);
void sleep_until(int64_t t_us);
FILE *create(const char *path);
void finish(FILE *f, const char *path);
int listening(const char *port);

/* receiver.c */
int flow_serve(const char *port, const char *path);
int flow_answer(const char *port, const char *path);
int flow_recv(const char *port, const char *path);

/* datagrams.c */
int flow_datagrams(const struct target *to, int bytes, double seconds, pid_t pid,
		   const char *path);
int flow_sink(const char *port, const char *path);

/* opportunities.c */
int flow_opportunities(int argc, char **argv);

/* pppoe.c */
int flow_pppoe(const char *dev, const char *mac, int number);

/* sender.c */
int set_target(struct target *t, const char *host, const char *port);
int read_sizes(const char *text, int64_t *sizes);
int flow_send(const struct target *to, double duration, const char *path, int64_t bytes);
int flow_request(const struct target *to, double duration, const char *path,
		 struct requests *r);

#endif
