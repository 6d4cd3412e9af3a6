// SPDX-License-Identifier: GPL-2.0
/*
 * Gentle HighSpeed TCP without a module: tcp_hstcp_gentle.c as BPF programs.
 */
#define tcp_congestion_ops apogee_module_ops
#include "../tcp_hstcp_gentle.c"
#undef tcp_congestion_ops
#include "ops.h"
#include "sockets.h"

OPERATION void bpf_gentle_init(u64 *ctx)
{
	gentle_init(SOCK(ctx));
}

OPERATION u32 bpf_gentle_ssthresh(u64 *ctx)
{
	return gentle_ssthresh(SOCK(ctx));
}

OPERATION void bpf_gentle_set_state(u64 *ctx)
{
	gentle_set_state(SOCK(ctx), ARGUMENT(ctx, 1));
}

OPERATION void bpf_gentle_cwnd_event(u64 *ctx)
{
	gentle_cwnd_event(SOCK(ctx), ARGUMENT(ctx, 1));
}

OPERATION void bpf_gentle_pkts_acked(u64 *ctx)
{
	gentle_pkts_acked(SOCK(ctx), (void *)ARGUMENT(ctx, 1));
}

OPERATION void bpf_gentle_cong_avoid(u64 *ctx)
{
	gentle_cong_avoid(SOCK(ctx), ARGUMENT(ctx, 1), ARGUMENT(ctx, 2));
}

OPERATION u32 bpf_gentle_undo_cwnd(u64 *ctx)
{
	return gentle_undo_cwnd(SOCK(ctx));
}

SEC(".struct_ops") struct tcp_congestion_ops bpf_gentle = {
	.init		= (void *)bpf_gentle_init,
	.ssthresh	= (void *)bpf_gentle_ssthresh,
	.set_state	= (void *)bpf_gentle_set_state,
	.cwnd_event	= (void *)bpf_gentle_cwnd_event,
	.pkts_acked	= (void *)bpf_gentle_pkts_acked,
	.cong_avoid	= (void *)bpf_gentle_cong_avoid,
	.undo_cwnd	= (void *)bpf_gentle_undo_cwnd,
	.name		= "bpf_gentle",
};

LIST_SOCKETS("bpf_gentle", gentle_get_info)
