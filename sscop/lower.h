/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lower device: which ones will do, and what happens to them.
 */
#ifndef _SSCOP_LOWER_H
#define _SSCOP_LOWER_H

#include "state.h"

extern struct notifier_block sscop_notifier;
bool sscop_lower_has_room(struct net_device *lower, const struct net_device *but,
			  const struct sscop_settings *settings);
int sscop_lower_check(struct net_device *lower, struct netlink_ext_ack *extack);

#endif /* _SSCOP_LOWER_H */
