/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a sender of Mobile IP SHAKE knows of one path, from the pseudo-ACKs that the other
 * end returns on it: section 5 of Ogino and Ishihara's paper.
 *
 * A pseudo-ACK echoes the counter of the newest packet received, the time it was held, and
 * the bytes and packets received in all. Packets of one path stay in order, so that all
 * that was sent up to the echo has arrived or is lost:
 *
 *	srtt = 7/8 srtt + 1/8 rtt			(1)
 *	G = 1/2 G + 1/2 TPUT, once per interval		(2)
 *	W = wait of a packet that leaves now
 *	W += L / C for a packet of L bytes sent
 *	W -= G / C per second, not below 0
 *	t = max(minRTT, minRTT + b + W + L / G)
 *	Q = G (t - minRTT), for L = 0
 *
 * rtt is a packet's round trip without the time its ACK was held, t that of a packet that
 * leaves now. C is the rate of the link, and G what others leave of it: without them both
 * are the same. b is what a packet takes beyond the least if nothing of ours is queued.
 *
 *   corrections A packet's t is kept until its ACK comes. What its rtt exceeds that by is
 *               added to W if it had to wait, and a quarter to b if not; packets that left
 *               before the correction don't repeat it. Also, what is still outstanding
 *               waits behind the packet: W >= rtt - minRTT + U / C - (G / C) rtt.
 *   throughput  TPUT is of the time with a queue only, from arrival to arrival. A path that
 *               is hardly used is not slow, and an idle one keeps its G. Intervals hold
 *               four packets or more, as 9.6 kbit/s carry less than one per second, and
 *               the first have no more than 4, 8, 16 and 32. Before, and if the path
 *               never has a queue, G is what was received during one round trip, and
 *               predictions are made with twice that, or some packets at least.
 *   least rtt   Over a window, in four parts. A path with a queue doesn't show its least
 *               rtt, so that such time counts 1/32. But if our bytes fill less than three
 *               quarters of the round trip, a longer way or other flows make it long, and
 *               waiting for the least would leave all to them. If all of ours that are under
 *               way do not explain it, the least is forgotten at once.
 *   room        When packets are lost that met a queue, the time that packets may wait in
 *               front of the link becomes less, once in a round trip, and grows slowly again.
 *   idle        b is halved every second without an ACK. However bad a path was, it is
 *               tried again.
 *   stalls      The time by which the oldest packet outstanding is overdue adds to t.
 *   records     All packets are recorded while few are under way, every 4th, 64th or
 *               1024th if they are many; what lies in between is interpolated. A pause
 *               in between makes that wrong, and the rtt too short: the least rtt is taken
 *               as if the packet left with the one recorded before.
 *
 * The paper has for Q the bytes that wait in the path's send queue, TPUT of all time, and
 * expects packets after Q/G + srtt/2. A tunnel does not see a queue behind its own host, and
 * U, all bytes without an ACK, in its place counts what is under way twice, as a part of U
 * and in the srtt: a path with a full window looks as if it took 1.5 rtt. An idle path's G
 * falls to nothing, and it is never used again. U shows others' packets after a round trip
 * only.
 *
 * Ranges: 1 byte/s to 32 Gbyte/s, round trips up to 268 s; beyond that they are clamped.
 */
#ifndef _APOGEE_SHAKE_PATH_H
#define _APOGEE_SHAKE_PATH_H

#include <apogee/int.h>
#include "shake_loss.h"

/* Records of packets, a power of two. */
#define SHAKE_RING		512U
/* Parts of the window of the least round trip. */
#define SHAKE_RTT_PARTS		4U
/* Time with a queue counts 2^-5 in this window. */
#define SHAKE_QUEUED_SHIFT	5
/* An interval has at least this number of packets; this number of first ones has no more. */
#define SHAKE_INTERVAL_PACKETS	4U
#define SHAKE_INTERVALS_EARLY	4U
/* A packet that took less than this part of the srtt overtook others. What its ACK tells of them
 * they did not bring in that time: G would be so large that no packet seems to wait, and stay.
 */
#define SHAKE_OVERTOOK		16U
/* C is the largest rate, decays by 2^-6 per ACK and is at most 4 G. */
#define SHAKE_PEAK_SHIFT	6
#define SHAKE_PEAK_MOST		4U
/* A packet met a queue if its round trip exceeds the least by 1/16 and this time, in us. */
#define SHAKE_QUEUE_LEAST	1000U
/* Least time between pseudo-ACKs of a path, in us, but after so many packets. */
#define SHAKE_ACK_US		10000U
#define SHAKE_ACK_PACKETS	16U
/* Largest rate in bytes/s, time in us and bytes computed with. */
#define SHAKE_RATE_MAX		(1ULL << 35)
#define SHAKE_TIME_MAX		(1U << 28)
#define SHAKE_BYTES_MAX		(1ULL << 40)
/* Rate of a path before the first ACKs, bytes/s: 9.6 kbit/s. */
#define SHAKE_RATE_BEGIN	1200U
/* Bytes that a path is expected to carry per round trip before it had a queue. */
#define SHAKE_GUESS_BYTES	6000ULL
/* Round trip before the first ACK. */
#define SHAKE_RTT_BEGIN		APOGEE_USEC_PER_SEC
/* The other end sends an ACK within this time, in us. */
#define SHAKE_BATCH		10000U
/* Silence that is tolerated beyond what is expected. */
#define SHAKE_SILENCE		APOGEE_USEC_PER_SEC
/* Between probes of a dead path: us, and the part of its silence. */
#define SHAKE_PROBE_LEAST	(APOGEE_USEC_PER_SEC / 5)
#define SHAKE_PROBE_MOST	(5 * APOGEE_USEC_PER_SEC)
#define SHAKE_PROBE_PART	16
/* ACKs hold no packet longer than it was under way, but for the clocks' rounding. */
#define SHAKE_HOLD_ERROR	1000U

