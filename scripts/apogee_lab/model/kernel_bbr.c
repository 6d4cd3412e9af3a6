// SPDX-License-Identifier: GPL-2.0
/* The kernel's BBR, compiled with -DMODEL_KERNEL and -I the kernel's source. */
#ifdef MODEL_KERNEL

/* The kernel is not built with these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include <stdlib.h>

#include <net/tcp.h>

/* The kernel's takes the difference of two unsigned numbers. */
#define abs(x) ((s32)(x) < 0 ? -(s32)(x) : (s32)(x))

#include <net/ipv4/tcp_bbr.c>
#include <lib/win_minmax.c>

#endif
