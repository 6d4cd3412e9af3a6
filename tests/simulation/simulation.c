// SPDX-License-Identifier: GPL-2.0
/* The program: its options, the event loop, and the result as one JSON object. */
#include <err.h>
#include <getopt.h>
#include <math.h>

#include "simulation.h"

#define EVENTS_MOST	65536U

/* A change of the path during the run: --event T:KEY=VALUE. */
struct change {
	u64 at;
	char key[16];
	double value;
};

u64 model_now = NSEC_PER_SEC;	/* 0 means no time */
struct world world = {
	.path = { .rate = 10e6, .access_rate = 100e6, .rtt = 500 * NSEC_PER_MSEC,
		  .queue = 417, .window = 16000000 / MODEL_MSS },
};

static struct change changes[EVENTS_MOST];
static u32 change_count;
static double duration_s = 60, warmup_s, spread_s = -1, series_s;
static u32 measured;	/* flows whose first data has arrived */
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
static void listed(const char *text, const char *option, double scale, size_t field)
{
	char copy[1024], *item, *rest = copy;
	double value = 0;
	u32 n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((item = strsep(&rest, ",")) && n < MODEL_FLOWS) {
		value = read_number(item, option, 0);
		*(u64 *)((char *)&world.flows[n++] + field) = ns(value * scale);
	}
	if (n != 1 && n != world.count)
		errx(2, "%s: %u values for %u flows", option, n, world.count);
	for (; n < world.count; n++)
		*(u64 *)((char *)&world.flows[n] + field) = ns(value * scale);
}

/* star,cubic*3: one flow of star and three of cubic. */
static void read_flows(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, ",*");
		struct tcp_congestion_ops *ops = algorithm(text, length);
		unsigned long times = 1;
		char *end = (char *)text + length;

		if (!ops)
			errx(2, "--flows: no algorithm %.*s", (int)length, text);
		if (*end == '*')
			times = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || !times || world.count + times > MODEL_FLOWS)
			errx(2, "--flows: %s: 1 to %u flows in all", text, MODEL_FLOWS);
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
	else
		return false;
	return true;
}

/* T:KEY=VALUE,KEY=VALUE; T in seconds from the first flow's start. */
static void read_event(const char *text)
{
	struct path before = world.path;
	char copy[256], *item, *rest;

	snprintf(copy, sizeof(copy), "%s", text);
	rest = strchr(copy, ':');
	if (!rest)
		errx(2, "--event: %s is not T:KEY=VALUE", text);
	*rest++ = 0;
	while ((item = strsep(&rest, ","))) {
		struct change *c = &changes[change_count++];
		char *value = strchr(item, '=');

		if (!value || change_count >= EVENTS_MOST)
			errx(2, "--event: %s is not T:KEY=VALUE", text);
		*value++ = 0;
		c->at = ns(read_number(copy, "--event", 0));
		c->value = read_number(value, "--event", 0);
		snprintf(c->key, sizeof(c->key), "%s", item);
		if (!change_path(c->key, c->value))
			errx(2, "--event: no key %s", item);
	}
	world.path = before;
}

static void read_events(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[256];

	if (!file)
		err(2, "%s", name);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (*line && *line != '#')
			read_event(line);
	}
	fclose(file);
}

