// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the link; see clock.h.
 */
#include "clock.h"

#define FIRST_FRAMES 20U	/* under way before anything is known */
#define FIRST_FRAME 1522U	/* octets, while no longer one was sent */
#define FIRST_US 15000000U	/* that they take at most */
#define SHORT_FRAME 60U		/* octets */
#define FRAME_ROUNDS 8U		/* in which a longer frame is forgotten, about */
#define LOSS_FRAMES 32U		/* of which a share lost is told */
#define LIGHT_FRAMES 64U	/* behind which POLLs did not wait that are remembered, */
#define PRIOR_FRAMES 8U		/* and as many as weigh as much as all others */
#define MORE_MOST 3U		/* times what the link holds, at most */
#define ROUND_FRAMES 8U		/* that leave in a round, but for SSCOP_CLOCK_START, and that
				 * tell of a rate; of fewer the first does not
				 */
#define SPARE_FRAMES 3U		/* under way beyond what the link holds */
#define REST_FRAMES 4U		/* of which the round trip in SSCOP_CLOCK_REST tells nothing */
#define TURN_ROUNDS 6U		/* rate, loss and extra are kept for, and as many more */
#define TURN_US 10000000U	/* the same of the base */
#define SLOWEST 30U		/* octets/s: less is the rate of who has little to send */
#define START_MAX_US 5000000U	/* a round trip after which more may be under way than before */
#define STILL_ROUNDS 3U		/* without a quarter more: the rate is found */
#define CRUISE_ROUNDS 6U
#define BURST_LEAST 200U		/* us that SDs may be early: not each needs a timer, */
#define BURST_MOST 1000U	/* and a queue of few frames has room */
#define BURST_FRAMES 2U		/* whose time this is otherwise; and for the one that is sent */
#define SHARE_BITS 10
#define SHARE_ONE 1024U
#define RATE_MAX (1024ULL * 1024 * 1024 * 1024)	/* octets/s: products with us fit */
#define US_MAX 60000000U

static u64 per_second(u64 octets, u64 us)
{
	return min_t(u64, div64_u64(octets * 1000000, max_t(u64, us, 1)), RATE_MAX);
}

/* octets that pass in a time at a rate */
static u64 octets_in(u64 rate, u64 us)
{
	u64 ms = div_u64(us, 1000);

	/* in ms if us would not fit */
	if (rate > U32_MAX / 2)
		return div_u64(rate, 1000) * ms + div_u64(rate, 1000000) * (us - 1000 * ms);
	return div_u64(rate * us, 1000000);
}

static u32 share(u64 part, u64 whole)
{
	return min_t(u64, div64_u64(part << SHARE_BITS, max_t(u64, whole, 1)), SHARE_ONE);
}

/* --- what is known ----------------------------------------------------------------------- */

/**
 * sscop_clock_rate() - the rate of the link
 * @c: the clock
 *
 * Return: octets per second; 0: not known.
 */
u64 sscop_clock_rate(const struct sscop_clock *c)
{
	return max(c->rate[0], c->rate[1]);
}

/**
 * sscop_clock_takes() - how long the link takes for some octets
 * @c: the clock
 * @octets: octets
 *
 * Return: us; 0: not known.
 */
u64 sscop_clock_takes(const struct sscop_clock *c, u32 octets)
{
	u64 rate = sscop_clock_rate(c);

	return rate ? div64_u64((u64)octets * 1000000, max_t(u64, rate, SLOWEST)) : 0;
}

static u32 base_rtt(const struct sscop_clock *c)
{
	return min(c->base[0], c->base[1]);
}

/**
 * sscop_clock_base() - the link's round trip when its queues are empty
 * @c: the clock
 *
 * Return: us; 0: not known.
 */
u32 sscop_clock_base(const struct sscop_clock *c)
{
	return base_rtt(c) == U32_MAX ? 0 : base_rtt(c);
}

/* Whether the least round trip of late is an eighth more than the one before: queues may not
 * have been empty since.
 */
