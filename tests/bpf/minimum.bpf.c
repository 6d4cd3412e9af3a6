// SPDX-License-Identifier: GPL-2.0
/*
 * The least that a congestion control costs as BPF: each operation of CUBIC is a program that calls
 * the kernel's own function. What it costs more than cubic is the way through BPF.
 */
#include <net/tcp.h>

#include "ops.h"

extern void cubictcp_init(struct sock *sk) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, u8 state) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;

OF_SOCK(void, minimum_init, cubictcp_init)
OF_SOCK(u32, minimum_ssthresh, cubictcp_recalc_ssthresh)
OF_SOCK(u32, minimum_undo_cwnd, tcp_reno_undo_cwnd)
WITH_ACK(minimum_cong_avoid, cubictcp_cong_avoid)
WITH_NUMBER(minimum_set_state, cubictcp_state)
WITH_NUMBER(minimum_cwnd_event, cubictcp_cwnd_event)
WITH_SAMPLE(minimum_pkts_acked, cubictcp_acked)

SEC(".struct_ops") struct tcp_congestion_ops bpf_minimum = {
	.init		= (void *)minimum_init,
	.ssthresh	= (void *)minimum_ssthresh,
	.undo_cwnd	= (void *)minimum_undo_cwnd,
	.cong_avoid	= (void *)minimum_cong_avoid,
	.set_state	= (void *)minimum_set_state,
	.cwnd_event	= (void *)minimum_cwnd_event,
	.pkts_acked	= (void *)minimum_pkts_acked,
	.name		= "bpf_minimum",
};