static const char usage[] =
"simulation: TCP flows through one bottleneck, simulated; prints one JSON object\n"
"  --flows LIST         star, reno, cubic: star,cubic or star*10 (needed, first)\n"
"  --rate BIT_PER_S     of the bottleneck (10e6)\n"
"  --rtt MS             of the empty path (500)\n"
"  --queue-bytes B      as packets of 1500 B, or --queue PACKETS (417)\n"
"  --burst-bytes B      the bottleneck is a token bucket so deep, the queue behind it\n"
"  --ber P, --loss P    bit errors, share of frames lost behind the bottleneck\n"
"  --bursts P,R         bursts of losses: chance per frame of their begin and end\n"
"  --duration S         after the last flow's first data (60)\n"
"  --warmup S           of it, not counted (0)\n"
"  --seed N             of starts, losses and jitter (1)\n"
"  --spread S           each flow starts up to so much later (one RTT)\n"
"  --start S,..         when each flow starts, or all\n"
"  --stop S,..          when each flow has no more to send\n"
"  --extra MS,..        one-way delay of its own\n"
"  --window B           receive window (16e6)\n"
"  --access-rate BIT_PER_S  of each sender's own link (100e6), 0: no limit\n"
"  --ack-jitter MEAN,SD ms more for each ACK, even, order kept\n"
"  --ack-slot MS        ACKs are released every so often\n"
"  --event T:KEY=V,..   at T s: rate, rtt, ber, loss, queue (packets), stall (ACKs, ms)\n"
"  --events FILE        such lines\n"
"  --param NAME=VALUE   of a module\n"
"  --series S           the flows' state every so often\n"
"  --check              recount the scoreboard at each ACK\n";

enum {
	O_FLOWS = 256, O_RATE, O_RTT, O_QUEUE_BYTES, O_QUEUE, O_BURST, O_BER, O_LOSS, O_BURSTS,
	O_DURATION, O_WARMUP, O_SEED, O_SPREAD, O_START, O_STOP, O_EXTRA, O_WINDOW, O_ACCESS,
	O_JITTER, O_SLOT, O_EVENT, O_EVENTS, O_PARAM, O_SERIES, O_CHECK, O_HELP,
};

static const struct option options[] = {
	{ "flows", 1, NULL, O_FLOWS },
	{ "rate", 1, NULL, O_RATE },
	{ "rtt", 1, NULL, O_RTT },
	{ "queue-bytes", 1, NULL, O_QUEUE_BYTES },
	{ "queue", 1, NULL, O_QUEUE },
	{ "burst-bytes", 1, NULL, O_BURST },
	{ "ber", 1, NULL, O_BER },
	{ "loss", 1, NULL, O_LOSS },
	{ "bursts", 1, NULL, O_BURSTS },
	{ "duration", 1, NULL, O_DURATION },
	{ "warmup", 1, NULL, O_WARMUP },
	{ "seed", 1, NULL, O_SEED },
	{ "spread", 1, NULL, O_SPREAD },
	{ "start", 1, NULL, O_START },
	{ "stop", 1, NULL, O_STOP },
	{ "extra", 1, NULL, O_EXTRA },
	{ "window", 1, NULL, O_WINDOW },
	{ "access-rate", 1, NULL, O_ACCESS },
	{ "ack-jitter", 1, NULL, O_JITTER },
	{ "ack-slot", 1, NULL, O_SLOT },
	{ "event", 1, NULL, O_EVENT },
	{ "events", 1, NULL, O_EVENTS },
	{ "param", 1, NULL, O_PARAM },
	{ "series", 1, NULL, O_SERIES },
	{ "check", 0, NULL, O_CHECK },
	{ "help", 0, NULL, O_HELP },
	{ NULL, 0, NULL, 0 },
};

static void read_pair(const char *text, const char *option, double *one, double *other)
{
	char copy[64], *second = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	strsep(&second, ",");
	*one = read_number(copy, option, 0);
	*other = read_number(second ? second : "", option, 0);
}

static void read_jitter(const char *text)
{
	double mean, deviation;

	if (sscanf(text, "%lf,%lf", &mean, &deviation) != 2 || mean < 0 || deviation < 0)
		errx(2, "--ack-jitter: %s is not MEAN,SD in ms", text);
	world.path.jitter_mean = mean * NSEC_PER_MSEC;
	world.path.jitter_half = sqrt(3) * deviation * NSEC_PER_MSEC;
}

