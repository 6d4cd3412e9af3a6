// SPDX-License-Identifier: GPL-2.0
/*
 * An honest receiver (RFC 9293, 2018, 2883, 3168, 7323): every segment is acknowledged at once,
 * the window never limits. Attacks are made of its parts.
 */
#include <string.h>

#include "hostile.h"

static struct range ranges[MOST_RANGES];	/* arrived behind a gap, in order */
static int count;
static __u32 recent[MOST_BLOCKS];	/* a position in each of the ranges told last */
static struct range twice;		/* the segment has been here before: D-SACK */
static __u32 echo;
static bool marks;
__u32 received = 1;

static void absorb(void)
{
	int gone = 0;

	while (gone < count && ranges[gone].begin <= received) {
		if (ranges[gone].end > received)
			received = ranges[gone].end;
		gone++;
	}
	count -= gone;
	memmove(ranges, ranges + gone, (size_t)count * sizeof(*ranges));
}

static bool is_held(const struct range *r)
{
	if (r->end <= received)
		return true;
	for (int i = count; i--;) {
		if (ranges[i].begin <= r->begin && r->end <= ranges[i].end)
			return true;
	}
	return false;
}

/* Join a range with those that touch it. */
static void insert(struct range r)
{
	int at = count, last;

	while (at && ranges[at - 1].end >= r.begin)
		at--;
	for (last = at; last < count && ranges[last].begin <= r.end; last++) {
		r.begin = ranges[last].begin < r.begin ? ranges[last].begin : r.begin;
		r.end = ranges[last].end > r.end ? ranges[last].end : r.end;
	}
	require(last > at || count < MOST_RANGES, "ranges");
	memmove(ranges + at + 1, ranges + last, (size_t)(count - last) * sizeof(*ranges));
	ranges[at] = r;
	count += 1 - (last - at);
}

static void tell_first(__u32 position)
{
	memmove(recent + 1, recent, sizeof(recent) - sizeof(*recent));
	recent[0] = position;
}

static void note_marks(const struct data *d)
{
	if (d->reduced)
		marks = false;
	if (d->marked)
		marks = true;
}

/* A segment has arrived. */
void receive(const struct data *d)
{
	note_marks(d);
	twice = is_held(&d->is) ? d->is : (struct range) { 0 };
	if (d->is.begin <= received)
		echo = d->stamp;
	if (twice.end)
		return;
	insert(d->is);
	absorb();
	if (d->is.begin > received)
		tell_first(d->is.begin);
}

/* All up to a segment is said to have arrived. */
void claim(const struct data *d)
{
	note_marks(d);
	twice = (struct range) { 0 };
	echo = d->stamp;
	if (d->is.end > received)
		received = d->is.end;
	absorb();
}

static bool add_block(struct answer *a, struct range r)
{
	for (int i = 0; i < a->blocks; i++) {
		if (a->block[i].begin == r.begin)
			return false;
	}
	a->block[a->blocks++] = r;
	return true;
}

static void add_blocks(struct answer *a)
{
	if (twice.end)
		add_block(a, twice);
	for (int i = 0; i < MOST_BLOCKS && a->blocks < MOST_BLOCKS; i++) {
		for (int j = count; j--;) {
			if (ranges[j].begin <= recent[i] && recent[i] < ranges[j].end)
				add_block(a, ranges[j]);
		}
	}
}

/* An ACK, as honest as the attack lets it be. */
void answer_as(const struct data *d, __u32 ack)
{
	struct answer a = { .ack = ack, .window = WINDOW, .echo = echo, .marks = marks };

	if (!attack->no_sack)
		add_blocks(&a);
	if (attack->forge)
		attack->forge(&a, d);
	path_answer(&a);
}

void answer(const struct data *d)
{
	answer_as(d, received);
}

void honest_arrival(const struct data *d)
{
	receive(d);
	answer(d);
}
