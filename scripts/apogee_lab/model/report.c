// SPDX-License-Identifier: GPL-2.0
/* What the program prints: a line of the time series, the result. */
#include "events.h"
#include "options.h"
#include "path.h"
#include "report.h"
#include "star_module.h"
#include "transfers.h"

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
	printf("{\"goodput\": %.0f, \"rtt\": %.3f", (double)bits / options.series_s,
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

void report_state(void)
{
	static bool begun;

	printf("%s{\"t\": %.3f", begun ? ",\n" : "", seconds(NSEC_PER_SEC));
	print_count("queue", path_queue_length());
	print_count("drops", world.dropped);
	printf(", \"flows\": [");
	for (u32 i = 0; i < world.count; i++) {
		printf("%s", i ? ", " : "");
		print_state(&world.flows[i]);
	}
	printf("]}");
	begun = true;
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

void report_begin(void)
{
	printf("{%s", options.series_s ? "\"series\": [\n" : "");
}

void report_result(void)
{
	u64 offered = world.offered - world.begin_offered;
	u64 dropped = world.dropped - world.begin_dropped;
	double bits = (double)(world.served - world.begin_served) * MODEL_FRAME * 8;
	double sum = 0;

	for (u32 i = 0; i < world.count; i++)
		sum += goodput(&world.flows[i]);
	printf("%s", options.series_s ? "],\n" : "");
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