static void read_option(int option, const char *name)
{
	struct path *p = &world.path;

	switch (option) {
	case O_FLOWS:
		read_flows(optarg);
		break;
	case O_RATE:
		p->rate = read_number(optarg, name, 1);
		break;
	case O_RTT:
		p->rtt = ns(read_number(optarg, name, 0.01) / 1e3);
		break;
	case O_QUEUE_BYTES:
		p->queue = max((u32)(read_number(optarg, name, 0) / MODEL_MTU + 0.5), 1U);
		break;
	case O_QUEUE:
		p->queue = (u32)read_number(optarg, name, 1);
		break;
	case O_BURST:
		p->burst = read_number(optarg, name, 0);
		break;
	case O_BER:
		p->ber = read_number(optarg, name, 0);
		break;
	case O_LOSS:
		p->loss = read_number(optarg, name, 0);
		break;
	case O_BURSTS:
		read_pair(optarg, name, &p->burst_begin, &p->burst_end);
		break;
	case O_DURATION:
		duration_s = read_number(optarg, name, 0.001);
		break;
	case O_WARMUP:
		warmup_s = read_number(optarg, name, 0);
		break;
	case O_SEED:
		world.seed = (u64)read_number(optarg, name, 0);
		break;
	case O_SPREAD:
		spread_s = read_number(optarg, name, 0);
		break;
	case O_START:
		listed(optarg, name, 1, offsetof(struct flow, start));
		break;
	case O_STOP:
		listed(optarg, name, 1, offsetof(struct flow, stop));
		break;
	case O_EXTRA:
		listed(optarg, name, 0.001, offsetof(struct flow, extra));
		break;
	case O_WINDOW:
		p->window = (u32)(read_number(optarg, name, MODEL_MSS) / MODEL_MSS);
		break;
	case O_ACCESS:
		p->access_rate = read_number(optarg, name, 0);
		break;
	case O_JITTER:
		read_jitter(optarg);
		break;
	case O_SLOT:
		p->slot = ns(read_number(optarg, name, 0) / 1e3);
		break;
	case O_EVENT:
		read_event(optarg);
		break;
	case O_EVENTS:
		read_events(optarg);
		break;
	case O_PARAM:
		if (algorithm_param(optarg))
			errx(2, "--param: %s is not taken", optarg);
		break;
	case O_SERIES:
		series_s = read_number(optarg, name, 0.001);
		break;
	case O_CHECK:
		world.check = true;
		break;
	case O_HELP:
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(2);
	}
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
	u64 bits = (f->total.delivered - f->series_delivered) * MODEL_MSS * 8;
	const struct tcp_sock *tp = &f->sk.tp;

	f->series_delivered = f->total.delivered;
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

/* The measurement starts relative to the last flow's first data. */
static void first_data(void)
{
	if (++measured < world.count)
		return;
	event_add(model_now + ns(warmup_s), EV_MEASURE, (struct packet){ 0 });
	event_add(model_now + ns(duration_s), EV_END, (struct packet){ 0 });
}

static void start_or_stop(struct flow *f)
{
	if (f->syns)
		f->snd.stopped = true;
	else
		sender_start(f);
}

static void receive(const struct event *event)
{
	struct flow *f = &world.flows[event->packet.flow];
	bool first = !f->total.arrived && !event->packet.syn;

	receiver_packet(f, event->packet);
	if (first)
		first_data();
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
		sender_ack(f, f->acks[ring4(f->acks_head++)]);
		if (world.check)
			sender_check(f);
		break;
	case EV_TIMER:
		timer(event);
		break;
	case EV_CHANGE:
		change_path(changes[event->packet.seg].key, changes[event->packet.seg].value);
		break;
	case EV_SERIES:
		print_series();
		break;
	case EV_MEASURE:
		begin();
		break;
	case EV_END:
		return false;
	}
	return true;
}

static double goodput(const struct flow *f)
{
	u64 bits = (f->total.delivered - f->begin.delivered) * MODEL_MSS * 8;

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
	u64 samples = t->rtt_samples - f->begin.rtt_samples;

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
	int option, which;

	world.seed = 1;
	while ((option = getopt_long(argc, argv, "", options, &which)) >= 0)
		read_option(option, option == '?' ? "" : options[which].name);
	if (optind < argc)
		errx(2, "%s: unknown", argv[optind]);
	prepare();
	printf("{%s", series_s ? "\"series\": [\n" : "");
	while (event_next(&event) && handle(&event))
		;
	printf("%s", series_s ? "],\n" : "");
	print_result();
	return 0;
}
