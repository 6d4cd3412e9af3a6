// SPDX-License-Identifier: GPL-2.0
/*
 * Reno that loses eight octets with each connection, for tests only: a run of many hours has to
 * see it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>

static void leaky_init(struct sock *sk)
{
	void *lost = kmalloc(8, GFP_ATOMIC);

	OPTIMIZER_HIDE_VAR(lost);
}

static struct tcp_congestion_ops leaky_ops = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "leaky",
	.owner		= THIS_MODULE,
	.init		= leaky_init,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init leaky_register(void)
{
	return tcp_register_congestion_control(&leaky_ops);
}

static void __exit leaky_unregister(void)
{
	tcp_unregister_congestion_control(&leaky_ops);
}

module_init(leaky_register);
module_exit(leaky_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Reno that leaks, for tests only");
MODULE_LICENSE("GPL");
