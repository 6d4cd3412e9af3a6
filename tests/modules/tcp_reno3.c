// SPDX-License-Identifier: GPL-2.0
/*
 * Reno whose reordering threshold stays 3, for tests only.
 *
 * Without SACK the stack adapts tp->reordering, the number of duplicate ACKs that it takes
 * for reordering, to what it believes to see: more duplicate ACKs than segments are out
 * make it the number of segments out, which may be 1 or 2 (tcp_check_reno_reordering()).
 * The TCP of the time of RFC 2581 always retransmits at the third. The sysctl
 * tcp_max_reordering=3 is the other bound.
 *
 * The threshold is restored before the stack looks at an ACK and after it has changed
 * state. The ACK that lowers it cannot use it: of n segments out at most n - 1 count
 * as received.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#define RENO3_REORDERING 3

static void reno3_restore(struct sock *sk)
{
	tcp_sk(sk)->reordering = RENO3_REORDERING;
}

static void reno3_in_ack_event(struct sock *sk, u32 flags)
{
	reno3_restore(sk);
}

static void reno3_set_state(struct sock *sk, u8 new_state)
{
	reno3_restore(sk);
}

static struct tcp_congestion_ops reno3_ops = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "reno3",
	.owner		= THIS_MODULE,
	.init		= reno3_restore,
	.in_ack_event	= reno3_in_ack_event,
	.set_state	= reno3_set_state,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init reno3_register(void)
{
	return tcp_register_congestion_control(&reno3_ops);
}

static void __exit reno3_unregister(void)
{
	tcp_unregister_congestion_control(&reno3_ops);
}

module_init(reno3_register);
module_exit(reno3_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Reno with a constant reordering threshold, for tests only");
MODULE_LICENSE("GPL");