/* Round trips longer by this, or @room, than ours explain, for so long, in us: not our queue. */
#define SHAKE_STRANGE		50000U
#define SHAKE_STRANGE_US	500000U
/* A queue that loses packets is not made shorter than this time, in us, or so many packets. */
#define SHAKE_ROOM_LEAST	40000U
#define SHAKE_ROOM_PACKETS	8ULL
/* It gets longer by this part, so often, in us, at most. */
#define SHAKE_ROOM_STEP		256U
#define SHAKE_ROOM_EACH		100000U
/* The longest wait of late is forgotten by 2^-4 with each pseudo-ACK. */
#define SHAKE_MET_SHIFT		4

/* b is halved so often, in us. */
#define SHAKE_IDLE		APOGEE_USEC_PER_SEC

#define SHAKE_INTERVAL_DEFAULT		APOGEE_USEC_PER_SEC
#define SHAKE_RTT_WINDOW_DEFAULT	(10U * APOGEE_USEC_PER_SEC)

/**
 * struct shake_path_config - windows of the estimates
 * @interval: throughput is measured over this time, in us
 * @rtt_window: the least round trip is that of this time, in us
 */
struct shake_path_config {
	u32 interval;
	u32 rtt_window;
};

/**
 * struct shake_sent - record of a packet
 * @bytes: bytes sent up to this packet and with it
 * @counter: its number
 * @at: when it left, in us modulo 2^32
 * @packets: packets sent up to this one and with it, modulo 2^32
 * @trip: predicted round trip in us
 * @shift: of the estimate then, modulo 2^32
 * @received: bytes received then, as far as was known, modulo 2^32
 * @told: as of when, in us modulo 2^32
 * @wait: of @trip, time in front of the link
 * @ahead: bytes outstanding then, with it
 */
struct shake_sent {
	u64 bytes;
	u32 counter;
	u32 at;
	u32 packets;
	u32 trip;
	u32 shift;
	u32 received;
	u32 told;
	u32 wait;
	u32 ahead;
};

/**
 * struct shake_path_est - estimates of a path
 * @ring: records of packets
 * @sent: bytes sent
 * @gone: bytes sent up to the newest echo, or forgotten
 * @received: bytes that the other end received
 * @sent_packets: packets sent
 * @gone_packets: packets sent up to the newest echo
 * @received_packets: packets that the other end received
 * @lost_before: packets lost in earlier sessions
 * @resent: copies sent, but for those that proved to be needless
 * @rate: G in bytes/s; 0: unknown
 * @peak: C in bytes/s
 * @wait_at: when W was @wait_us
 * @wait_us: W
 * @sent_at: time of the last packet sent
 * @acked_at: time of the last ACK
 * @told_at: time as of which @received is all: of the last ACK, or when nothing was outstanding
 * @arrived: when the newest echo's packet arrived, later by what its ACK took
 * @sampled: @received then; 0: none
 * @sampled_packets: @received_packets then
 * @sampled_gone: @gone_packets then
 * @busy_us: time with a queue in this interval
 * @busy_bytes: bytes received in it
 * @busy_packets: packets received in it
 * @intervals: intervals measured, up to SHAKE_INTERVALS_EARLY
 * @bias: b, in us
 * @shift: sum of the corrections of t, modulo 2^32
 * @head: number of records written
 * @tail: the newest record not above the newest echo
 * @counter: of the last packet sent
 * @echo: the newest
 * @ack_bytes: of the newest ACK
 * @ack_packets: of the newest ACK
 * @forgotten: counter of the last packet that was forgotten
 * @revision: counter of the last packet sent before G changed much
 * @packet: length of the longest of the last packets
 * @srtt: smoothed round trip in us; 0: unknown
 * @rtt: of the last sample
 * @least: least round trip by part of the window
 * @part_us: time spent in the current part
 * @part: the current part
 * @counted: a packet was sent in this session
 * @echoed: an ACK was received in this session
 * @dropped: a packet was forgotten in this session
 * @revised: G changed much in this session
 * @loss: what it loses
 * @strange_at: until when our packets explained the round trips, in us
 * @strange: least round trip since then, in us
 * @room: time that packets may wait in front of the link, in us, as its losses show; 0: unknown
 * @met: time in front of the link that packets came through with of late, in us
 * @cut_at: when @room got shorter, in us
 * @grown_at: when it got longer, in us
 */
struct shake_path_est {
	struct shake_sent *ring;
	u64 sent;
	u64 gone;
	u64 received;
	u64 sent_packets;
	u64 gone_packets;
	u64 received_packets;
	u64 lost_before;
	u64 resent;
	u64 rate;
	u64 peak;
	u64 wait_at;
	u64 wait_us;
	u64 sent_at;
	u64 acked_at;
	u64 told_at;
	u64 arrived;
	u64 sampled;
	u64 sampled_packets;
	u64 sampled_gone;
	u64 busy_us;
	u64 busy_bytes;
	u64 busy_packets;
	u32 intervals;
	s32 bias;
	u32 shift;
	u32 head;
	u32 tail;
	u32 counter;
	u32 echo;
	u32 ack_bytes;
	u32 ack_packets;
	u32 forgotten;
	u32 revision;
	u32 packet;
	u32 srtt;
	u32 rtt;
	u32 least[SHAKE_RTT_PARTS];
	u32 part_us;
	u32 part;
	bool counted;
	bool echoed;
	bool dropped;
	bool revised;
	struct shake_loss loss;
	u64 strange_at;
	u32 strange;
	u32 room;
	u32 met;
	u64 cut_at;
	u64 grown_at;
};

