/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The initial pacing rate of a connection under an algorithm.
 */
#ifndef _KERNEL_PACING_H
#define _KERNEL_PACING_H

#include <net/tcp.h>

/**
 * pacing_begin() - set the pacing rate as the stack does
 * @sk: socket, in the algorithm's init()
 *
 * The stack derives the size of TSO packets from the rate, even without pacing. It sets
 * the rate at each ACK, including that of the SYN, unless the algorithm has a
 * cong_control(): 2 cwnd / srtt in slow start, 1.2 cwnd / srtt otherwise, or as the
 * sysctls say. So an active open keeps the rate set at the handshake, and a rate set by
 * a previous algorithm, which may be low, is replaced. An algorithm with a
 * cong_control() has to update the rate with its window, or to lift it.
 *
 * Without an RTT the rate is the maximum.
 */
static inline void pacing_begin(struct sock *sk)
{
	const struct netns_ipv4 *ipv4 = &sock_net(sk)->ipv4;
	u64 rate, max_rate = READ_ONCE(sk->sk_max_pacing_rate);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp), percent;

	percent = cwnd < tp->snd_ssthresh / 2 ?
		  READ_ONCE(ipv4->sysctl_tcp_pacing_ss_ratio) :
		  READ_ONCE(ipv4->sysctl_tcp_pacing_ca_ratio);
	/* srtt_us is eight times the smoothed RTT. */
	rate = (u64)tp->mss_cache * max(cwnd, tp->packets_out) *
	       (8 * USEC_PER_SEC / 100) * percent;
	if (tp->srtt_us)
		rate = min(div_u64(rate, tp->srtt_us), max_rate);
	else
		rate = max_rate;
	WRITE_ONCE(sk->sk_pacing_rate, rate);
}

#endif /* _KERNEL_PACING_H */
