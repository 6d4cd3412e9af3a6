/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which operation tells the start of sending depends on the kernel. In BPF the program of
 * either one calls the module's function (star.bpf.c).
 */
#ifndef _BPF_COMPAT_TX_START_H
#define _BPF_COMPAT_TX_START_H

#include <net/tcp.h>

#define APOGEE_TX_START(name)		static void name(struct sock *sk)
#define APOGEE_TX_START_OP(name)	.cwnd_event_tx_start = name

#endif /* _BPF_COMPAT_TX_START_H */
