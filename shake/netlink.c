// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: links of type "shake" are made, changed and deleted, and their paths and peers.
 */
#include <linux/if_ether.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include <compat/newlink.h>

#include "device.h"
#include "ops.h"
#include "settings.h"
#include "show.h"
#include "text.h"

static const struct nla_policy path_policy[IFLA_SHAKE_PATH_MAX + 1] = {
	[IFLA_SHAKE_PATH_ID] = { .type = NLA_U8 },
	[IFLA_SHAKE_PATH_DELETE] = { .type = NLA_FLAG },
	[IFLA_SHAKE_PATH_DEV] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[IFLA_SHAKE_PATH_LOCAL] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SHAKE_PATH_REMOTE] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SHAKE_PATH_WEIGHT] = { .type = NLA_U32 },
	[IFLA_SHAKE_PATH_PEER ... IFLA_SHAKE_PATH_LEFT] = { .type = NLA_REJECT },
	[IFLA_SHAKE_PATH_MTU] = { .type = NLA_REJECT },
	[IFLA_SHAKE_PATH_BACKUP] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SHAKE_PATH_METERED] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SHAKE_PATH_RATE] = { .type = NLA_U32 },
	[IFLA_SHAKE_PATH_LOSS_LIMIT] = NLA_POLICY_MAX(NLA_U8, SHAKE_LOSS_LIMIT_MAX),
};

static const struct nla_policy peer_policy[IFLA_SHAKE_PEER_MAX + 1] = {
	[IFLA_SHAKE_PEER_ID] = { .type = NLA_U32 },
	[IFLA_SHAKE_PEER_DELETE] = { .type = NLA_FLAG },
	[IFLA_SHAKE_PEER_KEY] = NLA_POLICY_EXACT_LEN(SHAKE_KEY),
	[IFLA_SHAKE_PEER_ALLOW] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) + 1 },
	[IFLA_SHAKE_PEER_DENY] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) + 1 },
	[IFLA_SHAKE_PEER_HAS_KEY ... IFLA_SHAKE_PEER_PATHS] = { .type = NLA_REJECT },
	[IFLA_SHAKE_PEER_PUBLIC_KEY] = NLA_POLICY_EXACT_LEN(SHAKE_KEY),
};

static const struct nla_policy policy[IFLA_SHAKE_MAX + 1] = {
	[IFLA_SHAKE_ROLE] = NLA_POLICY_MAX(NLA_U8, SHAKE_AGENT),
	[IFLA_SHAKE_ID] = { .type = NLA_U32 },
	[IFLA_SHAKE_PORT] = { .type = NLA_U16 },
	[IFLA_SHAKE_LOCAL] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SHAKE_REMOTE] = { .type = NLA_BINARY, .len = sizeof(struct in6_addr) },
	[IFLA_SHAKE_SCHEDULER] = NLA_POLICY_MAX(NLA_U8, SHAKE_RAH),
	[IFLA_SHAKE_THETA] = { .type = NLA_U32 },
	[IFLA_SHAKE_ACK] = NLA_POLICY_MAX(NLA_U8, SHAKE_ACK_AUTO),
	[IFLA_SHAKE_THRESHOLD] = { .type = NLA_U32 },
	[IFLA_SHAKE_AUTH] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SHAKE_ENCRYPT] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SHAKE_INTERVAL] = { .type = NLA_U32 },
	[IFLA_SHAKE_RTT_WINDOW] = { .type = NLA_U32 },
	[IFLA_SHAKE_KEEPALIVE] = { .type = NLA_U32 },
	[IFLA_SHAKE_QUEUE] = { .type = NLA_U32 },
	[IFLA_SHAKE_REPAIR] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_SHAKE_PATH] = NLA_POLICY_NESTED(path_policy),
	[IFLA_SHAKE_PEER] = NLA_POLICY_NESTED(peer_policy),
	[IFLA_SHAKE_PATHS ... IFLA_SHAKE_PEER_COUNT] = { .type = NLA_REJECT },
	[IFLA_SHAKE_PRIVATE_KEY] = NLA_POLICY_EXACT_LEN(SHAKE_KEY),
	[IFLA_SHAKE_PUBLIC_KEY] = { .type = NLA_REJECT },
	[IFLA_SHAKE_DATAGRAMS] = NLA_POLICY_MAX(NLA_U8, SHAKE_DATAGRAMS_PIN),
	[IFLA_SHAKE_DUPLICATE] = { .type = NLA_U32 },
	[IFLA_SHAKE_DUPLICATE_DSCP] = { .type = NLA_U8 },
	[IFLA_SHAKE_HOLD_ACKS] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* --- attributes to settings ----------------------------------------------------------------- */

