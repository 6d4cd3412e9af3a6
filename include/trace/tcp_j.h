/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoint of tcp_j: tcp_j:j_ack once per ACK, windows in segments. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_j

#if !defined(_TRACE_TCP_J_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_J_H

#include <linux/tracepoint.h>
#include <net/tcp.h>

TRACE_EVENT(j_ack,
	TP_PROTO(const struct sock *sk, u32 cwnd_abe, u64 bw),

	TP_ARGS(sk, cwnd_abe, bw),

	TP_STRUCT__entry(
		__field(u64, bw)
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, cwnd)
		__field(u32, cwnd_abe)
		__field(u32, ssthresh)
		__field(u8, state)
	),

	TP_fast_assign(
		__entry->bw = bw;
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->cwnd_abe = cwnd_abe;
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->state = inet_csk(sk)->icsk_ca_state;
	),

	TP_printk("sport=%u dport=%u cwnd=%u cwnd_abe=%u bw=%llu ssthresh=%u state=%u",
		  __entry->sport, __entry->dport, __entry->cwnd,
		  __entry->cwnd_abe, __entry->bw, __entry->ssthresh,
		  __entry->state)
);

#endif /* _TRACE_TCP_J_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tcp_j
#include <trace/define_trace.h>
