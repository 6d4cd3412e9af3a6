// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: links of type "sscop" are made, changed, shown and deleted.
 */
#include <linux/etherdevice.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include <compat/newlink.h>

#include "device.h"
#include "lower.h"
#include "ops.h"
#include "piece.h"
#include "settings.h"
#include "uapi.h"

static const struct nla_policy policy[IFLA_SSCOP_MAX + 1] = {
	[IFLA_SSCOP_SEGMENT] = { .type = NLA_U16 },
	[IFLA_SSCOP_WINDOW] = { .type = NLA_U32 },
	[IFLA_SSCOP_POLL_BYTES] = { .type = NLA_U32 },
	[IFLA_SSCOP_POLL_SDS] = { .type = NLA_U32 },
	[IFLA_SSCOP_POLL_TIME] = { .type = NLA_U32 },
	[IFLA_SSCOP_POLL_IDLE] = { .type = NLA_U32 },
	[IFLA_SSCOP_USTAT] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SSCOP_PEER] = NLA_POLICY_EXACT_LEN(ETH_ALEN),
	[IFLA_SSCOP_BACKLOG] = { .type = NLA_U32 },
	[IFLA_SSCOP_UNASSURED] = NLA_POLICY_EXACT_LEN(sizeof(u64)),
	[IFLA_SSCOP_BOUNDED] = NLA_POLICY_EXACT_LEN(sizeof(u64)),
	[IFLA_SSCOP_SMALL] = { .type = NLA_U32 },
	[IFLA_SSCOP_PERSIST] = { .type = NLA_U32 },
	[IFLA_SSCOP_STATE] = { .type = NLA_REJECT },
	[IFLA_SSCOP_SEGMENT_NOW] = { .type = NLA_REJECT },
};

static void read_u32(struct nlattr *attribute, u32 *value)
{
	if (attribute)
		*value = nla_get_u32(attribute);
}

static void read_dscps(struct nlattr *attribute, u64 *bits)
{
	if (attribute)
		nla_memcpy(bits, attribute, sizeof(*bits));
}

/* Let those attributes that are there replace settings. */
static void read_settings(struct nlattr *data[], struct sscop_settings *settings)
{
	struct sscop_config *rules = &settings->rules;

	if (!data)
		return;
	if (data[IFLA_SSCOP_SEGMENT])
		settings->segment = nla_get_u16(data[IFLA_SSCOP_SEGMENT]);
	read_u32(data[IFLA_SSCOP_WINDOW], &rules->window);
	read_u32(data[IFLA_SSCOP_POLL_BYTES], &rules->poll_bytes);
	read_u32(data[IFLA_SSCOP_POLL_SDS], &rules->poll_sds);
	read_u32(data[IFLA_SSCOP_POLL_TIME], &rules->poll_time);
	read_u32(data[IFLA_SSCOP_POLL_IDLE], &rules->poll_idle);
	if (data[IFLA_SSCOP_USTAT])
		rules->ustat = nla_get_u8(data[IFLA_SSCOP_USTAT]);
	if (data[IFLA_SSCOP_PEER])
		nla_memcpy(settings->peer, data[IFLA_SSCOP_PEER], ETH_ALEN);
	read_u32(data[IFLA_SSCOP_BACKLOG], &settings->backlog);
	read_dscps(data[IFLA_SSCOP_UNASSURED], &settings->unassured);
	read_dscps(data[IFLA_SSCOP_BOUNDED], &settings->bounded);
	read_u32(data[IFLA_SSCOP_SMALL], &settings->small);
	read_u32(data[IFLA_SSCOP_PERSIST], &rules->persist);
}

static int validate(struct nlattr *tb[], struct nlattr *data[],
		    struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the device has no hardware address");
	return -EOPNOTSUPP;
}

/* --- made and deleted -------------------------------------------------------------------- */

/* A packet of this length fits into one frame. */
static u32 mtu_of(const struct net_device *lower)
{
	return min(lower->mtu - SSCOP_SHORT_HEADER, SSCOP_PAYLOAD_MAX);
}

static int attach(struct net_device *dev, struct net_device *lower,
		  struct netlink_ext_ack *extack)
{
	struct sscop_dev *d = netdev_priv(dev);
	int err;

	d->lower = lower;
	d->frames.dev = lower;
	err = register_netdevice(dev);
	if (err)
		return err;
	netif_carrier_off(dev);
	err = netdev_upper_dev_link(lower, dev, extack);
	if (err)
		unregister_netdevice(dev);
	return err;
}

