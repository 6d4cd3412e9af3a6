// SPDX-License-Identifier: GPL-2.0
/* Reno that keeps three quarters of its window at a loss: the smallest module there is. */
#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/toy.h>

static u32 toy_ssthresh(struct sock *sk)
{
	return toy_reduced(tcp_snd_cwnd(tcp_sk(sk)));
}

static struct tcp_congestion_ops toy_ops __read_mostly = {
	.ssthresh	= toy_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "toy",
};

static int __init toy_register(void)
{
	return tcp_register_congestion_control(&toy_ops);
}
module_init(toy_register);

static void __exit toy_unregister(void)
{
	tcp_unregister_congestion_control(&toy_ops);
}
module_exit(toy_unregister);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno that keeps three quarters of its window");
