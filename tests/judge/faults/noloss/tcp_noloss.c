// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: no response to loss
 *
 * Reno that keeps its window when a segment is lost, and after a timeout comes back to it.
 */
#include <linux/module.h>
#include <net/tcp.h>

static u32 noloss_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), 2u);
}

static struct tcp_congestion_ops noloss_ops = {
	.name		= "noloss",
	.owner		= THIS_MODULE,
	.ssthresh	= noloss_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init noloss_register(void)
{
	return tcp_register_congestion_control(&noloss_ops);
}

static void __exit noloss_unregister(void)
{
	tcp_unregister_congestion_control(&noloss_ops);
}

module_init(noloss_register);
module_exit(noloss_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: no response to loss");
MODULE_LICENSE("GPL");
