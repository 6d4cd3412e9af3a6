/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtnl_link_ops::newlink has the arguments (src_net, dev, tb, data, extack) up to Linux
 * 6.14; from 6.15 on (dev, params, extack).
 *
 * APOGEE_NEWLINK(name) is the head of such a function; the body sees `dev`, `tb`, `data`,
 * `extack` and `link_net`, the namespace that IFLA_LINK means.
 */
#ifndef APOGEE_COMPAT_NEWLINK_H
#define APOGEE_COMPAT_NEWLINK_H

#include <net/rtnetlink.h>

#define APOGEE_NEWLINK_BODY(name)					\
	name##_in(struct net *link_net, struct net_device *dev,		\
		  struct nlattr *tb[], struct nlattr *data[],		\
		  struct netlink_ext_ack *extack)

#ifdef APOGEE_HAS_NEWLINK_PARAMS
#define APOGEE_NEWLINK(name)						\
	static int APOGEE_NEWLINK_BODY(name);				\
	static int name(struct net_device *dev,				\
			struct rtnl_newlink_params *params,		\
			struct netlink_ext_ack *extack)			\
	{								\
		return name##_in(rtnl_newlink_link_net(params), dev,	\
				 params->tb, params->data, extack);	\
	}								\
	static int APOGEE_NEWLINK_BODY(name)
#else
#define APOGEE_NEWLINK(name)						\
	static int APOGEE_NEWLINK_BODY(name);				\
	static int name(struct net *link_net, struct net_device *dev,	\
			struct nlattr *tb[], struct nlattr *data[],	\
			struct netlink_ext_ack *extack)			\
	{								\
		return name##_in(link_net, dev, tb, data, extack);	\
	}								\
	static int APOGEE_NEWLINK_BODY(name)
#endif

#endif /* APOGEE_COMPAT_NEWLINK_H */
