/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a peer's timer runs, and whether the machine sleeps.
 */
#ifndef _SHAKE_WAKE_H
#define _SHAKE_WAKE_H

#include "state.h"

extern bool shake_asleep;

/* Whether the machine is about to be suspended: no keys are made until it is awake. */
static inline bool shake_is_asleep(void)
{
	return READ_ONCE(shake_asleep);
}

void shake_peer_wake(struct shake_peer *peer, u64 at, u64 now);

#endif /* _SHAKE_WAKE_H */