static bool base_is_doubted(const struct sscop_clock *c)
{
	return c->base[1] != U32_MAX && c->base[0] > c->base[1] + c->base[1] / 8;
}

/* us: the round trip when little was sent. Without a queue it may vary as well, where radios take
 * turns, devices complete late, or STATs wait behind others on a slow way back.
 */
static u32 round_trip(const struct sscop_clock *c)
{
	return max(c->rested, sscop_clock_base(c));
}

/* The radio's losses, in 1/SHARE_ONE, at most seven of eight: those while no queue was seen and, as
 * long as these are few, the least share lost of late.
 */
static u32 radio_loss(const struct sscop_clock *c)
{
	u64 some = PRIOR_FRAMES * (u64)c->frame;
	u32 least = min(c->loss[0], c->loss[1]);

	least = least == SHARE_ONE ? 0 : least;
	least = share(c->light_lost + (some * least >> SHARE_BITS), c->light + some);
	return min_t(u32, least, SHARE_ONE * 7 / 8);
}

/* octets that the link holds when its queue is empty, and those between two POLLs at least: that
 * they have left is told by the second one's STAT
 */
static u64 held(const struct sscop_clock *c)
{
	return octets_in(sscop_clock_rate(c), max(round_trip(c), SSCOP_CLOCK_ROUND_US));
}

/* Of STATs and POLLs that were sent while there was no SD nobody knows when they left the link. */
static u64 under_way(const struct sscop_clock *c)
{
	return c->sent - max(c->heard.sent, c->empty_sent);
}

/**
 * sscop_clock_wait() - for how long the link is busy with what is under way
 * @c: the clock
 *
 * Of a single frame this says nothing.
 *
 * Return: us; 0: not known.
 */
u64 sscop_clock_wait(const struct sscop_clock *c)
{
	u64 way = min_t(u64, under_way(c), U32_MAX);

	return sscop_clock_takes(c, way - min_t(u64, way, c->frame));
}

/* octets that may be under way */
static u64 window_of(const struct sscop_clock *c)
{
	u64 polls = octets_in(sscop_clock_rate(c), min(round_trip(c), SSCOP_CLOCK_ROUND_US));
	u64 frames = max3(SPARE_FRAMES * (u64)c->frame, (u64)SSCOP_CLOCK_SPARE, polls);
	u64 spare = frames + max(c->extra[0], c->extra[1]);
	u64 most = held(c);

	/* A round trip of many seconds has the queue in it. */
	if (c->phase == SSCOP_CLOCK_START && round_trip(c) >= START_MAX_US)
		return max(c->window, spare);
	if (c->phase == SSCOP_CLOCK_START)
		return max(c->window, 2 * most + spare);
	if (c->pressed)
		return 8 * (most + spare);
	if (c->phase == SSCOP_CLOCK_DRAIN)
		return most + 2 * (u64)c->frame;
	if (c->phase == SSCOP_CLOCK_REST)
		return most / 8 * (base_is_doubted(c) ? 4 : 7) + 2 * (u64)c->frame;
	if (c->phase == SSCOP_CLOCK_PROBE)
		most += max(3 * most / 8, SPARE_FRAMES * (u64)c->frame);
	else
		most += most / 8;
	return most + spare + c->more;
}

/* A rate told of few frames, as those of a handshake, may be far too low. Where only some are under
 * way, these bound the queue.
 */
static bool is_paced(const struct sscop_clock *c)
{
	u64 some = c->counted ? 0 : SPARE_FRAMES * (u64)c->frame;

	return !c->pressed && held(c) > some;
}

/* What follows from the rest is computed when that changes: each frame asks for it. */
static void renew(struct sscop_clock *c)
{
	c->most = window_of(c);
	c->paced = is_paced(c);
}

/**
 * sscop_clock_init() - nothing is known
 * @c: the clock
 * @now: us
 */
