/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_NET_INET_ECN_H
#define _FUZZ_NET_INET_ECN_H

#include <linux/skbuff.h>

#endif /* _FUZZ_NET_INET_ECN_H */
