/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A path: its state, its session, what it is worth.
 */
#ifndef _SHAKE_PATH_H
#define _SHAKE_PATH_H

#include "state.h"

struct shake_path *shake_path_make(struct shake_peer *peer, u8 id, gfp_t gfp);
void shake_path_remove(struct shake_path *path);
void shake_path_close(struct shake_path *path);
void shake_path_set_state(struct shake_path *path, enum shake_path_state state);
void shake_path_set_refused(struct shake_path *path, int err);
void shake_path_set_policy(struct shake_path *path, const struct shake_policy *policy);
void shake_path_judge(struct shake_path *path, u64 now);
void shake_choose_ack_path(struct shake_peer *peer);
void shake_measure_ways(struct shake_peer *peer, u64 now);
struct shake_link *shake_link_make(struct shake_path *path, const struct shake_session *s);
void shake_link_use(struct shake_path *path, struct shake_link *link, u64 now);
void shake_link_end(struct shake_path *path, u64 now);
void shake_link_free(struct shake_dev *d, struct shake_link *link);

#endif /* _SHAKE_PATH_H */
