/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output of `ss -ti` for a connection, in bbr's format: the only one printed by ss
 * that has room for more than a window.
 */
#ifndef _KERNEL_BBR_INFO_H
#define _KERNEL_BBR_INFO_H

#include <linux/inet_diag.h>
#include <net/tcp.h>

/* A gain of 1. */
#define BBR_INFO_UNIT	256

/**
 * ca_snapshot() - copy a connection's state for get_info()
 * @sk: the connection
 * @state: gets the copy
 * @size: its size in bytes
 *
 * The kernel calls get_info() without the socket's lock. Meanwhile ACKs change the
 * state: what was not zero when it was looked at could be zero as a divisor. A copy
 * stays as it is; its parts may be of different times, which does no harm in what is
 * shown only.
 */
static inline void ca_snapshot(const struct sock *sk, void *state, size_t size)
{
	/* Meant, as said above. */
	data_race(memcpy(state, inet_csk_ca(sk), size));
	barrier();
}

static inline u32 info_cwnd(const struct tcp_sock *tp)
{
	/* Shown only. */
	return data_race(tcp_snd_cwnd(tp));
}

static inline u32 info_mss(const struct tcp_sock *tp)
{
	/* Shown only. */
	return data_race(tp->mss_cache);
}

static inline u32 info_min_rtt(const struct tcp_sock *tp)
{
	/* Shown only. */
	return data_race(tcp_min_rtt(tp));
}

/**
 * bbr_info() - fill in the result of get_info()
 * @ext: requested formats
 * @attr: set to the format
 * @info: filled in
 * @bw: bandwidth in B/s
 * @min_rtt_us: minimum RTT in us
 * @pacing_gain: in 1/BBR_INFO_UNIT
 * @cwnd_gain: in 1/BBR_INFO_UNIT
 *
 * Gains are limited to 2^32 - 1.
 *
 * Return: size of the result in bytes, 0 if this format was not requested.
 */
static inline size_t bbr_info(u32 ext, int *attr, union tcp_cc_info *info,
			      u64 bw, u32 min_rtt_us, u64 pacing_gain,
			      u64 cwnd_gain)
{
	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1))) &&
	    !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;

	memset(&info->bbr, 0, sizeof(info->bbr));
	info->bbr.bbr_bw_lo = (u32)bw;
	info->bbr.bbr_bw_hi = (u32)(bw >> 32);
	info->bbr.bbr_min_rtt = min_rtt_us;
	info->bbr.bbr_pacing_gain = (u32)min_t(u64, pacing_gain, U32_MAX);
	info->bbr.bbr_cwnd_gain = (u32)min_t(u64, cwnd_gain, U32_MAX);
	*attr = INET_DIAG_BBRINFO;
	return sizeof(info->bbr);
}

#endif /* _KERNEL_BBR_INFO_H */
