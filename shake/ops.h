/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel is given to call: of netlink.c, sysfs.c and ethtool.c.
 */
#ifndef _SHAKE_OPS_H
#define _SHAKE_OPS_H

#include "types.h"

extern struct rtnl_link_ops shake_link_ops;
extern const struct attribute_group shake_group;
extern const struct ethtool_ops shake_ethtool_ops;

#endif /* _SHAKE_OPS_H */
