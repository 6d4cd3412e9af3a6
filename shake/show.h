/* SPDX-License-Identifier: GPL-2.0 */
/* What netlink shows of a device. */
#ifndef _SHAKE_SHOW_H
#define _SHAKE_SHOW_H

#include <linux/netdevice.h>

size_t shake_show_size(const struct net_device *dev);
int shake_show(struct sk_buff *skb, const struct net_device *dev);
size_t shake_show_stats_size(const struct net_device *dev);
int shake_show_stats(struct sk_buff *skb, const struct net_device *dev);
size_t shake_show_peers_size(const struct net_device *dev, int attr);
int shake_show_peers(struct sk_buff *skb, const struct net_device *dev, int *next, int attr);

#endif /* _SHAKE_SHOW_H */
