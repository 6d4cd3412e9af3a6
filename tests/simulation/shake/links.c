// SPDX-License-Identifier: GPL-2.0
/* Events in order of time, and links with a drop-tail queue each. */
#include "shake.h"
#include "heap.h"

void event_add(const struct event *event)
{
	event_push(*event);
}

bool event_next(struct event *event)
{
	return event_pop(event);
}

/* Even in 0 to 1: splitmix64 */
double chance(void)
{
	u64 z = w.random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (double)((z ^ (z >> 31)) >> 11) / (double)(1ULL << 53);
}

static void link_start(u32 path)
{
	struct path *p = &w.paths[path];
	double time = p->queue[p->first].bytes / p->rate * 1e6;
	struct event done = { .at = w.now + (u64)time, .type = LINK, .path = path };

	p->busy = true;
	event_add(&done);
}

void link_put(u32 path, const struct packet *packet)
{
	struct path *p = &w.paths[path];

	if (p->queued == p->limit) {
		p->dropped++;
		if (!packet->foreign && packet->seq != U32_MAX)
			w.tcp.flight[packet->seq]--;
		return;
	}
	p->queue[(p->first + p->queued++) % QUEUE_MAX] = *packet;
	if (!p->busy)
		link_start(path);
}

void link_done(u32 path)
{
	struct path *p = &w.paths[path];
	struct packet *done = &p->queue[p->first];
	struct event arrive = { .at = max(w.now + p->delay, p->last_arrival), .type = ARRIVE,
				.path = path, .seq = done->seq, .counter = done->counter,
				.bytes = done->bytes, .m_al = done->m_al,
				.mal = done->mal };
	struct event again = { .at = w.now + 2 * p->delay, .type = FLOW, .path = path };
	bool gone = p->down || chance() < p->loss;

	p->first = (p->first + 1) % QUEUE_MAX;
	p->queued--;
	p->busy = false;
	if (p->queued)
		link_start(path);
	if (done->foreign) {
		if (done->seq == U32_MAX)
			event_add(&again);
		return;
	}
	p->last_arrival = arrive.at;
	if (!gone)
		event_add(&arrive);
	else if (done->seq != U32_MAX)
		w.tcp.flight[done->seq]--;
}

/* A packet of another flow, which sends one for each that arrives. */
void flow_send(u32 path)
{
	struct packet packet = { .seq = U32_MAX, .bytes = 1500, .foreign = true };
	struct path *p = &w.paths[path];
	struct event again = { .at = w.now + 2 * p->delay, .type = FLOW, .path = path };

	if (p->queued == p->limit)
		event_add(&again);
	link_put(path, &packet);
}

void cbr_send(u32 path)
{
	struct packet packet = { .bytes = 1000, .foreign = true };
	struct event next = { .type = CBR, .path = path };
	struct path *p = &w.paths[path];

	if (p->cbr <= 0)
		return;
	next.at = w.now + (u64)(1000 / p->cbr * 1e6 * (0.9 + 0.2 * chance()));
	event_add(&next);
	link_put(path, &packet);
}

void change(const struct change *change)
{
	struct path *p = &w.paths[change->path];
	u32 i;

	if (change->type == RATE)
		p->rate = change->value;
	else if (change->type == DELAY)
		p->delay = (u64)change->value;
	else if (change->type == FLOW_WINDOW)
		for (i = 0; i < change->value; i++)
			flow_send(change->path);
	else
		p->down = change->type == DOWN;
}
