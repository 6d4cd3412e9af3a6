// SPDX-License-Identifier: GPL-2.0
/*
 * The tunnel device: a point-to-point or, as an agent's, point-to-multipoint link for IP
 * packets.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/ip_tunnels.h>
#include <net/pkt_sched.h>

#include <compat/lltx.h>
#include <compat/netdev_lock.h>

#include "device.h"
#include "events.h"
#include "ops.h"
#include "overhead.h"
#include "path.h"
#include "peer.h"
#include "settings.h"
#include "sockets.h"
#include "transmit.h"

#define MTU_MAX 65535

LIST_HEAD(shake_devices);

/* --- made and deleted ---------------------------------------------------------------------- */

static int make_leaders_peer(struct shake_dev *d)
{
	struct shake_peer *peer;

	if (!shake_is_leader(d))
		return 0;
	peer = shake_peer_make(d, d->settings.id);
	return PTR_ERR_OR_ZERO(peer);
}

static int shake_dev_init(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);
	int err;

	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	err = gro_cells_init(&d->gro, dev);
	if (err)
		goto free_stats;
	err = make_leaders_peer(d);
	if (err)
		goto free_cells;
	netdev_lockdep_set_classes(dev);
	if (!shake_is_leader(d))	/* it never stops the queue: one peer would hold up all */
		dev->priv_flags |= IFF_NO_QUEUE;
	if (d->mtu) {
		d->mtu = shake_default_mtu(d);
		dev->mtu = d->mtu;
	}
	list_add(&d->list, &shake_devices);
	__module_get(THIS_MODULE);	/* not to be removed while there are devices */
	if (!d->settings.auth)
		netdev_warn(dev, "auth is off: anybody can forge packets and take over paths\n");
	return 0;

free_cells:
	xa_destroy(&d->peers);	/* nodes may stay of a peer that there was no memory for */
	gro_cells_destroy(&d->gro);
free_stats:
	free_percpu(dev->tstats);
	dev->tstats = NULL;
	return err;
}

static void shake_dev_uninit(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);

	list_del(&d->list);
	shake_peers_free(d);
	shake_events_flush(&d->events);
	gro_cells_destroy(&d->gro);
	free_percpu(dev->tstats);
	dev->tstats = NULL;
	module_put(THIS_MODULE);	/* rtnl_link_unregister() waits for the rest */
}

static void shake_dev_free(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);

	xa_destroy(&d->sessions);
	memzero_explicit(&d->identity, sizeof(d->identity));
	memzero_explicit(&d->guard, sizeof(d->guard));
}

/* --- up and down --------------------------------------------------------------------------- */

static void open_paths(struct shake_dev *d)
{
	struct shake_peer *peer = shake_only_peer(d);
	struct shake_path *path;

	shake_for_each_path(peer, path)
		shake_path_try(path);
}

/* Open what got none. Who stops the device waits for this, and has RTNL. */
static void retry_paths(struct work_struct *work)
{
	struct shake_dev *d = container_of(to_delayed_work(work), struct shake_dev, retry);
	struct shake_path *path;

	if (!rtnl_trylock()) {
		schedule_delayed_work(&d->retry, 1);
		return;
	}
	if (netif_running(d->dev))
		shake_for_each_path(shake_only_peer(d), path)
			if (path->refused)
				shake_path_try(path);
	rtnl_unlock();
}

static void close_paths(struct shake_dev *d)
{
	struct shake_peer *peer = shake_only_peer(d);
	struct shake_path *path;

	shake_for_each_path(peer, path)
		shake_path_close(path);
}

static int shake_dev_stop(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);

	netif_stop_queue(dev);
	cancel_delayed_work_sync(&d->retry);
	if (shake_is_leader(d))
		close_paths(d);
	else
		shake_agent_close(d);
	shake_peers_stop(d);
	shake_events_flush(&d->events);
	return 0;
}

static int shake_dev_open(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);
	int err = 0;

	if (shake_is_leader(d)) {
		netif_carrier_off(dev);
		open_paths(d);
	} else {
		err = shake_agent_open(d);
	}
	if (err)
		shake_dev_stop(dev);
	else
		netif_start_queue(dev);
	return err;
}

static const struct net_device_ops shake_netdev_ops = {
	.ndo_init = shake_dev_init,
	.ndo_uninit = shake_dev_uninit,
	.ndo_open = shake_dev_open,
	.ndo_stop = shake_dev_stop,
	.ndo_start_xmit = shake_start_xmit,
	.ndo_get_stats64 = dev_get_tstats64,
};

/* Whether a device is of this type. */
bool shake_is(const struct net_device *dev)
{
	return dev->netdev_ops == &shake_netdev_ops;
}

static void init_private(struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);

	d->dev = dev;
	d->mtu = dev->mtu;
	shake_settings_init(&d->settings);
	spin_lock_init(&d->guard_lock);
	/* Only the sessions' lock is taken in softirq, but to lockdep both are one class. */
	xa_init_flags(&d->peers, XA_FLAGS_LOCK_BH);
	xa_init_flags(&d->sessions, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	hash_init(d->prefixes);
	d->refilled = jiffies - 2 * HZ;
	INIT_DELAYED_WORK(&d->retry, retry_paths);
	shake_events_init(&d->events);
}

/* rtnl_link_ops::setup */
void shake_setup(struct net_device *dev)
{
	dev->netdev_ops = &shake_netdev_ops;
	dev->ethtool_ops = &shake_ethtool_ops;
	dev->header_ops = &ip_tunnel_header_ops;
	dev->sysfs_groups[0] = &shake_group;
	dev->needs_free_netdev = true;
	dev->priv_destructor = shake_dev_free;

	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	dev->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA |
			NETIF_F_GSO_SOFTWARE;
	dev->hw_features = dev->features;
	dev->hw_enc_features = dev->features;
	netif_keep_dst(dev);	/* too_big() tells the route */
	apogee_set_lltx(dev);
	dev->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
	dev->needed_headroom = LL_MAX_HEADER + SHAKE_UDP_V6 + SHAKE_HEAD_MAL + SHAKE_TAG;
	dev->needed_tailroom = SHAKE_TAG;
	dev->mtu = SHAKE_MTU_LINK - SHAKE_UDP_V6 - SHAKE_HEAD_MAL - SHAKE_TAG;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = MTU_MAX - SHAKE_UDP_V6 - SHAKE_HEAD_MAL - SHAKE_TAG;
	init_private(dev);
}