static void read_u32(const struct nlattr *attribute, u32 *value)
{
	if (attribute)
		*value = nla_get_u32(attribute);
}

/* An address replaces @addr if it is there; an empty one means any. */
static int read_address(const struct nlattr *attribute, union shake_addr *addr,
			struct netlink_ext_ack *extack)
{
	if (!attribute)
		return 0;
	memset(addr, 0, sizeof(*addr));
	switch (nla_len(attribute)) {
	case 0:
		return 0;
	case sizeof(struct in_addr):
		addr->v4.sin_family = AF_INET;
		addr->v4.sin_addr.s_addr = nla_get_in_addr(attribute);
		return 0;
	case sizeof(struct in6_addr):
		addr->v6.sin6_family = AF_INET6;
		addr->v6.sin6_addr = nla_get_in6_addr(attribute);
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(extack, attribute, "shake: an address has 4 or 16 octets");
	return -EINVAL;
}

static int read_addresses(struct nlattr *data[], struct shake_settings *settings,
			  struct netlink_ext_ack *extack)
{
	int err = read_address(data[IFLA_SHAKE_LOCAL], &settings->local, extack);

	return err ?: read_address(data[IFLA_SHAKE_REMOTE], &settings->remote, extack);
}

/* Let those attributes that are there replace settings. */
static int read_settings_attrs(struct nlattr *data[], struct shake_settings *settings,
			       struct netlink_ext_ack *extack)
{
	if (!data)
		return 0;
	if (data[IFLA_SHAKE_ROLE])
		settings->role = nla_get_u8(data[IFLA_SHAKE_ROLE]);
	read_u32(data[IFLA_SHAKE_ID], &settings->id);
	if (data[IFLA_SHAKE_PORT])
		settings->port = nla_get_u16(data[IFLA_SHAKE_PORT]);
	if (data[IFLA_SHAKE_SCHEDULER])
		settings->sched.scheduler = nla_get_u8(data[IFLA_SHAKE_SCHEDULER]);
	read_u32(data[IFLA_SHAKE_THETA], &settings->sched.theta);
	if (data[IFLA_SHAKE_ACK])
		settings->ack = nla_get_u8(data[IFLA_SHAKE_ACK]);
	read_u32(data[IFLA_SHAKE_THRESHOLD], &settings->threshold);
	if (data[IFLA_SHAKE_AUTH])
		settings->auth = nla_get_u8(data[IFLA_SHAKE_AUTH]);
	if (data[IFLA_SHAKE_ENCRYPT])
		settings->encrypt = nla_get_u8(data[IFLA_SHAKE_ENCRYPT]);
	else if (!settings->auth)
		settings->encrypt = false;	/* nobody asked for it */
	read_u32(data[IFLA_SHAKE_INTERVAL], &settings->estimate.interval);
	read_u32(data[IFLA_SHAKE_RTT_WINDOW], &settings->estimate.rtt_window);
	read_u32(data[IFLA_SHAKE_KEEPALIVE], &settings->keepalive);
	read_u32(data[IFLA_SHAKE_QUEUE], &settings->queue);
	if (data[IFLA_SHAKE_REPAIR])
		settings->repair = nla_get_u8(data[IFLA_SHAKE_REPAIR]);
	if (data[IFLA_SHAKE_DATAGRAMS])
		settings->datagrams = nla_get_u8(data[IFLA_SHAKE_DATAGRAMS]);
	read_u32(data[IFLA_SHAKE_DUPLICATE], &settings->duplicate);
	if (data[IFLA_SHAKE_DUPLICATE_DSCP])
		settings->duplicate_dscp = nla_get_u8(data[IFLA_SHAKE_DUPLICATE_DSCP]);
	if (data[IFLA_SHAKE_HOLD_ACKS])
		settings->hold_acks = nla_get_u8(data[IFLA_SHAKE_HOLD_ACKS]);
	return read_addresses(data, settings, extack);
}

/* --- paths ---------------------------------------------------------------------------------- */

static void read_policy_attrs(struct nlattr *tb[], struct shake_policy *policy)
{
	if (tb[IFLA_SHAKE_PATH_BACKUP])
		policy->backup = nla_get_u8(tb[IFLA_SHAKE_PATH_BACKUP]);
	if (tb[IFLA_SHAKE_PATH_METERED])
		policy->metered = nla_get_u8(tb[IFLA_SHAKE_PATH_METERED]);
	read_u32(tb[IFLA_SHAKE_PATH_RATE], &policy->rate);
	if (tb[IFLA_SHAKE_PATH_LOSS_LIMIT])
		policy->loss_limit = nla_get_u8(tb[IFLA_SHAKE_PATH_LOSS_LIMIT]);
}

static int read_path(struct shake_dev *d, struct nlattr *tb[], struct netlink_ext_ack *extack)
{
	struct shake_path_settings path;
	int err;

	shake_path_begin(d, nla_get_u8(tb[IFLA_SHAKE_PATH_ID]), &path);
	if (tb[IFLA_SHAKE_PATH_DEV])
		nla_strscpy(path.dev, tb[IFLA_SHAKE_PATH_DEV], sizeof(path.dev));
	err = read_address(tb[IFLA_SHAKE_PATH_LOCAL], &path.local, extack);
	if (!err)
		err = read_address(tb[IFLA_SHAKE_PATH_REMOTE], &path.remote, extack);
	read_u32(tb[IFLA_SHAKE_PATH_WEIGHT], &path.weight);
	read_policy_attrs(tb, &path.policy);
	return err ?: shake_path_set(d, &path, extack);
}

/* Add, change or delete the path of an IFLA_SHAKE_PATH. */
static int change_path(struct shake_dev *d, const struct nlattr *nest,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[IFLA_SHAKE_PATH_MAX + 1];
	int err;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, IFLA_SHAKE_PATH_MAX, nest, path_policy, extack);
	if (err)
		return err;
	if (!tb[IFLA_SHAKE_PATH_ID]) {
		NL_SET_ERR_MSG_MOD(extack, "the path's number is missing");
		return -EINVAL;
	}
	if (tb[IFLA_SHAKE_PATH_DELETE])
		return shake_path_delete(d, nla_get_u8(tb[IFLA_SHAKE_PATH_ID]), extack);
	return read_path(d, tb, extack);
}

