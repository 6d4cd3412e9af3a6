// SPDX-License-Identifier: GPL-2.0
/*
 * The upper device: a point-to-point link for IP packets.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/ip_tunnels.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>

#include <compat/hrtimer.h>
#include <compat/netdev_lock.h>

#include "above.h"
#include "below.h"
#include "device.h"
#include "downward.h"
#include "events.h"
#include "ops.h"
#include "poll.h"
#include "settings.h"
#include "sockets.h"
#include "upward.h"

#define MTU_MAX 65535

static int sscop_dev_init(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);
	int err;

	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	err = sscop_above_init(&d->above);
	if (err)
		goto free_stats;
	d->under_way = sscop_under_way_new(&d->napi);
	if (!d->under_way) {
		err = -ENOMEM;
		goto free_above;
	}
	err = dst_cache_init(&d->udp.dst, GFP_KERNEL);
	if (err)
		goto free_under_way;
	/* Whatever number was asked for: one queue is stopped when no more is taken. */
	netif_set_real_num_tx_queues(dev, 1);
	netif_set_real_num_rx_queues(dev, 1);
	/* A round that a busy loop polls for would keep frames back. */
	set_bit(NAPI_STATE_NO_BUSY_POLL, &d->napi.state);
	netif_napi_add(dev, &d->napi, sscop_poll);
	netdev_lockdep_set_classes(dev);
	if (d->lower)
		netdev_hold(d->lower, &d->tracker, GFP_KERNEL);
	return 0;
free_under_way:
	sscop_under_way_put(d->under_way);
free_above:
	sscop_above_free(&d->above);
free_stats:
	free_percpu(dev->tstats);
	return err;
}

static void sscop_dev_uninit(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);

	list_del_init(&d->udp.list);
	dst_cache_destroy(&d->udp.dst);
	sscop_under_way_put(d->under_way);
	netif_napi_del(&d->napi);
	sscop_above_free(&d->above);
	free_percpu(dev->tstats);
	dev->tstats = NULL;
}

static void sscop_dev_free(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);

	if (d->lower)
		netdev_put(d->lower, &d->tracker);
}

/* --- up and down ------------------------------------------------------------------------- */

static void free_slots(struct sscop_dev *d)
{
	kvfree(d->s.tx.slots);
	kvfree(d->s.rx.slots);
	kvfree(d->s.classes);
	kvfree(d->kept);
	d->s.tx.slots = NULL;
	d->s.rx.slots = NULL;
	d->s.classes = NULL;
	d->kept = NULL;
}

static int alloc_slots(struct sscop_dev *d)
{
	u32 slots = sscop_slots(d->settings.rules.window);
	struct sscop_tx_slot *tx = kvcalloc(slots, sizeof(*tx), GFP_KERNEL);
	void **rx = kvcalloc(slots, sizeof(*rx), GFP_KERNEL);
	struct sscop_counts counts = d->s.counts;
	bool classes = sscop_has_classes(&d->settings);

	sscop_init(&d->s, &d->settings.rules, &sscop_owner, d, tx, rx);
	d->s.counts = counts;
	d->kept = kvcalloc(sscop_kept_slots(slots), sizeof(*d->kept), GFP_KERNEL);
	if (classes)
		d->s.classes = kvcalloc(SSCOP_CLASSES, sizeof(*d->s.classes), GFP_KERNEL);
	if (tx && rx && d->kept && (d->s.classes || !classes))
		return 0;
	free_slots(d);
	return -ENOMEM;
}

static int sscop_dev_open(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);
	int err = alloc_slots(d);

	if (!err && !d->lower)
		err = sscop_socket_open(d);
	if (err) {
		free_slots(d);
		return err;
	}
	netif_carrier_off(dev);
	sscop_segment_init(&d->auto_segment);
	d->known = d->s.counts;
	sscop_begin_budget(d, sscop_now());
	sscop_start(&d->s, sscop_now());
	d->lower_up = sscop_runs_below(d);
	napi_enable(&d->napi);
	if (d->lower)
		dev_add_pack(&d->frames);
	netif_start_queue(dev);
	sscop_wake(d);
	return 0;
}

static int sscop_dev_stop(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);

	netif_stop_queue(dev);
	if (d->lower)
		dev_remove_pack(&d->frames);
	napi_disable(&d->napi);
	hrtimer_cancel(&d->timer);
	sscop_end(d);
	if (!d->lower)
		sscop_socket_close(d);
	d->lower_up = false;
	netif_carrier_off(dev);	/* not before: a round may have set it */
	kfree_skb(d->packet);
	d->packet = NULL;
	d->held = 0;
	sscop_above_purge(&d->above);
	skb_queue_purge(&d->waiting);
	skb_queue_purge(&d->classed[SSCOP_UNASSURED]);
	skb_queue_purge(&d->classed[SSCOP_BOUNDED]);
	d->begun = d->came;
	d->begun_memory = d->came_memory;
	__skb_queue_purge(&d->fetched);
	skb_queue_purge(&d->arrived);
	free_slots(d);
	return 0;
}

static int sscop_dev_iflink(const struct net_device *dev)
{
	const struct sscop_dev *d = netdev_priv(dev);

	return d->lower ? READ_ONCE(d->lower->ifindex) : READ_ONCE(dev->ifindex);
}

static const struct net_device_ops sscop_netdev_ops = {
	.ndo_init = sscop_dev_init,
	.ndo_uninit = sscop_dev_uninit,
	.ndo_open = sscop_dev_open,
	.ndo_stop = sscop_dev_stop,
	.ndo_start_xmit = sscop_start_xmit,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_get_iflink = sscop_dev_iflink,
};

static void init_private(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);

	d->dev = dev;
	spin_lock_init(&d->lock);
	apogee_hrtimer_setup(&d->timer, sscop_timer);
	__skb_queue_head_init(&d->pieces);
	__skb_queue_head_init(&d->fetched);
	skb_queue_head_init(&d->arrived);
	skb_queue_head_init(&d->waiting);
	skb_queue_head_init(&d->classed[SSCOP_UNASSURED]);
	skb_queue_head_init(&d->classed[SSCOP_BOUNDED]);
	INIT_LIST_HEAD(&d->udp.list);
	sscop_settings_init(&d->settings);
	d->frames.type = htons(SSCOP_ETHERTYPE);
	d->frames.func = sscop_frame_in;
}

void sscop_setup(struct net_device *dev)
{
	dev->netdev_ops = &sscop_netdev_ops;
	dev->ethtool_ops = &sscop_ethtool_ops;
	dev->header_ops = &ip_tunnel_header_ops;
	dev->sysfs_groups[0] = &sscop_group;
	dev->needs_free_netdev = true;
	dev->priv_destructor = sscop_dev_free;

	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	/* Its own queue above suits the link: another has to be asked for. */
	dev->priv_flags |= IFF_NO_QUEUE;
	/* Packets are kept and cut: nobody may send the same one again meanwhile. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA;
	dev->hw_features = dev->features;
	dev->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
	dev->mtu = ETH_DATA_LEN;	/* until the device below is known */
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = MTU_MAX;
	init_private(dev);
}
