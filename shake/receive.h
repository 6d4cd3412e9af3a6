/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets from the other end.
 */
#ifndef _SHAKE_RECEIVE_H
#define _SHAKE_RECEIVE_H

#include "state.h"

int shake_encap_rcv(struct sock *sk, struct sk_buff *skb);

#endif /* _SHAKE_RECEIVE_H */
