/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile - shared declarations
 *
 * Positions are relative to the stack's first sequence number: its data begins with 1. Times
 * are microseconds since the start of the run. All else is as in exchange.h.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "../exchanges/exchange.h"

#define SEGMENT		1448	/* octets of a full segment with timestamps */
#define SCALE		7	/* of the receive window */
#define WINDOW		(4U << 20)	/* octets an honest receiver offers */
#define MOST_BLOCKS	3
#define MOST_RANGES	4096

/* Octets from begin to before end. */
struct range {
	__u32 begin;
	__u32 end;
};

/* A data segment on its way to the receiver, or an empty one: a probe. */
struct data {
	struct range is;
	__u32 stamp;		/* of the stack's clock */
	bool marked;		/* by the bottleneck */
	bool reduced;		/* the stack says that it has answered a mark */
	bool again;		/* not the first transmission */
	bool dropped;		/* the bottleneck had no room */
};

/* An ACK, before it is written down. */
struct answer {
	__u32 ack;
	__u32 window;		/* octets */
	__u32 echo;		/* of the stack's clock */
	bool marks;		/* ECE */
	struct range block[MOST_BLOCKS];	/* SACK; the first may be a D-SACK */
	int blocks;
};

/* A path, each way of half a round trip; the bottleneck is on the way to the receiver. */
struct path {
	const char *name;
	long long rate;		/* bit/s */
	long long half_us;
	long long queue;	/* octets */
	long long attack_us;	/* so long the receiver is hostile */
	long long after_us;	/* and at most so long it is watched afterwards */
};

/* What a receiver does. What is 0 is what an honest one does. */
struct attack {
	const char *name;
	bool no_sack;
	bool ecn;
	void (*sent)(const struct data *d);	/* the stack sends: someone near it sees that */
	void (*arrived)(const struct data *d);
	void (*forge)(struct answer *a, const struct data *d);
	long long (*leaves)(long long us);	/* when an ACK of now gets to the stack */
	bool merge;		/* of ACKs for the same time the last one is sent */
	long long syn_us;	/* the answer to SYN is so much later */
};

/* What is counted while the receiver is hostile. */
struct counts {
	__u32 segments;		/* sent by the stack, retransmissions included */
	__u32 again;		/* retransmissions */
	__u32 dropped;		/* by the bottleneck's queue */
	__u32 flight;		/* most octets that the stack had sent and no ACK had covered */
	__u32 cwnd;		/* largest congestion window, in segments */
};

extern const struct path *path;
extern const struct attack *attack;	/* of now: honest when the attack is over */
extern struct counts counts;

/* hostile.c */
void require(bool is, const char *what);
extern const struct path paths[];

/* path.c */
bool path_enter(const struct data *d, int octets);
long long path_next(void);
void path_run(void);
void path_answer(const struct answer *a);
void path_syn_answer(__u32 stamp, bool ecn);
extern __u32 path_acknowledged;

/* receiver.c */
extern __u32 received;		/* all before it has arrived, or is said to have */
void receive(const struct data *d);
void claim(const struct data *d);
void answer(const struct data *d);
void answer_as(const struct data *d, __u32 ack);
void honest_arrival(const struct data *d);

/* attacks.c */
extern const struct attack attacks[];
const struct attack *find_attack(const char *name);

#endif
