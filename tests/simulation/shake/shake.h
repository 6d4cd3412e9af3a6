/* SPDX-License-Identifier: GPL-2.0 */
/* One TCP flow over several paths of SHAKE: links, the agent, TCP's two ends. */
#ifndef SHAKE_H
#define SHAKE_H

#include <shake/core/shake_holes.h>
#include <shake/core/shake_opening.h>
#include <shake/core/shake_sched.h>

#define PATHS 8
#define CHANGES 64
#define QUEUE_MAX 65536
#define SEGMENTS 8388608U
#define HEAD 80 /* of a packet's length no goodput: TCP/IP and the tunnel */
#define ACK_EVERY_US 10000
#define ACK_PACKETS 16
#define TICK_US 20000
#define PROBE_US 500000
#define HELD_MOST 2 /* packets of TCP that the device holds back */
#define MSS 1000U

enum event_type {
	LINK, ARRIVE, PSEUDO_ACK, ACK_TIMER, FAR_ACK, TCP_ACK, RTO, TICK, CBR, FLOW, CHANGE
};

struct event {
	u64 at;
	u64 order;
	enum event_type type;
	u32 path;
	u32 seq;
	u32 counter;
	u32 bytes;
	u32 m_al;
	u32 copies;
	struct shake_path_ack ack;
	bool foreign;
	enum shake_mal mal;
};

enum change_type { RATE, DELAY, DOWN, UP, FLOW_WINDOW };

struct change {
	u64 at;
	double value;
	enum change_type type;
	u32 path;
};

struct packet {
	u32 seq;
	u32 counter;
	u32 bytes;
	u32 m_al;
	bool foreign;
	enum shake_mal mal;
};

/* A segment that waits at the agent, and behind which number. */
struct early {
	u32 seq;
	u32 behind;
};

struct path {
	/* link */
	double rate; /* bytes/s */
	double cbr; /* bytes/s of others' packets */
	double loss;
	u64 delay;
	u64 last_arrival;
	struct packet *queue;
	u32 limit;
	u32 first;
	u32 queued;
	bool busy;
	bool down;
	/* sender */
	struct shake_path_est est;
	struct shake_sent ring[SHAKE_RING];
	u32 counter;
	bool dead;
	u64 probed;
	u32 died;
	/* agent */
	u32 newest;
	u64 arrived;
	u32 received;
	u32 packets;
	u32 pending;
	u64 acked;
	bool timer;
	u32 dropped;
};

struct tcp {
	double cwnd, ssthresh, w_max, srtt, var;
	double least, round_least;
	u64 epoch;
	u32 window, una, next, highest, recover, dup, received;
	u32 retransmits, needless, highest_sacked, rto_epoch, backoff;
	u32 marked, pipe, reordering;
	u32 round, samples;
	u32 prior, prr_delivered, prr_out;
	bool recovering, timed_out;
	u8 *flight; /* copies under way */
	u8 *held; /* arrived */
	u8 *sacked;
	u8 *lost;
	u8 *again;
	u64 *sent_at;
	u32 *order; /* of arrival */
	u32 arrivals, told;
};

struct world {
	u64 now, start, end;
	struct path paths[PATHS];
	u32 count;
	struct change changes[CHANGES];
	u32 change_count;
	struct shake_path_config windows;
	struct shake_sched_config config;
	struct shake_sched sched;
	u32 queue_us; /* setting `queue` */
	u32 fifo[QUEUE_MAX]; /* packets held back */
	u32 first, held;
	struct tcp tcp;
	bool sack, cubic, hystart, drop;
	u32 ack, threshold;
	struct shake_sends sends;
	struct shake_opening opening;
	struct shake_holes holes;
	struct shake_hole hole[SHAKE_HOLES_MAX];
	struct shake_flow_counts counts;
	struct early early[QUEUE_MAX]; /* segments that wait for others at the agent */
	u32 early_count;
	u32 bytes;
	u64 far; /* us from the agent to the other host and back */
	u64 random;
	u32 refused;
	u64 base, base_una;
};

extern struct world w;

/* links.c */
void event_add(const struct event *event);
bool event_next(struct event *event);
double chance(void);
void link_put(u32 path, const struct packet *packet);
void link_done(u32 path);
void cbr_send(u32 path);
void flow_send(u32 path);
void change(const struct change *change);

/* leader.c */
void leader_send(u32 seq);
void leader_acked(const struct event *event);
bool leader_passes(const struct event *event);
void leader_tick(void);
void agent_received(const struct event *event);
void agent_ack(u32 path);
void agent_begin(void);
void agent_judge(const struct event *event);

/* tcp.c */
void tcp_start(void);
void tcp_send(void);
void tcp_arrived(u32 seq);
void tcp_acked(const struct event *event);
void tcp_timeout(u32 epoch);

#endif
