/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user sets, and what follows from it: how long SDs are.
 */
#ifndef _SSCOP_SETTINGS_H
#define _SSCOP_SETTINGS_H

#include "state.h"

extern const char * const sscop_state_names[];
void sscop_settings_init(struct sscop_settings *settings);
int sscop_settings_check(const struct sscop_settings *settings,
			 const struct net_device *lower, struct netlink_ext_ack *extack);
int sscop_settings_change(struct sscop_dev *d, const struct sscop_settings *settings,
			  struct netlink_ext_ack *extack);
u32 sscop_piece_limit(const struct sscop_dev *d);
u32 sscop_piece(const struct sscop_dev *d, struct sscop_segment *losses, u32 packet);
u32 sscop_segment_now_locked(const struct sscop_dev *d);
u32 sscop_segment_now(struct sscop_dev *d);

#endif /* _SSCOP_SETTINGS_H */