/**
 * struct shake_path_ack - a pseudo-ACK
 * @echo: counter of the newest packet received
 * @hold_us: time since its arrival
 * @bytes: bytes received in this session, modulo 2^32
 * @packets: packets received in this session, modulo 2^32
 */
struct shake_path_ack {
	u32 echo;
	u32 hold_us;
	u32 bytes;
	u32 packets;
};

/**
 * shake_path_restart() - a new session: counters begin anew, the estimates stay
 * @e: the path
 * @now: time in us
 *
 * What is outstanding is neither lost nor received: it is no longer known.
 */
static inline void shake_path_restart(struct shake_path_est *e, u64 now)
{
	if (e->gone_packets > e->received_packets)
		e->lost_before += e->gone_packets - e->received_packets;
	e->sent = 0;
	e->gone = 0;
	e->received = 0;
	e->sent_packets = 0;
	e->gone_packets = 0;
	e->received_packets = 0;
	e->resent = 0;
	shake_loss_skip(&e->loss);
	e->sampled = 0;
	e->head = 0;
	e->tail = 0;
	e->counter = 0;
	e->echo = 0;
	e->ack_bytes = 0;
	e->ack_packets = 0;
	e->counted = false;
	e->echoed = false;
	e->dropped = false;
	e->revised = false;
	e->acked_at = now;
	e->wait_us = 0;
	e->wait_at = now;
}

/**
 * shake_path_init() - nothing is known of a path
 * @e: the path
 * @ring: SHAKE_RING records
 * @now: time in us
 */
static inline void shake_path_init(struct shake_path_est *e, struct shake_sent *ring, u64 now)
{
	u32 part;

	*e = (struct shake_path_est){ .ring = ring };
	shake_loss_init(&e->loss);
	for (part = 0; part < SHAKE_RTT_PARTS; part++)
		e->least[part] = U32_MAX;
	shake_path_restart(e, now);
}

/* a - b of counters that wrap */
static inline s32 shake_path_after(u32 a, u32 b)
{
	return (s32)(a - b);
}

static inline struct shake_sent *shake_path_record(const struct shake_path_est *e, u32 number)
{
	return &e->ring[number & (SHAKE_RING - 1)];
}

/*
 * The rate that predictions are made with. Before the path had a queue, G is only what was
 * asked of it, a few probes maybe: it may carry twice that, or some packets per round trip.
 */
static inline u64 shake_path_guess(const struct shake_path_est *e)
{
	u64 few;

	if (e->intervals || !e->srtt)
		return e->rate ? e->rate : SHAKE_RATE_BEGIN;
	few = div_u64(SHAKE_GUESS_BYTES * APOGEE_USEC_PER_SEC, e->srtt);
	return min_t(u64, max(2 * e->rate, few), SHAKE_RATE_MAX);
}

/* The time that @bytes take at rate G, in us. */
static inline u32 shake_path_time(const struct shake_path_est *e, u64 bytes)
{
	u64 rate = shake_path_guess(e);
	u64 time = div64_u64(min(bytes, SHAKE_BYTES_MAX) * APOGEE_USEC_PER_SEC, rate);

	return (u32)min_t(u64, time, SHAKE_TIME_MAX);
}

/* The time that @bytes add to the wait at rate C, in us. */
static inline u32 shake_path_carry(const struct shake_path_est *e, u64 bytes)
{
	u64 rate = max(shake_path_guess(e), e->peak);

	bytes = min(bytes, SHAKE_BYTES_MAX) * APOGEE_USEC_PER_SEC;
	return (u32)min_t(u64, div64_u64(bytes, rate), SHAKE_TIME_MAX);
}

/* By how much the wait falls in the time @us: others' packets add to it all the while. */
static inline u64 shake_path_drain(const struct shake_path_est *e, u64 us)
{
	us = min_t(u64, us, SHAKE_TIME_MAX);
	if (!e->rate || e->peak <= e->rate)
		return us;
	return div64_u64(us * e->rate, e->peak);
}

/* W, the time that a packet waits which leaves now. */
static inline u32 shake_path_wait(const struct shake_path_est *e, u64 now)
{
	u64 drained = shake_path_drain(e, now > e->wait_at ? now - e->wait_at : 0);

	return (u32)(e->wait_us - min(drained, e->wait_us));
}

/* It is @wait now. */
static inline void shake_path_set_wait(struct shake_path_est *e, s64 wait, u64 now)
{
	e->wait_us = (u64)clamp_t(s64, wait, 0, SHAKE_TIME_MAX);
	e->wait_at = now;
}

/**
 * shake_path_srtt() - smoothed round trip, equation (1)
 * @e: the path
 *
 * Return: us; 0 if nothing was measured.
 */
static inline u32 shake_path_srtt(const struct shake_path_est *e)
{
	return e->srtt;
}

/**
 * shake_path_min_rtt() - least round trip
 * @e: the path
 *
 * Return: us; 0 if nothing was measured.
 */
