/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inner addresses that peers may send from.
 */
#ifndef _SHAKE_PREFIX_H
#define _SHAKE_PREFIX_H

#include "state.h"

bool shake_prefix_valid(const struct shake_prefix *prefix);
int shake_prefix_own(struct shake_peer *peer, const struct shake_prefix *prefix,
		     struct netlink_ext_ack *extack);
bool shake_prefix_disown(struct shake_peer *peer, const struct shake_prefix *prefix);
struct shake_peer *shake_prefix_owner(struct shake_dev *d, u8 family, const void *address);

#endif /* _SHAKE_PREFIX_H */
