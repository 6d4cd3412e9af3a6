/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of <net/tcp.h>, and of what it includes, that the modules use, for BPF.
 *
 * Structures have only the members that are used. Their offsets are those of the running kernel,
 * which libbpf looks up by name (CO-RE). Functions are as in the kernel, where they are inline; the
 * kernel's own are called where it offers them to BPF (__ksym).
 */
#ifndef _BPF_NET_TCP_H
#define _BPF_NET_TCP_H

#include <apogee/int.h>

typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef __SIZE_TYPE__ size_t;

#define BPF_NO_PRESERVE_ACCESS_INDEX
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* --- the kernel's constants --- */

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

enum sk_pacing {
	SK_PACING_NONE,
	SK_PACING_NEEDED,
};

enum { BPF_MAP_TYPE_RINGBUF = 27 };
enum { TCP_ESTABLISHED = 1, TCP_LISTEN = 10 };
enum { TCP_CHRONO_RWND_LIMITED = 2 };
enum { RTAX_INITCWND = 11 };
enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_BBRINFO = 16 };

#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_INIT_CWND		10
#define ICSK_CA_PRIV_SIZE	104
#define USEC_PER_SEC		1000000UL
#define USEC_PER_MSEC		1000UL
#define MSEC_PER_SEC		1000UL
#define NSEC_PER_MSEC		1000000UL
#define BITS_PER_TYPE(type)	(sizeof(type) * 8)

/* --- the kernel's structures --- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct dst_ops {
	unsigned short family;
};

struct dst_entry {
	struct dst_ops *ops;
	unsigned long _metrics;
};

struct netns_ipv4 {
	u8 sysctl_tcp_slow_start_after_idle;
	u8 sysctl_tcp_tso_rtt_log;
	u32 sysctl_tcp_min_tso_segs;
	u32 sysctl_tcp_pacing_ss_ratio;
	u32 sysctl_tcp_pacing_ca_ratio;
};

struct net {
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	u8 in6_u[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	unsigned char skc_state;
	unsigned short skc_family;
	__be16 skc_dport;
	u16 skc_num;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
	u32 sk_gso_max_size;
	u8 sk_pacing_shift;
};

#define sk_state	__sk_common.skc_state
#define inet_num	sk.__sk_common.skc_num
#define inet_dport	sk.__sk_common.skc_dport

struct inet_sock {
	struct sock sk;
};

/* The kernel's, of which only the name is read. */
struct tcp_congestion_ops___name {
	char name[16];
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u32 icsk_rto;
	const struct tcp_congestion_ops___name *icsk_ca_ops;
	u8 icsk_ca_state:5, icsk_ca_initialized:1;
	u8 icsk_retransmits;
	struct {
		u32 enabled:1;
	} icsk_mtup;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
	u16 saw_tstamp:1, tstamp_ok:1, sack_ok:3;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_wnd;
	u32 write_seq;
	u32 high_seq;
	u32 undo_marker;
	u32 retrans_stamp;
	u32 lsndtime;
	u32 mss_cache;
	u32 packets_out;
	u32 retrans_out;
	u32 sacked_out;
	u32 lost_out;
	u32 max_packets_out;
	u32 delivered;
	u32 lost;
	u32 app_limited;
	u32 data_segs_out;
	u32 dsack_dups;
	u32 srtt_us;
	u64 tcp_mstamp;
	u64 first_tx_mstamp;
	u64 delivered_mstamp;
	struct minmax rtt_min;
	struct tcp_options_received rx_opt;
	u64 bytes_acked;
	u8 ecn_flags;
	u8 is_cwnd_limited:1;
	u8 frto:1;
	u8 syn_data:1;
	u8 chrono_type:2;
};

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	bool is_app_limited;
	bool is_retrans;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

struct tcp_bbr_info {
	u32 bbr_bw_lo;
	u32 bbr_bw_hi;
	u32 bbr_min_rtt;
	u32 bbr_pacing_gain;
	u32 bbr_cwnd_gain;
};

union tcp_cc_info {
	struct tcp_bbr_info bbr;
};

/* --- the kernel's macros --- */

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))
/* Nothing looks for races here. */
#define data_race(expr)		(expr)
#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)
#define memset			__builtin_memset
#define memcpy			__builtin_memcpy

#ifndef barrier
#define barrier()		asm volatile("" ::: "memory")
#endif

/* BPF has no cmpxchg on the kernel's structures. The only use is for sk_pacing_status, which fq
 * writes without the socket's lock when it first sees a flow.
 */
#define cmpxchg(place, old, new) \
	do { if (*(place) == (old)) *(place) = (new); } while (0)

#define ntohs(x)		__builtin_bswap16(x)
#define before(seq1, seq2)	((s32)((seq1) - (seq2)) < 0)
#define after(seq2, seq1)	before(seq1, seq2)

/* --- the kernel's inline functions --- */

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_sock *inet_sk(const struct sock *sk)
{
	return (struct inet_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static inline void *inet_csk_ca(const struct sock *sk)
{
	return (void *)inet_csk(sk)->icsk_ca_priv;
}

static inline const struct net *sock_net(const struct sock *sk)
{
	return sk->__sk_common.skc_net.net;
}

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 cwnd)
{
	tp->snd_cwnd = cwnd;
}

static inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

static inline bool tcp_is_sack(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, rx_opt.sack_ok);
}

static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	u32 state = BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);

	return state == TCP_CA_CWR || state == TCP_CA_Recovery;
}

static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tp->snd_cwnd;

	if (tcp_in_cwnd_reduction(sk))
		return tp->snd_ssthresh;
	return max(tp->snd_ssthresh, (cwnd >> 1) + (cwnd >> 2));
}

#define tcp_jiffies32		((u32)bpf_jiffies64())

/* How far the machine's TAI clock is ahead, in ns; set by the loader. */
static volatile u64 apogee_tai_offset SEC(".data");

static inline u64 ktime_get_real_ns(void)
{
	return bpf_ktime_get_tai_ns() - apogee_tai_offset;
}

static inline const struct dst_entry *__sk_dst_get(const struct sock *sk)
{
	return sk->sk_dst_cache;
}

/* The two lowest bits of the address are flags. Metrics begin with number 1. */
static inline u32 dst_metric(const struct dst_entry *dst, int metric)
{
	u64 metrics = dst->_metrics & ~3UL;
	u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(metrics + (metric - 1) * 4));
	return value;
}

/* --- the kernel's functions --- */

/* Registration is the loader's: nothing calls these. */
struct apogee_module_ops;
int tcp_register_congestion_control(struct apogee_module_ops *ops);
void tcp_unregister_congestion_control(struct apogee_module_ops *ops);

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* --- the operations of a module: kept as the modules write them, and not used --- */

struct apogee_module_ops {
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*cwnd_event_tx_start)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	char name[16];
	struct module *owner;
};

#endif /* _BPF_NET_TCP_H */
