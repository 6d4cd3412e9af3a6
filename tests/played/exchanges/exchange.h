/* SPDX-License-Identifier: GPL-2.0 */
/*
 * exchange - shared declarations
 *
 * Sequence numbers of scripts and logs are relative: each side's SYN is 0, its data begins
 * with 1. Times are microseconds since the start of the exchange.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stdnoreturn.h>
#include <linux/types.h>

#include "../../guest/modules/octets.h"

#define SECOND_US	1000000LL

#define FIN	0x01
#define SYN	0x02
#define RST	0x04
#define PSH	0x08
#define ACK	0x10
#define URG	0x20
#define ECE	0x40
#define CWR	0x80
#define AE	0x100	/* in the octet before */

#define PEER_PORT	8080
#define STACK_PORT	7000
#define PEER_ISN	1000000U
#define PEER_CLOCK	1000000U	/* the peer's timestamps begin here, in ms */
#define REPAIR_FIRST	5000001	/* sequence number of data that TCP_REPAIR sets */
#define MOST_SENT	4096
#define MOST_PACKET	65536
#define MOST_OPTIONS	40
#define MOST_COOKIE	16
#define MPTCP_KEY	8
#define IP_HEADER	20
#define TCP_HEADER	20
#define PROTO_TCP	6
#define ACCECN0		172	/* options */
#define ACCECN1		174
#define BLANKS		" \t\n"

/* A segment that the stack has sent: its timestamps when it was sent first and last, and when. */
struct sent {
	__u32 begin;
	__u32 end;
	__u32 first_stamp;
	__u32 last_stamp;
	long long at_us;		/* first */
};

/* The remote end of the connection, and what it knows of the stack. */
struct peer {
	int tun;
	__u16 port;			/* of the peer */
	__u16 stack_port;
	__u32 isn;			/* the stack's */
	__u32 stack_clock;		/* the stack's timestamp in its SYN */
	__u32 recent;			/* the stack's timestamp that the peer echoes */
	__u32 nxt;			/* end of the newest data that the stack has sent */
	__u32 una;			/* acknowledged so far */
	long long path_us;		/* a round trip */
	__u32 next;			/* next sequence number of the peer */
	int window;			/* offered last, as in the header */
	int mss;			/* of the peer */
	bool stamps;			/* the peer's segments carry timestamps */
	bool stamped;			/* stack_clock is known */
	struct sent sent[MOST_SENT];
	int sents;
	unsigned char cookie[MOST_COOKIE];	/* of Fast Open, the stack's */
	int cookie_length;
	bool multipath;			/* segments acknowledge data of Multipath TCP, too */
	__u32 data_zero;		/* data sequence number of position 0, modulo 2^32 */
	void (*sign)(unsigned char *ip, int length);	/* a segment of the peer, or NULL */
};

/* A segment or an ICMP message that the peer sends. */
struct segment {
	int flags;
	int ecn;			/* the two bits of the IP header */
	__u32 seq;
	__u32 ack;
	int length;
	int window;
	int urgent;
	unsigned char options[MOST_OPTIONS];
	int options_length;
	bool stamped;
};

extern struct peer peer;
extern const char *congestion_control;
extern int script_line;

/* exchange.c */
noreturn void die(const char *what);
noreturn void refuse(const char *what);
void note(const char *format, ...);
void drain(void);
void wait_until(long long us);
void peer_sends(char *text);

/* clock.c */
long long now_us(void);
int clock_alarm(long long us);
void clock_begin(int periods);

/* parse.c */
int time_of(char **line, long long *at);
__u32 position(const char *text);
int number(const char *text);
void parse_segment(char *text, struct segment *s);

/* packet.c */
void packet_taken(const unsigned char *packet, int length);
void packet_send(const struct segment *s);
void packet_too_big(__u32 seq, int mtu);
__u32 packet_arrived(void);
__u32 packet_stamp(__u32 ack, bool first);

/* wire.c */
void put_octets(struct segment *s, const void *octets, int length);
void put_number(struct segment *s, __u32 value);
const unsigned char *find_option(const unsigned char *tcp, int kind);
void set_checksum(unsigned char *at, __u32 sum, const unsigned char *p, int length);
void set_ip(unsigned char *ip, int length, int protocol);
int wire_build(unsigned char *packet, const struct segment *s);
int wire_read(unsigned char *packet);
void wire_write(unsigned char *packet, int length);

/* path.c */
void path_begin(void);
void path_taken(__u32 begin, __u32 end);
long long path_train(const char *text);
long long path_carry(const char *text);

/* mptcp.c */
void mptcp_taken(const unsigned char *tcp);
int mptcp_capable(unsigned char *o);
int mptcp_ack(unsigned char *o, __u32 ack);

/* sign.c */
struct sockaddr_in;
void sign_begin(void);
void sign_by(const char *text);
int sign_socket(int fd, const struct sockaddr_in *to, const char *text);
int sign_option(unsigned char *o);
void sign_check(const unsigned char *ip, int length);

/* print.c */
void print_packet(char direction, const unsigned char *packet, int length);

/* calls.c */
bool call(const char *name, char *arguments);
void calls_end(void);

/* netns.c */
void must(int ret, const char *what);
bool apart(void (*run)(const char *what, const char *algorithm), const char *what,
	   const char *algorithm);
void reset(int fd);
void device_up(void);
void device_mtu(int mtu);
void device_offload(void);
void write_file(const char *path, const char *value);
void set_sysctl(const char *name, const char *value);
void run_command(const char *command);
void note_counters(void);

#endif
