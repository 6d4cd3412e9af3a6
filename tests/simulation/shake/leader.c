// SPDX-License-Identifier: GPL-2.0
/* What the two ends of the tunnel do: choose a path, answer with pseudo-ACKs, notice death. */
#include <string.h>

#include "shake.h"

static void counted(u32 path, u32 seq, u32 bytes)
{
	struct path *p = &w.paths[path];
	struct packet packet = { .seq = seq, .bytes = bytes, .counter = ++p->counter };

	if (seq != U32_MAX)
		packet.mal = shake_sends_next(&w.sends, (u8)path, seq * MSS, (seq + 1) * MSS,
					      false, &packet.m_al);
	shake_path_sent(&p->est, p->counter, bytes, w.now);
	link_put(path, &packet);
}

static void probe(u32 path)
{
	w.paths[path].probed = w.now;
	counted(path, U32_MAX, 60);
}

/* Paths that are alive. */
static u32 usable(struct shake_choice *choices, u32 *ids)
{
	u32 i, count = 0;

	for (i = 0; i < w.count; i++) {
		if (w.paths[i].dead)
			continue;
		choices[count].est = &w.paths[i].est;
		choices[count].weight = 100;
		ids[count++] = i;
	}
	return count;
}

static bool is_full(const struct shake_choice *choices, u32 count)
{
	w.sched.opens = w.opening.on && !shake_opening_is_over(&w.opening);
	w.sched.waits = (u64)w.held * w.bytes;
	return shake_sched_is_full(&w.sched, &w.config, choices, count, w.bytes, w.queue_us, w.now);
}

/* The queue of the leader's device stands still while all paths are full. */
static void let_go(void)
{
	struct shake_choice choices[PATHS];
	u32 ids[PATHS], count = usable(choices, ids), pick, seq;

	while (w.held && count && !is_full(choices, count)) {
		seq = w.fifo[w.first++ % QUEUE_MAX];
		w.held--;
		pick = ids[shake_sched_pick(&w.sched, &w.config, choices, count, w.bytes,
					    w.queue_us, w.now)];
		counted(pick, seq, w.bytes);
	}
}

void leader_send(u32 seq)
{
	if (w.held == QUEUE_MAX)
		return;
	w.tcp.flight[seq]++;
	w.fifo[(w.first + w.held++) % QUEUE_MAX] = seq;
	let_go();
}

/* By how much the longest way is longer than the shortest. */
static void measure_ways(void)
{
	u32 i, trip, least = U32_MAX, most = 0;

	for (i = 0; i < w.count; i++) {
		trip = shake_path_min_rtt(&w.paths[i].est);
		least = min(least, trip);
		most = max(most, trip);
	}
	w.holes.apart = least ? (most - least) / 2 : 0;
}

void leader_acked(const struct event *event)
{
	struct path *p = &w.paths[event->path];

	w.refused += !shake_path_acked(&p->est, &w.windows, &event->ack, w.now);
	p->dead = false;
	measure_ways();
	let_go();
	tcp_send();
}

static bool is_sated(void)
{
	struct shake_choice choices[PATHS] = { };
	u32 ids[PATHS], count = usable(choices, ids);

	return is_full(choices, count) && shake_sched_is_sated(choices, count, w.sched.waits);
}

/* Whether an ACK goes on to TCP: in its first slow start it does without some. */
bool leader_passes(const struct event *event)
{
	w.opening.on = w.opening.on && !event->copies && event->counter == event->seq &&
		       !is_sated();
	return !w.opening.on ||
	       shake_opening_passes(&w.opening, w.sends.high, event->seq * MSS);
}

static void go_on_in_order(u32 seq, u32 behind);

void leader_tick(void)
{
	struct event next = { .at = w.now + TICK_US, .type = TICK };
	struct path *p;
	u32 i;

	event_add(&next);
	for (i = 0; i < w.count; i++) {
		p = &w.paths[i];
		if (!w.now)
			probe(i);
		if (shake_path_is_silent(&p->est, w.now)) {
			shake_path_forget(&p->est, w.now);
			p->died += !p->dead;
			p->dead = true;
		}
		if ((p->dead && w.now >= p->probed + PROBE_US) ||
		    w.now >= shake_path_doubt(&p->est, w.now))
			probe(i);
	}
	let_go();
	go_on_in_order(U32_MAX, 0);
	if (w.now)
		tcp_send();
}

/* The least smoothed round trip carries ACKs. */
static u32 ack_path(void)
{
	u32 i, best = 0;

	for (i = 1; i < w.count; i++)
		if (!w.paths[i].dead && (w.paths[best].dead || shake_path_srtt(&w.paths[i].est) <
					 shake_path_srtt(&w.paths[best].est)))
			best = i;
	return best;
}