void sscop_clock_init(struct sscop_clock *c, u64 now)
{
	u32 i;

	*c = (struct sscop_clock){
		.frame = FIRST_FRAME,
		.loss = { SHARE_ONE, SHARE_ONE },
		.base = { U32_MAX, U32_MAX },
		.base_at = now,
		.epoch_at = now,
		.round_rtt = U32_MAX,
		.window = FIRST_FRAMES * FIRST_FRAME,
		.next_at = now,
		.wait_at = now,
	};
	for (i = 0; i < SSCOP_CLOCK_MARKS; i++)
		c->marks[i].poll = U32_MAX;
	renew(c);
}

/**
 * sscop_clock_slow() - short frames came in no sooner one after the other
 * @c: the clock
 * @apart: us
 *
 * As long as no rate is known, no more may be under way than such a link takes in some time.
 */
void sscop_clock_slow(struct sscop_clock *c, u32 apart)
{
	u64 octets = div64_u64(SHORT_FRAME * (u64)FIRST_US, max(apart, 1U));

	c->window = min(c->window, octets);
	c->frame = min_t(u64, c->frame, octets / FIRST_FRAMES);
	renew(c);
}

/**
 * sscop_clock_window() - how much may be under way
 * @c: the clock
 *
 * Return: octets.
 */
u64 sscop_clock_window(const struct sscop_clock *c)
{
	return c->most;
}

/**
 * sscop_clock_is_full() - whether as much is under way as may be
 * @c: the clock
 *
 * Return: whether.
 */
bool sscop_clock_is_full(const struct sscop_clock *c)
{
	return under_way(c) >= c->most;
}

/**
 * sscop_clock_is_loose() - whether nothing that is sent now waits for long or takes another's place
 * @c: the clock
 *
 * Return: whether the device below is the bottleneck, or the link is half empty.
 */
bool sscop_clock_is_loose(const struct sscop_clock *c)
{
	return c->pressed || under_way(c) < held(c) / 2;
}

/**
 * sscop_clock_is_roomy() - whether more could be sent than there is
 * @c: the clock
 *
 * Return: whether the device below is the bottleneck, and had nothing to send at times of late.
 */
bool sscop_clock_is_roomy(const struct sscop_clock *c)
{
	return c->pressed && (c->round_idle || c->busy < TURN_ROUNDS);
}

/**
 * sscop_clock_due() - when the next SD may be sent, if not as much is under way as may be
 * @c: the clock
 *
 * Return: us; 0: now.
 */
u64 sscop_clock_due(const struct sscop_clock *c)
{
	return c->paced && c->next_at > c->early ? c->next_at - c->early : 0;
}

/**
 * sscop_clock_is_pushing() - whether a queue may drop what is sent now
 * @c: the clock
 *
 * Return: whether what becomes of it says nothing of the radio.
 */
bool sscop_clock_is_pushing(const struct sscop_clock *c)
{
	if (c->refused)
		return true;
	if (c->pressed || c->phase == SSCOP_CLOCK_CRUISE)
		return false;
	return c->phase != SSCOP_CLOCK_START || under_way(c) > c->most / 2;
}

/* --- what is sent ------------------------------------------------------------------------- */

/**
 * sscop_clock_sent() - a PDU was sent
 * @c: the clock
 * @pdu: its octets
 */
void sscop_clock_sent(struct sscop_clock *c, u32 pdu)
{
	u32 frame = pdu + SSCOP_FRAME;

	c->sent += frame;
	if (c->in_room)
		c->room_octets += frame;
	c->round_frame = max(c->round_frame, frame);
	if (frame <= c->frame)
		return;
	c->frame = frame;
	renew(c);
}

/* what the rate is multiplied with, in quarters */
static u32 gain(const struct sscop_clock *c)
{
	static const u8 quarters[] = {
		[SSCOP_CLOCK_START] = 32,
		[SSCOP_CLOCK_DRAIN] = 2,
		[SSCOP_CLOCK_PROBE] = 5,
		[SSCOP_CLOCK_CRUISE] = 4,
	};

	return quarters[c->phase];
}

