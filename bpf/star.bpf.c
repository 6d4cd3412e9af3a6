// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-STAR without a module: tcp_star.c as BPF programs.
 */
#define tcp_congestion_ops apogee_module_ops
#include "../tcp_star.c"
#undef tcp_congestion_ops
#include "ops.h"
#include "sockets.h"

INIT(bpf_star_init, star_init)
OF_SOCK(u32, bpf_star_ssthresh, star_ssthresh)
WITH_NUMBER(bpf_star_set_state, star_set_state)

OPERATION void bpf_star_cong_control(u64 *ctx)
{
	if (apogee_new_control)
		star_cong_control(SOCK(ctx), (void *)ARGUMENT(ctx, 3));
	else
		star_cong_control(SOCK(ctx), (void *)ARGUMENT(ctx, 1));
}

/* Set by the loader: the kernel has this operation. If not, cwnd_event tells of the start. */
const volatile struct cwnd_event_tx_start apogee_tx_start;

OPERATION void bpf_star_tx_start(u64 *ctx)
{
	if (apogee_tx_start.is_operation || ARGUMENT(ctx, 1) == CA_EVENT_TX_START)
		star_tx_start(SOCK(ctx));
}

OF_SOCK(u32, bpf_star_undo_cwnd, star_undo_cwnd)
OF_SOCK(u32, bpf_star_sndbuf_expand, star_sndbuf_expand)
OF_SOCK(u32, bpf_star_min_tso_segs, star_min_tso_segs)

SEC(".struct_ops") struct tcp_congestion_ops bpf_star = {
	.init		= (void *)bpf_star_init,
	.ssthresh	= (void *)bpf_star_ssthresh,
	.set_state	= (void *)bpf_star_set_state,
	.cong_control	= (void *)bpf_star_cong_control,
	.cwnd_event	= (void *)bpf_star_tx_start,
	.undo_cwnd	= (void *)bpf_star_undo_cwnd,
	.sndbuf_expand	= (void *)bpf_star_sndbuf_expand,
	.min_tso_segs	= (void *)bpf_star_min_tso_segs,
	.name		= "bpf_star",
};

LIST_SOCKETS("bpf_star", star_get_info)
