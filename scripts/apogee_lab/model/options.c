// SPDX-License-Identifier: GPL-2.0
/* The program's options. */
#include <err.h>
#include <math.h>

#include "algorithms.h"
#include "options.h"
#include "path.h"
#include "transfers.h"

struct options options = { .duration_s = 60, .spread_s = -1 };

static double read_number(const char *text, const char *option, double low)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low))
		errx(2, "%s: %s is no number from %g on", option, text, low);
	return value;
}

/* Give each flow its item of a list, or a single item to all of them. */
static void listed(const char *text, const char *option, size_t field)
{
	char copy[1024], *item, *rest = copy;
	double value = 0;
	u32 n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((item = strsep(&rest, ",")) && n < MODEL_FLOWS) {
		value = read_number(item, option, 0);
		*(u64 *)((char *)&world.flows[n++] + field) = ns(value);
	}
	if (n != 1 && n != world.count)
		errx(2, "%s: %u values for %u flows", option, n, world.count);
	for (; n < world.count; n++)
		*(u64 *)((char *)&world.flows[n] + field) = ns(value);
}

/* star,cubic*3: one flow of star and three of cubic. */
static void read_flows(const char *text, const char *option)
{
	while (*text) {
		size_t length = strcspn(text, ",*");
		struct tcp_congestion_ops *ops = algorithm(text, length);
		unsigned long times = 1;
		char *end = (char *)text + length;

		if (!ops)
			errx(2, "%s: no algorithm %.*s", option, (int)length, text);
		if (*end == '*')
			times = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || !times || world.count + times > MODEL_FLOWS)
			errx(2, "%s: %s: 1 to %u flows in all", option, text, MODEL_FLOWS);
		while (times--)
			world.flows[world.count++].sk.icsk.icsk_ca_ops = ops;
		text = *end ? end + 1 : end;
	}
}

/* T:KEY=VALUE,KEY=VALUE; T in seconds from the first flow's start. */
static void read_event(const char *text, const char *option)
{
	struct path before = world.path;
	char copy[256], *item, *rest;

	snprintf(copy, sizeof(copy), "%s", text);
	rest = strchr(copy, ':');
	if (!rest)
		errx(2, "%s: %s is not T:KEY=VALUE", option, text);
	*rest++ = 0;
	while ((item = strsep(&rest, ","))) {
		struct change *c = &options.changes[options.change_count++];
		char *value = strchr(item, '=');

		if (!value || options.change_count >= EVENTS_MOST)
			errx(2, "%s: %s is not T:KEY=VALUE", option, text);
		*value++ = 0;
		c->at = ns(read_number(copy, option, 0));
		c->value = read_number(value, option, 0);
		snprintf(c->key, sizeof(c->key), "%s", item);
		if (!path_change(c->key, c->value))
			errx(2, "%s: no key %s", option, item);
	}
	world.path = before;
}

static void read_pair(const char *text, const char *option, double *one, double *other)
{
	char copy[64], *second = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	strsep(&second, ",");
	*one = read_number(copy, option, 0);
	*other = read_number(second ? second : "", option, 0);
}

static void read_bursts(const char *text, const char *option)
{
	read_pair(text, option, &world.path.burst_begin, &world.path.burst_end);
}

static void read_bad_times(const char *text, const char *option)
{
	struct path *p = &world.path;

	read_pair(text, option, &p->bad_every, &p->bad_length);
	if (p->bad_length < 1 || p->bad_every < p->bad_length + 1)
		errx(2, "%s: the length, and what is left, must be at least 1 ms", option);
}

static void read_jitter(const char *text, const char *option)
{
	double mean, deviation;

	read_pair(text, option, &mean, &deviation);
	world.path.jitter_mean = mean * NSEC_PER_MSEC;
	world.path.jitter_half = sqrt(3) * deviation * NSEC_PER_MSEC;
}

static void read_source(const char *text, const char *option)
{
	double bytes, every_s;

	read_pair(text, option, &bytes, &every_s);
	world.chunk = max((u32)((bytes + MODEL_MSS - 1) / MODEL_MSS), 1U);
	world.chunk_every = ns(max(every_s, 0.001));
}

static void read_delays(const char *text, const char *option)
{
	listed(text, option, offsetof(struct flow, extra));
	for (u32 i = 0; i < world.count; i++)
		world.flows[i].extra /= 1000;
}

static void read_queue_bytes(const char *text, const char *option)
{
	double bytes = read_number(text, option, 0);

	world.path.queue = max((u32)(bytes / MODEL_MTU + 0.5), 1U);
}

static void read_queue(const char *text, const char *option)
{
	world.path.queue = (u32)read_number(text, option, 1);
}

static void read_ack_queue(const char *text, const char *option)
{
	world.path.ack_queue = (u32)read_number(text, option, 1);
}

static void read_window(const char *text, const char *option)
{
	world.path.window = (u32)(read_number(text, option, MODEL_MSS) / MODEL_MSS);
}

static void read_seed(const char *text, const char *option)
{
	world.seed = (u64)read_number(text, option, 0);
}

