/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user sets, by netlink or sysfs. All under RTNL.
 */
#ifndef _SHAKE_SETTINGS_H
#define _SHAKE_SETTINGS_H

#include "state.h"

bool shake_may_change(const struct shake_dev *d);
void shake_settings_init(struct shake_settings *settings);
int shake_settings_check(const struct shake_settings *settings, struct netlink_ext_ack *extack);
int shake_settings_change(struct shake_dev *d, const struct shake_settings *settings,
			  struct netlink_ext_ack *extack);
int shake_path_set(struct shake_dev *d, const struct shake_path_settings *path,
		   struct netlink_ext_ack *extack);
int shake_path_delete(struct shake_dev *d, u8 id, struct netlink_ext_ack *extack);
bool shake_path_lookup(struct shake_dev *d, u8 id, struct shake_path_settings *path);
int shake_peer_add(struct shake_dev *d, u32 id, struct netlink_ext_ack *extack);
int shake_peer_delete(struct shake_dev *d, u32 id, struct netlink_ext_ack *extack);
int shake_peer_key(struct shake_dev *d, u32 id, const u8 key[SHAKE_KEY],
		   struct netlink_ext_ack *extack);
int shake_peer_public(struct shake_dev *d, u32 id, const u8 key[SHAKE_KEY],
		      struct netlink_ext_ack *extack);
int shake_private_key(struct shake_dev *d, const u8 key[SHAKE_KEY],
		      struct netlink_ext_ack *extack);
int shake_peer_allow(struct shake_dev *d, u32 id, const struct shake_prefix *prefix,
		     struct netlink_ext_ack *extack);
int shake_peer_deny(struct shake_dev *d, u32 id, const struct shake_prefix *prefix,
		    struct netlink_ext_ack *extack);

#endif /* _SHAKE_SETTINGS_H */
