// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: takes what others have
 *
 * Twenty segments more per round trip, and a sixteenth less at a loss.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define STARVER_MORE	20

static u32 starver_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return max(cwnd - cwnd / 16, 2u);
}

static void starver_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, max(tcp_snd_cwnd(tp) / STARVER_MORE, 1u), acked);
}

static struct tcp_congestion_ops starver_ops = {
	.name		= "starver",
	.owner		= THIS_MODULE,
	.ssthresh	= starver_ssthresh,
	.cong_avoid	= starver_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init starver_register(void)
{
	return tcp_register_congestion_control(&starver_ops);
}

static void __exit starver_unregister(void)
{
	tcp_unregister_congestion_control(&starver_ops);
}

module_init(starver_register);
module_exit(starver_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: takes what others have");
MODULE_LICENSE("GPL");
