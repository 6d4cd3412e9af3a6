// SPDX-License-Identifier: GPL-2.0
/*
 * What hostile receivers do. Those that need to know what the stack has just sent (sent) have
 * somebody near it: a receiver alone has to guess, and gains less.
 */
#include <string.h>

#include "hostile.h"

#define PIECES		8
#define COPIES		10
#define AHEAD		(30U * SEGMENT)
#define PERIOD_US	(3 * SECOND_US)
#define STALL_US	(2 * SECOND_US)
#define LATE_US		900000	/* the SYN is sent again after a second */
#define FIRST_US	150000	/* and the first data after its RTT and 200 ms */
#define FORGED_MS	1000U

static void nothing(const struct data *d)
{
	(void)d;
}

/* --- ACKs of what has not arrived --- */

/* What the queue has dropped is acknowledged with the next segment that arrives. */
static void conceal(const struct data *d)
{
	claim(d);
	answer(d);
}

static void beyond(const struct data *d)
{
	receive(d);
	answer_as(d, received + AHEAD);
}

/* All that was sent is selectively acknowledged but for the segment that the ACK ends with. */
static void selectively(struct answer *a, const struct data *d)
{
	const __u32 begin = a->ack + SEGMENT;

	a->blocks = 0;
	if (d->is.end > begin)
		a->block[a->blocks++] = (struct range) { begin, d->is.end };
}

/* As if the path were half as long; what is dropped is told. */
static void near(const struct data *d)
{
	if (!d->dropped)
		honest_arrival(d);
}

/* --- more ACKs than segments --- */

static void divide(const struct data *d)
{
	const __u32 from = received;

	receive(d);
	for (__u32 i = 1; received > from && i < PIECES; i++)
		answer_as(d, from + (received - from) / PIECES * i);
	answer(d);
}

static void copy(const struct data *d)
{
	receive(d);
	for (int i = 0; i <= COPIES; i++)
		answer(d);
}

/* --- what undoes reductions --- */

/* Every retransmission is said to have been needless. */
static void needless(struct answer *a, const struct data *d)
{
	if (!d->again || a->blocks == MOST_BLOCKS)
		return;
	if (a->blocks && a->block[0].begin == d->is.begin)
		return;
	memmove(a->block + 1, a->block, (size_t)a->blocks * sizeof(*a->block));
	a->block[0] = d->is;
	a->blocks++;
}

static void older(struct answer *a, const struct data *d)
{
	(void)d;
	a->echo -= FORGED_MS;
}

static void newer(struct answer *a, const struct data *d)
{
	(void)d;
	a->echo += (__u32)(2 * path->half_us / 1000);
}

/* --- when ACKs arrive --- */

static long long stalled(long long us)
{
	const long long in = us % PERIOD_US;

	return in < STALL_US ? us - in + STALL_US : us;
}

static long long bunched(long long us)
{
	return us - us % (2 * path->half_us) + 2 * path->half_us;
}

/* Those of the first window. */
static long long first(long long us)
{
	const long long until = 4 * path->half_us + FIRST_US;

	return us < until ? until : us;
}

static long long late(long long us)
{
	return us + LATE_US;
}

/* Every other second. */
static long long waving(long long us)
{
	return us / SECOND_US % 2 ? us : us + SECOND_US / 2;
}

/* --- windows --- */

static void shut(struct answer *a, const struct data *d)
{
	(void)d;
	if (now_us() / SECOND_US % 2)
		a->window = 0;
}

static void tiny(struct answer *a, const struct data *d)
{
	(void)d;
	a->window = 2 << SCALE;
}

static void flap(struct answer *a, const struct data *d)
{
	static bool closed;

	(void)d;
	closed = !closed;
	if (closed)
		a->window = 0;
}

/* --- ECN --- */

static void unmarked(struct answer *a, const struct data *d)
{
	(void)d;
	a->marks = false;
}

static void marked(struct answer *a, const struct data *d)
{
	(void)d;
	a->marks = true;
}

const struct attack attacks[] = {
	{ .name = "honest" },
	{ .name = "honest-nosack", .no_sack = true },
	{ .name = "honest-ecn", .ecn = true },
	{ .name = "conceal", .arrived = conceal },
	{ .name = "optimistic", .sent = conceal, .arrived = nothing },
	{ .name = "small", .sent = near, .arrived = nothing },
	{ .name = "beyond", .arrived = beyond },
	{ .name = "sacks", .sent = answer, .arrived = conceal, .forge = selectively },
	{ .name = "division", .arrived = divide },
	{ .name = "copies", .arrived = copy, .no_sack = true },
	{ .name = "dsack", .forge = needless },
	{ .name = "older", .forge = older },
	{ .name = "newer", .forge = newer },
	{ .name = "stall", .leaves = stalled },
	{ .name = "gather", .leaves = stalled, .merge = true },
	{ .name = "bunch", .leaves = bunched },
	{ .name = "first", .leaves = first },
	{ .name = "late", .leaves = late, .syn_us = LATE_US },
	{ .name = "waves", .leaves = waving },
	{ .name = "late-syn", .syn_us = LATE_US },
	{ .name = "zero", .forge = shut },
	{ .name = "tiny", .forge = tiny },
	{ .name = "flap", .forge = flap },
	{ .name = "unmarked", .forge = unmarked, .ecn = true },
	{ .name = "marked", .forge = marked, .ecn = true },
	{ .name = NULL }
};

const struct attack *find_attack(const char *name)
{
	for (const struct attack *a = attacks; a->name; a++) {
		if (!strcmp(a->name, name))
			return a;
	}
	require(false, name);
	return NULL;
}
