/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which path takes a packet, and whether it had better wait.
 */
#ifndef _SHAKE_CHOOSE_H
#define _SHAKE_CHOOSE_H

#include "state.h"

/* Under the peer's lock. */
u32 shake_narrowest(struct shake_peer *peer, const struct sk_buff *skb, u64 now);
struct shake_path *shake_choose(struct shake_peer *peer, struct shake_stream *stream, u32 length,
				bool small, u8 other, u64 now);
void shake_hold_back(struct shake_peer *peer, u64 now);
void shake_let_go(struct shake_peer *peer, u64 now);

bool shake_may_fragment(const struct sk_buff *skb, u32 mtu);
bool shake_is_full(struct shake_peer *peer, u32 *trip);
u32 shake_widest(struct shake_peer *peer);

#endif /* _SHAKE_CHOOSE_H */
