// SPDX-License-Identifier: GPL-2.0
/*
 * What an agent has held back leaves.
 */
#include "choose.h"
#include "held.h"
#include "release.h"
#include "transmit.h"
#include "wake.h"

#define TURN 256		/* packets that leave at once, before others may */

/* Send what there is room for. Under RCU, without locks. */
void shake_release_held(struct shake_peer *peer)
{
	struct shake_held *held = peer->held;
	struct sk_buff *skb;
	u32 trip, left = TURN;

	if (!shake_held_begin(held))
		return;
	while (shake_held_waits(held) && left && !shake_is_full(peer, &trip)) {
		skb = shake_held_take(held, max(trip, READ_ONCE(peer->flows.longest)));
		if (!skb)
			break;
		shake_send_held(peer, skb);
		left--;
	}
	shake_held_end(held);
	if (!left)
		shake_peer_wake(peer, 0, 0);
}
