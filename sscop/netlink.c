// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: links of type "sscop" are made, changed, shown and deleted.
 */
#include <linux/etherdevice.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include <compat/newlink.h>

#include "below.h"
#include "device.h"
#include "lower.h"
#include "ops.h"
#include "piece.h"
#include "settings.h"
#include "sockets.h"
#include "uapi.h"
#include "udp.h"

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
	[IFLA_SSCOP_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[IFLA_SSCOP_REMOTE] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SSCOP_LOCAL] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SSCOP_LINK_ID] = { .type = NLA_U16 },
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
	if (data[IFLA_SSCOP_LINK_ID])
		rules->link_id = nla_get_u16(data[IFLA_SSCOP_LINK_ID]);
}

static int validate(struct nlattr *tb[], struct nlattr *data[],
		    struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the device has no hardware address");
	return -EOPNOTSUPP;
}

static int read_address(const struct nlattr *attribute, union sscop_address *address,
			struct netlink_ext_ack *extack)
{
	if (!attribute)
		return 0;
	if (nla_len(attribute) == sizeof(struct in_addr)) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_addr.s_addr = nla_get_in_addr(attribute);
		return 0;
	}
	if (nla_len(attribute) == sizeof(struct in6_addr)) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_addr = nla_get_in6_addr(attribute);
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attribute, "sscop: an address has 4 or 16 octets");
	return -EINVAL;
}

static bool is_of_udp(struct nlattr *data[])
{
	return data && (data[IFLA_SSCOP_PORT] || data[IFLA_SSCOP_REMOTE] ||
			data[IFLA_SSCOP_LOCAL]);
}

/* --- made and deleted -------------------------------------------------------------------- */

/* A packet of this length fits into one frame. */
static u32 mtu_of(const struct sscop_dev *d)
{
	return min(sscop_mtu_below(d) - SSCOP_SHORT_HEADER, SSCOP_PAYLOAD_MAX);
}

static int attach(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct sscop_dev *d = netdev_priv(dev);
	int err = register_netdevice(dev);

	if (err)
		return err;
	netif_carrier_off(dev);
	if (!d->lower) {
		sscop_socket_register(d);
		return 0;
	}
	err = netdev_upper_dev_link(d->lower, dev, extack);
	if (err)
		unregister_netdevice(dev);
	return err;
}

static int find_lower(struct sscop_dev *d, struct net *net, struct nlattr *link,
		      struct netlink_ext_ack *extack)
{
	struct net_device *lower;
	int err;

	if (!link) {
		NL_SET_ERR_MSG_MOD(extack,
				   "what is below is missing: link DEVICE, or port PORT for UDP");
		return -EINVAL;
	}
	lower = __dev_get_by_index(net, nla_get_u32(link));
	if (!lower) {
		NL_SET_ERR_MSG_MOD(extack, "the device below does not exist");
		return -ENODEV;
	}
	err = sscop_lower_check(lower, extack);
	if (err)
		return err;
	d->lower = lower;
	d->frames.dev = lower;
	return 0;
}

/* What is under a link under UDP */
static int find_udp(struct sscop_dev *d, struct net *net, struct nlattr *tb[],
		    struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct sscop_udp *u = &d->udp;
	int err;

	if (tb[IFLA_LINK] || !data[IFLA_SSCOP_PORT]) {
		NL_SET_ERR_MSG_MOD(extack, "a link under UDP has a port, and no device below");
		return -EINVAL;
	}
	u->net = net;
	u->port = nla_get_u16(data[IFLA_SSCOP_PORT]);
	err = read_address(data[IFLA_SSCOP_REMOTE], &u->remote, extack) ?:
	      read_address(data[IFLA_SSCOP_LOCAL], &u->local, extack) ?:
	      sscop_udp_check(u, extack);
	if (!err)
		sscop_udp_find_mtu(u);
	return err;
}

APOGEE_NEWLINK(newlink)
{
	struct sscop_dev *d = netdev_priv(dev);
	int err;

	err = is_of_udp(data) ? find_udp(d, link_net, tb, data, extack) :
				find_lower(d, link_net, tb[IFLA_LINK], extack);
	if (err)
		return err;
	if (!tb[IFLA_MTU])
		dev->mtu = mtu_of(d);
	read_settings(data, &d->settings);
	return sscop_settings_check(&d->settings, d, extack) ?: attach(dev, extack);
}

static void dellink(struct net_device *dev, struct list_head *head)
{
	struct sscop_dev *d = netdev_priv(dev);

	if (d->lower)
		netdev_upper_dev_unlink(d->lower, dev);
	unregister_netdevice_queue(dev, head);
}

static int changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	struct sscop_dev *d = netdev_priv(dev);
	struct sscop_settings settings = d->settings;

	if (is_of_udp(data)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "port, remote and local are given when the link is made");
		return -EOPNOTSUPP;
	}
	read_settings(data, &settings);
	return sscop_settings_change(d, &settings, extack);
}

/* --- shown ------------------------------------------------------------------------------- */

static size_t get_size(const struct net_device *dev)
{
	return 4 * nla_total_size(sizeof(u16)) +	/* SEGMENT, SEGMENT_NOW, PORT, LINK_ID */
	       8 * nla_total_size(sizeof(u32)) +	/* WINDOW to POLL_IDLE, BACKLOG, ... */
	       2 * nla_total_size(sizeof(u64)) +	/* UNASSURED, BOUNDED */
	       2 * nla_total_size(sizeof(u8)) +		/* USTAT, STATE */
	       nla_total_size(ETH_ALEN) +		/* PEER */
	       2 * nla_total_size(sizeof(struct in6_addr));	/* REMOTE, LOCAL */
}

static int put_rules(struct sk_buff *skb, const struct sscop_config *rules)
{
	if (nla_put_u32(skb, IFLA_SSCOP_WINDOW, rules->window) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_BYTES, rules->poll_bytes) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_SDS, rules->poll_sds) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_TIME, rules->poll_time) ||
	    nla_put_u32(skb, IFLA_SSCOP_POLL_IDLE, rules->poll_idle) ||
	    nla_put_u8(skb, IFLA_SSCOP_USTAT, rules->ustat) ||
	    nla_put_u16(skb, IFLA_SSCOP_LINK_ID, rules->link_id))
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

static int put_address(struct sk_buff *skb, int attribute, const union sscop_address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return nla_put_in_addr(skb, attribute, address->v4.sin_addr.s_addr);
	case AF_INET6:
		return nla_put_in6_addr(skb, attribute, &address->v6.sin6_addr);
	default:
		return 0;
	}
}

static int put_udp(struct sk_buff *skb, const struct sscop_udp *u)
{
	if (!u->port)
		return 0;
	return nla_put_u16(skb, IFLA_SSCOP_PORT, u->port) ?:
	       put_address(skb, IFLA_SSCOP_REMOTE, &u->remote) ?:
	       put_address(skb, IFLA_SSCOP_LOCAL, &u->local);
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
	    nla_put_u16(skb, IFLA_SSCOP_SEGMENT_NOW, sscop_segment_now(d)) ||
	    put_udp(skb, &d->udp))
		return -EMSGSIZE;
	return 0;
}

static struct net *get_link_net(const struct net_device *dev)
{
	const struct sscop_dev *d = netdev_priv(dev);

	return d->lower ? dev_net(d->lower) : d->udp.net;
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
