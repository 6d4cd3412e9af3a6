// SPDX-License-Identifier: GPL-2.0
/*
 * Gentle HighSpeed TCP without a module: tcp_hstcp_gentle.c as BPF programs.
 */
#define tcp_congestion_ops apogee_module_ops
#include "../tcp_hstcp_gentle.c"
#undef tcp_congestion_ops
#include "ops.h"
#include "sockets.h"

INIT(bpf_gentle_init, gentle_init)
OF_SOCK(u32, bpf_gentle_ssthresh, gentle_ssthresh)
WITH_NUMBER(bpf_gentle_set_state, gentle_set_state)
WITH_NUMBER(bpf_gentle_cwnd_event, gentle_cwnd_event)
WITH_SAMPLE(bpf_gentle_pkts_acked, gentle_pkts_acked)
WITH_ACK(bpf_gentle_cong_avoid, gentle_cong_avoid)
OF_SOCK(u32, bpf_gentle_undo_cwnd, gentle_undo_cwnd)

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
