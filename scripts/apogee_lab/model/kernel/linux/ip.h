/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_IP_H
#define _TEST_LINUX_IP_H

#include <netinet/ip.h>

#include <apogee/int.h>

struct ipv6hdr {
	u8 version;		/* and half of the class */
	u8 rest[3];
	u16 payload_len;
	u8 nexthdr;
	u8 hop_limit;
	struct in6_addr saddr;
	struct in6_addr daddr;
};

#endif /* _TEST_LINUX_IP_H */
