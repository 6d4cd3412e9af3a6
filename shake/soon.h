/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACKs that came earlier than TCP should see them.
 */
#ifndef _SHAKE_SOON_H
#define _SHAKE_SOON_H

#include "state.h"

void shake_soon_init(struct shake_peer *peer);
bool shake_soon_take(struct shake_peer *peer, const struct shake_segment *s, struct sk_buff *skb,
		     u64 now);
u64 shake_soon_due(struct shake_peer *peer, u32 *room, u64 now);
void shake_soon_purge(struct shake_peer *peer);

#endif /* _SHAKE_SOON_H */