/* --- peers ---------------------------------------------------------------------------------- */

static int read_prefix(const struct nlattr *attribute, struct shake_prefix *prefix,
		       struct netlink_ext_ack *extack)
{
	int length = nla_len(attribute) - 1;

	if (length != sizeof(struct in_addr) && length != sizeof(struct in6_addr)) {
		NL_SET_ERR_MSG_ATTR(extack, attribute,
				    "shake: a prefix has 4 or 16 octets and one of its length");
		return -EINVAL;
	}
	memset(prefix, 0, sizeof(*prefix));
	prefix->family = length == sizeof(struct in_addr) ? AF_INET : AF_INET6;
	memcpy(&prefix->address, nla_data(attribute), length);
	prefix->length = ((const u8 *)nla_data(attribute))[length];
	return 0;
}

/* The message's memory is freed as it is. */
static int set_peer_key(struct shake_dev *d, u32 id, const struct nlattr *key,
			struct netlink_ext_ack *extack)
{
	int err = shake_peer_key(d, id, nla_data(key), extack);

	memzero_explicit(nla_data(key), nla_len(key));
	return err;
}

/* Keys come last: setting them does not fail for what the others were. */
static int change_peer(struct shake_dev *d, u32 id, struct nlattr *tb[],
		       struct netlink_ext_ack *extack)
{
	struct nlattr *allow = tb[IFLA_SHAKE_PEER_ALLOW];
	struct nlattr *deny = tb[IFLA_SHAKE_PEER_DENY];
	struct shake_prefix prefix;
	int err = 0;

	if (allow || deny)
		err = read_prefix(allow ?: deny, &prefix, extack);
	if (!err && allow)
		err = shake_peer_allow(d, id, &prefix, extack);
	if (!err && deny)
		err = shake_peer_deny(d, id, &prefix, extack);
	if (!err && tb[IFLA_SHAKE_PEER_PUBLIC_KEY])
		err = shake_peer_public(d, id, nla_data(tb[IFLA_SHAKE_PEER_PUBLIC_KEY]), extack);
	if (!err && tb[IFLA_SHAKE_PEER_KEY])
		err = set_peer_key(d, id, tb[IFLA_SHAKE_PEER_KEY], extack);
	return err;
}

/* A peer that is new goes again if something is wrong with it. */
static int read_peer(struct shake_dev *d, u32 id, struct nlattr *tb[],
		     struct netlink_ext_ack *extack)
{
	bool known = shake_peer_find(d, id);
	int err = 0;

	if (tb[IFLA_SHAKE_PEER_ALLOW] && tb[IFLA_SHAKE_PEER_DENY]) {
		NL_SET_ERR_MSG_MOD(extack, "allow and deny: one at a time");
		return -EINVAL;
	}
	if (!known)
		err = shake_peer_add(d, id, extack);
	if (err)
		return err;
	err = change_peer(d, id, tb, extack);
	if (err && !known)
		shake_peer_delete(d, id, NULL);
	return err;
}

