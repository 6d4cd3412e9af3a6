/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams with numbers, in their order.
 */
#ifndef _SHAKE_ORDER_H
#define _SHAKE_ORDER_H

#include "state.h"

void shake_streams_init(struct shake_peer *peer);
void shake_order_take(struct shake_peer *peer, struct sk_buff *skb, u32 number);
void shake_orders_stop(struct shake_peer *peer);
void shake_orders_shutdown(struct shake_peer *peer);
void shake_orders_free(struct shake_peer *peer);

#endif /* _SHAKE_ORDER_H */
