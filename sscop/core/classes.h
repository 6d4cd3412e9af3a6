/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of packets that do not wait for the repair of others (RFC 3366): whole packets
 * in UDs, beside the assured ones in SDs.
 *
 *   unassured  Nothing is asked for: copies are sent, GAP_US apart, as many as make it
 *              likely that one arrives, by the share of UDs that was lost.
 *   bounded    Sent again when UDSTATs show that it was lost, or when they do not come,
 *              until it is given up. What none follows is copied twice.
 *
 * Each UD, copies too, has a number of its own, N(S): as a link keeps its order, a UDSTAT
 * proves which were lost. The packet's number lets the receiver keep each class in order,
 * and drop copies. How long it waits for one that is missing is said by the sender, who
 * knows which packets it may send again.
 */
#ifndef _SSCOP_CLASSES_H
#define _SSCOP_CLASSES_H

#include <apogee/int.h>

#define SSCOP_CLASS_SLOTS 256U	/* packets kept at each end, and UDs remembered */

enum sscop_class_name {
	SSCOP_UNASSURED,
	SSCOP_BOUNDED,
	SSCOP_CLASSES,
	SSCOP_ASSURED = SSCOP_CLASSES,
};

/**
 * struct sscop_class_packet - a packet that was sent
 * @segment: it; NULL: it is not sent again
 * @due: us, when it is sent again
 * @end: us, when it is given up
 * @length: its octets
 * @copies: how often it is sent, GAP_US apart, until more is known
 * @sent: how often it was, up to 255
 * @under_way: UDs with it of which nothing is known
 * @alone: no other packet has been sent since
 */
struct sscop_class_packet {
	void *segment;
	u64 due;
	u64 end;
	u32 length;
	u8 copies;
	u8 sent;
	u16 under_way;
	bool alone;
};

/**
 * struct sscop_class_frame - a UD that was sent
 * @length: octets of the PDU
 * @packet: what was in it
 * @open: it is not known what became of it
 * @pushed: a queue may have dropped it
 */
struct sscop_class_frame {
	u32 length;
	u16 packet;
	bool open;
	bool pushed;
};

/**
 * struct sscop_class_tx - the transmitter of a class
 * @packets: from @first to @next, at their number modulo SSCOP_CLASS_SLOTS
 * @frames: UDs, at N(S) modulo the same
 * @first: the oldest packet that may be sent again
 * @next: the next new packet's number
 * @serial: N(S) of the next UD
 * @told: N(S) of the first UD of which no UDSTAT has told
 * @offered: the owner has a new packet
 */
struct sscop_class_tx {
	struct sscop_class_packet packets[SSCOP_CLASS_SLOTS];
	struct sscop_class_frame frames[SSCOP_CLASS_SLOTS];
	u16 first;
	u16 next;
	u32 serial;
	u32 told;
	bool offered;
};

/**
 * struct sscop_class_rx - the receiver of a class
 * @held: packets that wait for earlier ones, at their number modulo SSCOP_CLASS_SLOTS
 * @until: us, for how long they do
 * @waiting: how many
 * @next: the next packet to be delivered
 * @ready: packets to be delivered, from @ready_from to @ready_to, modulo twice that number
 * @ready_from: see there
 * @ready_to: see there
 * @newest: N(S) of the newest UD
 * @seen: bit n: the UD n before it was received
 * @fresh: UDs since the last UDSTAT
 * @report_at: us, when the next is due, if there are any
 */
struct sscop_class_rx {
	void *held[SSCOP_CLASS_SLOTS];
	u64 until[SSCOP_CLASS_SLOTS];
	u32 waiting;
	u16 next;
	void *ready[2 * SSCOP_CLASS_SLOTS];
	u32 ready_from;
	u32 ready_to;
	u32 newest;
	u64 seen;
	u32 fresh;
	u64 report_at;
};

/**
 * struct sscop_class_losses - what became of UDs that were sent
 * @known: UDs of which it is known; the older half is forgotten now and then
 * @lost: of these
 * @recent: share lost of late, in 1/65536
 */
struct sscop_class_losses {
	u32 known;
	u32 lost;
	u32 recent;
};

/**
 * struct sscop_class - one class, in both directions
 * @losses: kept when the numbering begins anew
 * @tx: the transmitter
 * @rx: the receiver
 */
struct sscop_class {
	struct sscop_class_losses losses;
	struct sscop_class_tx tx;
	struct sscop_class_rx rx;
};

/* counts since sscop_init() */
struct sscop_class_counts {
	u64 sent;		/* packets */
	u64 again;		/* UDs with packets that were sent before */
	u64 given_up;		/* packets not known to have arrived, if bounded */
	u64 received;		/* packets, each once */
	u64 missed;		/* packets that were not received when a later one was delivered */
};

#endif /* _SSCOP_CLASSES_H */
