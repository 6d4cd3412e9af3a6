/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tunnel device.
 */
#ifndef _SHAKE_DEVICE_H
#define _SHAKE_DEVICE_H

#include "state.h"

void shake_setup(struct net_device *dev);
bool shake_is(const struct net_device *dev);

#endif /* _SHAKE_DEVICE_H */
