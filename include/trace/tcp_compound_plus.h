/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoint of tcp_compound_plus: compound_round once per round trip with an RTT
 * sample, with its result. cwnd, dwnd and diff in 1/256 segment, swnd and ssthresh in
 * segments, times in us.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_compound_plus

#if !defined(_TRACE_TCP_COMPOUND_PLUS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_COMPOUND_PLUS_H

#include <linux/tracepoint.h>
#include <net/tcp.h>

#include <apogee/compound.h>

TRACE_EVENT(compound_round,
	TP_PROTO(const struct sock *sk, const struct compound_windows *windows,
		 u64 diff, u32 base_rtt_us, u32 rtt_us, u8 act),

	TP_ARGS(sk, windows, diff, base_rtt_us, rtt_us, act),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u64, cwnd)
		__field(u64, dwnd)
		__field(u64, diff)
		__field(u32, swnd)
		__field(u32, ssthresh)
		__field(u32, base_rtt)
		__field(u32, rtt)
		__field(u8, act)
	),

	TP_fast_assign(
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->cwnd = windows->cwnd;
		__entry->dwnd = windows->dwnd;
		__entry->diff = diff;
		__entry->swnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->base_rtt = base_rtt_us;
		__entry->rtt = rtt_us;
		__entry->act = act;
	),

	TP_printk("sport=%u dport=%u cwnd=%llu dwnd=%llu swnd=%u ssthresh=%u diff=%llu base_rtt=%u rtt=%u act=%u",
		  __entry->sport, __entry->dport, __entry->cwnd, __entry->dwnd,
		  __entry->swnd, __entry->ssthresh, __entry->diff,
		  __entry->base_rtt, __entry->rtt, __entry->act)
);

#endif /* _TRACE_TCP_COMPOUND_PLUS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tcp_compound_plus
#include <trace/define_trace.h>
