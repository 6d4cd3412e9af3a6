// SPDX-License-Identifier: GPL-2.0
/* The program: its options, the event loop, and the result as one JSON object. */
#include <err.h>
#include <math.h>

#include "simulation.h"

#define EVENTS_MOST	65536U
#define SAMPLE_EVERY	(100 * NSEC_PER_MSEC)

/* A change of the path during the run: --event T:KEY=VALUE. */
struct change {
	u64 at;
	char key[16];
	double value;
};

u64 model_now = NSEC_PER_SEC;	/* 0 means no time */
struct world world = {
	.path = { .rate = 10e6, .access_rate = 100e6, .rtt = 500 * NSEC_PER_MSEC,
		  .queue = 417, .ack_queue = 20, .window = 16000000 / MODEL_MSS },
};

static struct change changes[EVENTS_MOST];
static u32 change_count;
static double duration_s = 60, warmup_s, spread_s = -1, series_s;
static u32 connected;
static u64 measured_from, measured_until;
static bool series_begun;

static double read_number(const char *text, const char *option, double low)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low))
		errx(2, "%s: %s is no number from %g on", option, text, low);
	return value;
}

static u64 ns(double seconds)
{
	return (u64)(seconds * 1e9 + 0.5);
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

static bool change_path(const char *key, double value)
{
	struct path *p = &world.path;

	if (!strcmp(key, "rate"))
		path_set_rate(max(value, 1.0));
	else if (!strcmp(key, "rtt"))
		p->rtt = ns(value / 1e3);
	else if (!strcmp(key, "ber"))
		p->ber = value;
	else if (!strcmp(key, "loss"))
		p->loss = value;
	else if (!strcmp(key, "queue"))
		p->queue = (u32)value;
	else if (!strcmp(key, "stall"))
		p->stalled = model_now + ns(value / 1e3);
	else if (!strcmp(key, "outage"))
		path_outage(ns(value / 1e3));
	else
		return false;
	return true;
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
		struct change *c = &changes[change_count++];
		char *value = strchr(item, '=');

		if (!value || change_count >= EVENTS_MOST)
			errx(2, "%s: %s is not T:KEY=VALUE", option, text);
		*value++ = 0;
		c->at = ns(read_number(copy, option, 0));
		c->value = read_number(value, option, 0);
		snprintf(c->key, sizeof(c->key), "%s", item);
		if (!change_path(c->key, c->value))
			errx(2, "%s: no key %s", option, item);
	}
	world.path = before;
}

/* --- what is asked for ------------------------------------------------------------------- */

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
	{ "--duration", "S after the last flow's first data (60)", .number = &duration_s,
	  .low = 0.001 },
	{ "--warmup", "S of it, not counted (0)", .number = &warmup_s },
	{ "--seed", "N of starts, losses and jitter (1)", .read = read_seed },
	{ "--spread", "S: each flow starts up to so much later (one RTT)", .number = &spread_s },
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
	{ "--series", "S: the flows' state every so often", .number = &series_s, .low = 0.001 },
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
	event_add(model_now + f->start + ns(spread_s * path_random()), EV_START, packet);
	if (f->stop)
		event_add(model_now + f->stop, EV_START, packet);
	if (world.chunk && !transfers_of(f))
		event_add(model_now + f->start + world.chunk_every, EV_SUPPLY, packet);
}

static void prepare(void)
{
	if (!world.count)
		errx(2, "--flows: no flow");
	if (warmup_s >= duration_s)
		errx(2, "--warmup: %g s of %g s", warmup_s, duration_s);
	/* Any seed, including 0, gives a non-zero state (splitmix64). */
	world.seed = (world.seed + 1) * 0x9e3779b97f4a7c15ULL;
	world.seed ^= world.seed >> 31;
	world.bad_seed = (world.seed ^ 0x2545f4914f6cdd1dULL) | 1;
	world.tie_seed = (world.seed ^ 0x9e3779b97f4a7c15ULL) | 1;
	if (spread_s < 0)
		spread_s = (double)world.path.rtt / 1e9;
	for (world.ring = 64; world.ring < 2 * world.path.window; world.ring *= 2)
		;
	for (u16 i = 0; i < world.count; i++)
		make_flow(&world.flows[i], i);
	for (u32 i = 0; i < change_count; i++)
		event_add(model_now + changes[i].at, EV_CHANGE, (struct packet){ .seg = i });
	if (series_s)
		event_add(model_now + ns(series_s), EV_SERIES, (struct packet){ 0 });
	event_add(model_now + SAMPLE_EVERY, EV_SAMPLE, (struct packet){ 0 });
}

static double seconds(u64 since)
{
	return (double)(model_now - since) / 1e9;
}

static void print_count(const char *name, u64 count)
{
	printf(", \"%s\": %llu", name, (unsigned long long)count);
}

