/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets to the other end.
 */
#ifndef _SHAKE_TRANSMIT_H
#define _SHAKE_TRANSMIT_H

#include "state.h"

netdev_tx_t shake_start_xmit(struct sk_buff *skb, struct net_device *dev);
void shake_send_held(struct shake_peer *peer, struct sk_buff *skb);

#endif /* _SHAKE_TRANSMIT_H */
