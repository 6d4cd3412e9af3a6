/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peers: made, and freed with all that is theirs.
 */
#ifndef _SHAKE_PEER_H
#define _SHAKE_PEER_H

#include "state.h"

struct shake_peer *shake_peer_make(struct shake_dev *d, u32 id);
void shake_peer_free(struct shake_peer *peer);
void shake_peers_free(struct shake_dev *d);
void shake_peers_start(struct shake_dev *d);
void shake_peers_stop(struct shake_dev *d);
void shake_keys_changed(struct shake_peer *peer);
void shake_forget_all(bool sleep);

#endif /* _SHAKE_PEER_H */
