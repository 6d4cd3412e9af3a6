// SPDX-License-Identifier: GPL-2.0
/* The event queue, and timers in it. */
#include "events.h"
#include "heap.h"

void event_add(u64 at, u8 kind, struct packet packet)
{
	event_push((struct event){ .at = at, .kind = kind, .packet = packet });
}

bool event_next(struct event *event)
{
	if (!event_pop(event))
		return false;
	model_now = event->at;
	return true;
}

/* A time, after a change of the rate: what is to come is nearer or further. */
u64 event_rescaled(u64 at, double factor)
{
	return at > model_now ? model_now + (u64)((double)(at - model_now) * factor) : at;
}

/* After a change of the rate: scale the departure and arrival times of queued packets. */
void event_rescale(double factor)
{
	for (u32 i = 0; i < world.count; i++)
		world.flows[i].data_arrival = 0;
	for (size_t i = 0; i < used; i++) {
		struct packet *packet = &heap[i].packet;
		u64 *arrival = &world.flows[packet->flow].data_arrival;
		u64 left = packet->left;

		if (heap[i].kind != EV_RECEIVER)
			continue;
		if (left > model_now) {
			packet->left = event_rescaled(left, factor);
			heap[i].at += packet->left - left;
		}
		*arrival = max(*arrival, heap[i].at);
	}
	for (size_t i = used / 2; i-- > 0;)
		sift_down(heap[i], i);
}

/* Segments of a flow that were sent, and have neither arrived nor been lost. */
u64 event_under_way(u16 flow)
{
	u64 count = 0;

	for (size_t i = 0; i < used; i++)
		if (heap[i].kind == EV_QUEUE || heap[i].kind == EV_RECEIVER)
			count += heap[i].packet.flow == flow && !heap[i].packet.handshake;
	return count;
}

static void timer_queue(struct flow *f, u8 kind)
{
	struct timer *timer = &f->timers[kind];

	timer->queued = timer->at;
	event_push((struct event){
		.at = timer->at,
		.packet.flow = f->number,
		.kind = EV_TIMER,
		.timer = kind,
	});
}

/*
 * When a timer of the kernel's wheel expires (kernel/time/timer.c): at the tick after the one
 * that was asked for, of a longer timer at the next of every 8, 64, 512 ticks.
 */
u64 timer_tick(u64 ns)
{
	const u64 tick = NSEC_PER_SEC / HZ;
	u64 ticks = (ns + tick - 1) / tick, at = model_now / tick + ticks;
	u32 shift = 0;

	for (u64 start = 63; ticks >= start; start <<= 3)
		shift += 3;
	return (((at >> shift) + 1) << shift) * tick;
}

/* A timer that is postponed leaves its event in the heap, to be checked again then. */
void timer_set(struct flow *f, u8 kind, u64 at)
{
	struct timer *timer = &f->timers[kind];

	timer->at = at;
	if (at < timer->queued)
		timer_queue(f, kind);
}

void timer_stop(struct flow *f, u8 kind)
{
	f->timers[kind].at = NEVER;
}

bool timer_expired(struct flow *f, u8 kind)
{
	struct timer *timer = &f->timers[kind];

	/* An event that an earlier one has replaced. */
	if (model_now != timer->queued)
		return false;
	timer->queued = NEVER;
	if (timer->at == NEVER)
		return false;
	if (timer->at > model_now) {
		timer_queue(f, kind);
		return false;
	}
	timer->at = NEVER;
	return true;
}
