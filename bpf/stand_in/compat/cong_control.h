/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of tcp_congestion_ops::cong_control depend on the kernel. In BPF the program
 * of that name finds out where rate_sample is (star.bpf.c), and calls the module's function.
 */
#ifndef _BPF_COMPAT_CONG_CONTROL_H
#define _BPF_COMPAT_CONG_CONTROL_H

#include <net/tcp.h>

#define APOGEE_CONG_CONTROL(name) \
	static void name(struct sock *sk, const struct rate_sample *rs)

#endif /* _BPF_COMPAT_CONG_CONTROL_H */
