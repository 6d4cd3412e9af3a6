/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ABE, the Available Bandwidth Estimation of TCP-J and TCP-STAR.
 *
 * The papers take one sample per ACK, BW_sample = d / ack_interval (eq. 2),
 * and specify no filter. A sender needs the spacing of the ACK train: it is the
 * bottleneck's rate, and frames lost behind the bottleneck do not change it.
 * Receivers and paths distort this spacing; each step below corrects one
 * distortion:
 *
 *  - ACK compression, interrupt and GRO batches (intervals of zero): a sample
 *    spans at least abe_interval_us(), never a single gap. It begins and ends
 *    with an ACK, so on a train that is released every x ms it contains a whole
 *    number of releases.
 *  - Stretch and delayed ACKs: bytes newly delivered (acknowledged or SACKed)
 *    are counted, not ACKs. When a hole is filled, the jump of snd_una is not
 *    counted: those bytes were counted when they were SACKed.
 *  - Gaps in the train (a lost frame, an idle or window-limited sender): they
 *    can only make a sample too small, so the estimate is the largest sample
 *    of the current and the previous epoch of ABE_EPOCH intervals. A mean, as in
 *    Westwood, would shrink by the loss rate every round trip. With @recent set,
 *    TCP-STAR as published, it is the larger of the last two samples, see below.
 *  - An application-limited sender: such samples neither lower the estimate nor
 *    does their time age it. (The first train is corrected all the same, since
 *    the stack marks every first flight as application-limited.)
 *  - ACKs that are held back and released at once: a sample lasts at least as
 *    long as the sending of what it counts took, as in tcp_rate_gen(). This does
 *    not bound a train that was sent at once.
 *  - A way back that varies (jitter, slots, a queue of ACKs): a sample that begins with a
 *    late ACK and ends with one in time would be too short. TCP-STAR knows by the
 *    receiver's timestamps how late an ACK is, to a tick of them.
 *  - Two ACKs at the same time of the clock add to the next sample. A clock that
 *    steps back behind the start of the current sample restarts it.
 *
 * Two epochs are longer than a round trip, in which each of two flows in a queue
 * has its own train at the bottleneck's full rate: the maximum filter measures
 * that rate for both, all the time. The paper's estimates rise and fall in turn and
 * average 8 of 10 Mbit/s (fig. 15), since eq. 2 has no memory. The larger of two
 * samples is the shortest memory that ignores a single gap. A sample ends only with
 * an ACK, so a gap of any length is within one sample, and the next sample contains
 * only the train, if it lasts long enough. Two gaps in a row, as with bit errors in
 * rain, lower the estimate accordingly until the next sample without a gap.
 *
 * The first ACK has no predecessor. The paper assumes an interval of 1 ms, which
 * is one segment at 11.6 Mbit/s and fits its 10 Mbit/s link. Here the first ACK
 * counts as one segment whatever it covers, and the ACKs of the first train correct
 * the estimate until there is a full sample: up to ACK k it is
 * (bytes of k ACKs) / (1 ms + t_k - t_1). So on a slower link it is too high for one
 * ACK, and on a faster one it starts low and grows with the following trains. After
 * a train of three segments or more, a gap of RTT_min / 2 to 2 RTT_min is the pause
 * between two flights and is ignored. This estimate is provisional and dropped after
 * ABE_SETTLE full samples, since one compressed train can make it wrong by any
 * factor.
 *
 * Ranges: 1.2 kB/s (9.6 kbit/s) to 12.5 GB/s (100 Gbit/s), RTT 10 us to 10 s,
 * MSS 88 to 65483 bytes. All products below stay under 2^64 there.
 */
#ifndef _APOGEE_ABE_H
#define _APOGEE_ABE_H

#include "int.h"

/* The shortest sample is RTT_min / 16: long enough for a batch of ACKs on a long
 * path, short enough that some samples of a round trip contain no loss.
 */
