/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A discrete-event simulation of TCP flows through one bottleneck.
 *
 *   sender --- access link --- queue, rate --- delay, bit errors --- receiver
 *          \--- slots, rate, queue --- losses, delay, jitter, stalls ---/
 *
 * Times are in ns, data is counted in segments from 0, one segment per frame. All are full, but the
 * last one of a transfer.
 */
#ifndef _WORLD_H
#define _WORLD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <net/tcp.h>

#define MODEL_MSS	1448U
#define MODEL_FRAME	1514U
#define MODEL_MTU	1500U
#define MODEL_ACK	66U		/* bytes of an ACK's frame */
#define MODEL_FLOWS	64U
#define MODEL_OUTAGES	1024U
#define NEVER		U64_MAX
#define LOG_AGAIN	0x80000000U	/* in the receiver's log: a duplicate */

enum event_kind {
	EV_START,	/* a flow sends its SYN */
	EV_QUEUE,	/* a segment reaches the bottleneck */
	EV_RECEIVER,	/* a segment reaches the receiver */
	EV_RETURN,	/* an ACK reaches the queue of the way back */
	EV_SENDER,	/* an ACK reaches the sender */
	EV_TIMER,	/* a timer may have expired */
	EV_CHANGE,	/* the path changes */
	EV_SUPPLY,	/* the application has more to send */
	EV_SAMPLE,	/* the smoothed RTTs are sampled */
	EV_SERIES,	/* a line of the time series is due */
	EV_MEASURE,	/* the measurement begins */
	EV_END,
};

enum timer_kind {
	TIMER_PACE,	/* the sender may send again */
	TIMER_XMIT,	/* retransmission, loss probe or reordering */
	TIMER_ACK,	/* a delayed ACK is due */
	TIMER_SACK,	/* a compressed ACK is due */
	TIMERS,
};

/* Frames of the handshake: SYN, and the ACK of the SYN-ACK. */
enum { NO_HANDSHAKE, SYN_FRAME = 74, THIRD_FRAME = 66 };

/* A packet in flight: a data segment, one of the handshake, or an ACK. */
struct packet {
	u64 left;	/* when it leaves the queue */
	u32 seg;	/* of an ACK: where in the flow's `acks` it is */
	u32 tsval;	/* ms */
	u16 flow;
	u16 payload;	/* bytes of a segment's data */
	u8 handshake;	/* bytes of its frame; 0: data */
};

struct event {
	u64 at;
	u64 order;
	struct packet packet;
	u8 kind;
	u8 timer;
};

struct timer {
	u64 at;		/* NEVER: not armed */
	u64 queued;	/* when the event that checks it is due */
};

struct ack {
	u32 next;	/* the first segment missing */
	u32 edge;	/* the first segment beyond the window */
	u32 arrivals;	/* length of the receiver's log it reports */
	u32 tsecr;	/* ms */
	u32 tsval;	/* ms, of the receiver's clock */
	bool syn;
};

/* The sender's record of a segment in flight. */
struct seg {
	u64 sent_us;
	u64 first_tx_us;
	u64 delivered_us;	/* 0: its rate sample was taken */
	u32 delivered;
	u32 before;		/* in the order of transmission */
	u32 behind;
	u16 payload;		/* bytes */
	u8 flags;
	bool app_limited;
};

struct counts {
	u64 sent;		/* segments, including retransmissions */
	u64 retransmits;
	u64 dropped;		/* at the queue */
	u64 lost;		/* behind it */
	u64 arrived;
	u64 duplicates;		/* of those arrived */
	u64 delivered;		/* to the application, in order */
	u64 bytes;		/* the same in bytes */
	u64 timeouts;
	u64 recoveries;
	u64 undos;
	u64 rtt_sum_us;
	u64 rtt_samples;
	u64 srtt_sum_us;	/* of samples at even times */
	u64 srtt_samples;
};