static void print_state(struct flow *f)
{
	u64 bits = (f->total.bytes - f->series_bytes) * 8;
	const struct tcp_sock *tp = &f->sk.tp;

	f->series_bytes = f->total.bytes;
	printf("{\"goodput\": %.0f, \"rtt\": %.3f", (double)bits / series_s,
	       f->last_rtt_us / 1e3);
	print_count("cwnd", tp->snd_cwnd);
	print_count("ssthresh", tp->snd_ssthresh);
	print_count("state", f->sk.icsk.icsk_ca_state);
	print_count("in_flight", tcp_packets_in_flight(tp));
	print_count("sacked_out", tp->sacked_out);
	print_count("lost_out", tp->lost_out);
	print_count("retrans_out", tp->retrans_out);
	print_count("pacing", f->sk.sk_pacing_rate);
	print_count("retransmits", f->total.retransmits);
	print_count("dropped", f->total.dropped);
	star_print(&f->sk);
	printf("}");
}

static void print_series(void)
{
	printf("%s{\"t\": %.3f", series_begun ? ",\n" : "", seconds(NSEC_PER_SEC));
	print_count("queue", path_queue_length());
	print_count("drops", world.dropped);
	printf(", \"flows\": [");
	for (u32 i = 0; i < world.count; i++) {
		printf("%s", i ? ", " : "");
		print_state(&world.flows[i]);
	}
	printf("]}");
	series_begun = true;
	event_add(model_now + ns(series_s), EV_SERIES, (struct packet){ 0 });
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
	measured_from = model_now + ns(warmup_s);
	measured_until = model_now + ns(duration_s);
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
		transfers_begin(f);
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
		change_path(changes[event->packet.seg].key, changes[event->packet.seg].value);
		break;
	case EV_SERIES:
		print_series();
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

static double goodput(const struct flow *f)
{
	u64 bits = (f->total.bytes - f->begin.bytes) * 8;

	return (double)bits / seconds(world.begun);
}

static double jain(void)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < world.count; i++) {
		double x = goodput(&world.flows[i]);

		sum += x;
		squares += x * x;
	}
	return squares ? sum * sum / (world.count * squares) : 1;
}

static void print_flow(const struct flow *f)
{
	const struct counts *t = &f->total;
	u64 samples;

	printf("{\"cc\": \"%s\", \"goodput\": %.0f", f->sk.icsk.icsk_ca_ops->name, goodput(f));
	print_count("sent", t->sent);
	print_count("retransmits", t->retransmits);
	print_count("dropped", t->dropped);
	print_count("lost", t->lost);
	print_count("arrived", t->arrived);
	print_count("duplicates", t->duplicates);
	print_count("held", f->rcv.holding);
	print_count("delivered", t->delivered);
	print_count("under_way", event_under_way(f->number));
	print_count("known", f->snd.una);
	print_count("timeouts", t->timeouts);
	print_count("recoveries", t->recoveries);
	print_count("undos", t->undos);
	samples = t->srtt_samples - f->begin.srtt_samples;
	printf(", \"srtt_mean\": %.3f",
	       samples ? (double)(t->srtt_sum_us - f->begin.srtt_sum_us) / (double)samples / 1e3 :
			 0);
	samples = t->rtt_samples - f->begin.rtt_samples;
	printf(", \"rtt_mean\": %.3f, \"rtt_last\": %.3f, \"cwnd\": %u, \"start\": %.3f}",
	       samples ? (double)(t->rtt_sum_us - f->begin.rtt_sum_us) / (double)samples / 1e3 : 0,
	       f->last_rtt_us / 1e3, f->sk.tp.snd_cwnd, (double)f->start / 1e9 - 1);
}

static void print_result(void)
{
	u64 offered = world.offered - world.begin_offered;
	u64 dropped = world.dropped - world.begin_dropped;
	double bits = (double)(world.served - world.begin_served) * MODEL_FRAME * 8;
	double sum = 0;

	for (u32 i = 0; i < world.count; i++)
		sum += goodput(&world.flows[i]);
	transfers_print();
	printf("\"goodput\": %.0f, \"jain\": %.4f, \"utilisation\": %.4f", sum, jain(),
	       bits / (path_capacity() - world.begin_capacity));
	print_count("drops", world.dropped);
	print_count("offered", world.offered);
	printf(", \"dropped_share\": %.4f, \"flows\": [",
	       offered ? (double)dropped / (double)offered : 0);
	for (u32 i = 0; i < world.count; i++) {
		printf("%s", i ? ",\n" : "\n");
		print_flow(&world.flows[i]);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	struct event event;

	world.seed = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			return usage(stdout, 0);
		if (!strcmp(argv[i], "--check")) {
			world.check = true;
			continue;
		}
		if (!strcmp(argv[i], "--kernel")) {
			world.kernel = true;
			continue;
		}
		read_option(argv[i], argv[i + 1]);
		i++;
	}
	prepare();
	printf("{%s", series_s ? "\"series\": [\n" : "");
	while (event_next(&event) && handle(&event))
		;
	printf("%s", series_s ? "],\n" : "");
	print_result();
	return 0;
}
