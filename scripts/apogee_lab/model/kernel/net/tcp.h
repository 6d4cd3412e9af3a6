/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket as a congestion control sees it, for the modules compiled into the
 * simulation. Names and units are those of Linux 6.1. A field that a module reads is
 * added here and kept up by the sender.
 */
#ifndef _TEST_NET_TCP_H
#define _TEST_NET_TCP_H

#include <string.h>

#include <linux/inet_diag.h>
#include <linux/kernel.h>

#include <apogee/int.h>

#define TCP_INIT_CWND		10
#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_ESTABLISHED		1
#define RTAX_INITCWND		11
#define TCP_CONG_NON_RESTRICTED	1
#define GSO_LEGACY_MAX_SIZE	65536u
#define MAX_TCP_HEADER		320
#define ICSK_CA_PRIV_SIZE	(13 * sizeof(u64))

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
};

enum tcp_chrono {
	TCP_CHRONO_UNSPEC,
	TCP_CHRONO_BUSY,
	TCP_CHRONO_RWND_LIMITED,
};

enum {
	SK_PACING_NONE,
	SK_PACING_NEEDED,
};

struct sock;

/* delivered and interval_us are -1 without a sample */
struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered;
	s32 delivered;
	s32 delivered_ce;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	u32 last_end_seq;
	bool is_app_limited;
	bool is_retrans;
	bool is_ack_delayed;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr,
			   union tcp_cc_info *info);
	const char *name;
	void *owner;
	u32 flags;
	struct tcp_congestion_ops *next;
};

struct net {
	struct netns_ipv4 {
		u8 sysctl_tcp_slow_start_after_idle;
		int sysctl_tcp_pacing_ss_ratio;
		int sysctl_tcp_pacing_ca_ratio;
		u8 sysctl_tcp_tso_rtt_log;
		u8 sysctl_tcp_min_tso_segs;
	} ipv4;
};

struct dst_entry;

/* Sequence numbers count bytes, windows segments, times are in us. */
struct tcp_sock {
	u64 tcp_mstamp;
	u64 tcp_clock_cache;		/* ns */
	u64 tcp_wstamp_ns;
	u64 first_tx_mstamp;
	u64 delivered_mstamp;
	u64 bytes_acked;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_wnd;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_cwnd_used;
	u32 snd_cwnd_stamp;		/* jiffies */
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	u32 prr_delivered;
	u32 prr_out;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 app_limited;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u32 cwnd_usage_seq;
	u32 high_seq;
	u32 retrans_stamp;		/* ms */
	u32 data_segs_out;
	u32 dsack_dups;
	u32 lsndtime;			/* jiffies */
	u32 srtt_us;			/* times 8 */
	u32 mdev_us;
	u32 mdev_max_us;
	u32 rttvar_us;
	u32 rtt_seq;
	u32 rtt_min_us;
	u32 mss_cache;
	u32 undo_marker;
	int undo_retrans;
	u32 write_seq;
	u8 chrono_type;
	u8 ecn_flags;
	bool is_cwnd_limited;
	bool frto;
	bool syn_data;
	struct {
		bool saw_tstamp;
		bool tstamp_ok;
		bool sack_ok;
		u32 rcv_tsval;
		u32 rcv_tsecr;
	} rx_opt;
};

struct inet_connection_sock {
	struct tcp_congestion_ops *icsk_ca_ops;
	u32 icsk_rto;			/* jiffies */
	u8 icsk_ca_state;
	u8 icsk_ca_initialized;
	u8 icsk_retransmits;
	u8 icsk_pending;
	struct {
		bool enabled;
	} icsk_mtup;
	u64 icsk_ca_priv[13];
};

struct sock {
	struct tcp_sock tp;
	struct inet_connection_sock icsk;
	struct net net;
	unsigned long sk_pacing_rate;	/* B/s */
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
	u32 sk_pacing_shift;
	u32 sk_gso_max_size;
	u8 sk_state;
};

/* The simulation's time in ns. */
extern u64 model_now;

#define tcp_jiffies32 ((u32)(model_now / (NSEC_PER_SEC / HZ)))

int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 count, u32 acked);
u32 tcp_reno_undo_cwnd(struct sock *sk);

#define NET_INC_STATS(net, name)	((void)(net))
#define NET_ADD_STATS(net, name, more)	((void)(net))

#define tcp_sk(sk) ((struct tcp_sock *)&(sk)->tp)
#define inet_csk(sk) ((struct inet_connection_sock *)&(sk)->icsk)
#define inet_csk_ca(sk) ((void *)inet_csk(sk)->icsk_ca_priv)
#define sock_net(sk) ((struct net *)&(sk)->net)

/* The host's clock is the simulation's. */
static inline u64 ktime_get_real_ns(void)
{
	return model_now;
}

/* Routes have no metrics. */
static inline struct dst_entry *__sk_dst_get(const struct sock *sk)
{
	(void)sk;
	return NULL;
}

static inline u32 dst_metric(const struct dst_entry *dst, int metric)
{
	(void)dst;
	(void)metric;
	return 0;
}

static inline bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

#define after(a, b) before(b, a)
#define tcp_min_rtt(tp) ((tp)->rtt_min_us)
#define tcp_snd_cwnd(tp) ((tp)->snd_cwnd)
#define tcp_snd_cwnd_set(tp, cwnd) ((tp)->snd_cwnd = (cwnd))
#define tcp_left_out(tp) ((tp)->sacked_out + (tp)->lost_out)
#define tcp_is_sack(tp) ((tp)->rx_opt.sack_ok)
#define tcp_in_slow_start(tp) (tcp_snd_cwnd(tp) < (tp)->snd_ssthresh)

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tcp_left_out(tp) + tp->retrans_out;
}

static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	return state == TCP_CA_CWR || state == TCP_CA_Recovery;
}

static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_in_cwnd_reduction(sk))
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, (tcp_snd_cwnd(tp) >> 1) + (tcp_snd_cwnd(tp) >> 2));
}

static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->is_cwnd_limited)
		return true;
	return tcp_in_slow_start(tp) && tcp_snd_cwnd(tp) < 2 * tp->max_packets_out;
}

static inline u32 tcp_stamp_us_delta(u64 t1, u64 t0)
{
	return t1 > t0 ? t1 - t0 : 0;
}

#endif /* _TEST_NET_TCP_H */
