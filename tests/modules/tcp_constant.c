// SPDX-License-Identifier: GPL-2.0
/*
 * A constant congestion window: an oracle for the lab, for tests only.
 *
 * If the receive window is exactly one bandwidth-delay product, each loss blocks it
 * for round trips whatever the algorithm does, so the link's capacity cannot be
 * reached. The throughput of a constant window is the upper bound to which the
 * algorithms are compared. The module responds neither to losses nor to marks: never
 * use it on a shared network.
 *
 * The window is `cwnd` segments from the first byte to the last: at the start, in
 * recovery, after a timeout, and after an undo. Only the route's locked cwnd
 * (snd_cwnd_clamp) limits it. Packets are not paced. A change of the parameter applies
 * to existing connections at their next ACK.
 *
 * The module sets the window in cong_control, so the stack neither runs
 * proportional rate reduction nor reduces the window of an idle connection.
 * Only at a timeout the stack still sets the window itself (tcp_enter_loss());
 * set_state(TCP_CA_Loss) follows immediately and restores it before anything is
 * retransmitted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <compat/cong_control.h>
#include <compat/param_range.h>

static unsigned int constant_cwnd = 500;
APOGEE_PARAM(cwnd, constant_cwnd, 2, 1048576,
	     "congestion window in segments, 2 to 1048576 (default 500)");

static u32 constant_window(const struct sock *sk)
{
	return min(READ_ONCE(constant_cwnd), tcp_sk(sk)->snd_cwnd_clamp);
}

static void constant_hold(struct sock *sk)
{
	tcp_snd_cwnd_set(tcp_sk(sk), constant_window(sk));
}

/* The previous algorithm may have paced: lift the rate. */
static void constant_init(struct sock *sk)
{
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
	constant_hold(sk);
}

APOGEE_CONG_CONTROL(constant_cong_control)
{
	constant_hold(sk);
}

static void constant_set_state(struct sock *sk, u8 new_state)
{
	constant_hold(sk);
}

static u32 constant_ssthresh(struct sock *sk)
{
	return constant_window(sk);
}

static struct tcp_congestion_ops constant_ops = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "constant",
	.owner		= THIS_MODULE,
	.init		= constant_init,
	.cong_control	= constant_cong_control,
	.set_state	= constant_set_state,
	.ssthresh	= constant_ssthresh,
	.undo_cwnd	= constant_ssthresh,
};

static int __init constant_register(void)
{
	return tcp_register_congestion_control(&constant_ops);
}

static void __exit constant_unregister(void)
{
	tcp_unregister_congestion_control(&constant_ops);
}

module_init(constant_register);
module_exit(constant_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Constant congestion window, for tests only");
MODULE_LICENSE("GPL");