void agent_ack(u32 path)
{
	struct path *p = &w.paths[path];
	struct event ack = { .at = w.now + p->delay, .type = PSEUDO_ACK, .path = path };

	p->timer = false;
	if (!p->pending)
		return;
	p->pending = 0;
	p->acked = w.now;
	if (p->down || chance() < p->loss)
		return;
	ack.ack = (struct shake_path_ack){ p->newest, (u32)(w.now - p->arrived), p->received,
					   p->packets };
	event_add(&ack);
}

/* An ACK of the other host comes by the agent. */
void agent_judge(const struct event *event)
{
	struct shake_dupack ack = { .ack = event->seq * MSS, .pure = true, .now = (u32)w.now };
	struct event back = *event;

	switch (shake_holes_ack(&w.holes, &ack, (u8)w.ack, w.threshold, &w.counts)) {
	case SHAKE_DROP:
		return;
	case SHAKE_PASS_RETRANSMIT:
		back.copies = 2;
		break;
	case SHAKE_PASS_UNSACKED:	/* its ACKs have no blocks */
	case SHAKE_PASS:
		break;
	}
	back.type = TCP_ACK;
	back.path = ack_path();
	if (chance() < w.paths[back.path].loss)
		return;
	back.at = w.now + w.paths[back.path].delay;
	event_add(&back);
}

static void holes_data(const struct event *event)
{
	struct shake_arrival arrival = {
		.seq = event->seq * MSS,
		.end = (event->seq + 1) * MSS,
		.m_al = event->m_al,
		.has_mal = event->mal != SHAKE_NO_MAL,
		.gap = event->mal == SHAKE_MAL_GAP,
		.path = (u8)event->path,
		.alive = (u8)((1U << w.count) - 1),
		.now = (u32)w.now,
	};

	shake_holes_arrived(&w.holes, &arrival, &w.counts);
}

void agent_begin(void)
{
	struct shake_arrival syn = { .seq = U32_MAX, .syn = true };
	u32 m_al;

	w.config.even = w.ack != SHAKE_HOLES_AUTO;
	shake_sends_next(&w.sends, 0, U32_MAX, 0, true, &m_al);
	if (w.ack == SHAKE_HOLES_AUTO)
		shake_opening_begin(&w.opening, U32_MAX);
	shake_holes_init(&w.holes, w.hole, SHAKE_HOLES_MAX);
	shake_holes_arrived(&w.holes, &syn, &w.counts);
}

/* A segment goes on to the other host. */
static void go_on(u32 seq)
{
	struct event back = { .at = w.now + w.far, .type = FAR_ACK };
	u32 held = w.tcp.received;

	tcp_arrived(seq);
	if (w.drop && w.tcp.received == held && w.tcp.flight[held])
		return;
	back.seq = w.tcp.received;
	back.counter = w.tcp.arrivals;
	event_add(&back);
}

/*
 * With ack=auto data goes on in order, as far as it is late, and what is sent again behind what was
 * sent before it (shake_flows_order()).
 */
static void go_on_in_order(u32 seq, u32 behind)
{
	u32 wait, turn = shake_holes_turn(&w.holes, (u32)w.now, &wait), early;

	if (seq != U32_MAX &&
	    (w.ack != SHAKE_HOLES_AUTO || shake_before(behind * MSS, turn) || !wait)) {
		go_on(seq);
	} else if (seq != U32_MAX) {
		for (early = w.early_count++; early && w.early[early - 1].behind > behind; early--)
			w.early[early] = w.early[early - 1];
		w.early[early] = (struct early){ .seq = seq, .behind = behind };
	}
	for (early = 0; early < w.early_count;) {
		struct early next = w.early[early];

		if (!shake_before(next.behind * MSS, turn)) {
			early++;
			continue;
		}
		memmove(&w.early[early], &w.early[early + 1],
			(--w.early_count - early) * sizeof(w.early[0]));
		go_on(next.seq);
	}
}

void agent_received(const struct event *event)
{
	struct path *p = &w.paths[event->path];
	struct event timer = { .at = p->acked + ACK_EVERY_US, .type = ACK_TIMER,
			       .path = event->path };

	p->newest = event->counter;
	p->arrived = w.now;
	p->received += event->bytes;
	p->packets++;
	p->pending++;
	if (p->pending >= ACK_PACKETS || w.now >= timer.at) {
		agent_ack(event->path);
	} else if (!p->timer) {
		p->timer = true;
		event_add(&timer);
	}
	if (event->seq != U32_MAX) {
		holes_data(event);
		w.tcp.flight[event->seq]--;
		go_on_in_order(event->seq, event->mal ? max(event->seq, event->m_al / MSS) :
					   event->seq);
	}
}
