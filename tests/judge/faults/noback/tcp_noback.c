// SPDX-License-Identifier: GPL-2.0
/*
 * A planted fault for lab judge, for tests only: no back-off
 *
 * Reno, but at each timeout the window stays and the timer starts anew, so that all of the
 * window is sent again every few hundred milliseconds for as long as nothing comes back.
 */
#include <linux/module.h>
#include <net/tcp.h>

static void noback_set_state(struct sock *sk, u8 new_state)
{
	if (new_state != TCP_CA_Loss)
		return;
	tcp_snd_cwnd_set(tcp_sk(sk), max(tcp_sk(sk)->prior_cwnd, 100u));
	inet_csk(sk)->icsk_backoff = 0;
	inet_csk(sk)->icsk_rto = TCP_RTO_MIN;
}

static struct tcp_congestion_ops noback_ops = {
	.name		= "noback",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.set_state	= noback_set_state,
};

static int __init noback_register(void)
{
	return tcp_register_congestion_control(&noback_ops);
}

static void __exit noback_unregister(void)
{
	tcp_unregister_congestion_control(&noback_ops);
}

module_init(noback_register);
module_exit(noback_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("Planted fault: no back-off");
MODULE_LICENSE("GPL");
