// SPDX-License-Identifier: GPL-2.0
/* The path between the stack and the receiver: a bottleneck with a queue, and delay both ways. */
#include <string.h>

#include "hostile.h"

#define ROOM	131072	/* segments under way, each direction; a power of two */

struct under_way {
	long long at;
	struct data data;
};

struct coming_back {
	long long at;
	struct segment segment;
};

static struct under_way forth[ROOM];
static struct coming_back back[ROOM];
static unsigned int forth_head, forth_tail, back_head, back_tail;
static long long busy_us;	/* until then the bottleneck sends what it has */
__u32 path_acknowledged;

/* Return: false if the queue has no room for the segment. */
bool path_enter(const struct data *d, int octets)
{
	struct under_way *u = &forth[forth_head % ROOM];
	const long long now = now_us();
	const long long waits_us = busy_us > now ? busy_us - now : 0;
	const long long queued = waits_us * path->rate / 8 / SECOND_US;

	if (queued + octets > path->queue)
		return false;
	require(forth_head - forth_tail < ROOM, "segments under way");
	busy_us = now + waits_us + octets * 8 * SECOND_US / path->rate;
	u->at = busy_us + path->half_us;
	u->data = *d;
	u->data.marked = d->marked && queued > path->queue / 2;
	forth_head++;
	return true;
}

/* --- ACKs --- */

static void put_stamps(struct segment *s, __u32 echo)
{
	put_octets(s, "\1\1\10\12", 4);
	put_number(s, PEER_CLOCK + (__u32)(now_us() / 1000));
	put_number(s, echo);
}

static void put_blocks(struct segment *s, const struct answer *a)
{
	const unsigned char head[] = { 1, 1, 5, (unsigned char)(2 + 8 * a->blocks) };

	put_octets(s, head, 4);
	for (int i = 0; i < a->blocks; i++) {
		put_number(s, peer.isn + a->block[i].begin);
		put_number(s, peer.isn + a->block[i].end);
	}
}

/* What leaves later arrives later. */
static struct segment *next_back(long long at)
{
	struct coming_back *b = &back[back_head % ROOM], *last = &back[(back_head - 1) % ROOM];

	require(back_head - back_tail < ROOM, "ACKs under way");
	*b = (struct coming_back) { .at = at };
	if (back_head != back_tail && last->at > at)
		b->at = last->at;
	back_head++;
	return &b->segment;
}

void path_answer(const struct answer *a)
{
	const long long at = now_us() + path->half_us;
	struct segment *s = next_back(attack->leaves ? attack->leaves(at) : at);

	s->flags = a->marks ? ACK | ECE : ACK;
	s->seq = 1;
	s->ack = a->ack;
	s->window = (int)(a->window >> SCALE);
	put_stamps(s, a->echo);
	if (a->blocks)
		put_blocks(s, a);
}

void path_syn_answer(__u32 stamp, bool ecn)
{
	struct segment *s = next_back(now_us() + 2 * path->half_us + attack->syn_us);
	const unsigned char rest[] = { 2, 4, 1460 >> 8, 1460 & 255, 1, 3, 3, SCALE, 1, 1, 4, 2 };

	s->flags = ecn ? SYN | ACK | ECE : SYN | ACK;
	s->ack = 1;
	s->window = 65535;
	put_stamps(s, stamp);
	put_octets(s, rest, attack->no_sack ? 8 : sizeof(rest));
}

/* --- what is due --- */

static void to_stack(const struct segment *s)
{
	unsigned char packet[256];

	path_acknowledged = s->ack > path_acknowledged ? s->ack : path_acknowledged;
	wire_write(packet, wire_build(packet, s));
}

/* Return: whether an ACK is not sent because the next one is for the same time. */
static bool merged(const struct coming_back *b)
{
	return attack->merge && back_tail != back_head && back[back_tail % ROOM].at == b->at;
}

static long long earlier(long long a, long long b)
{
	return a < b ? a : b;
}

/* Return: when the next segment arrives anywhere. */
long long path_next(void)
{
	long long at = 1LL << 60;

	if (forth_head != forth_tail)
		at = earlier(at, forth[forth_tail % ROOM].at);
	if (back_head != back_tail)
		at = earlier(at, back[back_tail % ROOM].at);
	return at;
}

void path_run(void)
{
	while (forth_head != forth_tail && forth[forth_tail % ROOM].at <= now_us()) {
		const struct data d = forth[forth_tail++ % ROOM].data;

		if (d.is.begin == d.is.end)
			answer(&d);
		else
			(attack->arrived ? attack->arrived : honest_arrival)(&d);
	}
	while (back_head != back_tail && back[back_tail % ROOM].at <= now_us()) {
		const struct coming_back b = back[back_tail++ % ROOM];

		if (!merged(&b))
			to_stack(&b.segment);
	}
}
