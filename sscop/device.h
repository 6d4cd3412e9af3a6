/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The upper device.
 */
#ifndef _SSCOP_DEVICE_H
#define _SSCOP_DEVICE_H

#include "state.h"

/* rtnl_link_ops::setup */
void sscop_setup(struct net_device *dev);

#endif /* _SSCOP_DEVICE_H */
