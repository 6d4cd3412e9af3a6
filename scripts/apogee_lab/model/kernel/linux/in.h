/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_IN_H
#define _TEST_LINUX_IN_H

#include <netinet/in.h>

typedef in_addr_t __be32;

#endif /* _TEST_LINUX_IN_H */
