/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of tcp_star: tcp_star:star_ack once per ACK, tcp_star:star_aen
 * once per verdict on a retransmission timeout. Windows are in segments.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tcp_star

#if !defined(_TRACE_TCP_STAR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TCP_STAR_H

#include <linux/tracepoint.h>
#include <net/tcp.h>

#include <apogee/abe.h>
#include <apogee/judge.h>
#include <apogee/star.h>
#include <kernel/bitfield.h>

#define show_star_state(state)						\
	__print_symbolic(state,						\
			 { TCP_CA_Open,		"open" },		\
			 { TCP_CA_Disorder,	"disorder" },		\
			 { TCP_CA_CWR,		"cwr" },		\
			 { TCP_CA_Recovery,	"recovery" },		\
			 { TCP_CA_Loss,		"loss" })

#define show_star_mode(mode)						\
	__print_symbolic(mode,						\
			 { STAR_NONE,		"none" },		\
			 { STAR_START,		"start" },		\
			 { STAR_CRUISE,		"cruise" },		\
			 { STAR_SLOW,		"slow" },		\
			 { STAR_YIELD,		"yield" },		\
			 { STAR_JUDGE,		"judge" })

#define show_star_verdict(verdict)					\
	__print_symbolic(verdict,					\
			 { STAR_AEN_WAIT,	"wait" },		\
			 { STAR_AEN_SPURIOUS,	"spurious" },		\
			 { STAR_AEN_LOSS,	"loss" })

TRACE_EVENT(star_ack,
	TP_PROTO(const struct sock *sk, const struct star_window *w,
		 const struct judge_state *j, const struct abe *a),

	TP_ARGS(sk, w, j, a),

	TP_STRUCT__entry(
		__field(u64, bw)
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, cwnd)
		__field(u32, cwnd_reno)
		__field(u32, cwnd_abe)
		__field(u32, ssthresh)
		__field(u32, min_rtt_us)
		__field(u32, base_rtt_us)
		__field(u16, excess)
		__field(u8, clear)
		__field(u8, queue)
		__field(u8, alone)
		__field(u8, link)
		__field(u8, state)
		__field(u8, mode)
	),

	TP_fast_assign(
		__entry->bw = abe_bw(a);
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->cwnd_reno = w->cwnd_reno;
		__entry->cwnd_abe = w->cwnd_abe;
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->min_rtt_us = tcp_min_rtt(tcp_sk(sk));
		__entry->base_rtt_us = j->base_us;
		__entry->excess = j->excess / JUDGE_SEGMENT;
		__entry->clear = w->clear;
		__entry->queue = j->queue;
		__entry->alone = j->alone;
		__entry->link = j->link;
		__entry->state = ca_state(sk);
		__entry->mode = w->mode;
	),

	TP_printk("sport=%u dport=%u cwnd=%u cwnd_reno=%u cwnd_abe=%u bw=%llu ssthresh=%u min_rtt_us=%u base_rtt_us=%u excess=%u clear=%u queue=%u alone=%u link=%u state=%s mode=%s",
		  __entry->sport, __entry->dport, __entry->cwnd,
		  __entry->cwnd_reno, __entry->cwnd_abe, __entry->bw,
		  __entry->ssthresh, __entry->min_rtt_us,
		  __entry->base_rtt_us, __entry->excess, __entry->clear, __entry->queue,
		  __entry->alone, __entry->link,
		  show_star_state(__entry->state),
		  show_star_mode(__entry->mode))
);

TRACE_EVENT(star_aen,
	TP_PROTO(const struct sock *sk, u32 p_seq, int verdict),

	TP_ARGS(sk, p_seq, verdict),

	TP_STRUCT__entry(
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, p_seq)
		__field(u32, ack_seq)
		__field(u32, cwnd)
		__field(u8, verdict)
	),

	TP_fast_assign(
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->p_seq = p_seq;
		__entry->ack_seq = tcp_sk(sk)->snd_una;
		__entry->cwnd = tcp_snd_cwnd(tcp_sk(sk));
		__entry->verdict = verdict;
	),

	TP_printk("sport=%u dport=%u p_seq=%u ack_seq=%u cwnd=%u verdict=%s",
		  __entry->sport, __entry->dport, __entry->p_seq,
		  __entry->ack_seq, __entry->cwnd,
		  show_star_verdict(__entry->verdict))
);

#endif /* _TRACE_TCP_STAR_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH trace
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tcp_star
#include <trace/define_trace.h>
