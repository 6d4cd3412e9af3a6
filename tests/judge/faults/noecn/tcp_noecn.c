// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: no response to ECN
 *
 * Reno that answers losses but keeps its window when marks are echoed.
 */
#include <linux/module.h>
#include <net/tcp.h>

/* Where nothing is lost or missing it is a mark. */
static u32 noecn_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->lost_out && !tp->sacked_out)
		return max(tcp_snd_cwnd(tp), 2u);
	return tcp_reno_ssthresh(sk);
}

static struct tcp_congestion_ops noecn_ops = {
	.name		= "noecn",
	.owner		= THIS_MODULE,
	.ssthresh	= noecn_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init noecn_register(void)
{
	return tcp_register_congestion_control(&noecn_ops);
}

static void __exit noecn_unregister(void)
{
	tcp_unregister_congestion_control(&noecn_ops);
}

module_init(noecn_register);
module_exit(noecn_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: no response to ECN");
MODULE_LICENSE("GPL");
