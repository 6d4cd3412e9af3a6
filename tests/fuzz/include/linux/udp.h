/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_UDP_H
#define _FUZZ_LINUX_UDP_H

#include <netinet/udp.h>

#endif /* _FUZZ_LINUX_UDP_H */