/* Octets per second at which SDs are paced. In SSCOP_CLOCK_REST they are no more than arrive: if a
 * queue drops what seems lost on the radio, it no longer does.
 */
static u64 pace(const struct sscop_clock *c)
{
	u64 rate = sscop_clock_rate(c);

	if (c->phase == SSCOP_CLOCK_REST)
		rate = rate * (SHARE_ONE * 15 / 16 - radio_loss(c)) >> SHARE_BITS;
	else
		rate = rate * gain(c) / 4;
	return max_t(u64, rate, 1);
}

/**
 * sscop_clock_paced() - the PDU that was sent is one that is paced
 * @c: the clock
 * @pdu: its octets
 * @now: us
 */
void sscop_clock_paced(struct sscop_clock *c, u32 pdu, u64 now)
{
	u64 us;

	if (!c->paced) {
		c->next_at = now;
		return;
	}
	us = min_t(u64, div64_u64((u64)(pdu + SSCOP_FRAME) * 1000000, pace(c)), US_MAX);
	c->next_at = max(c->next_at, now) + us;
	c->early = us + clamp_t(u64, sscop_clock_takes(c, BURST_FRAMES * c->frame), BURST_LEAST,
				BURST_MOST);
}

/**
 * sscop_clock_lost() - a frame is known to be lost
 * @c: the clock
 * @pdu: octets of its PDU
 */
void sscop_clock_lost(struct sscop_clock *c, u32 pdu)
{
	c->lost += pdu + SSCOP_FRAME;
}

/**
 * sscop_clock_refused() - the device below has dropped a frame
 * @c: the clock
 */
void sscop_clock_refused(struct sscop_clock *c)
{
	c->refused = true;
}

/* us that SDs take from now on which were paced by the rate, or a quarter above it */
static u32 paced_ahead(const struct sscop_clock *c, u64 now)
{
	bool steady = c->phase == SSCOP_CLOCK_PROBE || c->phase == SSCOP_CLOCK_CRUISE;

	return steady && c->paced && c->next_at > now ? min_t(u64, c->next_at - now, US_MAX) : 0;
}

/**
 * sscop_clock_asked() - a POLL was sent
 * @c: the clock
 * @poll: its number
 * @now: us
 */
void sscop_clock_asked(struct sscop_clock *c, u32 poll, u64 now)
{
	bool many = c->sent - c->heard.sent >= ROUND_FRAMES * (u64)c->frame;
	const struct sscop_clock_heard *from = many || !c->from.at ? &c->heard : &c->from;

	c->marks[poll % SSCOP_CLOCK_MARKS] = (struct sscop_clock_mark){
		.at = now,
		.sent = c->sent,
		.from = *from,
		.idle = c->idle_sent >= from->sent || !from->at,
		.ahead = paced_ahead(c, now),
		.poll = poll,
	};
}

/**
 * sscop_clock_least() - how long a round trip takes at least whose POLL is no longer remembered
 * @c: the clock
 * @poll: the POLL's number
 * @newest: of the newest POLL
 * @now: us
 *
 * Return: us since the oldest that is; 0: @poll is, or nothing is known.
 */
u32 sscop_clock_least(const struct sscop_clock *c, u32 poll, u32 newest, u64 now)
{
	const struct sscop_clock_mark *mark = &c->marks[(newest + 1) % SSCOP_CLOCK_MARKS];

	if (mark->poll == U32_MAX || c->marks[poll % SSCOP_CLOCK_MARKS].poll == poll)
		return 0;
	return min_t(u64, now - mark->at, US_MAX);
}

/* --- why nothing is sent -------------------------------------------------------------------- */

/**
 * sscop_clock_waits() - an SD is kept back
 * @c: the clock
 * @wait: why
 * @now: us
 */
void sscop_clock_waits(struct sscop_clock *c, enum sscop_clock_wait wait, u64 now)
{
	if (c->wait == wait)
		return;
	c->ticks += wait != SSCOP_CLOCK_ROOM;
	c->round_full |= wait == SSCOP_CLOCK_FULL;
	c->in_room = false;
	c->wait = wait;
	c->wait_at = now;
}

