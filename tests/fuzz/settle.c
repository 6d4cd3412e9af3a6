// SPDX-License-Identifier: GPL-2.0
/*
 * Once the channel works, both peers find each other and deliver all they have.
 */
#include "world.h"

#define READY_US 5500000U	/* a BGN, BGAK, RS or ER every five seconds, and its answer */
#define SLACK_US 100000U
#define STEP_US 10000U		/* at least */
#define START_ROUNDS 8U		/* in which the clock finds the rate */
#define POLLED 8		/* POLLs and STATs take most of a slow link if polled often */

static u32 round_trip(const struct world *world)
{
	u32 side, us = 0;

	for (side = 0; side < 2; side++) {
		us += world->peers[side].out.delay;
		us += world->peers[side].out.rate ? QUEUE_US : 0;
	}
	return us;
}

/* us until all frames that are under way have arrived */
static u64 flush_us(const struct world *world)
{
	u64 last = world->now;
	u32 side;

	for (side = 0; side < 2; side++) {
		const struct wire *wire = &world->peers[side].out;

		if (wire->count)
			last = max(last, wire->frames[wire->count - 1]->at);
		last = max(last, wire->busy_until + wire->delay);
	}
	return last - world->now;
}

/* Is all that @peer was given delivered, the end of it included? */
static bool is_done(const struct peer *peer)
{
	return peer->sent == peer->given && !sscop_outstanding(&peer->s) &&
	       peer->flows[0].sent == peer->flows[0].given &&
	       peer->flows[1].sent == peer->flows[1].given &&
	       peer->other->heard_life == peer->life &&
	       peer->other->heard_number == peer->sent;
}

static u32 packets_left(const struct peer *peer)
{
	return peer->flows[0].given - peer->flows[0].sent + peer->flows[1].given -
	       peer->flows[1].sent;
}

/* us in which @peer's segments are sent, found lost, sent again */
static u64 transfer_us(const struct peer *peer)
{
	const struct sscop_config *config = &peer->s.config;
	u32 window = min(config->window, peer->other->s.config.window);
	u32 rtt = round_trip(peer->world);
	u64 rounds = (peer->given - peer->sent + config->window) / window + 3;
	u32 frame = peer->segment + SSCOP_SHORT_HEADER + FRAME_MIN;
	u64 us;

	if (config->clock)
		rounds += START_ROUNDS;
	us = rounds * (config->poll_time + peer->s.tx.srtt + 2 * rtt + SLACK_US);

	/* A packet of a class may have to wait for others until these are given up. */
	us += (packets_left(peer) / SSCOP_CLASS_SLOTS + 2) * (u64)(config->persist + SLACK_US);
	if (peer->out.rate)
		us += packets_left(peer) * POLLED * (u64)frame * 8000000 / peer->out.rate;
	if (peer->out.rate)
		us += (peer->given - peer->sent + 2 * config->window) * POLLED *
		      (u64)frame * 8000000 / peer->out.rate;
	return us;
}

/* Until shortly before the next that happens, when what sscop_deadline() did not announce shows. */
static void run_on(struct world *world)
{
	u64 at = world->now + 60000000;
	u32 side;

	for (side = 0; side < 2; side++) {
		const struct peer *peer = &world->peers[side];

		if (peer->out.count)
			at = min(at, peer->out.frames[0]->at);
		if (peer->running)
			at = min(at, peer->wake);
	}
	world_run(world, max(at, world->now + STEP_US + 1) - world->now - 1);
}

static void run_until_connected(struct world *world, u64 us)
{
	u64 end = world->now + us;

	while (!world->failure[0] && !world_connected(world)) {
		if (world->now >= end) {
			fail(world, "not connected after %llu ms, states %u and %u",
			     (unsigned long long)us / 1000, world->peers[0].s.state,
			     world->peers[1].s.state);
			return;
		}
		run_on(world);
	}
}

static void run_until_done(struct world *world, u64 us)
{
	const struct peer *a = &world->peers[0], *b = &world->peers[1];
	u64 end = world->now + us;

	while (!world->failure[0] && !(is_done(a) && is_done(b))) {
		if (world->now >= end) {
			fail(world, "not delivered after %llu ms: %u of %u and %u of %u",
			     (unsigned long long)us / 1000, b->heard_number, a->given,
			     a->heard_number, b->given);
			return;
		}
		run_on(world);
	}
}

/* Heal the channel, start both, and see that they find each other and deliver. */
void world_settle(struct world *world)
{
	struct peer *a = &world->peers[0], *b = &world->peers[1];
	u64 us = flush_us(world) + READY_US + 8 * round_trip(world);

	world_heal(world);
	world_start(world, 0);
	world_start(world, 1);
	if (world->lied) {
		/* Who was lied to finds out by contradictions or by silence. */
		us += SSCOP_NO_RESPONSE_US + READY_US;
		world_give(world, 0, 1);
		world_give(world, 1, 1);
		world_run(world, us + max(transfer_us(a), transfer_us(b)));
	}
	run_until_connected(world, us);
	world_give(world, 0, 1);
	world_give(world, 1, 1);
	us = max(transfer_us(a), transfer_us(b)) + flush_us(world);
	run_until_done(world, us);
	if (!world->failure[0])
		world->lied = false;
}
