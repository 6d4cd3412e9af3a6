// SPDX-License-Identifier: GPL-2.0
/* A peer that acknowledges what arrives, behind a path with a delay and losses or as a train. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "exchange.h"

#define MOST_STREAM	(8 << 20)
#define MOST_QUEUED	8192

/* A segment that has arrived in its turn: what it acknowledges, and the block around it. */
struct queued {
	long long sent_us;
	__u32 ack;
	__u32 begin;
	__u32 end;
};

static unsigned char has[MOST_STREAM];	/* whether an octet, by its position, has arrived */
static __u32 arrived;			/* the end of what has arrived in order */
static __u32 newest;			/* the end of all */
static struct queued queue[MOST_QUEUED];
static unsigned int first, behind;	/* of the queue; they wrap */
static int lose, count;			/* every how manyeth new segment is lost; since then */
static long long last_us;		/* when the last of the queue was acknowledged */

void path_begin(void)
{
	memset(has, 0, newest);
	arrived = 1;
	newest = 1;
	first = behind;
}

static bool is_lost(__u32 begin, __u32 end)
{
	if (begin < newest)
		return false;
	newest = end;
	return lose && ++count % lose == 0;
}

static __u32 position_of(const void *at)
{
	return (__u32)((const unsigned char *)at - has);
}

void path_taken(__u32 begin, __u32 end)
{
	struct queued *q = &queue[behind % MOST_QUEUED];

	if (end >= MOST_STREAM)
		refuse("a longer stream than a path carries");
	if (is_lost(begin, end))
		return;
	memset(has + begin, 1, end - begin);
	arrived = position_of(memchr(has + arrived, 0, MOST_STREAM - arrived));
	q->sent_us = now_us();
	q->ack = arrived;
	q->begin = position_of(memrchr(has, 0, begin)) + 1;
	q->end = position_of(memchr(has + end, 0, MOST_STREAM - end));
	behind++;
}

/* Segments of the peer's MSS are acknowledged one by one. Return: when it has ended. */
long long path_train(const char *text)
{
	const __u32 until = arrived;
	char flags[8] = "", line[64];
	int gap_us;

	if (sscanf(text, "%d %7s", &gap_us, flags) < 1)
		refuse("train");
	while (peer.una < until) {
		const __u32 step = peer.una + (__u32)peer.mss;

		snprintf(line, sizeof(line), "%s. ack %u", flags, step < until ? step : until);
		peer_sends(line);
		wait_until(now_us() + gap_us);
	}
	return now_us();
}

static void acknowledge(const struct queued *q)
{
	char line[64];

	if (q->begin > q->ack)
		snprintf(line, sizeof(line), ". ack %u <sack %u:%u>", q->ack, q->begin, q->end);
	else
		snprintf(line, sizeof(line), ". ack %u", q->ack);
	peer_sends(line);
}

/*
 * For some time each segment is acknowledged a round trip after it left, and a gap after the one
 * before at least; what was held before comes at once. Return: when it has ended.
 */
long long path_carry(const char *text)
{
	int ms, gap_us;
	long long until;

	lose = 0;
	if (sscanf(text, "%d %d lose %d", &ms, &gap_us, &lose) < 2)
		refuse("carry");
	until = now_us() + ms * 1000LL;
	while (now_us() < until) {
		const struct queued *q = &queue[first % MOST_QUEUED];
		long long due = q->sent_us + peer.path_us;

		if (due < last_us + gap_us)
			due = last_us + gap_us;
		if (first == behind || due > until) {
			wait_until(until);
			break;
		}
		wait_until(due);
		first++;
		last_us = due;
		acknowledge(q);
		drain();
	}
	lose = 0;
	return now_us();
}
