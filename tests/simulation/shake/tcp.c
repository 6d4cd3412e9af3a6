// SPDX-License-Identifier: GPL-2.0
/*
 * A sender in segments: NewReno without SACK and with a fixed threshold of three, or SACK with
 * a threshold that follows the reordering; Reno's growth or CUBIC's.
 */
#include <math.h>
#include <stdlib.h>

#include "shake.h"

static struct tcp *t = &w.tcp;

static void arm(void)
{
	double rto = t->srtt > 0 ? t->srtt + max_t(double, 4 * t->var, 200000) : 1e6;
	struct event timer = { .type = RTO, .counter = ++t->rto_epoch };

	timer.at = w.now + (u64)(rto * (1U << min(t->backoff, 6U)));
	event_add(&timer);
}

static void transmit(u32 seq, bool again)
{
	if (again) {
		t->retransmits++;
		t->again[seq] = 1;
		if (t->held[seq] || t->flight[seq])
			t->needless++;
	}
	t->lost[seq] = 0;
	t->sent_at[seq] = w.now;
	t->pipe++;
	leader_send(seq);
}

static u32 window(void)
{
	return (u32)min_t(double, max_t(double, t->cwnd, 1), t->window);
}

/* Send what SACK says is lost, then new data. */
static void send_sack(void)
{
	u32 seq = t->una;

	while (t->pipe < window() && w.held < HELD_MOST) {
		while (t->marked && seq < t->next && !t->lost[seq])
			seq++;
		if (t->marked && seq < t->next) {
			t->marked--;
			transmit(seq, true);
		} else {
			if (t->next >= SEGMENTS || t->next - t->una >= t->window)
				return;
			transmit(t->next++, false);
		}
	}
}

/* The head that was lost was sent again: it counts once. */
static u32 in_flight(void)
{
	return t->next - t->una - t->dup;
}

static void send_reno(void)
{
	while (t->next < SEGMENTS && t->next - t->una < t->window && in_flight() < window() &&
	       w.held < HELD_MOST) {
		transmit(t->next, t->next < t->highest);
		t->next++;
		t->prr_out++;
		t->highest = max(t->highest, t->next);
	}
}

/* TCP small queues: what the device holds back is little. */
void tcp_send(void)
{
	if (!t->cwnd)
		return;
	if (w.sack)
		send_sack();
	else
		send_reno();
}

static void grow(u32 acked)
{
	double since, target;

	if (t->recovering || t->cwnd >= t->window)
		return;
	if (t->cwnd < t->ssthresh) {
		t->cwnd += acked;
		return;
	}
	if (!w.cubic) {
		t->cwnd += acked / t->cwnd;
		return;
	}
	since = (w.now - t->epoch) / 1e6 - cbrt(t->w_max * .3 / .4);
	target = .4 * since * since * since + t->w_max;
	if (target > t->cwnd)
		t->cwnd += min_t(double, acked * (target - t->cwnd) / t->cwnd, acked * .5);
	t->cwnd += acked * .01 / t->cwnd;
}

static void reduce(void)
{
	t->w_max = t->cwnd;
	t->epoch = w.now;
	t->ssthresh = max_t(double, t->cwnd * (w.cubic ? .7 : .5), 2);
	t->recover = max(t->highest, t->next);
}

/*
 * HyStart, as CUBIC has it in Linux: eight ACKs of a round that took 4 to 16 ms longer than the
 * least end slow start.
 */
static void look_for_queue(double rtt)
{
	if (!w.hystart || t->cwnd >= t->ssthresh)
		return;
	if (t->una > t->round) {
		t->round = t->next;
		t->samples = 0;
		t->round_least = rtt;
	}
	t->least = t->least > 0 ? min_t(double, t->least, rtt) : rtt;
	t->round_least = min_t(double, t->round_least, rtt);
	if (t->samples++ < 8 || t->cwnd < 16 ||
	    t->round_least <= t->least + clamp_t(double, t->least / 8, 4000, 16000))
		return;
	t->ssthresh = t->cwnd;
	t->w_max = t->cwnd;
	t->epoch = w.now;
}

static void measure(u32 seq)
{
	double rtt = w.now - t->sent_at[seq];

	if (t->again[seq])
		return;
	t->backoff = 0;
	if (t->srtt <= 0) {
		t->srtt = rtt;
		t->var = rtt / 2;
	}
	t->var += (fabs(rtt - t->srtt) - t->var) / 4;
	t->srtt += (rtt - t->srtt) / 8;
}

static void mark(u32 seq)
{
	if (t->lost[seq] || t->sacked[seq])
		return;
	t->lost[seq] = 1;
	t->marked++;
	t->pipe -= min(t->pipe, 1U);
}

