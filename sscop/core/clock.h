/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the link: what STATs tell of its rate and its round trip, and what may be
 * sent by that.
 *
 * A link keeps its order, so a STAT shows that all that was sent before its POLL has left
 * the link, arrived or lost. What is sent from then on is under way. Rate and round trip
 * follow from that as in BBR (draft-cardwell-ietf-ccwg-bbr), but for what is counted: all
 * octets sent, as those lost on a radio took their time as well.
 *
 *   pressed    The device below is the bottleneck: while it is full it sends about as
 *              fast as STATs say that the link does. What it has is bounded by the
 *              owner, and nothing more is needed.
 *   otherwise  The bottleneck has a queue of its own, a box behind Ethernet. SDs are
 *              paced at the link's rate, and what is under way is bounded.
 *
 * A queue that is full drops, and a radio loses. Losses of both kinds show alike in a
 * STAT, but a queue that drops is seen in the round trip: the share lost while none is seen
 * is the radio's, and what is above it did not pass.
 */
#ifndef _SSCOP_CLOCK_H
#define _SSCOP_CLOCK_H

#include <apogee/int.h>

#define SSCOP_CLOCK_MARKS 64U	/* POLLs under way that are remembered, a power of two */
#define SSCOP_CLOCK_SPARE 700U	/* octets under way beyond what the link holds, at least; not fewer
				 * than between two POLLs
				 */
#define SSCOP_CLOCK_ROUND_US 1000U	/* from one POLL to the next on a fast link, at least */
#define SSCOP_FRAME 14U		/* octets of a frame besides the PDU */

enum sscop_clock_phase {
	SSCOP_CLOCK_START,	/* up to three times as much in each round trip */
	SSCOP_CLOCK_DRAIN,	/* what was too much leaves */
	SSCOP_CLOCK_PROBE,	/* a quarter more, while this helps ... */
	SSCOP_CLOCK_REST,	/* ... and a quarter less ... */
	SSCOP_CLOCK_CRUISE,	/* ... and as much as the link delivers, for some */
};

/* Why nothing was sent, though there was something. */
enum sscop_clock_wait {
	SSCOP_CLOCK_NO_WAIT,
	SSCOP_CLOCK_ROOM,	/* the device below is full */
	SSCOP_CLOCK_TICK,	/* the clock has not ticked */
	SSCOP_CLOCK_FULL,	/* as much is under way as may be */
};

/**
 * struct sscop_clock_heard - a STAT that came
 * @at: us, when; 0: none
 * @asked: us, when its POLL was sent
 * @sent: octets sent before the end of that POLL
 * @lost: octets known to be lost when it had come
 * @untold: octets of which it did not tell, as its list was full
 */
struct sscop_clock_heard {
	u64 at;
	u64 asked;
	u64 sent;
	u64 lost;
	u64 untold;
};

/**
 * struct sscop_clock_mark - a POLL that was sent
 * @at: us, when
 * @sent: octets sent before its end
 * @from: the STAT since which the rate is told
 * @idle: there was nothing to send at some time since its POLL
 * @ahead: us that SDs before it were to take from then on
 * @poll: its number
 */
struct sscop_clock_mark {
	u64 at;
	u64 sent;
	struct sscop_clock_heard from;
	bool idle;
	u32 ahead;
	u32 poll;
};