#define ABE_INTERVAL_SHIFT	4
/* Batches last milliseconds at any RTT: at least 10 ms, or one RTT if that is less. */
#define ABE_INTERVAL_BATCH_US	10000U
/* Interrupt coalescing of fast NICs: at least 1 ms. */
#define ABE_INTERVAL_MIN_US	1000U
/* RTTs above 10 s are clamped. */
#define ABE_RTT_MAX_US		(10U * APOGEE_USEC_PER_SEC)
/* Epoch of the maximum filter, in intervals (4 round trips on a long path). */
#define ABE_EPOCH		64U
/* Full samples after which the first train's estimate is dropped. */
#define ABE_SETTLE		4U
/* Segments of the first train after which a gap may be a pause. */
#define ABE_TRAIN		3U
/* A receiver's timestamps tell to a millisecond how late an ACK is. It is kept in 128 us. */
#define ABE_LATE_TICK_US	1000U
#define ABE_LATE_SHIFT		7
/* Maximum window, 2^30 segments. */
#define ABE_WINDOW_MAX		0x40000000U

/**
 * struct abe - state of one bandwidth estimation
 * @mark_us: time of the ACK that began the current sample, in us, modulo 2^32
 * @epoch_us: time at which the current epoch began, in us, modulo 2^32
 * @bytes: bytes delivered in the current sample, up to 2^32 - 1: a sample contains at
 *	most two of TCP's largest windows, 2^30 each
 * @bw: largest sample of the current [0] and the previous [1] epoch, in B/s;
 *	until @samples is ABE_SETTLE, [1] is the estimate of the first train;
 *	with @recent an epoch is one sample
 * @last_us: time of the last ACK, in us, modulo 2^32
 * @sent_us: when the last segment delivered by the ACK at @mark_us was sent, in us,
 *	modulo 2^32
 * @late: by how much the ACK at @mark_us was late, in 128 us, up to 8.4 s
 * @samples: full samples so far, up to ABE_SETTLE
 * @started: the first ACK has arrived
 * @train: three segments have been acknowledged: a pause may follow
 * @recent: set by the caller at any time: only remember the last two samples
 */
struct abe {
	u64 bw[2];
	u32 mark_us;
	u32 epoch_us;
	u32 bytes;
	u32 last_us;
	u32 sent_us;
	u16 late;
	u8 samples;
	u8 started : 1;
	u8 train : 1;
	u8 recent : 1;
};

/**
 * abe_interval_us() - minimum duration of a bandwidth sample
 * @rtt_min_us: minimum RTT in us; any value
 *
 * Return: RTT_min / 16, but at least the shorter of 10 ms and one RTT_min, and
 * at least 1 ms; in us, at most 625 ms.
 */
static inline u32 abe_interval_us(u32 rtt_min_us)
{
	if (rtt_min_us > ABE_INTERVAL_BATCH_US << ABE_INTERVAL_SHIFT)
		return min_t(u32, rtt_min_us, ABE_RTT_MAX_US) >> ABE_INTERVAL_SHIFT;
	return clamp_t(u32, rtt_min_us, ABE_INTERVAL_MIN_US, ABE_INTERVAL_BATCH_US);
}

/* bytes per elapsed_us in B/s; an interval of more than 2^32 us is idle time */
static inline u64 abe_rate(u64 bytes, u64 elapsed_us)
{
	u32 us = (u32)min_t(u64, elapsed_us, U32_MAX);

	bytes = min_t(u64, bytes, U64_MAX / APOGEE_USEC_PER_SEC);
	return div_u64(bytes * APOGEE_USEC_PER_SEC, us ? us : 1);
}

/**
 * abe_bw() - the estimated bandwidth
 * @a: the estimation
 *
 * Return: bandwidth in B/s, 0 before the first ACK.
 */
static inline u64 abe_bw(const struct abe *a)
{
	return max_t(u64, a->bw[0], a->bw[1]);
}

static inline void abe_restart_sample(struct abe *a, u32 now_us, u32 sent_us, u32 late_us)
{
	a->mark_us = now_us;
	a->sent_us = sent_us;
	a->late = (u16)min_t(u32, late_us >> ABE_LATE_SHIFT, U16_MAX);
	a->bytes = 0;
}

/* Duration of the current sample: the longer of the arrival of its ACKs, as if none of them had
 * been late, and of the sending of what they deliver. A segment sent before the previous one adds
 * nothing.
 */
