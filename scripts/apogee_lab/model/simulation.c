// SPDX-License-Identifier: GPL-2.0
/* The program: its flows begin, then one event follows the other; what was asked for is printed. */
#include <err.h>

#include "events.h"
#include "options.h"
#include "path.h"
#include "receiver.h"
#include "report.h"
#include "sender.h"
#include "transfers.h"

#define SAMPLE_EVERY	(100 * NSEC_PER_MSEC)

static u32 connected;
static u64 measured_from, measured_until;

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err(1, "calloc");
	return memory;
}

static void make_flow(struct flow *f, u16 n)
{
	struct packet packet = { .flow = n };

	f->number = n;
	f->snd.segs = zeroed(world.ring, sizeof(*f->snd.segs));
	f->rcv.held = zeroed(world.ring / 64, sizeof(*f->rcv.held));
	f->rcv.log = zeroed(4 * world.ring, sizeof(*f->rcv.log));
	f->acks = zeroed(4 * world.ring, sizeof(*f->acks));
	for (int i = 0; i < TIMERS; i++)
		f->timers[i] = (struct timer){ .at = NEVER, .queued = NEVER };
	event_add(model_now + f->start + ns(options.spread_s * path_random()), EV_START, packet);
	if (f->stop)
		event_add(model_now + f->stop, EV_START, packet);
	if (world.chunk && !transfers_of(f))
		event_add(model_now + f->start + world.chunk_every, EV_SUPPLY, packet);
}

/* Any seed, including 0, gives a non-zero state (splitmix64). */
static void seed_generators(void)
{
	world.seed = (world.seed + 1) * 0x9e3779b97f4a7c15ULL;
	world.seed ^= world.seed >> 31;
	world.bad_seed = (world.seed ^ 0x2545f4914f6cdd1dULL) | 1;
	world.tie_seed = (world.seed ^ 0x9e3779b97f4a7c15ULL) | 1;
}

static void prepare(void)
{
	seed_generators();
	if (options.spread_s < 0)
		options.spread_s = (double)world.path.rtt / 1e9;
	for (world.ring = 64; world.ring < 2 * world.path.window; world.ring *= 2)
		;
	for (u16 i = 0; i < world.count; i++)
		make_flow(&world.flows[i], i);
	for (u32 i = 0; i < options.change_count; i++)
		event_add(model_now + options.changes[i].at, EV_CHANGE,
			  (struct packet){ .seg = i });
	if (options.series_s)
		event_add(model_now + ns(options.series_s), EV_SERIES, (struct packet){ 0 });
	event_add(model_now + SAMPLE_EVERY, EV_SAMPLE, (struct packet){ 0 });
}

static void begin(void)
{
	for (u32 i = 0; i < world.count; i++)
		world.flows[i].begin = world.flows[i].total;
	world.begin_offered = world.offered;
	world.begin_dropped = world.dropped;
	world.begin_served = world.served;
	world.begin_capacity = path_capacity();
	world.begun = model_now;
}

/* The interval begins with the last flow's first data, as in the lab, or with its connection while
 * none has arrived: a flow that gets nothing through has nothing.
 */
static void measure_from_now(void)
{
	measured_from = model_now + ns(options.warmup_s);
	measured_until = model_now + ns(options.duration_s);
	event_add(measured_from, EV_MEASURE, (struct packet){ 0 });
	event_add(measured_until, EV_END, (struct packet){ 0 });
}

/* Returns false at the end. */
static bool goes_on(void)
{
	return connected < world.count || model_now < measured_until || transfers_close();
}

static void supply(struct packet packet)
{
	struct flow *f = &world.flows[packet.flow];

	if (transfers_of(f)) {
		sender_transfer(f);
		return;
	}
	sender_supply(f, world.chunk);
	event_add(model_now + world.chunk_every, EV_SUPPLY, packet);
}

static void sample(void)
{
	for (u32 i = 0; i < world.count; i++) {
		struct flow *f = &world.flows[i];

		f->total.srtt_sum_us += f->sk.tp.srtt_us >> 3;
		f->total.srtt_samples += !!f->sk.tp.srtt_us;
	}
	event_add(model_now + SAMPLE_EVERY, EV_SAMPLE, (struct packet){ 0 });
}

static void series(void)
{
	report_state();
	event_add(model_now + ns(options.series_s), EV_SERIES, (struct packet){ 0 });
}

static void start_or_stop(struct flow *f)
{
	if (f->sockets)
		f->snd.stopped = true;
	else
		sender_start(f);
}

static void receive(const struct event *event)
{
	struct flow *f = &world.flows[event->packet.flow];
	bool first = !f->total.arrived && !event->packet.handshake;

	if (path_bad(event->packet.left) || path_is_out(event->packet.left)) {
		f->total.lost += !event->packet.handshake;
		return;
	}
	receiver_packet(f, event->packet);
	if (first && (connected < world.count || model_now < measured_until))
		measure_from_now();
}

static void answer(const struct event *event)
{
	struct flow *f = &world.flows[event->packet.flow];
	bool before = f->snd.established;

	sender_ack(f, f->acks[ring4(event->packet.seg)]);
	if (world.check)
		sender_check(f);
	if (before || !f->snd.established)
		return;
	connected++;
	measure_from_now();
}

static void timer(const struct event *event)
{
	struct flow *f = &world.flows[event->packet.flow];

	if (!timer_expired(f, event->timer))
		return;
	if (event->timer == TIMER_PACE)
		sender_pace(f);
	else if (event->timer == TIMER_XMIT)
		sender_timer(f);
	else
		receiver_timer(f);
}

/* Returns false at the end. */
static bool handle(const struct event *event)
{
	struct flow *f = &world.flows[event->packet.flow];
	const struct change *change;

	switch (event->kind) {
	case EV_START:
		start_or_stop(f);
		break;
	case EV_QUEUE:
		path_queue(event->packet);
		break;
	case EV_RECEIVER:
		receive(event);
		break;
	case EV_SENDER:
		answer(event);
		break;
	case EV_RETURN:
		path_return(event->packet);
		break;
	case EV_TIMER:
		timer(event);
		break;
	case EV_SUPPLY:
		supply(event->packet);
		break;
	case EV_SAMPLE:
		sample();
		break;
	case EV_CHANGE:
		change = &options.changes[event->packet.seg];
		path_change(change->key, change->value);
		break;
	case EV_SERIES:
		series();
		break;
	case EV_MEASURE:
		if (model_now == measured_from)
			begin();
		break;
	case EV_END:
		return goes_on();
	}
	return true;
}

int main(int argc, char **argv)
{
	struct event event;

	(void)argc;
	options_read(argv + 1);
	prepare();
	report_begin();
	while (event_next(&event) && handle(&event))
		;
	report_result();
	return 0;
}
