/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Restart after idle and window validation for modules with a cong_control, for
 * which the stack leaves both out: tcp_slow_start_after_idle_check() and
 * tcp_cwnd_application_limited(), by net.ipv4.tcp_slow_start_after_idle as there.
 */
#ifndef _KERNEL_IDLE_H
#define _KERNEL_IDLE_H

#include <net/tcp.h>

#include <apogee/idle.h>

/* The window of a new connection, as tcp_init_cwnd(), which is not exported. */
static inline u32 idle_restart(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 cwnd = dst ? dst_metric(dst, RTAX_INITCWND) : 0;

	return cwnd ? cwnd : TCP_INIT_CWND;
}

static inline bool idle_counts(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle);
}

/**
 * idle_tx_start() - the window with which to start again
 * @sk: a socket that sends with nothing under way
 *
 * To be asked at TX_START, before the time of the last sending is forgotten.
 *
 * Return: the window in segments, tcp_snd_cwnd() if it is to stay.
 */
static inline u32 idle_tx_start(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 idle = tcp_jiffies32 - tp->lsndtime;

	/* A retransmission, with all that is under way lost, is no start. */
	if (tp->packets_out || !idle_counts(sk) ||
	    idle <= inet_csk(sk)->icsk_rto)
		return tcp_snd_cwnd(tp);
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_cwnd_used = 0;
	return idle_cwnd(tcp_snd_cwnd(tp), idle_restart(sk), idle,
			 inet_csk(sk)->icsk_rto);
}

/**
 * idle_validate() - the window that has been used
 * @sk: a socket at the end of an ACK
 *
 * Once per retransmission timeout in which neither the window nor the receiver
 * limited what was sent. The stack goes on counting for that.
 *
 * Return: the window in segments, tcp_snd_cwnd() if it is to stay.
 */
static inline u32 idle_validate(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 used = max(tp->snd_cwnd_used, tp->packets_out);

	if (!idle_counts(sk) || tcp_is_cwnd_limited(sk) ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Open ||
	    (s32)(tcp_jiffies32 - tp->snd_cwnd_stamp) <
		    (s32)inet_csk(sk)->icsk_rto ||
	    (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)))
		return tcp_snd_cwnd(tp);
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_cwnd_used = 0;
	return idle_unused_cwnd(tcp_snd_cwnd(tp), idle_restart(sk), used);
}

#endif /* _KERNEL_IDLE_H */
