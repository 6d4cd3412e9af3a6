/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ABE, the Available Bandwidth Estimation of TCP-J and TCP-STAR.
 *
 * The papers take one sample per ACK, BW_sample = d / ack_interval (eq. 2),
 * and name no filter. What a sender wants to know is the spacing of the ACK
 * train: it is the bottleneck's rate, which frames lost behind the bottleneck
 * don't change. Today's receivers and paths distort that spacing, and each
 * step below answers one distortion:
 *
 *  - ACK compression, interrupt and GRO batches (intervals of zero): a sample
 *    is taken over at least abe_interval_us(), never over a single gap. It
 *    begins and ends with an ACK, so on a train that is released every x ms
 *    it counts whole releases.
 *  - Stretch and delayed ACKs: bytes newly delivered (acknowledged or SACKed)
 *    are counted, not ACKs. The jump of snd_una when a hole fills is no
 *    delivery: those bytes were counted when their SACK arrived.
 *  - Gaps in the train (a lost frame, an idle or window limited sender): they
 *    only ever make a sample too small, so the estimate is the largest sample
 *    of the running and the previous epoch of ABE_EPOCH intervals. A mean, as
 *    Westwood's, shrinks by the loss rate every round trip. With @recent set,
 *    TCP-STAR to the letter, it is the larger of the last two samples: see
 *    below.
 *  - A sender with nothing to send: such samples neither lower the estimate
 *    nor does their time age it. (The first train is corrected all the same:
 *    the stack marks every first flight as limited by the application.)
 *  - ACKs that are held for a while and let go at once: what a sample counts was
 *    sent in no less time than the sample is taken to last, as tcp_rate_gen()
 *    bounds the stack's own rate. A train that left as one is not bounded.
 *  - A clock that stands still between two ACKs adds to the next sample; one
 *    that steps back behind the beginning of the running sample restarts it.
 *
 * Two epochs are longer than a round trip, in which each of two flows in a
 * queue has its train, at the bottleneck's full rate: the maximum reads that
 * rate for both, all the time. The paper's estimates rise and fall in turn and
 * average 8 of 10 Mbit/s (fig. 15), as eq. 2 has no memory at all. One sample
 * more is the least that keeps a single gap out. No sample ends without an ACK,
 * so a gap of any length lies in one sample, and the next one is of the train
 * alone if the train lasts that long. Two gaps in a row, the bit errors of rain,
 * lower the estimate by what they took, until a whole sample comes.
 *
 * The first ACK has no predecessor. The paper gives it an interval of 1 ms,
 * which is one segment at 11.6 Mbit/s and fits its 10 Mbit/s link. Here it
 * counts as one segment whatever it covers, and the ACKs of the first train
 * correct it one by one until there is a full sample: up to ACK k the estimate
 * is (bytes of k ACKs) / (1 ms + t_k - t_1), so that a slower link overshoots
 * for one ACK and a faster one starts low and grows with the following trains.
 * Behind a train of three segments or more, a gap of RTT_min / 2 to 2 RTT_min is
 * the pause between two flights and corrects nothing. This estimate is
 * provisional and dropped after ABE_SETTLE full samples, since one compressed
 * train can make it wrong by any factor.
 *
 * Ranges: 1.2 kB/s (9.6 kbit/s) to 12.5 GB/s (100 Gbit/s), RTT 10 us to 10 s,
 * MSS 88 to 65483 bytes. All products below stay under 2^64 there.
 */
#ifndef _APOGEE_ABE_H
#define _APOGEE_ABE_H

#include "int.h"

/* The shortest sample is RTT_min / 16: long enough to hold a batch of ACKs on
 * a long path, short enough that some samples of a round trip see no loss.
 */
#define ABE_INTERVAL_SHIFT	4
/* Batches last milliseconds whatever the RTT: not below 10 ms, or one RTT. */
#define ABE_INTERVAL_BATCH_US	10000U
/* Interrupt coalescing of fast NICs: never below 1 ms. */
#define ABE_INTERVAL_MIN_US	1000U
/* RTTs above 10 s are not believed. */
#define ABE_RTT_MAX_US		(10U * APOGEE_USEC_PER_SEC)
/* An epoch of the maximum filter, in intervals (4 round trips if long). */
#define ABE_EPOCH		64U
/* Full samples after which the first train's estimate is forgotten. */
#define ABE_SETTLE		4U
/* Segments of the first train before a gap may be a pause. */
#define ABE_TRAIN		3U
/* No window above 2^30 segments. */
#define ABE_WINDOW_MAX		0x40000000U

/**
 * struct abe - state of one bandwidth estimation
 * @mark_us: time of the ACK that began the running sample, in us, modulo 2^32
 * @epoch_us: time at which the running epoch began, in us, modulo 2^32
 * @bytes: bytes delivered in the running sample, up to 2^32 - 1: of TCP's largest
 *	window, 2^30, a sample has two at most
 * @bw: largest sample of the running [0] and the previous [1] epoch, in B/s;
 *	until @samples is ABE_SETTLE, [1] is the estimate of the first train;
 *	with @recent an epoch is one sample
 * @last_us: time of the last ACK, in us, modulo 2^32
 * @sent_us: when the last segment was sent that the ACK at @mark_us delivered,
 *	in us, modulo 2^32
 * @samples: full samples so far, up to ABE_SETTLE
 * @started: the first ACK has been seen
 * @train: three segments have been acknowledged: a pause may follow
 * @recent: set by the caller, may change: forget all but the last two samples
 */