static void read_start(const char *text, const char *option)
{
	listed(text, option, offsetof(struct flow, start));
}

static void read_stop(const char *text, const char *option)
{
	listed(text, option, offsetof(struct flow, stop));
}

static void read_param(const char *text, const char *option)
{
	if (algorithm_param(text))
		errx(2, "%s: %s is not taken", option, text);
}

/* What follows an option: a number from `low` on, ms likewise, or what read() makes of it. */
static const struct setting {
	const char *option;
	const char *says;
	void (*read)(const char *text, const char *option);
	double *number;
	u64 *ms;
	double low;
} settings[] = {
	{ "--flows", "LIST: star, reno, cubic: star,cubic or star*10 (needed, first)",
	  .read = read_flows },
	{ "--rate", "BIT_PER_S of the bottleneck (10e6)", .number = &world.path.rate, .low = 1 },
	{ "--rtt", "MS of the empty path (500)", .ms = &world.path.rtt },
	{ "--queue-bytes", "B: as packets of 1500 B", .read = read_queue_bytes },
	{ "--queue", "PACKETS (417)", .read = read_queue },
	{ "--burst-bytes", "B: the bottleneck is a token bucket so deep, the queue behind it",
	  .number = &world.path.burst },
	{ "--ber", "P: bit errors behind the bottleneck", .number = &world.path.ber },
	{ "--loss", "P: share of frames lost there", .number = &world.path.loss },
	{ "--bursts", "P,R: bursts of losses: chance per frame of their begin and end",
	  .read = read_bursts },
	{ "--burst-time", "EVERY,LENGTH: ms from one bad time to the next, and of one: all is lost",
	  .read = read_bad_times },
	{ "--duration", "S after the last flow's first data (60)", .number = &options.duration_s,
	  .low = 0.001 },
	{ "--warmup", "S of it, not counted (0)", .number = &options.warmup_s },
	{ "--seed", "N of starts, losses and jitter (1)", .read = read_seed },
	{ "--spread", "S: each flow starts up to so much later (one RTT)",
	  .number = &options.spread_s },
	{ "--start", "S,..: when each flow starts, or all", .read = read_start },
	{ "--stop", "S,..: when each flow has no more to send", .read = read_stop },
	{ "--window", "B: receive window (16e6)", .read = read_window },
	{ "--access-rate", "BIT_PER_S of each sender's own link (100e6), 0: no limit",
	  .number = &world.path.access_rate },
	{ "--ack-jitter", "MEAN,SD: ms more for each ACK, even, order kept", .read = read_jitter },
	{ "--ack-slot", "MS: ACKs are released every so often", .ms = &world.path.slot },
	{ "--ack-loss", "P: share of ACKs lost", .number = &world.path.ack_loss },
	{ "--ack-rate", "BIT_PER_S of the way back, 0: no limit (0)",
	  .number = &world.path.ack_rate },
	{ "--ack-queue", "ACKS in front of that rate (20)", .read = read_ack_queue },
	{ "--delays", "MS,..: one-way delay of each flow's own link, or of all",
	  .read = read_delays },
	{ "--source", "B,S: the application writes B bytes every S seconds (all at once)",
	  .read = read_source },
	{ "--transfers", "B,..:PERIOD,IDLE: the first flow has these one after the other (s)",
	  .read = transfers_read },
	{ "--event", "T:KEY=V,..: at T s rate, rtt, ber, loss, queue (packets), stall (ACKs, ms), "
	  "outage (ms)", .read = read_event },
	{ "--param", "NAME=VALUE of a module", .read = read_param },
	{ "--series", "S: the flows' state every so often",
	  .number = &options.series_s, .low = 0.001 },
	{ .option = NULL }
};

static int usage(FILE *to, int status)
{
	fputs("simulation: TCP flows through one bottleneck, simulated; prints one JSON object\n"
	      "  --check recount the scoreboard at each ACK\n"
	      "  --kernel as many segments at once as the kernel hands down, timers in its ticks\n",
	      to);
	for (const struct setting *s = settings; s->option; s++)
		fprintf(to, "  %s %s\n", s->option, s->says);
	return status;
}

static void read_option(const char *option, const char *text)
{
	const struct setting *s = settings;

	while (s->option && strcmp(s->option, option))
		s++;
	if (!s->option || !text)
		exit(usage(stderr, 2));
	if (s->read)
		s->read(text, option);
	else if (s->ms)
		*s->ms = ns(read_number(text, option, s->low) / 1e3);
	else
		*s->number = read_number(text, option, s->low);
}

/* The words behind the program's name. */
void options_read(char **words)
{
	for (; *words; words++) {
		if (!strcmp(*words, "--help"))
			exit(usage(stdout, 0));
		if (!strcmp(*words, "--check")) {
			world.check = true;
		} else if (!strcmp(*words, "--kernel")) {
			world.kernel = true;
		} else {
			read_option(words[0], words[1]);
			words++;
		}
	}
	if (!world.count)
		errx(2, "--flows: no flow");
	if (options.warmup_s >= options.duration_s)
		errx(2, "--warmup: %g s of %g s", options.warmup_s, options.duration_s);
}
