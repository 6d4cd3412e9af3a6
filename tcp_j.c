// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-J: the baseline TCP-STAR is compared with.
 *
 * N. Sato, M. Kunishi, F. Teraoka: "TCP-J: New Transport Protocol for Wireless
 * Network Environments" (in Japanese), IPSJ Journal 43(12), 2002.
 *
 * NewReno's growth; after a data loss the window ABE measures (CWS's rule, see
 * star.h) instead of half of it; no LWC, no AEN. With the settings the
 * TCP-STAR paper gives it (footnote 1): ssthresh may grow to the
 * bandwidth-delay product, and a timeout restarts from the initial window.
 *
 * Notable differences from the papers:
 *   o ABE's samples and filter are those of abe.h.
 *   o As in tcp_star the module owns the window by cong_control, so that
 *     "keep the window" (fig. 2) isn't overruled by proportional rate
 *     reduction. It doesn't pace.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/tcp.h>

#include <apogee/star.h>
#include <compat/cong_control.h>
#include <kernel/bbr_info.h>

#define CREATE_TRACE_POINTS
#include <trace/tcp_j.h>

/* Interval given to the very first ACK: no window depends on it here. */
#define J_FIRST_INTERVAL_US	1000

/**
 * struct j - per connection state
 * @abe: bandwidth estimation
 * @cwnd_abe: window ABE measures, in segments, 0 without an estimate
 * @delivered: tp->delivered at the last ACK
 * @prior_cwnd: window before the last reduction, in segments
 * @prior_ssthresh: ssthresh before the last reduction
 * @reduced: the stack has asked for ssthresh; the window is to be set
 */
struct j {
	struct abe abe;
	u32 cwnd_abe;
	u32 delivered;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	bool reduced;
};

static void j_init(struct sock *sk)
{
	struct j *j = inet_csk_ca(sk);

	memset(j, 0, sizeof(*j));
	j->delivered = tcp_sk(sk)->delivered;
	/* No rate left over from an algorithm that paces. */
	WRITE_ONCE(sk->sk_pacing_rate, READ_ONCE(sk->sk_max_pacing_rate));
}

static u32 j_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct j *j = inet_csk_ca(sk);
	const struct star_window w = { .cwnd_abe = j->cwnd_abe };

	j->prior_cwnd = tcp_snd_cwnd(tp);
	j->prior_ssthresh = tp->snd_ssthresh;
	j->reduced = true;
	return star_cws_ssthresh(&w, j->prior_cwnd);
}

/* The stack has set the window to 1 for a timeout: the initial one instead. */
static void j_set_state(struct sock *sk, u8 new_state)
{
	struct j *j = inet_csk_ca(sk);

	if (new_state != TCP_CA_Loss)
		return;
	j->reduced = false;
	tcp_snd_cwnd_set(tcp_sk(sk), TCP_INIT_CWND);
}

static u32 j_undo_cwnd(struct sock *sk)
{
	struct j *j = inet_csk_ca(sk);

	j->reduced = false;
	return max(tcp_snd_cwnd(tcp_sk(sk)), j->prior_cwnd);
}

APOGEE_CONG_CONTROL(j_cong_control)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct j *j = inet_csk_ca(sk);
	u32 acked = tp->delivered - j->delivered;
	u32 rtt_min = tcp_min_rtt(tp);
	u8 state = inet_csk(sk)->icsk_ca_state;

	j->delivered = tp->delivered;
	if (abe_ack(&j->abe, tp->tcp_mstamp, (u64)acked * tp->mss_cache,
		    tp->mss_cache, rtt_min, J_FIRST_INTERVAL_US,
		    rs->is_app_limited) && rtt_min != U32_MAX)
		j->cwnd_abe = abe_window(abe_bw(&j->abe), rtt_min,
					 tp->mss_cache);

	if (j->reduced) {
		j->reduced = false;
		tcp_snd_cwnd_set(tp, star_cws_cwnd(j->prior_cwnd,
						   j->prior_ssthresh,
						   tp->snd_ssthresh));
	} else if (acked && state != TCP_CA_Recovery && state != TCP_CA_CWR) {
		tcp_reno_cong_avoid(sk, tp->snd_una, acked);
	}
	trace_j_ack(sk, j->cwnd_abe, abe_bw(&j->abe));
}

/* ss -ti shows bandwidth and minimum RTT, in the form bbr uses. */
static size_t j_get_info(struct sock *sk, u32 ext, int *attr,
			 union tcp_cc_info *info)
{
	const struct j *j = inet_csk_ca(sk);

	return bbr_info(ext, attr, info, abe_bw(&j->abe),
			tcp_min_rtt(tcp_sk(sk)), 0, 0);
}

static struct tcp_congestion_ops tcp_j __read_mostly = {
	.name		= "j",
	.owner		= THIS_MODULE,
	.init		= j_init,
	.ssthresh	= j_ssthresh,
	.set_state	= j_set_state,
	.cong_control	= j_cong_control,
	.undo_cwnd	= j_undo_cwnd,
	.get_info	= j_get_info,
};

static int __init tcp_j_register(void)
{
	BUILD_BUG_ON(sizeof(struct j) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&tcp_j);
}

static void __exit tcp_j_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_j);
}

module_init(tcp_j_register);
module_exit(tcp_j_unregister);

MODULE_DESCRIPTION("TCP-J congestion control, the baseline of TCP-STAR");
MODULE_LICENSE("GPL");