/**
 * sscop_clock_resumes() - the device below has room
 * @c: the clock
 * @now: us
 *
 * Return: us for which it had none.
 */
u64 sscop_clock_resumes(struct sscop_clock *c, u64 now)
{
	u64 us = c->wait == SSCOP_CLOCK_ROOM ? now - c->wait_at : 0;

	c->room_us += us;
	c->in_room |= us > 0;
	c->wait = SSCOP_CLOCK_NO_WAIT;
	return us;
}

/**
 * sscop_clock_idle() - there is nothing to send
 * @c: the clock
 * @empty: nor is an SD under way
 */
void sscop_clock_idle(struct sscop_clock *c, bool empty)
{
	c->idle_sent = c->sent;
	if (empty)
		c->empty_sent = c->sent;
	c->round_idle = true;
	c->in_room = false;
}

/**
 * sscop_clock_paused() - the device below sent nothing for a time that says nothing of the link
 * @c: the clock
 *
 * POLLs that were under way meanwhile tell nothing.
 */
void sscop_clock_paused(struct sscop_clock *c)
{
	u32 i;

	for (i = 0; i < SSCOP_CLOCK_MARKS; i++)
		c->marks[i].poll = U32_MAX;
	c->heard.at = 0;
	c->from.at = 0;
	c->round_at = 0;
	c->room_us = 0;
	c->in_room = false;
}

/**
 * sscop_clock_restart() - nothing that was sent is under way
 * @c: the clock
 *
 * What is known of the link is kept.
 */
void sscop_clock_restart(struct sscop_clock *c)
{
	sscop_clock_paused(c);
	c->counted = false;
	c->heard.sent = c->sent;
	c->heard.untold = 0;
	c->round_sent = c->sent;
	c->round_left = c->sent;
}

/* --- what STATs say -------------------------------------------------------------------------- */

/* Whether the device below is the bottleneck: while it was full, it was hardly faster than
 * the link. Said anew by each round in which some frames waited for it, or in which only
 * the clock held SDs back; and not by one alone, in which it may have paused.
 */
static void judge_device(struct sscop_clock *c)
{
	bool told = c->room_us && c->room_octets >= SPARE_FRAMES * (u64)c->frame, slow;

	if (told || c->ticks) {
		slow = told &&
		       per_second(c->room_octets, c->room_us) < 2 * sscop_clock_rate(c);
		c->pressed = slow && c->slow;
		c->slow = slow;
	}
	c->room_us = 0;
	c->room_octets = 0;
	c->ticks = 0;
}

static void enter(struct sscop_clock *c, enum sscop_clock_phase phase)
{
	c->phase = phase;
	c->rounds = 0;
}

/* Whether a round trip shows that the queue has grown by as much as the link holds, and by
 * some frames.
 */
static bool shows_queue(const struct sscop_clock *c, u32 rtt, u32 frames)
{
	u32 base = round_trip(c);

	if (rtt == U32_MAX || rtt / 2 <= base)
		return false;
	return octets_in(sscop_clock_rate(c), rtt - base) > frames * (u64)c->frame;
}

static bool has_queue(const struct sscop_clock *c)
{
	return shows_queue(c, c->round_rtt, 2 * SPARE_FRAMES);
}

/* Whether some frames waited at least in each round trip of the round. */
static bool shows_some_queue(const struct sscop_clock *c)
{
	u32 base = round_trip(c);

	return c->round_rtt != U32_MAX && c->round_rtt > base &&
	       octets_in(sscop_clock_rate(c), c->round_rtt - base) > c->frame;
}

/* share lost in the round, in 1/SHARE_ONE */
static u32 round_loss(const struct sscop_clock *c)
{
	return share(c->lost - c->round_lost, c->sent - c->round_from);
}

