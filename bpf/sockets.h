/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sockets of an algorithm, a line each, for `apogee-bpf status`: what the module's get_info()
 * gives to ss, which struct_ops cannot offer.
 */
#ifndef _BPF_SOCKETS_H
#define _BPF_SOCKETS_H

#include <kernel/bitfield.h>
#include <net/tcp.h>

#include "ops.h"

#define AF_INET6	10

/* The operations of this load, known from its first init on: a socket with others belongs to an
 * earlier one.
 */
static const void *apogee_ops SEC(".data");

static __always_inline void remember_ops(const struct sock *sk)
{
	const void *ops = ((const struct tcp_sock *)sk)->inet_conn.icsk_ca_ops;

	if (apogee_ops != ops)
		apogee_ops = ops;
}

/* The program of an algorithm's init. */
#define INIT(program, function)							\
OPERATION void program(u64 *ctx)						\
{										\
	struct sock *sk = SOCK(ctx);						\
										\
	remember_ops(sk);							\
	function(sk);								\
}

static __always_inline bool is_of(const struct tcp_sock *tp, const char *name, u32 size)
{
	const struct tcp_congestion_ops___name *ops = tp->inet_conn.icsk_ca_ops;
	char found[16] = {};
	u32 i;

	bpf_probe_read_kernel(found, sizeof(found), ops->name);
	for (i = 0; i < size; i++) {
		if (found[i] != name[i])
			return false;
	}
	return true;
}

/* A kernel without IPv6 has no such addresses. */
static __always_inline void print_ends(struct seq_file *seq, const struct sock_common *c)
{
	if (bpf_core_field_exists(c->skc_v6_daddr) && c->skc_family == AF_INET6)
		BPF_SEQ_PRINTF(seq, "[%pI6c]:%u [%pI6c]:%u", &c->skc_v6_rcv_saddr, c->skc_num,
			       &c->skc_v6_daddr, ntohs(c->skc_dport));
	else
		BPF_SEQ_PRINTF(seq, "%pI4:%u %pI4:%u", &c->skc_rcv_saddr, c->skc_num,
			       &c->skc_daddr, ntohs(c->skc_dport));
}

static __always_inline void print_state(struct seq_file *seq, struct tcp_sock *tp,
					const struct tcp_bbr_info *info)
{
	u64 bw = (u64)info->bbr_bw_hi << 32 | info->bbr_bw_lo;

	BPF_SEQ_PRINTF(seq, " cwnd %u ssthresh %u srtt_us %u bandwidth %llu min_rtt_us %u",
		       tp->snd_cwnd, tp->snd_ssthresh, tp->srtt_us >> 3, bw * 8,
		       info->bbr_min_rtt);
	BPF_SEQ_PRINTF(seq, " pacing_gain %u/256 cwnd_gain %u/256", info->bbr_pacing_gain,
		       info->bbr_cwnd_gain);
}

/* Lists the sockets whose algorithm is @kernel_name, with what @info, the module's get_info(),
 * says of them. One that is not connected yet has no state: init has not run.
 */
#define LIST_SOCKETS(kernel_name, info)						\
SEC("iter/tcp") int sockets(struct bpf_iter__tcp *ctx)				\
{										\
	struct sock_common *common = ctx->sk_common;				\
	union tcp_cc_info about = {};						\
	struct tcp_sock *tp;							\
	int attr;								\
										\
	if (!common || common->skc_state == TCP_LISTEN)				\
		return 0;							\
	tp = bpf_skc_to_tcp_sock(common);					\
	if (!tp || !bitfield(&tp->inet_conn, icsk_ca_initialized) ||		\
	    !is_of(tp, kernel_name, sizeof(kernel_name)))			\
		return 0;							\
	print_ends(ctx->meta->seq, common);					\
	if (tp->inet_conn.icsk_ca_ops != apogee_ops)				\
		BPF_SEQ_PRINTF(ctx->meta->seq, " of an earlier load");		\
	else if (info((struct sock *)tp, 1 << (INET_DIAG_BBRINFO - 1), &attr, &about)) \
		print_state(ctx->meta->seq, tp, &about.bbr);			\
	BPF_SEQ_PRINTF(ctx->meta->seq, "\n");					\
	return 0;								\
}

#endif /* _BPF_SOCKETS_H */
