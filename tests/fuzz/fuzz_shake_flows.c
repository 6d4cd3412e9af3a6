// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a leader's table and an agent's, given packets of any octets.
 *
 * An input is a list of steps: what to do (three bits), the path (three bits), M_AL near
 * the segment (one octet), the packet's length (one octet), the packet. One that isn't
 * TCP is read again as the rest of a good header, so that most reach the tables.
 */
#include <linux/slab.h>

#include <shake/flows.h>
#include "input.h"

#define HEADERS 40
#define STEP 3

enum {
	ARRIVES,
	ARRIVES_WITHOUT_MAL,
	SENT,
	ACKED,
	ACKED_TWICE,
	PATH_LOST,
	PATH_ALIVE,
	MEMORY,
};

static const u8 good[HEADERS] = {
	0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
	0x10, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 1, 0,
};

/* A good header with the octets as sequence and acknowledgment number and data. */
static bool make(const u8 *octets, u32 length, bool reverse, struct shake_segment *s)
{
	u8 packet[HEADERS + 4];
	u32 i;

	memcpy(packet, good, sizeof(good));
	if (reverse) {
		packet[3] = HEADERS;
		packet[15] = 2;
		packet[19] = 1;
		memcpy(packet + 20, good + 22, 2);
		memcpy(packet + 22, good + 20, 2);
	}
	for (i = 0; i < length && i < 4; i++)
		packet[i < 2 ? 26 + i : 28 + i] = octets[i];
	return shake_segment_read(packet, sizeof(packet), sizeof(packet), s);
}

/* What is left without the blocks is the same segment. */
static void unsack(u8 *packet, u32 length, const struct shake_segment *s)
{
	struct shake_segment left;

	shake_segment_unsack(packet, s, length & 1);
	expect(shake_segment_read(packet, length, length + 1000, &left));
	expect(left.end == s->end && left.ack == s->ack && left.options == s->options);
}

static bool read(const u8 *octets, u32 length, struct shake_segment *s)
{
	u8 *copy = copy_of(octets, length);
	bool ok = shake_segment_read(copy, length, length + 1000, s);

	expect(!ok || !s->pure_ack || s->seq == s->end);
	if (ok && s->has_sack)
		unsack(copy, length, s);
	free(copy);
	return ok;
}

static void step(struct shake_flows *f, u8 what, u8 offset, const struct shake_segment *s,
		 u64 now)
{
	u8 path = what >> 3 & 7;
	u32 m_al = s->seq + (u32)offset * 8 - 1024;
	enum shake_mal mal;

	switch (what & 7) {
	case ARRIVES:
	case ARRIVES_WITHOUT_MAL:
		mal = (what & 7) != ARRIVES ? SHAKE_NO_MAL :
		      now & 2 ? SHAKE_MAL_GAP : SHAKE_MAL_SENT;
		shake_flows_arrived(f, s, path, mal, m_al, now & 1, now);
		break;
	case SENT:
		shake_flows_sending(f, s, path, &m_al, now);
		break;
	case ACKED_TWICE:
		shake_flows_ack(f, s, offset & 3, 1 + (offset >> 2), now);
		shake_flows_ack(f, s, offset & 3, 1 + (offset >> 2), now);
		break;
	case ACKED:
		shake_flows_ack(f, s, offset & 3, 1 + (offset >> 2), now);
		shake_flows_passes(f, s, !(offset >> 5), now);
		shake_flows_timed(f, s, now);
		expect(f->opening <= f->count);
		break;
	case PATH_LOST:
		shake_flows_path_lost(f, path);
		break;
	case PATH_ALIVE:
		shake_flows_path_alive(f, path);
		break;
	case MEMORY:
		slab_refuses = offset & 1;
		break;
	}
}

int fuzz(const u8 *octets, size_t length)
{
	struct shake_flow_counts counts;
	struct shake_segment s;
	atomic_t all = { 0 };
	struct shake_flows f;
	u64 now = 0;

	expect(!shake_flows_init(&f, &all));
	while (length >= STEP) {
		u8 what = octets[0], offset = octets[1];
		u32 packet = min_t(u32, octets[2], length - STEP);
		bool reverse = (what & 7) == ACKED || (what & 7) == ACKED_TWICE;

		octets += STEP;
		length -= STEP;
		if (read(octets, packet, &s) || make(octets, packet, reverse, &s))
			step(&f, what, offset, &s, now);
		octets += packet;
		length -= packet;
		now += (u64)offset << (offset & 31);
		expect(f.count <= SHAKE_FLOWS_MAX && f.holes <= SHAKE_FLOWS_HOLES);
	}
	shake_flows_read(&f, &counts);
	shake_flows_free(&f);
	expect(!f.count && !f.holes && !atomic_read(&all));
	slab_refuses = false;
	return 0;
}
