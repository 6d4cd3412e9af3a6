/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel is given to call: of netlink.c, sysfs.c and ethtool.c.
 */
#ifndef _SSCOP_OPS_H
#define _SSCOP_OPS_H

#include "state.h"

extern struct rtnl_link_ops sscop_link_ops;
extern const struct attribute_group sscop_group;
extern const struct ethtool_ops sscop_ethtool_ops;

#endif /* _SSCOP_OPS_H */
