// SPDX-License-Identifier: GPL-2.0
/*
 * Inner prefixes: each belongs to one peer, which may send from it and is sent what goes
 * to it. A hash per length; the longest length that has the address wins.
 */
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "prefix.h"

static u32 bits_of(u8 family)
{
	return family == AF_INET ? 32 : 128;
}

static u32 *lengths_of(struct shake_dev *d, u8 family)
{
	return d->lengths[family == AF_INET6];
}

static unsigned long *used_of(struct shake_dev *d, u8 family)
{
	return d->used[family == AF_INET6];
}

/* The first @length bits of an address. */
static void prefix_of(struct shake_prefix *prefix, u8 family, const void *address, u8 length)
{
	memset(prefix, 0, sizeof(*prefix));
	prefix->family = family;
	prefix->length = length;
	if (family == AF_INET)
		prefix->address.s6_addr32[0] = *(const __be32 *)address & inet_make_mask(length);
	else
		ipv6_addr_prefix(&prefix->address, address, length);
}

static bool prefix_equal(const struct shake_prefix *a, const struct shake_prefix *b)
{
	return a->family == b->family && a->length == b->length &&
	       ipv6_addr_equal(&a->address, &b->address);
}

static u32 prefix_hash(const struct shake_prefix *prefix)
{
	return jhash2((const u32 *)&prefix->address, 4, prefix->length << 8 | prefix->family);
}

/* Whether the family is known, and all bits behind the length are 0. */
bool shake_prefix_valid(const struct shake_prefix *prefix)
{
	struct shake_prefix cut;

	if ((prefix->family != AF_INET && prefix->family != AF_INET6) ||
	    prefix->length > bits_of(prefix->family))
		return false;
	prefix_of(&cut, prefix->family, &prefix->address, prefix->length);
	return prefix_equal(&cut, prefix);
}

static struct shake_owned *find_owned(struct shake_dev *d, const struct shake_prefix *prefix)
{
	struct shake_owned *owned;

	hash_for_each_possible_rcu(d->prefixes, owned, node, prefix_hash(prefix),
				   lockdep_rtnl_is_held())
		if (prefix_equal(&owned->prefix, prefix))
			return owned;
	return NULL;
}

/* Give a prefix to a peer. */
int shake_prefix_own(struct shake_peer *peer, const struct shake_prefix *prefix,
		     struct netlink_ext_ack *extack)
{
	struct shake_dev *d = peer->d;
	struct shake_owned *owned = find_owned(d, prefix);

	if (owned && owned->peer == peer)
		return 0;
	if (owned) {
		NL_SET_ERR_MSG_MOD(extack, "another peer has that prefix");
		return -EEXIST;
	}
	if (peer->prefix_count == SHAKE_PREFIXES_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "a peer may have 16 prefixes");
		return -ENOSPC;
	}
	owned = kzalloc(sizeof(*owned), GFP_KERNEL_ACCOUNT);
	if (!owned)
		return -ENOMEM;
	owned->prefix = *prefix;
	owned->peer = peer;
	hash_add_rcu(d->prefixes, &owned->node, prefix_hash(prefix));
	lengths_of(d, prefix->family)[prefix->length]++;
	set_bit(prefix->length, used_of(d, prefix->family));
	peer->prefixes[peer->prefix_count++] = *prefix;
	return 0;
}

/* Take a prefix from a peer. Returns whether it had it. */
bool shake_prefix_disown(struct shake_peer *peer, const struct shake_prefix *prefix)
{
	struct shake_dev *d = peer->d;
	struct shake_owned *owned = find_owned(d, prefix);
	u32 i;

	if (!owned || owned->peer != peer)
		return false;
	for (i = 0; i < peer->prefix_count; i++)
		if (prefix_equal(&peer->prefixes[i], prefix))
			break;
	/* @prefix may be that place */
	peer->prefixes[i] = peer->prefixes[--peer->prefix_count];
	if (!--lengths_of(d, owned->prefix.family)[owned->prefix.length])
		clear_bit(owned->prefix.length, used_of(d, owned->prefix.family));
	hash_del_rcu(&owned->node);
	kfree_rcu(owned, rcu);
	return true;
}

/* The peer that an inner address belongs to, or NULL. Under RCU. */
struct shake_peer *shake_prefix_owner(struct shake_dev *d, u8 family, const void *address)
{
	const unsigned long *used = used_of(d, family);
	u32 length, limit = bits_of(family) + 1;
	struct shake_prefix prefix;
	struct shake_owned *owned;

	for (;; limit = length) {
		length = find_last_bit(used, limit);
		if (length == limit)
			return NULL;
		prefix_of(&prefix, family, address, length);
		owned = find_owned(d, &prefix);
		if (owned)
			return owned->peer;
	}
}
