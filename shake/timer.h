/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is due on the paths of a peer.
 */
#ifndef _SHAKE_TIMER_H
#define _SHAKE_TIMER_H

#include "state.h"

/* timer_list::function of a peer */
void shake_peer_timer(struct timer_list *timer);

#endif /* _SHAKE_TIMER_H */