/* Add, change or delete the peer of an IFLA_SHAKE_PEER. */
static int set_peer(struct shake_dev *d, const struct nlattr *nest,
		    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[IFLA_SHAKE_PEER_MAX + 1];
	int err;
	u32 id;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, IFLA_SHAKE_PEER_MAX, nest, peer_policy, extack);
	if (err)
		return err;
	if (!tb[IFLA_SHAKE_PEER_ID]) {
		NL_SET_ERR_MSG_MOD(extack, "the peer's number is missing");
		return -EINVAL;
	}
	id = nla_get_u32(tb[IFLA_SHAKE_PEER_ID]);
	if (tb[IFLA_SHAKE_PEER_DELETE])
		return shake_peer_delete(d, id, extack);
	return read_peer(d, id, tb, extack);
}

/* --- made and changed ----------------------------------------------------------------------- */

/* It does not fail for what the others were. */
static int set_private_key(struct shake_dev *d, const struct nlattr *key,
			   struct netlink_ext_ack *extack)
{
	int err;

	if (!key)
		return 0;
	err = shake_private_key(d, nla_data(key), extack);
	memzero_explicit(nla_data(key), nla_len(key));
	return err;
}

static int validate(struct nlattr *tb[], struct nlattr *data[],
		    struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the device has no hardware address");
	return -EOPNOTSUPP;
}

APOGEE_NEWLINK(newlink)
{
	struct shake_dev *d = shake_dev(dev);
	int err;

	if (!data || !data[IFLA_SHAKE_ROLE]) {
		NL_SET_ERR_MSG_MOD(extack, "the role is missing: role leader or role agent");
		return -EINVAL;
	}
	err = read_settings_attrs(data, &d->settings, extack);
	if (!err)
		err = shake_settings_check(&d->settings, extack);
	if (err)
		return err;
	d->net = link_net;
	if (tb[IFLA_MTU])
		d->mtu = 0;
	err = register_netdevice(dev);
	if (err)
		return err;
	err = set_private_key(d, data[IFLA_SHAKE_PRIVATE_KEY], extack);
	if (!err)
		err = set_peer(d, data[IFLA_SHAKE_PEER], extack);
	if (!err)
		err = change_path(d, data[IFLA_SHAKE_PATH], extack);
	if (err)
		unregister_netdevice(dev);
	return err;
}

/* All or nothing: settings go back if the path or the peer is refused. */
static int changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	struct shake_dev *d = shake_dev(dev);
	struct shake_settings before = d->settings;
	struct shake_settings settings = before;
	int err;

	if (!shake_may_change(d)) {
		NL_SET_ERR_MSG_MOD(extack, "the tunnel's sockets are in another's namespace");
		return -EPERM;
	}
	if (data && data[IFLA_SHAKE_PATH] && data[IFLA_SHAKE_PEER]) {
		NL_SET_ERR_MSG_MOD(extack, "path and peer: one at a time");
		return -EINVAL;
	}
	err = read_settings_attrs(data, &settings, extack);
	if (!err)
		err = shake_settings_change(d, &settings, extack);
	if (err || !data)
		return err;
	err = change_path(d, data[IFLA_SHAKE_PATH], extack);
	if (!err)
		err = set_peer(d, data[IFLA_SHAKE_PEER], extack);
	if (!err)
		err = set_private_key(d, data[IFLA_SHAKE_PRIVATE_KEY], extack);
	if (err)
		shake_settings_change(d, &before, NULL);
	return err;
}

static struct net *get_link_net(const struct net_device *dev)
{
	const struct shake_dev *d = netdev_priv(dev);

	return READ_ONCE(d->net) ?: dev_net(dev);
}

struct rtnl_link_ops shake_link_ops __read_mostly = {
	.kind = "shake",
	.maxtype = IFLA_SHAKE_MAX,
	.policy = policy,
	.priv_size = sizeof(struct shake_dev),
	.setup = shake_setup,
	.validate = validate,
	.newlink = newlink,
	.changelink = changelink,
	.dellink = unregister_netdevice_queue,
	.get_size = shake_show_size,
	.fill_info = shake_show,
	.get_xstats_size = shake_show_stats_size,
	.fill_xstats = shake_show_stats,
	.get_linkxstats_size = shake_show_peers_size,
	.fill_linkxstats = shake_show_peers,
	.get_link_net = get_link_net,
};
