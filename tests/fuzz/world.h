/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two peers and the channel between them in virtual time, for the tests of sscop/.
 *
 * Whatever is done to a world, it checks that segments come out in order, once and
 * unchanged or a reset is reported, that every segment is freed once, that memory stays
 * within the window, and that sscop_deadline() is neither late nor early. The first
 * check that fails is kept in world.failure.
 */
#ifndef _FUZZ_WORLD_H
#define _FUZZ_WORLD_H

#include "sscop.h"

#define WIRE_MAX 1024		/* frames under way in a direction; more are lost */
#define QUEUE_US 200000U		/* a frame that would wait longer for the wire is lost */
#define TAKEN_MAX 2048		/* latest segments whose arrival is remembered */
#define FRAME_MIN 46U		/* octets that Ethernet pads a payload to */

struct world;

/**
 * struct segment - a segment as sender and receiver keep it
 * @magic: SEGMENT_MAGIC
 * @peer: that it was given to
 * @received: kept by the receiver
 * @first: packet's first segment
 * @last: packet's last segment
 * @life: memory of the sender that it comes from
 * @number: in that life, from 0
 * @length: octets of the PDU, or of the payload if received
 * @octets: the PDU, or the payload
 */
struct segment {
	u32 magic;
	struct peer *peer;
	bool received;
	bool first;
	bool last;
	u32 life;
	u32 number;
	u32 length;
	u8 octets[];
};

struct frame {
	u64 at;			/* us, when it arrives */
	u32 length;
	u8 octets[];
};

/**
 * struct wire - one direction of the channel
 * @loss: frames lost, in 256
 * @twice: frames that arrive twice, in 256
 * @damage: frames damaged, in 256
 * @cut: all frames are lost
 * @delay: us
 * @jitter: us at most, at random; frames overtake each other
 * @rate: bit/s, 0: infinite
 * @busy_until: us, when the last frame has left
 * @count: frames under way
 * @frames: sorted by time of arrival
 */
struct wire {
	u8 loss;
	u8 twice;
	u8 damage;
	bool cut;
	u32 delay;
	u32 jitter;
	u32 rate;
	u64 busy_until;
	u32 count;
	struct frame *frames[WIRE_MAX];
};

/**
 * struct peer - an owner of a connection
 * @s: the connection
 * @world: that it is in
 * @other: the peer's peer
 * @out: to the other
 * @running: between start and stop
 * @stopping: segments that are freed need not be reported
 * @segment: payload of an SD at most, octets
 * @life: changes with every start
 * @given: segments given to be sent in this life
 * @sent: segments cut in this life
 * @kept: segments of the transmitter that are not freed
 * @stored: segments of the receiver that are not freed
 * @lost: a segment was freed that the other did not take, or one that was taken was not
 *	delivered
 * @excuse: since the last segment was delivered, a reset or a new connection was reported
 * @heard_life: life of the segment delivered last
 * @heard_number: number expected next
 * @delivered: segments
 * @taken: number + 1 of segments that the other took
 * @owed: resets that must have been counted before data flows again
 * @events: all that were reported
 * @wake: us, when sscop_next() is asked again
 * @wake_is_deadline: because sscop_deadline() says so
 */
struct peer {
	struct sscop s;
	struct world *world;
	struct peer *other;
	struct wire out;
	bool running;
	bool stopping;
	u32 segment;
	u32 life;
	u32 given;
	u32 sent;
	u32 kept;
	u32 stored;
	bool lost;
	bool excuse;
	u32 heard_life;
	u32 heard_number;
	u64 delivered;
	u32 taken[TAKEN_MAX];
	u64 owed;
	u32 events;
	u64 wake;
	bool wake_is_deadline;
};

/**
 * struct world - both peers
 * @now: us
 * @random: state of the generator
 * @lives: started so far
 * @lied: a PDU was forged under the right seal: contents can no longer be checked
 * @steps: events since the last world_run() began
 * @failure: the first check that failed; empty: none
 * @peers: both
 */
struct world {
	u64 now;
	u64 random;
	u32 lives;
	bool lied;
	u32 steps;
	char failure[256];
	struct peer peers[2];
};

#define fail(world, ...) world_fail(world, __VA_ARGS__)

/* world.c */
struct world *world_new(const struct sscop_config *a, const struct sscop_config *b,
			u32 segment, u64 seed);
void world_free(struct world *world);
void world_fail(struct world *world, const char *format, ...);
u32 world_random(struct world *world, u32 below);
void world_start(struct world *world, u32 side);
void world_stop(struct world *world, u32 side, bool told);
void world_resync(struct world *world, u32 side);
void world_resume(struct world *world, u32 side);
void world_give(struct world *world, u32 side, u32 segments);
void world_run(struct world *world, u64 us);
bool world_connected(const struct world *world);
bool world_shift(struct world *world, u32 seq, u32 poll);
void peer_receive(struct peer *peer, const u8 *octets, u32 length);

/* settle.c */
void world_settle(struct world *world);

/* wire.c */
void wire_send(struct peer *from, const u8 *octets, u32 length);
void wire_put(struct peer *from, const u8 *octets, u32 length, u64 at);
struct frame *wire_take(struct wire *wire, u32 index);
void wire_clear(struct wire *wire);
void world_drop(struct world *world, u32 side, u32 index);
void world_repeat(struct world *world, u32 side, u32 index, u32 delay);
void world_damage(struct world *world, u32 side, u32 index, u32 octet, u8 bits);
void world_hurry(struct world *world, u32 side, u32 index);
void world_heal(struct world *world);

/* segments.c */
extern const struct sscop_owner test_owner;
struct segment *segment_cut(struct peer *peer, u32 seq);
struct segment *segment_received(struct peer *peer, const struct sscop_pdu *pdu,
				 const u8 *octets);
void segment_taken(struct segment *segment);
void segment_free(struct segment *segment);
void segment_delivered(struct peer *peer, struct segment *segment);

/* script.c */
void world_inject(struct world *world, u32 side, const struct sscop_pdu *pdu,
		  const u8 *payload, u32 seal);
struct world *script_run(const u8 *octets, u32 length);

#endif /* _FUZZ_WORLD_H */
