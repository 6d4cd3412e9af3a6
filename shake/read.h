/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device shows.
 */
#ifndef _SHAKE_READ_H
#define _SHAKE_READ_H

#include "state.h"

void shake_path_read(struct shake_path *path, struct shake_path_stats *stats);
void shake_peer_read(struct shake_peer *peer, struct shake_peer_shown *shown);
void shake_flow_counts_add(struct shake_flow_counts *to, struct shake_peer *peer);
void shake_read_counts(struct shake_dev *d, u64 counts[SHAKE_COUNTS],
		       struct shake_flow_counts *flows);

/* Under RTNL or RCU. Call @show for each until it returns non-zero. */
int shake_each_path(struct shake_dev *d,
		    int (*show)(const struct shake_path_stats *path, void *to), void *to);
int shake_each_peer(struct shake_dev *d,
		    int (*show)(const struct shake_peer_shown *peer, void *to), void *to);

#endif /* _SHAKE_READ_H */
