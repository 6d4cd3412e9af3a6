/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_TCP_H
#define _FUZZ_LINUX_TCP_H

#include <netinet/tcp.h>

#endif /* _FUZZ_LINUX_TCP_H */
