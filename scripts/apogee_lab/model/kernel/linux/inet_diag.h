/* SPDX-License-Identifier: GPL-2.0 */
/* The result of get_info(). */
#ifndef _TEST_LINUX_INET_DIAG_H
#define _TEST_LINUX_INET_DIAG_H

#include <linux/types.h>

enum {
	INET_DIAG_VEGASINFO = 3,
	INET_DIAG_BBRINFO = 16,
};

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

#endif /* _TEST_LINUX_INET_DIAG_H */
