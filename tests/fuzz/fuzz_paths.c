// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a leader's paths with a model of a link behind each, the schedulers, copies
 * of packets, and pseudo-ACKs: those that are true and any others. True ones are taken; the
 * logarithms are those of floating point; the replay window is compared with a list of all.
 */
#include <math.h>
#include <string.h>

#include <shake/core/shake_repair.h>
#include <shake/core/shake_replay.h>
#include <shake/core/shake_sched.h>

#include "input.h"

#define PATHS 3
#define SENT 4096

struct packet {
	u64 at;
	u32 bytes;
	bool lost;
};

struct link {
	struct shake_path_est est;
	struct shake_sent ring[SHAKE_RING];
	struct shake_repair copies;
	struct packet packets[SENT];
	u32 sent;
	u32 heard;
	u32 bytes;
	u32 count;
	u64 seen;
};

static struct link links[PATHS];
static struct shake_sched sched;
static struct shake_path_config windows;
static u64 now;

static void send(struct link *l, u32 bytes, bool lost)
{
	u32 place;

	if (l->sent == SENT)
		return;
	l->packets[l->sent++] = (struct packet){ now, bytes, lost };
	shake_path_sent(&l->est, l->sent, bytes, now);
	if (shake_repair_keep(&l->copies, l->sent, shake_path_known_rate(&l->est),
			      bytes & 1 ? SHAKE_REPAIR_KEPT : 64, now, &place))
		l->copies.kept[place].after = l->sent + next8(&(struct input){ (u8 *)&bytes, 1 });
	shake_repair_covers(&l->copies);
}

static void judge_copies(struct link *l, u32 echo)
{
	u32 number = l->copies.tail, place;

	shake_repair_look(&l->copies, l->seen, now);
	while (shake_repair_next(&l->copies, &number)) {
		place = shake_repair_place(number++);
		shake_repair_is_old(&l->copies.kept[place], l->est.srtt, now);
		switch (shake_repair_judge(&l->copies, place, echo, l->seen, l->est.srtt,
					   shake_path_min_rtt(&l->est), now)) {
		case SHAKE_COPY_DONE:
		case SHAKE_COPY_LAST:
			shake_repair_close(&l->copies, place);
			break;
		case SHAKE_COPY_SENT:	/* the next pseudo-ACK tells of it */
			if (echo - l->copies.kept[place].counter <= SHAKE_REPAIR_SEEN)
				l->seen |= 1ULL << (64 - (echo - l->copies.kept[place].counter));
			break;
		default:
			break;
		}
	}
	expect(l->copies.saved <= SHAKE_REPAIR_SAVED);
	expect(l->copies.head - l->copies.tail <= SHAKE_REPAIR_KEPT);
}

/* The other end hears of up to @most packets, and tells what it has. */
static void hear(struct link *l, u32 most, u32 hold)
{
	struct shake_path_ack ack;
	u32 echo = l->heard;

	for (; most && l->heard < l->sent; most--) {
		const struct packet *p = &l->packets[l->heard++];

		if (l->heard > 1)
			l->seen = l->seen >> 1 | (u64)(echo == l->heard - 1) << 63;
		if (p->lost)
			continue;
		echo = l->heard;
		l->bytes += p->bytes;
		l->count++;
	}
	if (echo != l->heard || !l->count)
		return;
	hold = (u32)min_t(u64, hold, now - l->packets[echo - 1].at);
	ack = (struct shake_path_ack){ echo, hold, l->bytes, l->count };
	expect(shake_path_acked(&l->est, &windows, &ack, now));
	judge_copies(l, echo);
}

static void lie(struct link *l, struct input *in)
{
	struct shake_path_ack ack = {
		l->sent + 20 - next8(in), next32(in), l->bytes + next8(in) - 20,
		l->count + next8(in) - 20,
	};
	struct link before = *l;

	before.est.ring = before.ring;
	if (!shake_path_acked(&before.est, &windows, &ack, now)) {
		before.est.ring = l->ring;
		expect(!memcmp(&before.est, &l->est, sizeof(l->est)));
	}
}

static void look(struct link *l, u32 bytes)
{
	const struct shake_path_est *e = &l->est;
	u64 deadline = shake_path_deadline(e, now);

	expect(e->wait_us <= SHAKE_TIME_MAX && e->rate <= SHAKE_RATE_MAX);
	expect(shake_path_trip(e, bytes, now) <= SHAKE_TIME_MAX);
	expect(shake_path_outstanding(e) <= e->sent);
	expect(shake_path_doubt(e, now) <= deadline || e->sent_at > e->acked_at);
	expect(shake_path_is_silent(e, now) == (now >= deadline));
	shake_path_queue(e, now);
	shake_path_lost(e);
}