struct abe {
	u64 bw[2];
	u32 mark_us;
	u32 epoch_us;
	u32 bytes;
	u32 last_us;
	u32 sent_us;
	u8 samples;
	bool started;
	bool train;
	bool recent;
};

/**
 * abe_interval_us() - shortest time a bandwidth sample is taken over
 * @rtt_min_us: smallest round trip time seen, in us; any value
 *
 * Return: RTT_min / 16, but at least the shorter of 10 ms and one RTT_min, and
 * at least 1 ms; in us, at most 625 ms.
 */
static inline u32 abe_interval_us(u32 rtt_min_us)
{
	u32 rtt = min_t(u32, rtt_min_us, ABE_RTT_MAX_US);
	u32 batch = min_t(u32, rtt, ABE_INTERVAL_BATCH_US);

	return max_t(u32, rtt >> ABE_INTERVAL_SHIFT,
		     max_t(u32, batch, ABE_INTERVAL_MIN_US));
}

/* bytes per us_elapsed as B/s; an interval of more than 2^32 us is idleness */
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

static inline void abe_restart_sample(struct abe *a, u32 now_us, u32 sent_us)
{
	a->mark_us = now_us;
	a->sent_us = sent_us;
	a->bytes = 0;
}

/* How long the running sample lasts: the longer of its ACKs' arrival and of the
 * sending of what they deliver. A segment that is older than the one before took
 * no time.
 */
static inline u32 abe_elapsed_us(const struct abe *a, u32 now_us, u32 sent_us)
{
	s32 sending_us = (s32)(sent_us - a->sent_us);

	return max_t(u32, now_us - a->mark_us, sending_us > 0 ? sending_us : 0);
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

/* Correct the provisional estimate by one more ACK of the first train. */
static inline void abe_correct_first(struct abe *a, u64 bw, u32 gap_us,
				     u32 rtt_min_us)
{
	u32 rtt = min_t(u32, rtt_min_us, ABE_RTT_MAX_US);
	bool pause = a->train && gap_us >= rtt / 2 && gap_us < rtt * 2;

	if (!pause)
		a->bw[1] = bw;
}

/**
 * abe_ack() - account for one ACK (eq. 2)
 * @a: the estimation, zeroed before first use but for @recent
 * @now_us: arrival time of the ACK, in us, modulo 2^32: a pause of 36 minutes and
 *	more may look like one of any length, or like a step back
 * @sent_us: when the newest segment delivered so far was sent, in us of the same
 *	clock, modulo 2^32
 * @bytes: bytes it newly acknowledges or SACKs; 0 is allowed
 * @mss: maximum segment size in bytes
 * @rtt_min_us: smallest round trip time seen, in us
 * @first_us: interval that the very first ACK is given, in us, at least 1
 * @limited: the sender had nothing to send while these bytes were in flight
 *
 * Return: true if the estimate may have changed.
 */
static inline bool abe_ack(struct abe *a, u32 now_us, u32 sent_us, u64 bytes,
			   u32 mss, u32 rtt_min_us, u32 first_us, bool limited)
{
	u32 gap_us = now_us - a->last_us;
	u32 interval_us, elapsed_us;

	if (!bytes)
		return false;
	a->last_us = now_us;

	if (!a->started) {
		a->started = true;
		a->epoch_us = now_us;
		a->train = bytes >= ABE_TRAIN * (u64)mss;
		a->bw[1] = abe_rate(mss, first_us);
		abe_restart_sample(a, now_us, sent_us);
		return true;
	}

	if ((s32)(now_us - a->mark_us) < 0) {
		abe_restart_sample(a, now_us, sent_us);
		a->epoch_us = now_us;
		return false;
	}

	a->bytes = (u32)min_t(u64, a->bytes + bytes, U32_MAX);
	elapsed_us = abe_elapsed_us(a, now_us, sent_us);
	interval_us = abe_interval_us(rtt_min_us);

	if (!a->samples)
		abe_correct_first(a, abe_rate((u64)mss + a->bytes,
					      (u64)first_us + elapsed_us),
				  gap_us, rtt_min_us);
	if ((u64)mss + a->bytes >= ABE_TRAIN * (u64)mss)
		a->train = true;
	if (now_us - a->mark_us < interval_us)
		return !a->samples;

	abe_take_sample(a, now_us, abe_rate(a->bytes, elapsed_us), interval_us,
			limited);
	abe_restart_sample(a, now_us, sent_us);
	return true;
}

/**
 * abe_window() - cwnd_abe, the window that fills the path (eq. 1)
 * @bw: bandwidth in B/s
 * @rtt_min_us: smallest round trip time seen, in us
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
