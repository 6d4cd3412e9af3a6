/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Restart after idle for modules with a cong_control, for which the stack omits it:
 * tcp_slow_start_after_idle_check(), which depends on
 * net.ipv4.tcp_slow_start_after_idle.
 *
 * The first packet may have half of the window, and at TX_START it is already being sent.
 * But before the stack looks at the window it asks for the least size of a packet
 * (tcp_tso_segs() in tcp_write_xmit()): min_tso_segs() is the place to shrink the window.
 * What follows it at TX_START must not shrink it again.
 *
 * The stack also reduces a window that is not fully used (RFC 2861), but only if no ACK
 * of new data has arrived for a retransmission timeout (tcp_cong_avoid() sets
 * snd_cwnd_stamp). That is not done here: a window that an application does not use
 * stays as it is, and does not grow.
 */
#ifndef _KERNEL_IDLE_H
#define _KERNEL_IDLE_H

#include <net/tcp.h>

#include <apogee/idle.h>
#include <kernel/cwnd_stamp.h>

/* The initial window that the route gives, 0 if it gives none. */
static inline u32 idle_route_cwnd(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);

	return dst ? dst_metric(dst, RTAX_INITCWND) : 0;
}

/* The window of a new connection, as tcp_init_cwnd(), which is not exported. */
static inline u32 idle_restart(struct sock *sk)
{
	u32 cwnd = idle_route_cwnd(sk);

	return cwnd ? cwnd : TCP_INIT_CWND;
}

/**
 * idle_may_send() - may an idle time end, with a packet in the receiver's window?
 * @sk: a socket in min_tso_segs()
 *
 * If none can leave, nothing is sent now, and the idle time goes on.
 *
 * Return: true if nothing is in flight, and a packet of full size can leave.
 */
static inline bool idle_may_send(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 end = tp->snd_una + tp->snd_wnd;

	return !tp->packets_out && !before(end, tp->snd_nxt + tp->mss_cache);
}

/* What the stack takes without a min_tso_segs(). */
static inline u32 idle_min_tso_segs(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

static inline bool idle_counts(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_slow_start_after_idle);
}

/* Seconds for which a window that is not used remains valid (RFC 7661 4.4). */
#define IDLE_VALID_S	300

/**
 * idle_tx_start() - window at the start of sending
 * @sk: a socket that sends with nothing in flight
 * @paced: a measured rate paces what is sent
 *
 * Call in min_tso_segs() or at TX_START, before the stack updates the time of the last
 * transmission. A window that leaves as a burst is valid for a retransmission timeout
 * (RFC 5681 4.1), one that is paced for five minutes (RFC 7661).
 *
 * Return: the window in segments, tcp_snd_cwnd() if it does not change.
 */
static inline u32 idle_tx_start(struct sock *sk, bool paced)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 idle = tcp_jiffies32 - tp->lsndtime, valid = inet_csk(sk)->icsk_rto;

	if (paced) {
		idle = (u32)min_t(u64, div_u64(tp->tcp_mstamp - tp->delivered_mstamp, USEC_PER_SEC),
				  U32_MAX);
		valid = IDLE_VALID_S;
	}
	/* A retransmission, with all packets in flight lost, is not a start. */
	if (tp->packets_out || !idle_counts(sk) || idle <= valid)
		return tcp_snd_cwnd(tp);
	cwnd_stamp(tp);
	return idle_cwnd(tcp_snd_cwnd(tp), idle_restart(sk), idle, valid);
}

#endif /* _KERNEL_IDLE_H */
