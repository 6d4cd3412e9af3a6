/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes of a link of type "sscop" in IFLA_INFO_DATA, shared with iproute2's
 * plug-in.
 */
#ifndef _SSCOP_UAPI_H
#define _SSCOP_UAPI_H

enum {
	IFLA_SSCOP_UNSPEC,
	IFLA_SSCOP_SEGMENT,	/* u16: octets of payload in an SD, 0: automatic */
	IFLA_SSCOP_WINDOW,	/* u32: SDs */
	IFLA_SSCOP_POLL_BYTES,	/* u32: octets, 0: no such rule */
	IFLA_SSCOP_POLL_SDS,	/* u32: SDs, 0: no such rule */
	IFLA_SSCOP_POLL_TIME,	/* u32: us */
	IFLA_SSCOP_POLL_IDLE,	/* u32: us, 0: no such rule */
	IFLA_SSCOP_USTAT,	/* u8: 0 or 1 */
	IFLA_SSCOP_PEER,	/* hardware address; all zero: the first that answers */
	IFLA_SSCOP_BACKLOG,	/* u32: octets queued in the lower device at most */
	/* only read */
	IFLA_SSCOP_STATE,	/* u8: enum sscop_state */
	IFLA_SSCOP_SEGMENT_NOW,	/* u16: octets of payload in an SD of a full packet */
	/* classes; whether there are any can only be changed while the device is down */
	IFLA_SSCOP_UNASSURED,	/* u64 in 8 octets: bits of DSCPs */
	IFLA_SSCOP_BOUNDED,	/* the same */
	IFLA_SSCOP_SMALL,	/* u32: octets of packets that are bounded, 0: none */
	IFLA_SSCOP_PERSIST,	/* u32: us after which a bounded packet is given up */
	/* a link under UDP, when it is made */
	IFLA_SSCOP_PORT = 16,	/* u16: of both ends */
	IFLA_SSCOP_REMOTE,	/* 4 or 16 octets of an address; none: learned */
	IFLA_SSCOP_LOCAL,	/* the same; none: any */
	IFLA_SSCOP_LINK_ID,	/* u16: both ends have the same; changed while the device is down */
	__IFLA_SSCOP_MAX
};

#define IFLA_SSCOP_MAX (__IFLA_SSCOP_MAX - 1)

#endif /* _SSCOP_UAPI_H */
