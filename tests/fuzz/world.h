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

#include <sscop/core/sscop.h>

#define WIRE_MAX 1024		/* frames under way in a direction; more are lost */
#define QUEUE_US 200000U		/* a frame that would wait longer for the wire is lost */
#define TAKEN_MAX 2048		/* latest segments whose arrival is remembered */
#define FRAME_MIN 46U		/* octets that Ethernet pads a payload to */

struct world;

/* A segment as sender and receiver keep it. */
struct segment {
	u32 magic;		/* SEGMENT_MAGIC */
	struct peer *peer;	/* that it was given to */
	bool received;		/* kept by the receiver */
	u8 class;		/* of its packet; SSCOP_ASSURED: of SDs */
	bool first;		/* packet's first segment */
	bool last;		/* packet's last segment */
	u32 life;		/* memory of the sender that it comes from */
	u32 number;		/* in that life, from 0 */
	u32 length;		/* octets of the PDU, or of the payload if received or of a class */
	u8 octets[];		/* the PDU, or the payload */
};

struct frame {
	u64 at;			/* us, when it arrives */
	u32 length;
	u8 octets[];
};

/* One direction of the channel. */
struct wire {
	u8 loss;		/* frames lost, in 256 */
	u8 twice;		/* frames that arrive twice, in 256 */
	u8 damage;		/* frames damaged, in 256 */
	bool cut;		/* all frames are lost */
	u32 delay;		/* us */
	u32 jitter;		/* us at most, at random; frames overtake each other */
	u32 rate;		/* bit/s, 0: infinite */
	u32 queue;		/* us that frames wait for it at most */
	bool box;		/* that has this rate is not the device below: it is never full */
	u64 paused_until;	/* us, the device below takes nothing */
	u64 busy_until;		/* us, when the last frame has left */
	u32 count;		/* frames under way */
	struct frame *frames[WIRE_MAX];	/* sorted by time of arrival */
};

/* What an owner does with a class of packets. */
struct flow {
	u32 given;		/* packets given to be sent in this life */
	u32 sent;		/* of these */
	u32 kept;		/* by the transmitter */
	u32 stored;		/* by the receiver */
	u32 heard_life;		/* life of the packet delivered last */
	u32 heard_number;	/* number expected next */
	u64 delivered;		/* packets */
	u64 latest;		/* us, when that was */
};

/* An owner of a connection. */
struct peer {
	struct sscop s;		/* the connection */
	struct world *world;	/* that it is in */
	struct peer *other;	/* the peer's peer */
	struct wire out;	/* to the other */
	bool running;		/* between start and stop */
	bool stopping;		/* segments that are freed need not be reported */
	u32 segment;		/* payload of an SD at most, octets */
	u32 life;		/* changes with every start */
	u32 given;		/* segments given to be sent in this life */
	u32 sent;		/* segments cut in this life */
	u32 kept;		/* segments of the transmitter that are not freed */
	u32 stored;		/* segments of the receiver that are not freed */
	/* a segment was freed that the other did not take, or one taken was not delivered */
	bool lost;
	/* since the last segment was delivered, a reset or a new connection was reported */
	bool excuse;
	u32 heard_life;		/* life of the segment delivered last */
	u32 heard_number;	/* number expected next */
	u64 delivered;		/* segments */
	u64 outcomes[2];	/* told of segments that arrived, and of lost ones */
	u32 taken[TAKEN_MAX];	/* number + 1 of segments that the other took */
	u64 owed;		/* resets that must have been counted before data flows again */
	u32 events;		/* all that were reported */
	u64 wake;		/* us, when sscop_next() is asked again */
	bool wake_is_deadline;	/* because sscop_deadline() says so */
	struct flow flows[SSCOP_CLASSES];	/* its classes, if config.persist is not 0 */
};

/* Both peers. */
struct world {
	u64 now;		/* us */
	u64 random;		/* state of the generator */
	u32 lives;		/* started so far */
	/* a PDU was forged under the right seal: contents can no longer be checked */
	bool lied;
	u32 steps;		/* events since the last world_run() began */
	char failure[256];	/* the first check that failed; empty: none */
	struct peer peers[2];	/* both */
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
void world_pause(struct world *world, u32 side, u32 us);
void world_give(struct world *world, u32 side, u32 segments);
void world_offer(struct world *world, u32 side, u32 class, u32 packets);
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
struct segment *datagram_new(struct peer *peer, u32 class);
void datagram_send(struct peer *peer, const struct segment *segment, const struct sscop_pdu *ud);
void datagram_delivered(struct peer *peer, struct segment *segment);

/* script.c */
void world_inject(struct world *world, u32 side, const struct sscop_pdu *pdu,
		  const u8 *payload, u32 seal);
struct world *script_run(const u8 *octets, u32 length);

#endif /* _FUZZ_WORLD_H */
