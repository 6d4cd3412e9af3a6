// SPDX-License-Identifier: GPL-2.0
/*
 * A constant congestion window: the lab's oracle, for tests only.
 *
 * Where the receive window is exactly one bandwidth-delay product, each loss
 * shuts it for round trips whatever the algorithm does, so the physical limit
 * is out of reach. What a window that never moves reaches is the ceiling the
 * algorithms are measured against. It answers neither loss nor marks and must
 * never meet a network that others use.
 *
 * The window is `cwnd` segments from the first byte to the last: at start,
 * in recovery, from the moment of a timeout on, and after an undo. Only the
 * route's locked cwnd (snd_cwnd_clamp) bounds it. Nothing is paced. Writing
 * the parameter moves live connections at their next ACK.
 *
 * The module owns the window through cong_control, so the stack neither runs
 * proportional rate reduction nor shrinks the window of an idle connection.
 * A timeout is the one place where the stack still sets the window by itself
 * (tcp_enter_loss()); set_state(TCP_CA_Loss) comes right after and puts it back
 * before anything is retransmitted.
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

/* The connection may come from an algorithm that paced: lift its rate. */
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