struct receiver {
	u64 *held;		/* bits: arrived out of order */
	u32 *log;		/* segments in the order of arrival */
	u32 arrivals;
	u32 next;
	u32 acked;		/* next, as of the last ACK */
	u32 holding;		/* segments out of order */
	u32 edge;
	u32 opened;		/* segments the window has opened to */
	u32 ts_recent;
	u32 quick;
	u32 compressed;
	u32 dups_at;
	u32 dups;
	bool ack_now;
};

struct min_rtt {
	u32 stamp;		/* jiffies */
	u32 value;		/* us */
};

struct sender {
	struct seg *segs;
	u32 una;
	u32 nxt;
	u32 edge;
	u32 supplied;		/* segments that the application has written */
	u32 high;
	u32 undo;
	u32 tlp_high;
	u32 rtx_hint;		/* retransmissions are only due from here */
	u32 arrivals;		/* known length of the receiver's log */
	u32 oldest;		/* in the order of transmission */
	u32 newest;
	bool undo_valid;
	bool tlp;
	bool tlp_retrans;
	bool established;
	bool stopped;
	struct {
		u64 mstamp;
		u32 seg;
		u32 rtt_us;
		bool advanced;
	} rack;
	struct min_rtt min_rtt[3];
};

struct flow {
	struct sock sk;
	struct sender snd;
	struct receiver rcv;
	struct timer timers[TIMERS];
	struct counts total;
	struct counts begin;	/* at the begin of the measurement */
	u64 series_bytes;
	struct ack *acks;	/* in flight */
	u32 acks_tail;
	u64 extra;		/* one-way delay of its own link, ns */
	u64 access_free;
	u64 data_arrival;	/* of the last one, as the order is kept */
	u64 ack_arrival;
	u64 start;
	u64 stop;
	u16 number;
	u32 last_rtt_us;
	u32 syns;		/* that the present socket has sent, the first one then */
	u64 syn_at;
	u32 sockets;
};

struct span {
	u64 begin;
	u64 end;
};

struct path {
	double rate;		/* bit/s */
	double access_rate;	/* of each sender's access link, 0: no limit */
	u64 rtt;
	double ber;
	double loss;
	double burst_begin, burst_end;	/* probability per frame; a burst loses all frames */
	bool bursting;
	double bad_every, bad_length;	/* ms: bad times, in which all is lost; 0: none */
	u32 queue;		/* packets */
	double burst;		/* bytes of a token bucket, 0: a plain link */
	double jitter_mean;	/* ns */
	double jitter_half;
	u64 slot;		/* interval at which ACKs are released */
	double ack_loss;
	double ack_rate;	/* of the way back, bit/s; 0: no limit */
	u32 ack_queue;		/* ACKs */
	u64 stalled;		/* ACKs are held until then */
	u32 window;		/* segments */
	struct span outages[MODEL_OUTAGES];	/* those that have begun */
	u32 outage_count;
};

struct world {
	struct path path;
	struct flow flows[MODEL_FLOWS];
	u32 count;
	u32 ring;		/* maximum segments per flow in flight */
	u64 offered;		/* packets that arrived at the queue */
	u64 dropped;
	u64 served;
	u64 begin_offered;
	u64 begin_dropped;
	u64 begin_served;
	double begin_capacity;
	u64 begun;
	u32 chunk;		/* segments that the application writes at a time, 0: all */
	u64 chunk_every;
	bool kernel;		/* bursts and timers as the kernel has them */
	bool check;		/* verify the scoreboard at each ACK */
	u64 seed;
	u64 bad_seed, tie_seed;
};

extern struct world world;

static inline u32 ring(u32 seg)
{
	return seg & (world.ring - 1);
}

/* There may be as many ACKs in flight as copies of segments. */
static inline u32 ring4(u32 n)
{
	return n & (4 * world.ring - 1);
}

static inline u64 ns(double seconds)
{
	return (u64)(seconds * 1e9 + 0.5);
}

static inline u64 now_us(void)
{
	return model_now / NSEC_PER_USEC;
}

static inline u32 now_ms(void)
{
	return (u32)(model_now / NSEC_PER_MSEC);
}

#endif /* _WORLD_H */
