/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_IN_H
#define _FUZZ_LINUX_IN_H

#include <netinet/in.h>

#endif /* _FUZZ_LINUX_IN_H */
