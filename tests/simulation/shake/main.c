// SPDX-License-Identifier: GPL-2.0
/*
 * One TCP flow over the paths of SHAKE. Paths are RATE:DELAY:LIMIT[:LOSS[:CBR]] in bit/s, ms
 * and packets, changes PATH:SECONDS:KIND=VALUE. Prints a line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shake.h"

struct world w = {
	.end = 100000000,
	.bytes = 1500,
	.far = 2000,
	.windows = { SHAKE_INTERVAL_DEFAULT, SHAKE_RTT_WINDOW_DEFAULT },
	.config = { SHAKE_SCHED_RAH, 100 },
	.queue_us = 80000,
	.tcp.window = 40,
	.threshold = 5,
};

static void fail(const char *text)
{
	fprintf(stderr, "shake: cannot read %s\n", text);
	exit(2);
}

static void read_path(const char *text)
{
	double rate, delay, loss = 0, cbr = 0;
	struct path *p = &w.paths[w.count];

	if (w.count == PATHS || sscanf(text, "%lf:%lf:%u:%lf:%lf", &rate, &delay, &p->limit, &loss,
				       &cbr) < 3 || rate <= 0 || p->limit > QUEUE_MAX || !p->limit)
		fail(text);
	p->rate = rate / 8;
	p->delay = (u64)(delay * 1000);
	p->loss = loss;
	p->cbr = cbr / 8;
	p->queue = calloc(QUEUE_MAX, sizeof(*p->queue));
	w.count++;
}

static void add_change(u32 path, double at, enum change_type type, double value)
{
	if (w.change_count == CHANGES || path >= w.count)
		fail("a change");
	w.changes[w.change_count++] = (struct change){ (u64)(at * 1e6), value, type, path };
}

static void read_change(const char *text)
{
	double at, value;
	char kind[16];
	u32 path;

	if (sscanf(text, "%u:%lf:%15[a-z]=%lf", &path, &at, kind, &value) != 4)
		fail(text);
	if (!strcmp(kind, "rate")) {
		add_change(path, at, RATE, value / 8);
	} else if (!strcmp(kind, "delay")) {
		add_change(path, at, DELAY, value * 1000);
	} else if (!strcmp(kind, "flow")) {
		add_change(path, at, FLOW_WINDOW, value);
	} else if (!strcmp(kind, "outage")) {
		add_change(path, at, DOWN, 0);
		add_change(path, at + value, UP, 0);
	} else {
		fail(text);
	}
}

static u32 word(const char *text, const char *const *words, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!strcmp(text, words[i]))
			return i;
	fail(text);
	return 0;
}

static void read_option(const char *name, const char *value)
{
	static const char *const scheds[] = { "rr", "ratio", "rah" };
	static const char *const tcps[] = { "reno", "sack", "cubic" };
	static const char *const acks[] = { "pass", "drop", "tdar", "auto" };
	u32 tcp;

	if (!strcmp(name, "--path")) {
		read_path(value);
	} else if (!strcmp(name, "--change")) {
		read_change(value);
	} else if (!strcmp(name, "--scheduler")) {
		w.config.scheduler = (u8)word(value, scheds, ARRAY_SIZE(scheds));
	} else if (!strcmp(name, "--tcp")) {
		tcp = word(value, tcps, ARRAY_SIZE(tcps));
		w.sack = tcp > 0;
		w.cubic = tcp > 1;
	} else if (!strcmp(name, "--hystart")) {
		w.hystart = atoi(value);
	} else if (!strcmp(name, "--start")) {
		w.start = (u64)(atof(value) * 1e6);
	} else if (!strcmp(name, "--window")) {
		w.tcp.window = (u32)atoi(value);
	} else if (!strcmp(name, "--drop")) {
		w.drop = atoi(value);
	} else if (!strcmp(name, "--queue")) {
		w.queue_us = (u32)(atof(value) * 1e6);
	} else if (!strcmp(name, "--ack")) {
		w.ack = word(value, acks, ARRAY_SIZE(acks));
	} else if (!strcmp(name, "--seconds")) {
		w.end = (u64)(atof(value) * 1e6);
	} else if (!strcmp(name, "--base")) {
		w.base = (u64)(atof(value) * 1e6);
	} else if (!strcmp(name, "--seed")) {
		w.random = (u64)atoll(value) << 32;
	} else {
		fail(name);
	}
}

static void handle(const struct event *event)
{
	switch (event->type) {
	case LINK:
		return link_done(event->path);
	case ARRIVE:
		return agent_received(event);
	case PSEUDO_ACK:
		return leader_acked(event);
	case ACK_TIMER:
		return agent_ack(event->path);
	case FAR_ACK:
		return agent_judge(event);
	case TCP_ACK:
		return tcp_acked(event);
	case RTO:
		return tcp_timeout(event->counter);
	case TICK:
		return leader_tick();
	case CBR:
		return cbr_send(event->path);
	case FLOW:
		return flow_send(event->path);
	case CHANGE:
		return change(&w.changes[event->counter]);
	}
}

static void report(void)
{
	double seconds = (w.end - w.base) / 1e6;
	u32 i;

	printf("{\"goodput\": %.0f, \"segments\": %u, \"retransmits\": %u, ",
	       8. * (w.bytes - HEAD) * (w.tcp.received - w.base_una) / seconds, w.tcp.received,
	       w.tcp.retransmits);
	printf("\"needless\": %u, \"refused\": %u, \"forced\": %u, \"paths\": [",
	       w.tcp.needless, w.refused, (u32)w.counts.forced);
	for (i = 0; i < w.count; i++)
		printf("%s{\"dropped\": %u, \"died\": %u}", i ? ", " : "", w.paths[i].dropped,
		       w.paths[i].died);
	printf("]}\n");
}

int main(int argc, char **argv)
{
	struct event event = { .type = TICK };
	u32 i;

	for (i = 1; i + 1 < (u32)argc; i += 2)
		read_option(argv[i], argv[i + 1]);
	if (!w.count)
		fail("no paths");
	for (i = 0; i < w.count; i++) {
		shake_path_init(&w.paths[i].est, w.paths[i].ring, 0);
		cbr_send(i);
	}
	for (i = 0; i < w.change_count; i++)
		event_add(&(struct event){ .at = w.changes[i].at, .type = CHANGE, .counter = i });
	event_add(&event);
	w.now = 0;
	leader_tick();
	agent_begin();
	while (event_next(&event) && event.at <= w.end) {
		w.now = event.at;
		if (!w.tcp.cwnd && w.now >= w.start)
			tcp_start();
		if (w.base && !w.base_una && w.now >= w.base)
			w.base_una = w.tcp.received;
		handle(&event);
	}
	report();
	return 0;
}
