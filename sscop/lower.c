// SPDX-License-Identifier: GPL-2.0
/*
 * The lower device: which ones will do, and what happens to them.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "below.h"
#include "downward.h"
#include "events.h"
#include "lower.h"
#include "ops.h"

/* The next sscop device above a device, or NULL; *@iter is first_link() in the beginning. */
static struct net_device *next_link(struct net_device *lower, struct list_head **iter)
{
	struct net_device *dev;

	do {
		dev = netdev_upper_get_next_dev_rcu(lower, iter);
	} while (dev && dev->rtnl_link_ops != &sscop_link_ops);
	return dev;
}

static struct list_head *first_link(struct net_device *lower)
{
	return &lower->adj_list.upper;
}

/* An sscop device above a device, or NULL. */
static struct net_device *find_link(struct net_device *lower)
{
	struct list_head *iter = first_link(lower);

	return next_link(lower, &iter);
}

/* Whether frames of two links on one device are told apart: by their sender, or by the id in what
 * begins a connection and the seal of the rest.
 */
static bool are_apart(const struct sscop_settings *a, const struct sscop_settings *b)
{
	if (a->rules.link_id != b->rules.link_id)
		return true;
	return !is_zero_ether_addr(a->peer) && !is_zero_ether_addr(b->peer) &&
	       !ether_addr_equal(a->peer, b->peer);
}

/* Whether a device can carry a link with @settings besides those that it carries, but for @but. */
bool sscop_lower_has_room(struct net_device *lower, const struct net_device *but,
			  const struct sscop_settings *settings)
{
	struct list_head *iter = first_link(lower);
	struct net_device *dev;

	while ((dev = next_link(lower, &iter))) {
		const struct sscop_dev *other = netdev_priv(dev);

		if (dev != but && !are_apart(settings, &other->settings))
			return false;
	}
	return true;
}

/* Whether another device takes all that a device receives. */
static bool takes_all(const struct net_device *master)
{
	return netif_is_bridge_master(master) || netif_is_lag_master(master) ||
	       netif_is_ovs_master(master);
}

/* Whether a device can be the lower one. */
int sscop_lower_check(struct net_device *lower, struct netlink_ext_ack *extack)
{
	if (lower->type != ARPHRD_ETHER || lower->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG_MOD(extack, "the device below must be Ethernet-like");
		return -EINVAL;
	}
	if (lower->mtu < SSCOP_LOWER_MTU_MIN) {
		NL_SET_ERR_MSG_MOD(extack, "the MTU of the device below must be at least 105");
		return -EINVAL;
	}
	if (netif_is_bridge_port(lower) || netif_is_lag_port(lower) || netif_is_ovs_port(lower)) {
		NL_SET_ERR_MSG_MOD(extack, "the device below is a port of a bridge or bond");
		return -EBUSY;
	}
	return 0;
}

/* --- what happens to it -------------------------------------------------------------------- */

/* The lower device may go up or down: meanwhile nothing is sent, and silence says nothing. */
static void lower_changed(struct sscop_dev *d)
{
	bool up = netif_running(d->dev) && sscop_runs_below(d);

	spin_lock_bh(&d->lock);
	if (up && !d->lower_up)
		sscop_resume(&d->s, sscop_now());
	WRITE_ONCE(d->lower_up, up);
	if (!up)
		sscop_follow_above(d, NULL);	/* before the carrier goes, and that queue */
	sscop_follow_events(d);
	smp_mb();	/* as in take_in() of downward.c */
	if (netif_running(d->dev) && !up && sscop_may_wait(d))
		netif_wake_queue(d->dev);
	spin_unlock_bh(&d->lock);
	if (up)
		sscop_wake(d);
}

/* Whether an SD is kept that the lower device no longer takes. */
static bool sd_too_long(const struct sscop_dev *d, u32 mtu)
{
	const struct sscop_tx *tx = &d->s.tx;
	u32 seq;

	for (seq = tx->acked; seq != tx->next; seq = sscop_add(seq, 1)) {
		const struct sscop_tx_slot *slot = &tx->slots[seq & (tx->size - 1)];

		if (slot->segment && slot->length > mtu)
			return true;
	}
	return false;
}

/* SDs cannot be cut again: the connection has to begin anew. */
static void mtu_changed(struct sscop_dev *d)
{
	if (!netif_running(d->dev))
		return;
	spin_lock_bh(&d->lock);
	if (sd_too_long(d, d->lower->mtu)) {
		sscop_count_freed(d);
		sscop_resync(&d->s, sscop_now());
		sscop_follow(d);
	}
	spin_unlock_bh(&d->lock);
	lower_changed(d);
}

/* A device that carries an sscop device does not become a port: all that it receives would go
 * elsewhere.
 */
static int upper_changes(const struct netdev_notifier_changeupper_info *info)
{
	if (!info->linking || !takes_all(info->upper_dev))
		return NOTIFY_DONE;
	NL_SET_ERR_MSG_MOD(info->info.extack, "the device carries an sscop device");
	return notifier_from_errno(-EBUSY);
}

static int on_event(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *lower = netdev_notifier_info_to_dev(info), *dev;
	struct list_head *iter = first_link(lower);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		while ((dev = next_link(lower, &iter)))
			lower_changed(netdev_priv(dev));
		break;
	case NETDEV_CHANGEMTU:
		while ((dev = next_link(lower, &iter)))
			mtu_changed(netdev_priv(dev));
		break;
	case NETDEV_PRECHANGEUPPER:
		return find_link(lower) ? upper_changes(info) : NOTIFY_DONE;
	case NETDEV_PRE_TYPE_CHANGE:
		return find_link(lower) ? NOTIFY_BAD : NOTIFY_DONE;
	case NETDEV_UNREGISTER:
		/* It also comes when the device only moves to another namespace. */
		while (lower->reg_state == NETREG_UNREGISTERING && (dev = find_link(lower)))
			dev->rtnl_link_ops->dellink(dev, NULL);
		break;
	}
	return NOTIFY_DONE;
}

struct notifier_block sscop_notifier = {
	.notifier_call = on_event,
};
