/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of tcp_hstcp_gentle: hstcp_gentle_window once per window whose RTTs were
 * evaluated, hstcp_gentle_mode at each change of mode. Windows in segments, times in
 * us.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_hstcp_gentle

#if !defined(_TRACE_TCP_HSTCP_GENTLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_HSTCP_GENTLE_H

#include <linux/tracepoint.h>
#include <net/tcp.h>

TRACE_EVENT(hstcp_gentle_window,
	TP_PROTO(const struct sock *sk, u8 mode, u8 verdict, s32 change_us,
		 u32 samples, u32 rtt_us, u32 rtt_min_us),

	TP_ARGS(sk, mode, verdict, change_us, samples, rtt_us, rtt_min_us),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u8, mode)
		__field(u8, verdict)
		__field(s32, change)
		__field(u32, samples)
		__field(u32, rtt)
		__field(u32, rtt_min)
	),

	TP_fast_assign(
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->mode = mode;
		__entry->verdict = verdict;
		__entry->change = change_us;
		__entry->samples = samples;
		__entry->rtt = rtt_us;
		__entry->rtt_min = rtt_min_us;
	),

	TP_printk("sport=%u dport=%u cwnd=%u ssthresh=%u mode=%u verdict=%u change=%d samples=%u rtt=%u rtt_min=%u",
		  __entry->sport, __entry->dport, __entry->cwnd,
		  __entry->ssthresh, __entry->mode, __entry->verdict,
		  __entry->change, __entry->samples, __entry->rtt,
		  __entry->rtt_min)
);

TRACE_EVENT(hstcp_gentle_mode,
	TP_PROTO(const struct sock *sk, u8 from, u8 to, u8 reason),

	TP_ARGS(sk, from, to, reason),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u8, from)
		__field(u8, to)
		__field(u8, reason)
	),

	TP_fast_assign(
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->from = from;
		__entry->to = to;
		__entry->reason = reason;
	),

	TP_printk("sport=%u dport=%u cwnd=%u ssthresh=%u from=%u to=%u reason=%u",
		  __entry->sport, __entry->dport, __entry->cwnd,
		  __entry->ssthresh, __entry->from, __entry->to,
		  __entry->reason)
);

#endif /* _TRACE_TCP_HSTCP_GENTLE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tcp_hstcp_gentle
#include <trace/define_trace.h>