/* Whether frames were refused, or the share lost in the round, of many, is above the radio's. */
static bool has_dropped(const struct sscop_clock *c, u32 loss)
{
	u64 lost = c->lost - c->round_lost;

	if (c->refused)
		return true;
	return loss > radio_loss(c) * 3 / 2 + SHARE_ONE / 8 && lost > 8 * (u64)c->frame;
}

/* Whether the rate has grown since this was last so. */
static bool has_helped(struct sscop_clock *c, u32 part)
{
	u64 rate = sscop_clock_rate(c);

	if (rate < c->best + c->best / part)
		return false;
	c->best = rate;
	return true;
}

/* The rate is found: that of the last rounds, as earlier ones may have filled a bucket. */
static void begin_drain(struct sscop_clock *c)
{
	u64 rate = max(c->round_rate, c->last_rate);

	if (rate) {
		c->rate[0] = rate;
		c->rate[1] = 0;
	}
	c->extra[0] = 0;
	c->extra[1] = 0;
	enter(c, SSCOP_CLOCK_DRAIN);
}

/* The link takes much more than was known. */
static void begin_again(struct sscop_clock *c)
{
	c->window = window_of(c);
	c->still = 0;
	enter(c, SSCOP_CLOCK_START);
}

/* Has the rate been found? Not if no frame waits, and a burst of losses is no full queue. */
static void start_over(struct sscop_clock *c, u32 loss)
{
	bool waits = shows_some_queue(c), dropped = has_dropped(c, loss);

	if (has_helped(c, 4)) {
		c->still = 0;
		return;
	}
	c->still += !c->round_idle && (waits || dropped);
	/* A round trip grows without a queue as well, where the radio is shared or turns. */
	if (c->still >= STILL_ROUNDS || has_queue(c) || (waits && dropped))
		begin_drain(c);
}

/* More is sent. What this has brought is known a round later. */
static void probe(struct sscop_clock *c, u32 loss)
{
	bool helped = c->rounds > 1 && has_helped(c, 8);

	if (has_queue(c) || has_dropped(c, loss) || (c->rounds > 1 && !helped))
		enter(c, SSCOP_CLOCK_REST);
	else if (c->rounds > STILL_ROUNDS)
		begin_again(c);
}

/* STATs of the round were for POLLs of SSCOP_CLOCK_REST. On a slow link the frames that are under
 * way even then take much of the round trip.
 */
static void take_rested(struct sscop_clock *c)
{
	u64 frames = sscop_clock_takes(c, REST_FRAMES * c->frame);
	u32 spread = c->round_most - min(c->round_rtt, c->round_most);

	c->rested = sscop_clock_base(c) + spread - min_t(u64, frames, spread);
}

/* The rounds after the first: a quarter more, a quarter less, and some in between. */
static void go_round(struct sscop_clock *c, u32 loss)
{
	c->rounds++;
	if (c->phase == SSCOP_CLOCK_PROBE) {
		probe(c, loss);
	} else if (c->phase == SSCOP_CLOCK_REST) {
		enter(c, SSCOP_CLOCK_CRUISE);
	} else if (c->phase == SSCOP_CLOCK_CRUISE && c->refused) {
		enter(c, SSCOP_CLOCK_REST);
	} else if (c->phase == SSCOP_CLOCK_CRUISE) {
		if (c->rounds == 1)
			take_rested(c);
		if (c->rounds < CRUISE_ROUNDS || c->round_idle)
			return;
		c->best = sscop_clock_rate(c);
		enter(c, SSCOP_CLOCK_PROBE);
	} else if (c->rounds > STILL_ROUNDS) {
		enter(c, SSCOP_CLOCK_REST);
	}
}

/* Old values of rate, loss and extra are forgotten. */
static void turn(struct sscop_clock *c)
{
	if (c->round_idle || !c->round_told || ++c->turns < TURN_ROUNDS)
		return;
	c->turns = 0;
	c->rate[1] = c->rate[0];
	c->rate[0] = 0;
	c->loss[1] = c->loss[0];
	c->loss[0] = SHARE_ONE;
	c->extra[1] = c->extra[0];
	c->extra[0] = 0;
}

