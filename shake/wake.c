// SPDX-License-Identifier: GPL-2.0
/*
 * When a peer's timer runs.
 */
#include "wake.h"

bool shake_asleep;

/* Let the timer run at this time, or before. */
void shake_peer_wake(struct shake_peer *peer, u64 at, u64 now)
{
	u64 wait = at > now ? at - now : 0;

	wait = min_t(u64, wait, 60 * USEC_PER_SEC);
	timer_reduce(&peer->timer, jiffies + usecs_to_jiffies(wait));
}
