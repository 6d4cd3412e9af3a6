// SPDX-License-Identifier: GPL-2.0
/*
 * Compound TCP without a module: tcp_compound_plus.c as BPF programs.
 */
#define tcp_congestion_ops apogee_module_ops
#include "../tcp_compound_plus.c"
#undef tcp_congestion_ops
#include "ops.h"
#include "sockets.h"

OPERATION void bpf_compound_init(u64 *ctx)
{
	compound_init(SOCK(ctx));
}

OPERATION u32 bpf_compound_ssthresh(u64 *ctx)
{
	return compound_ssthresh(SOCK(ctx));
}

OPERATION void bpf_compound_set_state(u64 *ctx)
{
	compound_set_state(SOCK(ctx), ARGUMENT(ctx, 1));
}

OPERATION void bpf_compound_pkts_acked(u64 *ctx)
{
	compound_pkts_acked(SOCK(ctx), (void *)ARGUMENT(ctx, 1));
}

OPERATION void bpf_compound_cong_avoid(u64 *ctx)
{
	compound_cong_avoid(SOCK(ctx), ARGUMENT(ctx, 1), ARGUMENT(ctx, 2));
}

OPERATION u32 bpf_compound_undo_cwnd(u64 *ctx)
{
	return compound_undo_cwnd(SOCK(ctx));
}

SEC(".struct_ops") struct tcp_congestion_ops bpf_compound = {
	.init		= (void *)bpf_compound_init,
	.ssthresh	= (void *)bpf_compound_ssthresh,
	.set_state	= (void *)bpf_compound_set_state,
	.pkts_acked	= (void *)bpf_compound_pkts_acked,
	.cong_avoid	= (void *)bpf_compound_cong_avoid,
	.undo_cwnd	= (void *)bpf_compound_undo_cwnd,
	.name		= "bpf_compound",
};

LIST_SOCKETS("bpf_compound", compound_get_info)