/* The share lost of some frames, which may take several rounds. */
static void take_loss(struct sscop_clock *c)
{
	u64 sent = c->sent - c->loss_from;

	if (sent < LOSS_FRAMES * (u64)c->frame)
		return;
	c->loss[0] = min(c->loss[0], share(c->lost - c->loss_lost, sent));
	c->loss_from = c->sent;
	c->loss_lost = c->lost;
}

/* If the window alone kept SDs back, and yet less left than the link takes, then STATs waited
 * on their way, not SDs: more may be under way.
 */
static void take_more(struct sscop_clock *c, u64 now)
{
	u64 rate = sscop_clock_rate(c), most = MORE_MOST * held(c);
	u64 due = octets_in(rate, min_t(u64, now - c->round_at, US_MAX));
	u64 left = c->heard.sent - c->round_left;

	if (c->round_at && c->round_full && !c->room_us && left < due - due / 8)
		c->more = min(c->more + (due - left) / 4, most);
	else
		c->more = min(c->more - c->more / 8, most);
	c->round_full = false;
	c->round_at = now;
	c->round_left = c->heard.sent;
}

static void end_round(struct sscop_clock *c, u64 now)
{
	u32 loss = round_loss(c);

	take_loss(c);
	take_more(c, now);
	judge_device(c);
	if (c->phase == SSCOP_CLOCK_START)
		start_over(c, loss);
	else
		go_round(c, loss);
	turn(c);
	c->epoch_octets = 0;
	c->epoch_at = now;
	c->round_sent = c->sent;
	c->round_from = c->sent;
	c->round_lost = c->lost;
	c->frame = max(c->round_frame, c->frame - c->frame / FRAME_ROUNDS);
	c->round_frame = 0;
	c->round_rtt = U32_MAX;
	c->round_most = 0;
	c->last_rate = c->round_rate;
	c->round_rate = 0;
	c->busy = c->round_idle ? 0 : min(c->busy + 1, TURN_ROUNDS);
	c->round_idle = false;
	c->round_told = false;
	c->refused = false;
}

static void take_base(struct sscop_clock *c, u32 rtt, u64 now)
{
	if (now - c->base_at >= max_t(u64, TURN_US, 16ULL * sscop_clock_base(c))) {
		c->base_at = now;
		c->base[1] = c->base[0];
		c->base[0] = U32_MAX;
	}
	c->base[0] = min(c->base[0], rtt);
	c->round_rtt = min(c->round_rtt, rtt);
	c->round_most = max(c->round_most, rtt);
}

/* what is told of octets that left, as the list of the last STAT may have been too short for all */
static u64 told(const struct sscop_clock *c, u64 left, u64 untold)
{
	return left - min(c->heard.untold - min(untold, c->heard.untold), left);
}

/* What passed in the round trip of a POLL: of what is not told as much as of what is. Of what the
 * link lost, the radio's share passed its queue. A frame may have passed at once, as links save
 * up time while they are idle.
 */
static void take_rate(struct sscop_clock *c, const struct sscop_clock_mark *m, u64 now)
{
	u64 us = max(now - m->from.at, m->at - m->from.asked);
	u64 sent = m->sent - m->from.sent;
	u64 known = told(c, sent, m->from.untold);
	u64 arrived = known - min(c->lost - m->from.lost, known);
	u64 passed = div64_u64(arrived * sent, max_t(u64, known, 1));
	u64 rate;

	passed = div_u64(passed << SHARE_BITS, SHARE_ONE - radio_loss(c));
	c->round_told |= !m->idle;
	passed = min(passed, sent);
	if (sent < ROUND_FRAMES * (u64)c->frame)
		passed -= min_t(u64, passed, c->frame);
	else if (!m->idle)
		c->counted = true;
	if (!m->from.at || !us || !passed)
		return;
	rate = per_second(passed, us);
	c->round_rate = max(c->round_rate, rate);
	if (!m->idle || rate > sscop_clock_rate(c))
		c->rate[0] = max(c->rate[0], rate);
}

