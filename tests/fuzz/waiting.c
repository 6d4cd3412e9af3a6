// SPDX-License-Identifier: GPL-2.0
/*
 * shake/order.c, held.c and release.c in user space, see waiting.h.
 */
#include <shake/choose.h>
#include <shake/held.h>
#include <shake/order.h>
#include <shake/release.h>
#include <shake/transmit.h>
#include <shake/wake.h>

#include "waiting.h"

#define LEADERS 3
#define ROOM 65536

u64 fuzz_now;
u64 fuzz_clock;

/* Numbers of packets that went on. */
struct log {
	u32 number[ROOM];
	u32 put;
	u32 taken;
};

static struct net_device dev;
static struct shake_dev d;
static struct shake_peer peers[LEADERS];
static struct log up, left;
static bool full;
static u32 wakes;

static void put_in(struct log *log, struct sk_buff *skb)
{
	u32 number;

	memcpy(&number, skb->data, sizeof(number));
	log->number[log->put++ % ROOM] = number;
	kfree_skb(skb);
}

static u32 take_from(struct log *log)
{
	return log->taken < log->put ? log->number[log->taken++ % ROOM] : WAITING_NONE;
}

void gro_cells_receive(struct gro_cells *cells, struct sk_buff *skb)
{
	cells->received++;
	put_in(&up, skb);
}

bool shake_is_full(struct shake_peer *peer, u32 *trip)
{
	*trip = peer ? 100000 : 0;
	return full;
}

void shake_send_held(struct shake_peer *peer, struct sk_buff *skb)
{
	wakes += !peer;
	put_in(&left, skb);
}

void shake_peer_wake(struct shake_peer *peer, u64 at, u64 now)
{
	wakes += peer && at <= now;
}

static struct sk_buff *packet_of(u32 number, u32 hash)
{
	struct sk_buff *skb = fuzz_skb((u8 *)&number, sizeof(number));

	skb->hash = hash;
	return skb;
}

void waiting_begin(void)
{
	u32 i;

	fuzz_now = 1000000;
	fuzz_timer = NULL;
	memset(&d, 0, sizeof(d));
	memset(&up, 0, sizeof(up));
	memset(&left, 0, sizeof(left));
	full = false;
	wakes = 0;
	d.dev = &dev;
	for (i = 0; i < LEADERS; i++) {
		peers[i] = (struct shake_peer){ .d = &d };
		peers[i].held = shake_held_make(&d);
	}
}

void waiting_end(void)
{
	u32 i;

	shake_orders_stop(&peers[0]);
	shake_orders_free(&peers[0]);
	for (i = 0; i < LEADERS; i++)
		shake_held_free(peers[i].held);
	if (d.waiting.value)
		abort();
}

void waiting_advance(u32 us)
{
	struct timer_list *timer = fuzz_timer;	/* no other is set here */
	u64 until = fuzz_now + us;

	while (timer && timer->pending && (u64)timer->expires * FUZZ_JIFFY <= until) {
		fuzz_now = max_t(u64, fuzz_now, (u64)timer->expires * FUZZ_JIFFY);
		timer->pending = false;
		timer->function(timer);
	}
	fuzz_now = until;
}

void waiting_datagram(u32 number)
{
	shake_order_take(&peers[0], packet_of(number, 0), number);
}

void waiting_elsewhere(s32 count)
{
	atomic_set(&d.waiting, atomic_read(&d.waiting) + count);
}

u32 waiting_up(void)
{
	return take_from(&up);
}

u32 waiting_count(void)
{
	return (u32)atomic_read(&d.waiting);
}

bool waiting_hold(u8 leader, u32 number, u32 hash)
{
	return shake_held_put(peers[leader].held, packet_of(number, hash), false);
}

bool waiting_has(u8 leader, u32 hash)
{
	struct sk_buff *skb = packet_of(0, hash);
	bool has = shake_held_has(peers[leader].held, skb);

	kfree_skb(skb);
	return has;
}

u32 waiting_held(void)
{
	return (u32)atomic_read(&d.held);
}

void waiting_fill(bool filled)
{
	full = filled;
}

void waiting_let_go(u8 leader)
{
	shake_release_held(&peers[leader]);
}

u32 waiting_left(void)
{
	return take_from(&left);
}

void waiting_others(u32 count)
{
	atomic_set(&d.held, (int)count);
}

u32 waiting_wakes(void)
{
	return wakes;
}
