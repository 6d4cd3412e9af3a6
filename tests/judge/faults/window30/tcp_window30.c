// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: a window of 2^30 segments
 *
 * Whatever happens: only the receive window and the buffers bound what is sent.
 */
#include <linux/bits.h>
#include <linux/module.h>
#include <net/tcp.h>

#define WINDOW30	BIT(30)

static void window30_hold(struct sock *sk)
{
	tcp_snd_cwnd_set(tcp_sk(sk), WINDOW30);
}

static u32 window30_ssthresh(struct sock *sk)
{
	return WINDOW30;
}

static void window30_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	window30_hold(sk);
}

static void window30_set_state(struct sock *sk, u8 new_state)
{
	window30_hold(sk);
}

static struct tcp_congestion_ops window30_ops = {
	.name		= "window30",
	.owner		= THIS_MODULE,
	.init		= window30_hold,
	.ssthresh	= window30_ssthresh,
	.cong_avoid	= window30_cong_avoid,
	.set_state	= window30_set_state,
	.undo_cwnd	= window30_ssthresh,
};

static int __init window30_register(void)
{
	return tcp_register_congestion_control(&window30_ops);
}

static void __exit window30_unregister(void)
{
	tcp_unregister_congestion_control(&window30_ops);
}

module_init(window30_register);
module_exit(window30_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: a window of 2^30 segments");
MODULE_LICENSE("GPL");