/* @told: of the arrivals, those that this ACK and those before it report. */
static void acked_sack(u32 cum, u32 told)
{
	u32 s, seq, wait;

	for (; t->told < told; t->told++) {
		seq = t->order[t->told];
		if (seq < t->una || t->sacked[seq])
			continue;
		t->sacked[seq] = 1;
		if (t->lost[seq])
			t->marked--;
		else
			t->pipe -= min(t->pipe, 1U);
		if (seq < t->highest_sacked && !t->again[seq])
			t->reordering = clamp_t(u32, t->highest_sacked - seq + 1, t->reordering,
						300);
		t->highest_sacked = max(t->highest_sacked, seq);
		t->lost[seq] = 0;
		measure(seq);
	}
	if (cum > t->una) {
		for (s = t->una; s < cum; s++) {
			if (!t->sacked[s] && t->lost[s])
				t->marked--;
			else if (!t->sacked[s])
				t->pipe -= min(t->pipe, 1U);
			t->lost[s] = 0;
		}
		grow(cum - t->una);
		t->una = cum;
		if (!t->again[cum - 1])
			look_for_queue(w.now - t->sent_at[cum - 1]);
		arm();
		if (t->recovering && cum >= t->recover) {
			t->recovering = false;
			t->cwnd = t->ssthresh;
		}
	}
	/* segments sent before, by a round trip's worth, those that have arrived; RACK */
	wait = (u32)max_t(double, t->srtt / 4, 1000);
	for (s = t->una; s + t->reordering <= t->highest_sacked; s++) {
		if (t->sacked[s] || t->lost[s])
			continue;
		if (t->again[s] && w.now < t->sent_at[s] + (u64)t->srtt + wait)
			continue;
		mark(s);
		if (!t->recovering) {
			t->recovering = true;
			reduce();
			t->cwnd = t->ssthresh;
		}
	}
}

/* Proportional rate reduction, RFC 6937: what may be under way after this ACK. */
static void reduce_by(u32 delivered, bool advanced)
{
	u32 flight = in_flight(), send = 0, due;
	u32 ssthresh = (u32)t->ssthresh;

	t->prr_delivered += delivered;
	due = (ssthresh * t->prr_delivered + t->prior - 1) / t->prior;
	if (flight > ssthresh) {
		send = due - min(due, t->prr_out);
	} else {
		send = max(t->prr_delivered - min(t->prr_delivered, t->prr_out), delivered);
		send = min(send + advanced, ssthresh - flight);
	}
	t->cwnd = flight + max(send, t->prr_out ? 0U : 1U);
}

static void repair(void)
{
	transmit(t->una, true);
	t->prr_out++;
}

static void acked_reno(u32 cum)
{
	u32 acked = cum > t->una ? cum - t->una : 0;

	if (cum < t->una)	/* overtaken */
		return;
	if (!acked) {
		if (t->next == t->una || t->timed_out)
			return;
		t->dup = min(t->dup + 1, t->next - t->una - 1);
		if (t->recovering) {
			reduce_by(1, false);
		} else if (t->dup >= 3 && cum > t->recover) {
			t->recovering = true;
			t->prior = (u32)t->cwnd;
			t->prr_delivered = 0;
			t->prr_out = 0;
			reduce();
			repair();
			reduce_by(1, false);
			arm();
		}
		return;
	}
	measure(cum - 1);
	t->una = cum;
	t->next = max(t->next, cum);
	t->timed_out &= cum < t->recover;
	if (t->recovering && cum <= t->recover) {
		u32 delivered = acked > t->dup ? acked - t->dup : 1;

		t->dup -= min(acked - 1, t->dup);
		if (cum < t->recover)
			repair();
		reduce_by(delivered, true);
	} else if (t->recovering) {
		t->recovering = false;
		t->dup = 0;
		t->cwnd = t->ssthresh;
	} else {
		t->dup = 0;
		grow(acked);
	}
	arm();
}

void tcp_acked(const struct event *event)
{
	u32 i;

	if (w.paths[event->path].down || !leader_passes(event))
		return;
	for (i = 0; i <= event->copies; i++) {
		if (w.sack)
			acked_sack(event->seq, event->counter);
		else
			acked_reno(event->seq);
		tcp_send();
	}
}

/* At the receiver; an agent that drops needless duplicate ACKs knows what is under way. */
void tcp_arrived(u32 seq)
{
	t->held[seq] = 1;
	t->order[t->arrivals++] = seq;
	while (t->held[t->received])
		t->received++;
}

void tcp_timeout(u32 epoch)
{
	u32 s;

	if (epoch != t->rto_epoch)
		return;
	t->backoff++;
	reduce();
	t->recovering = false;
	t->timed_out = true;
	t->recover = max(t->highest, t->next);
	t->cwnd = 1;
	t->dup = 0;
	if (w.sack) {
		for (s = t->una; s < t->next; s++)
			mark(s);
		t->pipe = 0;
	} else {
		t->next = t->una;
	}
	arm();
	tcp_send();
}

void tcp_start(void)
{
	t->flight = calloc(SEGMENTS + 1, 1);
	t->held = calloc(SEGMENTS + 1, 1);
	t->sacked = calloc(SEGMENTS + 1, 1);
	t->lost = calloc(SEGMENTS + 1, 1);
	t->again = calloc(SEGMENTS + 1, 1);
	t->order = calloc(2 * SEGMENTS, sizeof(*t->order));
	t->sent_at = calloc(SEGMENTS + 1, sizeof(*t->sent_at));
	t->cwnd = 10;
	t->ssthresh = 1e9;
	t->reordering = 3;
	arm();
	tcp_send();
}
