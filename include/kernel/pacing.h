/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pacing rate that a connection begins with under an algorithm.
 */
#ifndef _KERNEL_PACING_H
#define _KERNEL_PACING_H

#include <net/tcp.h>

/**
 * pacing_begin() - set the pacing rate as the stack does
 * @sk: socket whose algorithm begins, in init()
 *
 * The rate tells TSO how much to send at once, even where nothing is paced. The
 * stack sets it with each ACK, the SYN's among them, unless the algorithm has
 * cong_control(): 2 cwnd / srtt in slow start, 1.2 cwnd / srtt elsewhere, or what
 * the sysctls say. So an active open keeps what the handshake gave it, and what
 * an algorithm that paces has left is gone, low as it may be. An algorithm with
 * cong_control() has to follow its own window from here, or to lift the rate.
 *
 * Without an RTT it is the highest rate.
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
	/* srtt_us is in eighths. */
	rate = (u64)tp->mss_cache * max(cwnd, tp->packets_out) *
	       (8 * USEC_PER_SEC / 100) * percent;
	if (tp->srtt_us)
		rate = min(div_u64(rate, tp->srtt_us), max_rate);
	else
		rate = max_rate;
	WRITE_ONCE(sk->sk_pacing_rate, rate);
}

#endif /* _KERNEL_PACING_H */
