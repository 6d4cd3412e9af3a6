/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an agent has held back leaves.
 */
#ifndef _SHAKE_RELEASE_H
#define _SHAKE_RELEASE_H

#include "state.h"

void shake_release_held(struct shake_peer *peer);

#endif /* _SHAKE_RELEASE_H */
