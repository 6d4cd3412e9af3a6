// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: a loop without an end
 *
 * Reno that never returns once its window is larger than HANGS_AT: its first runs may be good.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define HANGS_AT	100	/* segments */

static void hangs_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	while (tcp_snd_cwnd(tcp_sk(sk)) > HANGS_AT)
		cpu_relax();
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops hangs_ops = {
	.name		= "hangs",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= hangs_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init hangs_register(void)
{
	return tcp_register_congestion_control(&hangs_ops);
}

static void __exit hangs_unregister(void)
{
	tcp_unregister_congestion_control(&hangs_ops);
}

module_init(hangs_register);
module_exit(hangs_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: a loop without an end");
MODULE_LICENSE("GPL");
