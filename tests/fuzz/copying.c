// SPDX-License-Identifier: GPL-2.0
/*
 * shake/copies.c in user space, see copying.h.
 */
#include <shake/copies.h>

#include "copying.h"

#define PATHS (5 * SHAKE_PATHS_MAX)

u64 fuzz_now;
u64 fuzz_clock;

static struct shake_dev d;
static struct shake_peer peers[PATHS];
static struct shake_path paths[PATHS];
static struct shake_link links[PATHS];
static struct work_struct *due;

static u32 wakes;

void shake_peer_wake(struct shake_peer *peer, u64 at, u64 now)
{
	if (!peer || at != now + SHAKE_TAIL_US)
		abort();
	wakes++;
}

bool schedule_work(struct work_struct *work)
{
	due = work;
	return true;
}

bool cancel_work_sync(struct work_struct *work)
{
	if (due == work)
		due = NULL;
	return true;
}

void copying_begin(void)
{
	u32 i;

	fuzz_now = 1000000;
	wakes = 0;
	memset(&d, 0, sizeof(d));
	memset(links, 0, sizeof(links));
	d.settings.repair = true;
	d.settings.queue = 80000;
	d.settings.sched.scheduler = SHAKE_SCHED_RAH;
	for (i = 0; i < PATHS; i++) {
		peers[i] = (struct shake_peer){ .d = &d };
		paths[i] = (struct shake_path){
			.peer = &peers[i < SHAKE_PATHS_MAX ? 0 : i],
			.link = &links[i],
		};
		shake_copies_begin(&paths[i], GFP_KERNEL);
	}
}

void copying_end(void)
{
	u32 i;

	for (i = 0; i < PATHS; i++) {
		shake_copies_purge(&paths[i]);
		shake_copies_end(&paths[i]);
		shake_copies_free(&paths[i]);
	}
	if (copying_count())
		abort();
}

void copying_refuse(bool refuses)
{
	slab_refuse(refuses);
}

bool copying_work(void)
{
	struct work_struct *work = due;

	due = NULL;
	if (work)
		work->function(work);
	return work;
}

bool copying_send(u8 number)
{
	struct shake_path *path = &paths[number];
	struct shake_way way = { .path = path, .link = &links[number] };
	struct sk_buff *skb = fuzz_skb((const u8 *)"packet", 6);
	bool kept = false;
	u32 place;

	way.counter = ++links[number].s.counter;
	if (shake_copies_ready(path))
		kept = shake_copies_keep(path, (u32)way.counter, fuzz_now, &place);
	if (kept) {
		shake_copies_put(&way, place, skb, 0);
		kept = path->copies->skb[place];
	}
	kfree_skb(skb);
	return kept;
}

void copying_speed(u8 number, u32 rate)
{
	paths[number].estimate.rate = rate;
}

void copying_arrived(u8 number)
{
	struct shake_ack_body ack = { .seen = U64_MAX };
	u64 counter = links[number].s.counter;

	for (ack.echo = 1; ack.echo <= counter; ack.echo++)
		kfree_skb_list(shake_copies_told(&paths[number], &ack, fuzz_now));
}

u32 copying_tail(u8 number, u32 pause)
{
	fuzz_now += pause;
	shake_copies_tail(&paths[number], fuzz_now);
	return wakes;
}

u32 copying_count(void)
{
	return (u32)atomic_read(&d.copies);
}

u32 copying_refused(void)
{
	return (u32)atomic64_read(&d.counts[SHAKE_REPAIR_REFUSED]);
}