static u32 pick(struct input *in, u32 bytes)
{
	struct shake_choice paths[PATHS];
	struct shake_sched_config config = { next8(in) % 3, next_to(in, 500), next8(in) % 2 };
	u32 i, count = 1 + next8(in) % PATHS, chosen, queue;

	for (i = 0; i < count; i++)
		paths[i] = (struct shake_choice){ &links[i].est, next_to(in, 1200) };
	queue = next_to(in, 1 << 20);
	sched.opens = next8(in) % 2;
	sched.waits = next_to(in, 1 << 24);
	shake_sched_is_full(&sched, &config, paths, count, bytes, queue, now);
	chosen = shake_sched_pick(&sched, &config, paths, count, bytes, queue, now);
	expect(chosen < count);
	return chosen;
}

static void compute(struct input *in)
{
	u32 x = next32(in);
	u64 y = next_to(in, 100 << SHAKE_LOG_BITS);

	expect(fabs(shake_sched_log2(x) - log2(max(x, 1U)) * 65536) <= 2);
	expect(fabs(shake_sched_exp2(y) - fmax(exp2(20 - (double)y / 65536), 1)) <= 2);
}

/* A window of counters against the list of all that were taken. */
static void replay(struct input *in)
{
	static bool taken[1 << 16];
	struct shake_replay r = {};
	u64 counter, newest = 0, behind, i;
	u32 steps = next8(in);

	memset(taken, 0, sizeof(taken));
	for (; steps; steps--) {
		counter = newest + next_to(in, 20000);
		counter = min_t(u64, counter > 10000 ? counter - 10000 : 0, ARRAY_SIZE(taken) - 1);
		expect(shake_replay_full(&r, (u32)counter) == counter);
		if (counter && newest < counter + SHAKE_REPLAY_WINDOW)
			expect(shake_replay_check(&r, counter) == !taken[counter]);
		else
			expect(!shake_replay_check(&r, counter));
		if (!shake_replay_check(&r, counter))
			continue;
		shake_replay_update(&r, counter);
		taken[counter] = true;
		newest = max(newest, counter);
		behind = shake_replay_behind(&r, counter);
		for (i = 0; newest - counter + 64 < SHAKE_REPLAY_WINDOW && i < 64; i++)
			expect((behind >> i & 1) == (counter + i <= 64 || taken[counter - 64 + i]));
	}
	expect(shake_replay_full(&r, U32_MAX) == U32_MAX || newest > U32_MAX);
	expect(!shake_replay_check(&r, SHAKE_COUNTER_LIMIT));
	expect(shake_replay_behind(&r, newest + 1) == U64_MAX);
}

static void step(struct input *in)
{
	u8 what = next8(in);
	struct link *l = &links[what >> 4 & 1];
	u32 bytes = 40 + next_to(in, 1460), count;

	switch (what & 15) {
	case 0:
		now += next_to(in, 1 << 25);
		break;
	case 1:
		hear(l, 1 + next8(in), next_to(in, 2000));
		break;
	case 2:
		lie(l, in);
		break;
	case 3:
		for (count = 4 * next8(in); count; count--) {
			send(l, bytes, false);
			now += what >> 5;
		}
		break;
	case 4:
		compute(in);
		break;
	case 5:
		if (what & 0x80)
			replay(in);
		break;
	case 6:
		if (what >= 0xe0) {
			shake_path_forget(&l->est, now);
		} else if (what >= 0xd0) {
			shake_path_restart(&l->est, now);
			memset(&l->copies, 0, sizeof(l->copies));
			l->sent = 0;
			l->heard = 0;
			l->bytes = 0;
			l->count = 0;
		}
		break;
	case 7:
		for (count = next8(in) / 4; count; count--) {	/* a link of a rate */
			send(l, bytes, false);
			now += bytes * (what >> 5);
			hear(l, 1, 0);
		}
		break;
	default:
		send(&links[pick(in, bytes)], bytes, what > 0xf0);
		now += what;
		if (what & 64)
			hear(l, 1 + (what & 3), what);
		break;
	}
	look(l, bytes);
}

int fuzz(const u8 *octets, size_t length)
{
	struct input in = { octets, length };
	u32 i;

	now = 1000000;
	memset(links, 0, sizeof(links));
	for (i = 0; i < PATHS; i++)
		shake_path_init(&links[i].est, links[i].ring, now);
	shake_sched_init(&sched);
	windows = (struct shake_path_config){ 1000 + next_to(&in, SHAKE_INTERVAL_DEFAULT),
					      next_to(&in, SHAKE_RTT_WINDOW_DEFAULT) };
	while (in.length)
		step(&in);
	return 0;
}