static inline u32 abe_elapsed_us(const struct abe *a, u32 now_us, u32 sent_us, u32 late_us)
{
	s32 sending_us = (s32)(sent_us - a->sent_us);
	u32 arrived_us = now_us - a->mark_us, began_us = (u32)a->late << ABE_LATE_SHIFT;
	u64 due_us = (u64)late_us + ABE_LATE_TICK_US;

	if (began_us > due_us)
		arrived_us += min_t(u32, began_us - (u32)due_us, U32_MAX - arrived_us);
	return max_t(u32, arrived_us, max(sending_us, 0));
}

static inline bool abe_epoch_over(const struct abe *a, u32 now_us,
				  u32 interval_us)
{
	return a->recent ||
	       now_us - a->epoch_us >= interval_us * ABE_EPOCH;
}

static inline void abe_take_sample(struct abe *a, u32 now_us, u64 sample,
				   u32 interval_us, bool limited)
{
	if (limited && sample < abe_bw(a)) {
		a->epoch_us += now_us - a->mark_us;
		return;
	}

	if (a->samples < ABE_SETTLE) {
		a->bw[0] = max_t(u64, a->bw[0], sample);
		if (++a->samples == ABE_SETTLE)
			a->bw[1] = 0;
	} else if (abe_epoch_over(a, now_us, interval_us)) {
		a->bw[1] = a->bw[0];
		a->bw[0] = sample;
		a->epoch_us = now_us;
	} else {
		a->bw[0] = max_t(u64, a->bw[0], sample);
	}
}

/* Correct the provisional estimate by another ACK of the first train. */
static inline void abe_correct_first(struct abe *a, u64 bw, u32 gap_us,
				     u32 rtt_min_us)
{
	u32 rtt = min_t(u32, rtt_min_us, ABE_RTT_MAX_US);
	bool pause = a->train && gap_us >= rtt / 2 && gap_us < rtt * 2;

	if (!pause)
		a->bw[1] = bw;
}

/**
 * abe_sent_slowly() - has what the current sample counts been sent about as slowly as
 *	it arrived?
 * @a: the estimation, before abe_ack() with the same ACK
 * @now_us: arrival time of the ACK, as for abe_ack()
 * @sent_us: when the newest segment delivered so far was sent, as for abe_ack()
 *
 * Return: true if the sender sets the rate of the first train, false after the first
 * train.
 */
static inline bool abe_sent_slowly(const struct abe *a, u32 now_us, u32 sent_us)
{
	s32 sending_us = (s32)(sent_us - a->sent_us);

	return a->started && !a->samples && sending_us > 0 &&
	       (u32)sending_us >= (now_us - a->mark_us) / 2;
}

/**
 * abe_skip() - an ACK of which is not known how much it delivers
 * @a: the estimation
 * @now_us: arrival time of the ACK, as for abe_ack()
 * @sent_us: when the newest segment delivered so far was sent, as for abe_ack()
 * @late_us: by how much it is late, as for abe_ack()
 *
 * The sample begins anew, and its time does not age the estimate.
 */
static inline void abe_skip(struct abe *a, u32 now_us, u32 sent_us, u32 late_us)
{
	if (!a->started)
		return;
	a->epoch_us += now_us - a->mark_us;
	a->last_us = now_us;
	abe_restart_sample(a, now_us, sent_us, late_us);
}

/**
 * abe_count() - count what an ACK delivers
 * @a: the estimation
 * @now_us: arrival time of the ACK, as for abe_ack()
 * @bytes: bytes newly acknowledged or SACKed; may be 0
 * @rtt_min_us: minimum RTT in us
 *
 * Return: true if the estimate may change: abe_sample() has to follow.
 */
static inline bool abe_count(struct abe *a, u32 now_us, u64 bytes, u32 rtt_min_us)
{
	if (!bytes)
		return false;
	a->bytes = (u32)min_t(u64, a->bytes + bytes, U32_MAX);
	if (!a->samples || now_us - a->mark_us >= abe_interval_us(rtt_min_us))
		return true;
	a->last_us = now_us;
	return false;
}

