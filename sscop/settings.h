/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user sets.
 */
#ifndef _SSCOP_SETTINGS_H
#define _SSCOP_SETTINGS_H

#include "state.h"

extern const char * const sscop_state_names[];
void sscop_settings_init(struct sscop_settings *settings);
int sscop_settings_check(const struct sscop_settings *settings, const struct sscop_dev *d,
			 struct netlink_ext_ack *extack);
int sscop_settings_change(struct sscop_dev *d, const struct sscop_settings *settings,
			  struct netlink_ext_ack *extack);

#endif /* _SSCOP_SETTINGS_H */