static inline u32 shake_path_min_rtt(const struct shake_path_est *e)
{
	u32 part, least = U32_MAX;

	for (part = 0; part < SHAKE_RTT_PARTS; part++)
		least = min(least, e->least[part]);
	return least == U32_MAX ? 0 : least;
}

/**
 * shake_path_rate() - throughput G, equation (2)
 * @e: the path
 *
 * Return: bytes/s; 0 if nothing was measured.
 */
static inline u64 shake_path_rate(const struct shake_path_est *e)
{
	return e->rate;
}

/**
 * shake_path_known_rate() - G of a path that had a queue
 * @e: the path
 *
 * Return: bytes/s; 0: it may carry more, and packets are lost when it is found out.
 */
static inline u64 shake_path_known_rate(const struct shake_path_est *e)
{
	return e->intervals < SHAKE_INTERVALS_EARLY ? 0 : e->rate;
}

/**
 * shake_path_outstanding() - U
 * @e: the path
 *
 * Return: bytes sent that are neither received nor lost, as far as is known.
 */
static inline u64 shake_path_outstanding(const struct shake_path_est *e)
{
	return e->sent - e->gone;
}

/**
 * shake_path_lost() - packets that were lost
 * @e: the path
 *
 * Those that arrive behind newer ones count as lost until they do.
 *
 * Return: packets.
 */
static inline u64 shake_path_lost(const struct shake_path_est *e)
{
	u64 lost = e->lost_before;

	if (e->gone_packets > e->received_packets)
		lost += e->gone_packets - e->received_packets;
	return lost;
}

/*
 * Is a record written for the packet @counter, the next? Those in between are counted by their
 * counters, so that none may be left out there.
 */
static inline bool shake_path_records(const struct shake_path_est *e, u32 counter)
{
	u32 used = e->head - e->tail;
	u32 packets;

	if (used <= SHAKE_RING / 2 || (used < SHAKE_RING && counter != e->counter + 1))
		return true;
	if (used >= SHAKE_RING)
		return false;
	packets = (u32)e->sent_packets + 1 - shake_path_record(e, e->head - 1)->packets;
	if (used < SHAKE_RING / 4 * 3)
		return packets >= 4;
	return packets >= (used < SHAKE_RING / 8 * 7 ? 64 : 1024);
}

/* When the oldest packet outstanding left; false: there is none. */
static inline bool shake_path_oldest(const struct shake_path_est *e, u64 now, u64 *at, u32 *trip)
{
	const struct shake_sent *record;
	u32 number = e->tail;

	*at = e->sent_at;
	*trip = e->rtt;
	if (!shake_path_outstanding(e))
		return false;
	while (number != e->head && shake_path_record(e, number)->bytes <= e->gone)
		number++;
	if (number != e->head) {
		record = shake_path_record(e, number);
		*at = now - (u32)((u32)now - record->at);
		*trip = record->trip + e->shift - record->shift;
		*trip = clamp_t(s32, (s32)*trip, 0, SHAKE_TIME_MAX);
	}
	return true;
}

/* How long the oldest packet outstanding is overdue, in us. */
static inline u32 shake_path_overdue(const struct shake_path_est *e, u64 now)
{
	u64 at;
	u32 trip;

	if (!e->srtt || !shake_path_oldest(e, now, &at, &trip))
		return 0;
	at += trip + SHAKE_BATCH + shake_path_time(e, e->packet);
	return now > at ? (u32)min_t(u64, now - at, SHAKE_TIME_MAX) : 0;
}

/**
 * shake_path_trip() - round trip of a packet that leaves now
 * @e: the path
 * @bytes: its length
 * @now: time in us
 *
 * Return: t in us.
 */
static inline u32 shake_path_trip(const struct shake_path_est *e, u32 bytes, u64 now)
{
	u32 least = shake_path_min_rtt(e);
	u64 quiet = now > e->acked_at ? now - e->acked_at : 0;
	s64 trip = e->bias;

	if (trip > 0)
		trip >>= min_t(u64, div_u64(quiet, SHAKE_IDLE), 31);
	trip += least + shake_path_time(e, bytes) + shake_path_overdue(e, now);
	trip += shake_path_wait(e, now);
	return (u32)clamp_t(s64, trip, least, SHAKE_TIME_MAX);
}

/**
 * shake_path_sent() - a counted packet leaves
 * @e: the path
 * @counter: its number, above that of all before it in this session; some may be left out
 * @bytes: its length, as the other end counts it
 * @now: time in us
 */
static inline void shake_path_sent(struct shake_path_est *e, u32 counter, u32 bytes, u64 now)
{
	struct shake_sent *record;
	bool keep = shake_path_records(e, counter);
	u32 wait = shake_path_wait(e, now);
	u32 trip = keep ? shake_path_trip(e, bytes, now) : 0;

	if (!shake_path_outstanding(e))
		e->told_at = now;
	e->sent += bytes;
	e->sent_packets++;
	e->counter = counter;
	e->counted = true;
	e->sent_at = now;
	e->packet = max(bytes, e->packet - (e->packet >> 4));
	shake_path_set_wait(e, (s64)wait + shake_path_carry(e, bytes), now);
	if (!keep)
		return;
	record = shake_path_record(e, e->head++);
	record->bytes = e->sent;
	record->counter = counter;
	record->at = (u32)now;
	record->packets = (u32)e->sent_packets;
	record->trip = trip;
	record->shift = e->shift;
	record->wait = wait;
	record->received = (u32)e->received;
	record->told = (u32)e->told_at;
	record->ahead = (u32)min_t(u64, shake_path_outstanding(e), U32_MAX);
}

