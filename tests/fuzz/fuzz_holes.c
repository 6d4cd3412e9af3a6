// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: one flow at SHAKE's agent. A sender gives segments to paths that keep order,
 * lose and send again; a receiver acknowledges. The HoleList stays sorted, disjoint and within
 * its room, and R is what the receiver misses first, as long as there was room.
 */
#include <string.h>

#include <shake/core/shake_holes.h>

#include "input.h"

#define PATHS 3
#define UNDER_WAY 64
#define NUMBERS 4096

struct link {
	struct shake_arrival queue[UNDER_WAY];
	u32 head;
	u32 tail;
};

static struct shake_hole room[SHAKE_HOLES_MAX], wider[SHAKE_HOLES_MAX];
static struct shake_flow_counts counts;
static struct shake_holes holes;
static struct shake_sends sends;
static struct link links[PATHS];
static bool has[NUMBERS];
static u32 base, next, now, alive;

static void check(void)
{
	const struct shake_hole *hole = holes.hole;
	u32 i;

	expect(holes.count <= holes.room && holes.room <= SHAKE_HOLES_MAX);
	for (i = 0; i < holes.count; i++) {
		expect(shake_before(hole[i].first, hole[i].end));
		expect(!shake_before(holes.high, hole[i].end));
		expect(!i || !shake_before(hole[i].first, hole[i - 1].end));
	}
	for (i = 0; i < NUMBERS && has[i]; i++)
		;
	if (holes.started && !counts.holes_refused && !counts.senseless)
		expect(holes.received == base + i || shake_before(base + i, holes.acked));
	expect(holes.depth <= SHAKE_HOLES_DEPTH);
	for (i = 0; i < SHAKE_HOLES_PATHS; i++)
		expect(holes.patience[i] <= SHAKE_HOLES_PATIENCE_MOST);
}

static void send(u32 path, u32 from, u32 length, bool kept)
{
	struct link *l = &links[path];
	struct shake_arrival a = { .seq = base + from, .end = base + from + length,
				   .path = path, .kept = kept };
	enum shake_mal mal;

	if (from + length > NUMBERS || l->head - l->tail >= UNDER_WAY)
		return;
	mal = shake_sends_next(&sends, path, a.seq, a.end, false, &a.m_al);
	a.has_mal = mal != SHAKE_NO_MAL;
	a.gap = mal == SHAKE_MAL_GAP;
	l->queue[l->head++ % UNDER_WAY] = a;
}

static void arrive(u32 path)
{
	struct link *l = &links[path];
	struct shake_arrival a;
	u32 number;

	if (l->head == l->tail)
		return;
	a = l->queue[l->tail++ % UNDER_WAY];
	a.alive = alive;
	a.now = now;
	shake_holes_arrived(&holes, &a, &counts);
	for (number = a.seq; number != a.end; number++)
		has[number - base] = true;
}

static void acknowledge(struct input *in)
{
	u8 what = next8(in), bits = next8(in);
	struct shake_dupack a = {
		.window = what & 3, .flags = 16 | !(bits & 15), .pure = what & 0xfc,
		.sack = what & 4, .dsack = !(bits & 0x70), .fixed = bits & 0x80, .now = now,
	};
	u32 i;

	for (i = 0; i < NUMBERS && has[i]; i++)
		;
	a.ack = base + i + (what == 255 ? 100000 : 0) - (what == 254);
	for (i = what >> 5; i < 8; i++)
		expect(shake_holes_ack(&holes, &a, what >> 3 & 3, bits >> 4, &counts) <=
		       SHAKE_PASS_UNSACKED);
}

static void strange(struct input *in)
{
	struct shake_arrival a = { .seq = next32(in), .m_al = next32(in), .path = next8(in) % 9,
				   .has_mal = next_bool(in), .syn = next_bool(in), .now = now };

	a.gap = next_bool(in);
	a.end = a.seq + next_to(in, 70000);
	shake_holes_arrived(&holes, &a, &counts);
	shake_sends_next(&sends, a.path % 8, a.seq, a.end, a.syn, &a.m_al);
	counts.senseless++;	/* R is no longer known */
}

static void step(struct input *in)
{
	u8 what = next8(in);
	u32 path = (what >> 4) % PATHS, length = 1 + next8(in) % 8, from;

	now += length << (what >> 4);
	switch (what & 15) {
	case 0:
		acknowledge(in);
		break;
	case 1:
		if (links[path].head != links[path].tail)
			links[path].tail++;
		break;
	case 2:
		from = next8(in) | (next8(in) & 7) << 8;
		send(path, from < next ? from : next / 2, length, what & 128);
		break;
	case 3:
		alive = what >> 4 & 7;
		shake_holes_clear(&holes, alive, &counts);
		break;
	case 4:
		if (shake_holes_wants_room(&holes))
			shake_holes_move(&holes, room == holes.hole ? wider : room,
					 min(2 * holes.room, SHAKE_HOLES_MAX));
		break;
	case 5:
		now += 1 << (what >> 3 & 15);
		break;
	case 6:
		if (what > 0xf0)
			strange(in);
		break;
	case 7:
	case 8:
		for (; length; length--)
			arrive(path);
		break;
	case 9:
		arrive(path);
		acknowledge(in);
		break;
	default:
		send(path, next, length, what & 64);
		next = min(next + length, (u32)NUMBERS);
		if (length & 1)
			arrive(length >> 1 & 1);
		break;
	}
	check();
}

int fuzz(const u8 *octets, size_t length)
{
	struct input in = { octets, length };
	struct shake_arrival syn = { .syn = true };

	memset(has, 0, sizeof(has));
	memset(links, 0, sizeof(links));
	counts = (struct shake_flow_counts){};
	sends = (struct shake_sends){};
	next = 0;
	now = next32(&in);
	base = next8(&in) & 1 ? 0xfffffff0 : 1000;
	alive = 7;
	shake_holes_init(&holes, room, next8(&in) & 1 ? 8 : SHAKE_HOLES_MAX);
	if (next8(&in) & 3) {
		syn.seq = base - 1;
		syn.end = base;
		syn.now = now;
		shake_holes_arrived(&holes, &syn, &counts);
		shake_sends_next(&sends, 0, syn.seq, syn.end, true, &syn.m_al);
	} else {
		counts.senseless++;	/* nothing tells where it begins */
	}
	while (in.length)
		step(&in);
	return 0;
}