/**
 * abe_sample() - update the estimate
 * @a: the estimation, after abe_count() of the same ACK
 * @now_us: arrival time of the ACK, as for abe_ack(), and so all that follows
 * @sent_us: when the newest segment delivered so far was sent
 * @mss: maximum segment size
 * @rtt_min_us: minimum RTT
 * @first_us: interval assumed for the first ACK
 * @limited: the sender had no data to send
 * @late_us: by how much the ACK is late
 *
 * Return: true if the estimate may have changed.
 */
static inline bool abe_sample(struct abe *a, u32 now_us, u32 sent_us, u32 mss, u32 rtt_min_us,
			      u32 first_us, bool limited, u32 late_us)
{
	u32 gap_us = now_us - a->last_us, interval_us = abe_interval_us(rtt_min_us), elapsed_us;

	a->last_us = now_us;
	if (!a->started) {
		a->started = true;
		a->epoch_us = now_us;
		a->train = a->bytes >= ABE_TRAIN * (u64)mss;
		a->bw[1] = abe_rate(mss, first_us);
		abe_restart_sample(a, now_us, sent_us, late_us);
		return true;
	}

	if ((s32)(now_us - a->mark_us) < 0) {
		abe_restart_sample(a, now_us, sent_us, late_us);
		a->epoch_us = now_us;
		return false;
	}

	elapsed_us = abe_elapsed_us(a, now_us, sent_us, late_us);
	if (!a->samples)
		abe_correct_first(a, abe_rate((u64)mss + a->bytes,
					      (u64)first_us + elapsed_us),
				  gap_us, rtt_min_us);
	if ((u64)mss + a->bytes >= ABE_TRAIN * (u64)mss)
		a->train = true;
	if (now_us - a->mark_us < interval_us)
		return true;

	abe_take_sample(a, now_us, abe_rate(a->bytes, elapsed_us), interval_us,
			limited);
	abe_restart_sample(a, now_us, sent_us, late_us);
	return true;
}

/**
 * abe_ack() - process one ACK (eq. 2)
 * @a: the estimation, zeroed before first use, except @recent
 * @now_us: arrival time of the ACK, in us, modulo 2^32: a pause of 36 minutes or more
 *	may look like one of any length, or like a step back of the clock
 * @sent_us: when the newest segment delivered so far was sent, in us of the same
 *	clock, modulo 2^32
 * @bytes: bytes newly acknowledged or SACKed; may be 0
 * @mss: maximum segment size in bytes
 * @rtt_min_us: minimum RTT in us
 * @first_us: interval assumed for the first ACK, in us, at least 1
 * @limited: the sender had no data to send while these bytes were in flight
 * @late_us: by how much the ACK is later than by the shortest way back, 0 if unknown
 *
 * Return: true if the estimate may have changed.
 */
static inline bool abe_ack(struct abe *a, u32 now_us, u32 sent_us, u64 bytes,
			   u32 mss, u32 rtt_min_us, u32 first_us, bool limited,
			   u32 late_us)
{
	return abe_count(a, now_us, bytes, rtt_min_us) &&
	       abe_sample(a, now_us, sent_us, mss, rtt_min_us, first_us, limited, late_us);
}

/**
 * abe_window() - cwnd_abe, the window that fills the path (eq. 1)
 * @bw: bandwidth in B/s
 * @rtt_min_us: minimum RTT in us
 * @mss: maximum segment size in bytes; 0 counts as 1
 *
 * Return: BW * RTT_min / MSS in segments, rounded down, at most 2^30.
 */
static inline u32 abe_window(u64 bw, u32 rtt_min_us, u32 mss)
{
	u32 rtt = min_t(u32, rtt_min_us, ABE_RTT_MAX_US);
	u64 bdp = div_u64(min_t(u64, bw, U64_MAX / ABE_RTT_MAX_US) * rtt,
			  APOGEE_USEC_PER_SEC);

	return (u32)min_t(u64, div_u64(bdp, mss ? mss : 1), ABE_WINDOW_MAX);
}

#endif /* _APOGEE_ABE_H */
