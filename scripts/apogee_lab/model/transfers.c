// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers of the first flow, one after the other on its connection, as the lab's tool makes them
 * (guest/flow): in rounds of all sizes in random order, each answered when all of it has arrived.
 * The next one begins PERIOD after the last one began, and IDLE after a round ended, but not before
 * the answer. The answer is taken to come as an ACK that nothing loses.
 */
#include <err.h>

#include "events.h"
#include "path.h"
#include "transfers.h"

#define SIZES_MOST	64
#define LONGEST		(600 * NSEC_PER_SEC)	/* then it has failed, as with the tool */

static struct {
	u64 bytes[SIZES_MOST];
	u32 sizes;
	u64 period, idle;
	u32 done;	/* transfers that are complete */
	bool running;
	bool closing;	/* none begins any more */
	u64 begun;
	u32 target;	/* the first segment behind the present one */
	u16 last;	/* bytes of the segment before that */
	struct { u64 bytes, took; } *log;
	u32 room;
} t;

/* BYTES,BYTES..:PERIOD,IDLE (s) */
void transfers_read(const char *text, const char *option)
{
	double period, idle;
	char *end;

	do {
		t.bytes[t.sizes] = strtoull(text, &end, 10);
		if (end == text || !t.bytes[t.sizes++] || (*end == ',' && t.sizes == SIZES_MOST))
			errx(2, "%s: %s is not BYTES,..:PERIOD,IDLE", option, text);
		text = end + 1;
	} while (*end == ',');
	if (*end != ':' || sscanf(text, "%lf,%lf", &period, &idle) != 2 || period < 0 || idle < 0)
		errx(2, "%s: :PERIOD,IDLE is missing", option);
	t.period = (u64)(period * 1e9);
	t.idle = (u64)(idle * 1e9);
}

bool transfers_of(const struct flow *f)
{
	return t.sizes && !f->number;
}

static void shuffle(void)
{
	for (u32 n = t.sizes; n > 1; n--) {
		u32 dice = min((u32)(path_random() * n), n - 1);
		u64 last = t.bytes[n - 1];

		t.bytes[n - 1] = t.bytes[dice];
		t.bytes[dice] = last;
	}
}

/* The application writes the next one: so many segments, 0 if none begins any more. */
u32 transfers_next(void)
{
	u64 bytes;
	u32 segments;

	if (t.closing)
		return 0;
	if (t.done % t.sizes == 0)
		shuffle();
	bytes = t.bytes[t.done % t.sizes];
	segments = (u32)((bytes + MODEL_MSS - 1) / MODEL_MSS);
	t.begun = model_now;
	t.running = true;
	t.target += segments;
	t.last = (u16)(bytes - (segments - 1) * (u64)MODEL_MSS);
	return segments;
}

/* Bytes of a segment that was not sent before. */
u16 transfers_payload(const struct flow *f, u32 seg)
{
	return transfers_of(f) && seg == t.target - 1 ? t.last : MODEL_MSS;
}

/* The receiver has all that came in order up to here. */
void transfers_arrived(struct flow *f)
{
	u64 answered = model_now + world.path.rtt / 2 + f->extra, next = answered;

	if (!t.running || f->rcv.next < t.target)
		return;
	if (t.done == t.room) {
		t.room = 2 * t.room + 64;
		t.log = realloc(t.log, t.room * sizeof(*t.log));
		if (!t.log)
			err(1, "realloc");
	}
	t.log[t.done].bytes = t.bytes[t.done % t.sizes];
	t.log[t.done++].took = model_now - t.begun;
	t.running = false;
	if (t.closing)
		event_add(model_now, EV_END, (struct packet){ 0 });
	if (t.done % t.sizes == 0)
		next += t.idle;
	event_add(max(next, t.begun + t.period), EV_SUPPLY, (struct packet){ .flow = f->number });
}

/* At the end: whether one is still to be completed. */
bool transfers_close(void)
{
	if (t.running && t.closing)
		errx(1, "a transfer of %llu bytes takes more than %llu s",
		     (unsigned long long)t.bytes[t.done % t.sizes],
		     (unsigned long long)(LONGEST / NSEC_PER_SEC));
	t.closing = true;
	if (t.running)
		event_add(model_now + LONGEST, EV_END, (struct packet){ 0 });
	return t.running;
}

void transfers_print(void)
{
	if (!t.sizes)
		return;
	printf("\"transfers\": [");
	for (u32 i = 0; i < t.done; i++)
		printf("%s[%llu, %.6f]", i ? ", " : "", (unsigned long long)t.log[i].bytes,
		       (double)t.log[i].took / 1e9);
	printf("], ");
}