APOGEE_NEWLINK(newlink)
{
	struct sscop_dev *d = netdev_priv(dev);
	struct net_device *lower;
	int err;

	if (!tb[IFLA_LINK]) {
		NL_SET_ERR_MSG_MOD(extack, "the device below is missing: link DEVICE");
		return -EINVAL;
	}
	lower = __dev_get_by_index(link_net, nla_get_u32(tb[IFLA_LINK]));
	if (!lower) {
		NL_SET_ERR_MSG_MOD(extack, "the device below does not exist");
		return -ENODEV;
	}
	err = sscop_lower_check(lower, extack);
	if (err)
		return err;
	if (!tb[IFLA_MTU])
		dev->mtu = mtu_of(lower);
	read_settings(data, &d->settings);
	err = sscop_settings_check(&d->settings, lower, extack);
	return err ? err : attach(dev, lower, extack);
}

static void dellink(struct net_device *dev, struct list_head *head)
{
	struct sscop_dev *d = netdev_priv(dev);

	netdev_upper_dev_unlink(d->lower, dev);
	unregister_netdevice_queue(dev, head);
}

static int changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	struct sscop_dev *d = netdev_priv(dev);
	struct sscop_settings settings = d->settings;

	read_settings(data, &settings);
	return sscop_settings_change(d, &settings, extack);
}

/* --- shown ------------------------------------------------------------------------------- */

static size_t get_size(const struct net_device *dev)
{
	return 2 * nla_total_size(sizeof(u16)) +	/* SEGMENT, SEGMENT_NOW */
	       8 * nla_total_size(sizeof(u32)) +	/* WINDOW to POLL_IDLE, BACKLOG, ... */
	       2 * nla_total_size(sizeof(u64)) +	/* UNASSURED, BOUNDED */
	       2 * nla_total_size(sizeof(u8)) +		/* USTAT, STATE */
	       nla_total_size(ETH_ALEN);		/* PEER */
}

static int put_rules(struct sk_buff *skb, const struct sscop_config *rules)
{
	if (nla_put_u32(skb, IFLA_SSCOP_WINDOW, rules->window) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_BYTES, rules->poll_bytes) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_SDS, rules->poll_sds) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_TIME, rules->poll_time) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_IDLE, rules->poll_idle) ||
	    nla_put_u8(skb, IFLA_SSCOP_USTAT, rules->ustat))
		return -EMSGSIZE;
	return 0;
}

static int put_classes(struct sk_buff *skb, const struct sscop_settings *settings)
{
	if (nla_put(skb, IFLA_SSCOP_UNASSURED, sizeof(u64), &settings->unassured) ||
	    nla_put(skb, IFLA_SSCOP_BOUNDED, sizeof(u64), &settings->bounded) ||
	    nla_put_u32(skb, IFLA_SSCOP_SMALL, settings->small) ||
	    nla_put_u32(skb, IFLA_SSCOP_PERSIST, settings->rules.persist))
		return -EMSGSIZE;
	return 0;
}

static int fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);
	const struct sscop_settings *settings = &d->settings;

	if (nla_put_u16(skb, IFLA_SSCOP_SEGMENT, settings->segment) ||
	    put_rules(skb, &settings->rules) ||
	    put_classes(skb, settings) ||
	    nla_put(skb, IFLA_SSCOP_PEER, ETH_ALEN, settings->peer) ||
	    nla_put_u32(skb, IFLA_SSCOP_BACKLOG, settings->backlog) ||
	    nla_put_u8(skb, IFLA_SSCOP_STATE, READ_ONCE(d->s.state)) ||
	    nla_put_u16(skb, IFLA_SSCOP_SEGMENT_NOW, sscop_segment_now(d)))
		return -EMSGSIZE;
	return 0;
}

static struct net *get_link_net(const struct net_device *dev)
{
	const struct sscop_dev *d = netdev_priv(dev);

	return dev_net(d->lower);
}

struct rtnl_link_ops sscop_link_ops __read_mostly = {
	.kind = "sscop",
	.maxtype = IFLA_SSCOP_MAX,
	.policy = policy,
	.priv_size = sizeof(struct sscop_dev),
	.setup = sscop_setup,
	.validate = validate,
	.newlink = newlink,
	.changelink = changelink,
	.dellink = dellink,
	.get_size = get_size,
	.fill_info = fill_info,
	.get_link_net = get_link_net,
};