/* A queue that drops is full: what was lost between two POLLs that did not wait was the radio's.
 * That STATs wait on a slow way back is no excuse: those of a flood do.
 */
static void take_light(struct sscop_clock *c, u32 rtt, u64 known, u64 lost)
{
	u64 most = LIGHT_FRAMES * (u64)c->frame;
	bool before = c->waited;

	c->waited = c->phase == SSCOP_CLOCK_START ||
		    rtt > sscop_clock_base(c) + sscop_clock_takes(c, c->frame);
	if (c->waited || before)
		return;
	c->light += known;
	c->light_lost += lost;
	if (c->light <= most)
		return;
	c->light_lost = div64_u64(c->light_lost * most, c->light);
	c->light = most;
}

/* SDs took less than half as long as at the known rate: that is too low, or a box saves up time.
 * What few frames tell counts no more, as before the first rate.
 */
static void take_faster(struct sscop_clock *c, u32 rtt, u32 ahead)
{
	if (rtt >= ahead / 2)
		return;
	c->counted = false;
	c->rested = sscop_clock_base(c);
}

/* How much leaves beyond the rate, as when STATs come back together. */
static void take_extra(struct sscop_clock *c, u64 left, u64 now)
{
	u64 due = octets_in(sscop_clock_rate(c), min_t(u64, now - c->epoch_at, US_MAX));

	c->epoch_octets += left;
	if (c->epoch_octets <= due || !sscop_clock_rate(c)) {
		c->epoch_octets = 0;
		c->epoch_at = now;
		return;
	}
	c->extra[0] = max(c->extra[0], min(c->epoch_octets - due, under_way(c)));
}

/**
 * sscop_clock_heard() - a STAT came in, and losses that it reports are known
 * @c: the clock
 * @poll: the number of its POLL
 * @untold: octets of frames sent before it of which nothing is known yet
 * @now: us
 */
void sscop_clock_heard(struct sscop_clock *c, u32 poll, u64 untold, u64 now)
{
	struct sscop_clock_mark *m = &c->marks[poll % SSCOP_CLOCK_MARKS];
	u64 untold_before = c->heard.untold, left, known, lost;
	u64 many = ROUND_FRAMES * (u64)c->frame;
	u32 rtt;

	if (m->poll != poll || m->sent < c->heard.sent || m->at < c->heard.asked)
		return;
	c->heard.untold = untold;
	if (m->sent == c->heard.sent) {		/* said before; further STATs only list more */
		c->heard.lost = c->lost;
		if (c->from.sent == m->sent)
			c->from = c->heard;
		return;
	}
	left = m->sent - c->heard.sent;
	known = told(c, left, untold_before);
	lost = min(c->lost - c->heard.lost, known);
	rtt = min_t(u64, now - m->at, US_MAX);
	take_base(c, rtt, now);
	take_light(c, rtt, known, lost);
	take_rate(c, m, now);
	take_faster(c, rtt, m->ahead);
	take_extra(c, left - lost, now);
	/* Who sends above finds the rate as well, and must not find this window instead. */
	if (c->phase == SSCOP_CLOCK_START && under_way(c) > c->window / 4 && rtt < START_MAX_US &&
	    !shows_queue(c, rtt, 1) && !has_dropped(c, round_loss(c)))
		c->window += 2 * (known - lost);
	c->heard.lost = c->lost;
	c->heard.at = now;
	c->heard.asked = m->at;
	c->heard.sent = m->sent;
	if (!c->from.at || m->sent - c->from.sent >= many)
		c->from = c->heard;
	if (m->sent >= c->round_sent &&
	    (c->phase == SSCOP_CLOCK_START || m->sent - c->round_left >= many))
		end_round(c, now);
	if (c->phase == SSCOP_CLOCK_DRAIN && under_way(c) <= held(c) + c->frame)
		enter(c, SSCOP_CLOCK_REST);
	renew(c);
}
