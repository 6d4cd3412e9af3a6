// SPDX-License-Identifier: GPL-2.0
/*
 * What kernels have or lack. Each part compiles where a kernel has it, whatever its version: stable
 * kernels and distributions take over what newer ones have. probe.sh compiles one part at a time,
 * and the sources see APOGEE_HAS_NAME; without it they take the oldest form.
 *
 * What a macro or a type tells is asked where it is used. (__has_include would tell of headers, but
 * sparse does not know it.)
 */
#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <net/rtnetlink.h>
#include <net/tcp.h>
#include <net/udp_tunnel.h>

/* tcp_congestion_ops::cong_control() has the ACK number and the ACK's flags: since 6.10. */
#ifdef APOGEE_PROBE_CONG_CONTROL_ACK
static void probe_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
}

struct tcp_congestion_ops probe = { .cong_control = probe_cong_control };
#endif

/* A connection's timestamps may be in microseconds: since 6.7. */
#ifdef APOGEE_PROBE_TIME_STAMP_TS
u32 probe(const struct tcp_sock *tp)
{
	return tcp_time_stamp_ts(tp);
}
#endif

/* A packet's pages may be a device's memory, which the CPU cannot read: since 6.12. */
#ifdef APOGEE_PROBE_FRAGS_READABLE
bool probe(const struct sk_buff *skb)
{
	return skb_frags_readable(skb);
}
#endif

/* A timer is set up with its function: since 6.13. */
#ifdef APOGEE_PROBE_HRTIMER_SETUP
void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
#endif

/* rtnl_link_ops::newlink() has its arguments in a structure: since 6.15. */
#ifdef APOGEE_PROBE_NEWLINK_PARAMS
static int probe_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			 struct netlink_ext_ack *extack)
{
	return !rtnl_newlink_link_net(params);
}

struct rtnl_link_ops probe = { .newlink = probe_newlink };
#endif

/* What sends through an UDP tunnel has the control buffer's flags as last argument: since 6.16. */
#ifdef APOGEE_PROBE_TUNNEL_FLAGS
void probe(struct sock *sk, struct sk_buff *skb, struct in6_addr *to)
{
	udp_tunnel_xmit_skb(NULL, sk, skb, 0, 0, 0, 0, 0, 0, 0, false, false, 0);
	udp_tunnel6_xmit_skb(NULL, sk, skb, NULL, to, to, 0, 0, 0, 0, 0, false, 0);
}
#endif

/* An UDP tunnel is set up and released by its struct sock, not its struct socket: since 7.2. */
#ifdef APOGEE_PROBE_TUNNEL_SOCK
void probe(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *config)
{
	setup_udp_tunnel_sock(net, sk, config);
	udp_tunnel_sock_release(sk);
}
#endif

/* tcp_congestion_ops::cwnd_event_tx_start(), an operation of its own: since 7.1. */
#ifdef APOGEE_PROBE_TX_START
static void probe_tx_start(struct sock *sk)
{
}

struct tcp_congestion_ops probe = { .cwnd_event_tx_start = probe_tx_start };
#endif

/* Headers that are younger or older than some kernel. */
#ifdef APOGEE_PROBE_GSO_H
#include <net/gso.h>
#endif

#ifdef APOGEE_PROBE_HEX_H
#include <linux/hex.h>
#endif

#ifdef APOGEE_PROBE_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#endif

#ifdef APOGEE_PROBE_NETDEV_LOCK_H
#include <net/netdev_lock.h>
#endif

#ifdef APOGEE_PROBE_UNALIGNED_H
#include <linux/unaligned.h>
#endif
