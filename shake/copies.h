/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of packets that were sent.
 */
#ifndef _SHAKE_COPIES_H
#define _SHAKE_COPIES_H

#include "state.h"

void shake_copies_begin(struct shake_path *path, gfp_t gfp);
void shake_copies_end(struct shake_path *path);
void shake_copies_free(struct shake_path *path);
bool shake_copies_ready(struct shake_path *path);
bool shake_copies_keep(struct shake_path *path, u32 counter, u64 now, u32 *place);
void shake_copies_tail(struct shake_path *path, u64 now);
void shake_copies_purge(struct shake_path *path);
void shake_copies_expire(struct shake_path *path, u64 now);
void shake_copies_put(const struct shake_way *way, u32 place, const struct sk_buff *skb,
		      u8 tos);
struct sk_buff *shake_copies_told(struct shake_path *path, const struct shake_ack_body *ack,
				  u64 now);

#endif /* _SHAKE_COPIES_H */