/**
 * shake_path_again() - a copy leaves, which is not counted
 * @e: the path
 * @bytes: its length
 * @now: time in us
 *
 * Return: time that the link takes for it, in us.
 */
static inline u32 shake_path_again(struct shake_path_est *e, u32 bytes, u64 now)
{
	u32 takes = shake_path_carry(e, bytes);

	shake_path_set_wait(e, (s64)shake_path_wait(e, now) + takes, now);
	return takes;
}

/*
 * The record of the packet @echo, interpolated if it has none: then it may have left by up to
 * @early before, and @unsure of its packets may be others' counters. Return: false if it was never
 * sent.
 */
static inline bool shake_path_find(const struct shake_path_est *e, u32 echo, u32 *tail,
				   struct shake_sent *found, u32 *early, u32 *unsure)
{
	u32 number = *tail, part, whole, later, others, most;
	struct shake_sent next;

	*early = 0;
	*unsure = 0;
	if (number == e->head || shake_path_after(shake_path_record(e, number)->counter, echo) > 0)
		return false;
	while (number + 1 != e->head &&
	       shake_path_after(shake_path_record(e, number + 1)->counter, echo) <= 0)
		number++;
	*tail = number;
	*found = *shake_path_record(e, number);
	if (found->counter == echo)
		return true;
	if (found->packets == (u32)e->sent_packets)
		return false;
	/* the last packet sent stands for a record that was not written */
	if (number + 1 == e->head)
		next = (struct shake_sent){ .bytes = e->sent, .counter = e->counter,
					    .at = (u32)e->sent_at, .trip = found->trip,
					    .packets = (u32)e->sent_packets };
	else
		next = *shake_path_record(e, number + 1);
	if (next.packets == found->packets + 1 && echo != next.counter)
		return false;
	part = echo - found->counter;
	whole = next.counter - found->counter;
	if (!whole)	/* counters rise from record to record: never */
		return false;
	found->counter = echo;
	later = (u32)div_u64((u64)(next.at - found->at) * part, whole);
	found->at += later;
	if (echo != next.counter)
		*early = later;
	found->bytes += div_u64(min_t(u64, next.bytes - found->bytes, U32_MAX) * part, whole);
	most = next.packets - found->packets;
	others = whole - min(whole, most);
	most = min(part, most - (echo != next.counter));
	*unsure = most - min(most, part - min(part, others));
	found->packets += most;
	return true;
}

/* Was the packet @counter forgotten? */
static inline bool shake_path_was_forgotten(const struct shake_path_est *e, u32 counter)
{
	return e->dropped && shake_path_after(counter, e->forgotten) <= 0;
}

/*
 * The least round trip has a new sample, @spent after the last one: one after a long time
 * alone ends one part only.
 */
static inline void shake_path_least(struct shake_path_est *e, const struct shake_path_config *c,
				    u32 rtt, u64 spent, bool queued)
{
	u32 window = max_t(u32, c->rtt_window / SHAKE_RTT_PARTS, 1);

	if (queued)
		spent >>= SHAKE_QUEUED_SHIFT;
	e->part_us += (u32)min_t(u64, spent, window);
	if (e->part_us >= window) {
		e->part_us -= window;
		e->part = (e->part + 1) % SHAKE_RTT_PARTS;
		e->least[e->part] = U32_MAX;
	}
	e->least[e->part] = min(e->least[e->part], rtt);
}

/*
 * Has a packet that took @rtt met a queue in front of the link? Its own length takes time,
 * not more than since the arrival of @packets.
 */
static inline bool shake_path_queued(const struct shake_path_est *e, u32 rtt, u64 gap,
				     u64 packets)
{
	u32 least = shake_path_min_rtt(e), own = shake_path_time(e, e->packet), wait = least >> 4;

	/* one that loses packets may be short */
	if (e->room)
		wait = min(wait, e->room / 2);
	own = (u32)min_t(u64, own, div64_u64(gap, max_t(u64, packets, 1)));
	return least && rtt > least + max(wait, SHAKE_QUEUE_LEAST) + own;
}

/* Are @bytes three quarters of what the link carries in the time @rtt? */
static inline bool shake_path_filled(const struct shake_path_est *e, u64 bytes, u32 rtt)
{
	return APOGEE_USEC_PER_SEC * 4 / 3 * min(bytes, SHAKE_BYTES_MAX) >
	       min_t(u64, e->peak, SHAKE_RATE_MAX) * rtt;
}

/* The packet @found waited, and what was sent after it waits behind. */
static inline void shake_path_bound(struct shake_path_est *e, const struct shake_sent *found,
				    u32 rtt, u64 now)
{
	u32 least = shake_path_min_rtt(e), wait = shake_path_wait(e, now);
	s64 low = (s64)rtt - min(rtt, least) + shake_path_carry(e, e->sent - found->bytes);

	low -= (s64)shake_path_drain(e, (u32)now - found->at);
	if (low <= wait)
		return;
	e->shift += (u32)low - wait;
	shake_path_set_wait(e, low, now);
}

