// SPDX-License-Identifier: GPL-2.0
/*
 * Compound TCP+ without a module: tcp_compound_plus.c as BPF programs.
 */
#define tcp_congestion_ops apogee_module_ops
#include "../tcp_compound_plus.c"
#undef tcp_congestion_ops
#include "ops.h"
#include "sockets.h"

INIT(bpf_comp_plus_init, compound_plus_init)
OF_SOCK(u32, bpf_comp_plus_ssthresh, compound_ssthresh)
WITH_NUMBER(bpf_comp_plus_set_state, compound_set_state)
WITH_SAMPLE(bpf_comp_plus_pkts_acked, compound_pkts_acked)
WITH_ACK(bpf_comp_plus_cong_avoid, compound_cong_avoid)
OF_SOCK(u32, bpf_comp_plus_undo_cwnd, compound_undo_cwnd)

SEC(".struct_ops") struct tcp_congestion_ops bpf_comp_plus = {
	.init		= (void *)bpf_comp_plus_init,
	.ssthresh	= (void *)bpf_comp_plus_ssthresh,
	.set_state	= (void *)bpf_comp_plus_set_state,
	.pkts_acked	= (void *)bpf_comp_plus_pkts_acked,
	.cong_avoid	= (void *)bpf_comp_plus_cong_avoid,
	.undo_cwnd	= (void *)bpf_comp_plus_undo_cwnd,
	.name		= "bpf_comp_plus",
};

LIST_SOCKETS("bpf_comp_plus", compound_get_info)