/**
 * struct sscop_clock - what is known of a link
 * @sent: octets of frames sent
 * @lost: of these, octets known to be lost
 * @frame: octets of the longest frame sent of late
 * @heard: the newest STAT: what was sent later is under way
 * @from: one some frames ago
 * @idle_sent: octets sent when there was nothing more to send
 * @empty_sent: octets sent when there was no SD under way either
 * @rate: octets per second, most of a round trip's, of the last rounds and of those before
 * @counted: one of these was told of frames enough
 * @loss: least share lost, in 1/1024, the same
 * @extra: most octets that left the link beyond its rate at once, the same
 * @turns: rounds since these were turned
 * @base: us, least round trip of the last seconds, and of those before
 * @base_at: us, when these were turned
 * @epoch_at: us, since when @epoch_octets left
 * @epoch_octets: octets
 * @round_sent: octets sent when the round ends that is under way
 * @round_from: octets sent when it began
 * @round_lost: octets known to be lost then
 * @round_frame: octets of its longest frame
 * @round_rtt: us, its least round trip
 * @round_most: us, its longest
 * @rested: us, the base and what round trips differed by after SSCOP_CLOCK_REST, less frames
 * @round_rate: octets per second, most of its POLLs' round trips
 * @last_rate: the same of the round before
 * @round_at: us, when it began; 0: not known
 * @round_left: octets that had left the link then
 * @round_full: as much was under way as may be, at some time in it
 * @more: octets that may be under way because STATs wait on their way
 * @loss_from: octets sent when losses were last told
 * @loss_lost: octets known to be lost then
 * @light: octets of late that left the link while no queue was seen
 * @light_lost: of these, octets lost
 * @waited: the newest POLL that was answered did, behind others
 * @refused: the device below dropped a frame in it
 * @round_idle: there was nothing to send at some time in it
 * @busy: rounds since there was last none, up to some
 * @round_told: a POLL was answered in it before which there was always more to send
 * @best: octets per second when @SSCOP_CLOCK_START or _PROBE last helped
 * @still: rounds that were not faster
 * @phase: an enum sscop_clock_phase
 * @rounds: in this phase
 * @window: octets that may be under way in @SSCOP_CLOCK_START
 * @most: octets that may be under way
 * @paced: SDs follow @next_at
 * @next_at: us, when the next SD is due
 * @early: us that it may be early
 * @pressed: see above
 * @slow: the last round spoke for that
 * @wait: an enum sscop_clock_wait
 * @wait_at: us, since when
 * @in_room: SDs go out that waited for it
 * @room_us: us in the round for which there was no room below
 * @room_octets: octets that were sent when there was again
 * @ticks: times in the round that only the clock kept an SD back
 * @marks: POLLs under way, at their number modulo @SSCOP_CLOCK_MARKS
 */
struct sscop_clock {
	u64 sent;
	u64 lost;
	u32 frame;
	struct sscop_clock_heard heard;
	struct sscop_clock_heard from;
	u64 idle_sent;
	u64 empty_sent;
	u64 rate[2];
	bool counted;
	u32 loss[2];
	u64 extra[2];
	u32 turns;
	u32 base[2];
	u64 base_at;
	u64 epoch_at;
	u64 epoch_octets;
	u64 round_sent;
	u64 round_from;
	u64 round_lost;
	u32 round_frame;
	u32 round_rtt;
	u32 round_most;
	u32 rested;
	u64 round_rate;
	u64 last_rate;
	u64 round_at;
	u64 round_left;
	bool round_full;
	u64 more;
	u64 loss_from;
	u64 loss_lost;
	u64 light;
	u64 light_lost;
	bool waited;
	bool refused;
	bool round_idle;
	u32 busy;
	bool round_told;
	u64 best;
	u32 still;
	u8 phase;
	u32 rounds;
	u64 window;
	u64 most;
	bool paced;
	u64 next_at;
	u32 early;
	bool pressed;
	bool slow;
	u8 wait;
	u64 wait_at;
	bool in_room;
	u64 room_us;
	u64 room_octets;
	u32 ticks;
	struct sscop_clock_mark marks[SSCOP_CLOCK_MARKS];
};

void sscop_clock_init(struct sscop_clock *c, u64 now);
void sscop_clock_slow(struct sscop_clock *c, u32 apart);
void sscop_clock_sent(struct sscop_clock *c, u32 pdu);
void sscop_clock_paced(struct sscop_clock *c, u32 pdu, u64 now);
void sscop_clock_lost(struct sscop_clock *c, u32 pdu);
void sscop_clock_refused(struct sscop_clock *c);
void sscop_clock_asked(struct sscop_clock *c, u32 poll, u64 now);
u32 sscop_clock_least(const struct sscop_clock *c, u32 poll, u32 newest, u64 now);
void sscop_clock_heard(struct sscop_clock *c, u32 poll, u64 untold, u64 now);
void sscop_clock_waits(struct sscop_clock *c, enum sscop_clock_wait wait, u64 now);
u64 sscop_clock_resumes(struct sscop_clock *c, u64 now);
void sscop_clock_paused(struct sscop_clock *c);
void sscop_clock_idle(struct sscop_clock *c, bool empty);
void sscop_clock_restart(struct sscop_clock *c);
u64 sscop_clock_rate(const struct sscop_clock *c);
u64 sscop_clock_takes(const struct sscop_clock *c, u32 octets);
u64 sscop_clock_wait(const struct sscop_clock *c);
u32 sscop_clock_base(const struct sscop_clock *c);
u64 sscop_clock_window(const struct sscop_clock *c);
bool sscop_clock_is_full(const struct sscop_clock *c);
bool sscop_clock_is_loose(const struct sscop_clock *c);
bool sscop_clock_is_roomy(const struct sscop_clock *c);
u64 sscop_clock_due(const struct sscop_clock *c);
bool sscop_clock_is_pushing(const struct sscop_clock *c);

#endif /* _SSCOP_CLOCK_H */