/* Correct the predictions by that of the packet @found, which was under way for @rtt. */
static inline void shake_path_correct(struct shake_path_est *e, const struct shake_sent *found,
				      u32 rtt, u64 now)
{
	s32 error = (s32)(rtt - found->trip - (e->shift - found->shift)), wait, rest;

	if (e->revised && shake_path_after(found->counter, e->revision) <= 0)
		return;
	error = clamp_t(s32, error, -(s32)SHAKE_TIME_MAX, (s32)SHAKE_TIME_MAX);
	wait = error < 0 ? -min_t(s32, -error, (s32)found->wait) : found->wait ? error : 0;
	rest = (error - wait) / 4;
	/* the least round trip has a packet's own time in it; more is no property of the way */
	e->bias = clamp_t(s32, e->bias + rest, -(s32)shake_path_time(e, e->packet),
			  (s32)SHAKE_TIME_MAX);
	e->shift += (u32)(wait + rest);
	shake_path_set_wait(e, (s64)shake_path_wait(e, now) + wait, now);
}

/* G changes: what was predicted with the old one is no evidence. */
static inline void shake_path_revise(struct shake_path_est *e, u64 rate, u64 now)
{
	u64 old = e->rate;

	e->rate = clamp_t(u64, rate, 1, SHAKE_RATE_MAX);
	if (old - old / 8 <= e->rate && e->rate <= old + old / 8)
		return;
	if (old)
		shake_path_set_wait(e, (s64)min_t(u64, div64_u64(shake_path_wait(e, now) * old,
								 e->rate),
						  SHAKE_TIME_MAX), now);
	e->bias = 0;
	e->revised = true;
	e->revision = e->counter;
}

/* The end of an interval, if it is due: equation (2). */
static inline void shake_path_interval(struct shake_path_est *e,
				       const struct shake_path_config *c, u64 now)
{
	bool early = e->intervals < SHAKE_INTERVALS_EARLY;
	u64 rate;

	if (e->busy_packets < (early ? SHAKE_INTERVAL_PACKETS << e->intervals :
			       SHAKE_INTERVAL_PACKETS))
		return;
	if (!early && e->busy_us < c->interval)
		return;
	rate = min(e->busy_bytes, SHAKE_BYTES_MAX) * APOGEE_USEC_PER_SEC;
	rate = div64_u64(rate, max_t(u64, e->busy_us, 1));
	rate = min(rate, SHAKE_RATE_MAX);
	shake_path_revise(e, e->intervals ? (e->rate + rate + 1) / 2 : rate, now);
	e->intervals = min_t(u32, e->intervals + 1, SHAKE_INTERVALS_EARLY);
	e->busy_us = 0;
	e->busy_bytes = 0;
	e->busy_packets = 0;
}

/* Packets of @bytes came within @us, with a queue: C is the largest rate of late. */
static inline void shake_path_peak(struct shake_path_est *e, u64 bytes, u64 us)
{
	u64 rate = div64_u64(min(bytes, SHAKE_BYTES_MAX) * APOGEE_USEC_PER_SEC, max_t(u64, us, 1));

	e->peak -= e->peak >> SHAKE_PEAK_SHIFT;
	e->peak = max(e->peak, min(rate, SHAKE_PEAK_MOST * e->rate));
}

/* The round trip of a packet that left at @at and was held for @hold. */
static inline u32 shake_path_took(u32 at, u32 hold, u64 now)
{
	u32 elapsed = (u32)now - at;

	return clamp_t(u32, elapsed - min(elapsed, hold), 1, SHAKE_TIME_MAX);
}

/*
 * The packet @found may have left by up to @early before. It did, as far as its round trip
 * would be less than the least, or the first. Return: @most that it can be.
 */
static inline u32 shake_path_settle(const struct shake_path_est *e, struct shake_sent *found,
				    u32 early, u32 hold, u64 now)
{
	u32 most = shake_path_took(found->at - early, hold, now);
	u32 least = min(most, shake_path_min_rtt(e) ?: most);

	if (shake_path_took(found->at, hold, now) < least)
		found->at = (u32)now - hold - least;
	return most;
}

/*
 * Packets take longer than all of ours that are under way explain, for a while: the way has become
 * longer, or others have a queue there. Then the least round trip is that of this time.
 */
static inline void shake_path_rebase(struct shake_path_est *e, const struct shake_sent *found,
				     u32 rtt, u64 now)
{
	u64 least = shake_path_min_rtt(e);
	u64 explained = least + shake_path_time(e, found->ahead);
	u32 strange = SHAKE_STRANGE, part;

	/* G becomes less when less is sent, C does not; it may be twice of what is true */
	explained = min(explained, max(least, 2 * (u64)shake_path_carry(e, found->ahead)));
	/* more than it may wait there: the path would have no room any more */
	if (e->room)
		strange = min(strange, e->room);
	if (!e->intervals || rtt <= explained + strange) {
		e->strange_at = now;
		e->strange = U32_MAX;
		return;
	}
	e->strange = min(e->strange, rtt);
	if (now - e->strange_at < max(SHAKE_STRANGE_US, 2 * e->srtt))
		return;
	for (part = 0; part < SHAKE_RTT_PARTS; part++)
		e->least[part] = e->strange;
	e->strange_at = now;
	e->strange = U32_MAX;
	e->bias = 0;
	e->revised = true;
	e->revision = e->counter;
	shake_path_set_wait(e, 0, now);
}

/*
 * Measure with the packet @found, which was under way for @rtt, @most if that is interpolated,
 * and held for @hold. Return: whether it met a queue.
 */
