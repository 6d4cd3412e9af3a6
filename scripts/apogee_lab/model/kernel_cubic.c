// SPDX-License-Identifier: GPL-2.0
/* The kernel's CUBIC, as kernel_bbr.c; without it there is that of peers.c. */
#ifdef MODEL_KERNEL

/* The kernel is not built with these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include <net/tcp.h>

#include <net/ipv4/tcp_cubic.c>

#endif