static inline bool shake_path_sample(struct shake_path_est *e, const struct shake_path_config *c,
				     const struct shake_sent *found, u32 rtt, u32 most, u32 hold,
				     u64 now)
{
	u64 arrived = now - min_t(u64, hold, now), shown, since;
	u64 gap = arrived > e->arrived ? min_t(u64, arrived - e->arrived, SHAKE_TIME_MAX) : 0;
	u64 packets = e->received_packets - e->sampled_packets;
	bool queued = shake_path_queued(e, rtt, gap, packets);

	queued = queued && found->wait;
	if (queued && e->sampled) {
		/* copies come in between: they are no faster link */
		if (packets <= e->gone_packets - e->sampled_gone)
			shake_path_peak(e, e->received - e->sampled, gap);
		e->busy_us += gap;
		e->busy_bytes += e->received - e->sampled;
		e->busy_packets += packets;
		shake_path_interval(e, c, now);
	}
	e->arrived = arrived;
	e->sampled = e->received;
	e->sampled_packets = e->received_packets;
	e->sampled_gone = e->gone_packets;
	shake_path_least(e, c, most, now - e->acked_at,
			 queued && shake_path_filled(e, found->ahead, rtt));
	shake_path_rebase(e, found, rtt, now);
	if (e->srtt)
		shake_path_correct(e, found, rtt, now);
	else
		shake_path_set_wait(e, 0, now);
	shake_path_bound(e, found, rtt, now);
	shown = (u32)e->received - found->received;
	/* as many packets as there are gaps between their ACKs */
	if (e->intervals)
		shown -= min_t(u64, shown, e->packet);
	/* ACKs may have been lost: what came by then came since the last one that was not */
	since = max_t(u64, (u32)now - found->told, (u64)rtt + hold);
	shown = div64_u64(shown * APOGEE_USEC_PER_SEC, since);
	if (shown > e->rate && ((u64)rtt + hold) * SHAKE_OVERTOOK >= e->srtt)
		shake_path_revise(e, shown, now);
	e->srtt = e->srtt ? e->srtt - (e->srtt >> 3) + (rtt >> 3) : rtt;
	e->rtt = rtt;
	return queued;
}

/* The longest wait that was predicted for the packets recorded from @number to @to. */
static inline u32 shake_path_longest(const struct shake_path_est *e, u32 number, u32 to)
{
	u32 longest = shake_path_record(e, to)->wait;

	for (; number != to; number++)
		longest = max(longest, shake_path_record(e, number)->wait);
	return longest;
}

/*
 * The queue in front of the link may be full when packets are lost that met it, or would have (the
 * @longest wait predicted): it takes no more than what came through, and ours gets shorter, once in
 * a round trip, and longer again while it loses nothing although it is used.
 */
static inline void shake_path_fit(struct shake_path_est *e, s32 lost, u32 wait, u32 longest,
				  u64 now)
{
	u32 least = min(SHAKE_ROOM_LEAST, shake_path_time(e, SHAKE_ROOM_PACKETS * e->packet));
	u32 room = e->room ? e->room : SHAKE_TIME_MAX;

	e->met = max(wait, e->met - (e->met >> SHAKE_MET_SHIFT));
	if (lost > 0 && max(wait, longest) > least && now - e->cut_at >= e->srtt) {
		e->room = max(least, min(room, e->met) / 8 * 7);
		e->cut_at = now;
	} else if (lost <= 0 && e->room && wait > room / 2 &&
		   now - max(e->cut_at, e->grown_at) >= max(e->srtt, SHAKE_ROOM_EACH)) {
		e->room = min(room + room / SHAKE_ROOM_STEP + 1, SHAKE_TIME_MAX);
		e->grown_at = now;
	}
}

/**
 * shake_path_acked() - a pseudo-ACK has come
 * @e: the path
 * @c: windows
 * @ack: what it says
 * @now: time in us
 *
 * ACKs that were overtaken by newer ones, or are of a packet that came late, change nothing: the
 * next one tells as much.
 *
 * Return: false if it is of a packet that came late, or can't be true: it echoes a packet that
 * was not sent, or counts more than was sent, or less than an earlier one.
 */
static inline bool shake_path_acked(struct shake_path_est *e, const struct shake_path_config *c,
				    const struct shake_path_ack *ack, u64 now)
{
	u32 bytes = ack->bytes - e->ack_bytes, packets = ack->packets - e->ack_packets;
	u32 tail = e->tail, early, unsure, most, rtt;
	struct shake_sent found;
	bool queued;
	s32 passed, lost;
	u32 wait, longest;

	if (!e->counted || shake_path_after(ack->echo, e->counter) > 0)
		return false;
	if (e->echoed && shake_path_after(ack->echo, e->echo) < 0)
		return (s32)bytes <= 0 && (s32)packets <= 0;
	if (!shake_path_find(e, ack->echo, &tail, &found, &early, &unsure))
		return false;
	if (e->received + bytes > e->sent || e->received_packets + packets > e->sent_packets ||
	    ack->hold_us > (u32)now - found.at + early + SHAKE_HOLD_ERROR)
		return false;
	e->received += bytes;
	e->received_packets += packets;
	e->ack_bytes = ack->bytes;
	e->ack_packets = ack->packets;
	if (!e->echoed || ack->echo != e->echo) {
		e->echo = ack->echo;
		e->echoed = true;
		longest = shake_path_longest(e, e->tail, tail);
		e->tail = tail;
		e->gone = max(e->gone, found.bytes);
		/* what is interpolated may be less than what was before */
		passed = shake_path_after(found.packets, (u32)e->gone_packets);
		/* no more count as lost than is sure */
		passed = (s32)clamp_t(s64, packets, (s64)passed - unsure, passed);
		if (passed > 0)
			e->gone_packets += (u32)passed;
		most = shake_path_settle(e, &found, early, ack->hold_us, now);
		rtt = shake_path_took(found.at, ack->hold_us, now);
		if (shake_path_was_forgotten(e, ack->echo)) {
			shake_loss_skip(&e->loss);
		} else {
			queued = shake_path_sample(e, c, &found, rtt, most, ack->hold_us, now);
			wait = rtt - min(rtt, shake_path_min_rtt(e));
			lost = shake_loss_told(&e->loss, e->gone_packets + e->resent,
					       e->received_packets, queued, wait, now);
			shake_path_fit(e, lost, wait, longest, now);
		}
	}
	e->acked_at = now;
	e->told_at = now;
	return true;
}

/**
 * shake_path_queue() - Q, the bytes in front of the link
 * @e: the path
 * @now: time in us
 *
 * Return: bytes, with others' packets in the proportion in which they delay ours.
 */
static inline u64 shake_path_queue(const struct shake_path_est *e, u64 now)
{
	if (!e->rate || !shake_path_outstanding(e))
		return 0;
	return div_u64((u64)(shake_path_trip(e, 0, now) - shake_path_min_rtt(e)) * e->rate,
		       APOGEE_USEC_PER_SEC);
}

/* Time that the link takes for a packet, by what it is known to carry, not shake_path_guess(). */
static inline u64 shake_path_packet_time(const struct shake_path_est *e)
{
	return div64_u64((u64)e->packet * APOGEE_USEC_PER_SEC,
			 max_t(u64, e->rate, SHAKE_RATE_BEGIN));
}

/* When an ACK is due; false: nothing is outstanding. */
static inline bool shake_path_due(const struct shake_path_est *e, u64 now, u64 *due)
{
	u64 oldest;
	u32 trip;

	if (!shake_path_oldest(e, now, &oldest, &trip))
		return false;
	oldest += e->srtt ? e->srtt : SHAKE_RTT_BEGIN;
	*due = max(oldest, e->acked_at) +
	       min_t(u64, shake_path_packet_time(e), 2 * APOGEE_USEC_PER_SEC);
	return true;
}

/* How long an ACK may be overdue before the path counts as silent. */
static inline u64 shake_path_patience(const struct shake_path_est *e)
{
	return max_t(u64, SHAKE_SILENCE, 2 * (u64)shake_path_min_rtt(e));
}

/**
 * shake_path_doubt() - when to send a probe, if nothing is sent
 * @e: the path
 * @now: time in us
 *
 * The last packets may be lost, which no ACK will ever tell. A probe that is sent now is
 * answered before shake_path_deadline(). It may be lost, too: another follows, unless the link
 * may still carry the last.
 *
 * Return: time in us, U64_MAX if nothing is outstanding.
 */
static inline u64 shake_path_doubt(const struct shake_path_est *e, u64 now)
{
	u64 patience = shake_path_patience(e), due;

	if (!shake_path_due(e, now, &due))
		return U64_MAX;
	return max(due + patience / 4,
		   e->sent_at + max(patience / 5, shake_path_packet_time(e)));
}

/**
 * shake_path_deadline() - when shake_path_is_silent() could become true
 * @e: the path
 * @now: time in us
 *
 * An ACK is due when the oldest packet outstanding has made its round trip, and after
 * another ACK when the link has carried one more packet. A second or two least round trips
 * later the path is silent.
 *
 * Return: time in us; U64_MAX if nothing is outstanding.
 */
static inline u64 shake_path_deadline(const struct shake_path_est *e, u64 now)
{
	u64 due;

	if (!shake_path_due(e, now, &due))
		return U64_MAX;
	return due + shake_path_patience(e);
}

/**
 * shake_path_is_silent() - is the path dead?
 * @e: the path
 * @now: time in us
 *
 * Return: true if packets are outstanding and an ACK is long overdue.
 */
static inline bool shake_path_is_silent(const struct shake_path_est *e, u64 now)
{
	return now >= shake_path_deadline(e, now);
}

/**
 * shake_path_probe_gap() - time between probes of a dead path
 * @e: the path
 * @silence: us, for how long the path had been dead at the last probe
 *
 * Probes become rare as time goes by, as RFC 8085 (3.1.3, 3.1.2) wants it of what has no
 * answer, and a path that lives again is noticed after a sixteenth of the time more. Not
 * more than one in a round trip.
 *
 * Return: us.
 */
static inline u64 shake_path_probe_gap(const struct shake_path_est *e, u64 silence)
{
	u64 gap = clamp_t(u64, silence / SHAKE_PROBE_PART, SHAKE_PROBE_LEAST,
			  SHAKE_PROBE_MOST);

	return max_t(u64, gap, shake_path_min_rtt(e));
}

/**
 * shake_path_forget() - the path is dead, what is outstanding is lost
 * @e: the path
 * @now: time in us
 *
 * ACKs of what was outstanding are still understood, as a sign of life.
 */
static inline void shake_path_forget(struct shake_path_est *e, u64 now)
{
	e->gone = e->sent;
	e->forgotten = e->counter;
	e->dropped = e->counted;
	e->sampled = 0;
	shake_loss_skip(&e->loss);
	shake_path_set_wait(e, 0, now);
}

#endif /* _APOGEE_SHAKE_PATH_H */
