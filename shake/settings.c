// SPDX-License-Identifier: GPL-2.0
/*
 * What a user sets, by netlink or sysfs. All under RTNL.
 */
#include <linux/capability.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "overhead.h"
#include "path.h"
#include "peer.h"
#include "prefix.h"
#include "settings.h"
#include "sockets.h"

#define THETA_MAX 400
#define THRESHOLD_MAX 100
#define WEIGHT_MAX 1000
#define WINDOW_MIN (10 * USEC_PER_MSEC)
#define WINDOW_MAX (100 * USEC_PER_SEC)
#define QUEUE_MIN (10 * USEC_PER_MSEC)
#define QUEUE_MAX (100 * USEC_PER_SEC)
#define DUPLICATE_MAX 65535
#define DSCP_MAX 63
#define KEEPALIVE_MIN (100 * USEC_PER_MSEC)
#define KEEPALIVE_MAX (3600U * USEC_PER_SEC)

void shake_settings_init(struct shake_settings *settings)
{
	*settings = (struct shake_settings){
		.id = 1,
		.port = SHAKE_PORT_DEFAULT,
		.sched = { .scheduler = SHAKE_RAH, .theta = 100 },
		.ack = SHAKE_ACK_AUTO,
		.threshold = 5,
		.auth = true,
		.encrypt = true,
		.estimate = {
			.interval = SHAKE_INTERVAL_DEFAULT,
			.rtt_window = SHAKE_RTT_WINDOW_DEFAULT,
		},
		.keepalive = 10 * USEC_PER_SEC,
		.queue = 80 * USEC_PER_MSEC,
		.repair = true,
		.datagrams = SHAKE_DATAGRAMS_ORDER,
	};
}

/* --- the device ---------------------------------------------------------------------------- */

/*
 * Whether the caller may change the device: it has to rule the device's namespace and that
 * of the sockets, from which packets leave.
 */
bool shake_may_change(const struct shake_dev *d)
{
	ASSERT_RTNL();
	return ns_capable(dev_net(d->dev)->user_ns, CAP_NET_ADMIN) &&
	       (!d->net || ns_capable(d->net->user_ns, CAP_NET_ADMIN));
}

static int check_ends(const struct shake_settings *settings, struct netlink_ext_ack *extack)
{
	if (settings->role != SHAKE_LEADER && settings->role != SHAKE_AGENT) {
		NL_SET_ERR_MSG_MOD(extack, "role must be leader or agent");
		return -EINVAL;
	}
	if (!settings->port) {
		NL_SET_ERR_MSG_MOD(extack, "port must be 1 to 65535");
		return -ERANGE;
	}
	if (settings->role == SHAKE_LEADER && settings->local.any.sa_family != AF_UNSPEC) {
		NL_SET_ERR_MSG_MOD(extack, "local is an agent's: a leader's paths have their own");
		return -EINVAL;
	}
	if (settings->role == SHAKE_AGENT && settings->remote.any.sa_family != AF_UNSPEC) {
		NL_SET_ERR_MSG_MOD(extack, "remote is a leader's: an agent learns addresses");
		return -EINVAL;
	}
	return 0;
}

static int check_window(u32 us, const char *message, struct netlink_ext_ack *extack)
{
	if (us >= WINDOW_MIN && us <= WINDOW_MAX)
		return 0;
	if (extack)
		extack->_msg = message;
	return -ERANGE;
}

static int check_numbers(const struct shake_settings *settings, struct netlink_ext_ack *extack)
{
	int err;

	if (settings->sched.scheduler > SHAKE_RAH || settings->sched.theta > THETA_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "scheduler must be rr, ratio or rah, theta 0 to 400");
		return -ERANGE;
	}
	if (settings->ack > SHAKE_ACK_AUTO || !settings->threshold ||
	    settings->threshold > THRESHOLD_MAX) {
		NL_SET_ERR_MSG_MOD(extack,
				   "ack must be pass, drop, tdar or auto, threshold 1 to 100");
		return -ERANGE;
	}
	err = check_window(settings->estimate.interval,
			   KBUILD_MODNAME ": interval must be 10ms to 100s", extack);
	if (!err)
		err = check_window(settings->estimate.rtt_window,
				   KBUILD_MODNAME ": rtt-window must be 10ms to 100s", extack);
	if (err)
		return err;
	if (settings->keepalive && (settings->keepalive < KEEPALIVE_MIN ||
				    settings->keepalive > KEEPALIVE_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "keepalive must be 0 or 100ms to 3600s");
		return -ERANGE;
	}
	if (settings->queue && (settings->queue < QUEUE_MIN || settings->queue > QUEUE_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "queue must be 0 or 10ms to 100s");
		return -ERANGE;
	}
	if (settings->datagrams > SHAKE_DATAGRAMS_PIN) {
		NL_SET_ERR_MSG_MOD(extack, "datagrams must be spread, order or pin");
		return -ERANGE;
	}
	if (settings->duplicate > DUPLICATE_MAX || settings->duplicate_dscp > DSCP_MAX) {
		NL_SET_ERR_MSG_MOD(extack,
				   "duplicate must be 0 to 65535, duplicate-dscp 0 to 63");
		return -ERANGE;
	}
	if (settings->encrypt && !settings->auth) {
		NL_SET_ERR_MSG_MOD(extack, "encrypt needs auth on");
		return -EINVAL;
	}
	return 0;
}

/* Whether the values are in their ranges. */
int shake_settings_check(const struct shake_settings *settings, struct netlink_ext_ack *extack)
{
	int err = check_ends(settings, extack);

	return err ? err : check_numbers(settings, extack);
}

static bool is_fixed_changed(const struct shake_settings *a, const struct shake_settings *b)
{
	return a->role != b->role || a->id != b->id || a->port != b->port ||
	       a->auth != b->auth || memcmp(&a->local, &b->local, sizeof(a->local));
}

/* End what was with the former settings. */
static void end_former(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;

	shake_path_close(path);
	path->ifindex = 0;	/* of the device that it left by before */
	spin_lock_bh(&peer->lock);
	shake_link_use(path, NULL, shake_now());
	shake_path_set_state(path, SHAKE_PATH_ABSENT);
	spin_unlock_bh(&peer->lock);
}

/* Begin anew with what is set. */
static int reopen_path(struct shake_path *path)
{
	end_former(path);
	return netif_running(path->peer->d->dev) ? shake_path_open(path) : 0;
}

/* Paths that have the device's remote address go to the new one. */
static void reopen_paths(struct shake_dev *d)
{
	struct shake_peer *peer = shake_only_peer(d);
	struct shake_path *path;

	shake_for_each_path(peer, path)
		if (path->settings.remote.any.sa_family == AF_UNSPEC) {
			end_former(path);
			if (netif_running(d->dev))
				shake_path_try(path);
		}
}

/* A session is encrypted or not: this path may need another one. Under the peer's lock. */
static void renew_session(struct shake_path *path)
{
	struct shake_dev *d = path->peer->d;
	struct shake_link *link = shake_link(path);

	/* an agent that doesn't insist leaves it to the leader */
	if (!link || link->s.encrypt == d->settings.encrypt ||
	    (!shake_is_leader(d) && !d->settings.encrypt))
		return;
	path->hello_at = 0;
	path->renew = true;
}

static void renew_sessions(struct shake_dev *d)
{
	struct shake_peer *peer;
	struct shake_path *path;
	unsigned long i;

	xa_for_each(&d->peers, i, peer) {
		spin_lock_bh(&peer->lock);
		shake_for_each_path(peer, path)
			renew_session(path);
		spin_unlock_bh(&peer->lock);
	}
}

/* Apply new settings, if they are good. */
int shake_settings_change(struct shake_dev *d, const struct shake_settings *settings,
			  struct netlink_ext_ack *extack)
{
	bool moved = memcmp(&d->settings.remote, &settings->remote, sizeof(settings->remote));
	bool renew = d->settings.encrypt != settings->encrypt;
	int err;

	ASSERT_RTNL();
	err = shake_settings_check(settings, extack);
	if (err)
		return err;
	if (is_fixed_changed(&d->settings, settings)) {
		NL_SET_ERR_MSG_MOD(extack, "role, id, port, local and auth cannot be changed");
		return -EBUSY;
	}
	d->settings = *settings;
	if (moved && shake_is_leader(d)) {
		reopen_paths(d);
		shake_update_mtu(d);
	}
	if (renew)
		renew_sessions(d);
	if (netif_running(d->dev))
		shake_peers_start(d);	/* the keepalive may be shorter */
	return 0;
}

/* --- paths --------------------------------------------------------------------------------- */

static int check_path(const struct shake_dev *d, const struct shake_path_settings *path,
		      struct netlink_ext_ack *extack)
{
	u16 local = path->local.any.sa_family, remote = path->remote.any.sa_family;

	if (!shake_is_leader(d)) {
		NL_SET_ERR_MSG_MOD(extack, "an agent's paths are those that leaders register");
		return -EOPNOTSUPP;
	}
	if (!path->id || path->id > SHAKE_PATHS_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "path must be 1 to 8");
		return -ERANGE;
	}
	if (!path->weight || path->weight > WEIGHT_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "weight must be 1 to 1000");
		return -ERANGE;
	}
	if (path->policy.loss_limit > SHAKE_LOSS_LIMIT_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "loss-limit must be 0 to 100");
		return -ERANGE;
	}
	if (remote == AF_UNSPEC)
		remote = d->settings.remote.any.sa_family;
	if (remote == AF_UNSPEC) {
		NL_SET_ERR_MSG_MOD(extack, "the agent's address is missing: remote ADDRESS");
		return -EDESTADDRREQ;
	}
	if (local != AF_UNSPEC && local != remote) {
		NL_SET_ERR_MSG_MOD(extack, "local and remote must be of one family");
		return -EAFNOSUPPORT;
	}
	return 0;
}

static bool is_elsewhere(const struct shake_path_settings *a,
			 const struct shake_path_settings *b)
{
	return strcmp(a->dev, b->dev) || memcmp(&a->local, &b->local, sizeof(a->local)) ||
	       memcmp(&a->remote, &b->remote, sizeof(a->remote));
}

static void apply_path(struct shake_path *path, const struct shake_path_settings *settings)
{
	struct shake_policy policy = path->settings.policy;

	spin_lock_bh(&path->peer->lock);
	path->settings = *settings;
	path->settings.policy = policy;
	shake_path_set_policy(path, &settings->policy);
	spin_unlock_bh(&path->peer->lock);
}

/* Add a path, or change one. */
int shake_path_set(struct shake_dev *d, const struct shake_path_settings *settings,
		   struct netlink_ext_ack *extack)
{
	struct shake_path_settings before;
	struct shake_peer *peer;
	struct shake_path *path;
	bool is_new, elsewhere;
	int err;

	err = check_path(d, settings, extack);
	if (err)
		return err;
	peer = shake_only_peer(d);
	path = shake_path(peer, settings->id);
	is_new = !path;
	if (is_new)
		path = shake_path_make(peer, settings->id, GFP_KERNEL_ACCOUNT);
	if (!path)
		return -ENOMEM;
	before = path->settings;
	elsewhere = is_new || is_elsewhere(&before, settings);
	apply_path(path, settings);
	err = elsewhere ? reopen_path(path) : 0;
	if (err)
		NL_SET_ERR_MSG_MOD(extack, "no socket for the path");
	if (err && is_new) {
		shake_path_remove(path);
	} else if (err) {
		apply_path(path, &before);
		reopen_path(path);
	}
	shake_update_mtu(d);
	return err;
}

int shake_path_delete(struct shake_dev *d, u8 id, struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	struct shake_path *path = peer ? shake_path(peer, id) : NULL;

	if (!path) {
		NL_SET_ERR_MSG_MOD(extack, "no such path");
		return -ENOENT;
	}
	shake_path_remove(path);
	shake_update_mtu(d);
	return 0;
}

/* Whether a leader has that path; writes what is set. */
bool shake_path_lookup(struct shake_dev *d, u8 id, struct shake_path_settings *settings)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	struct shake_path *path = peer ? shake_path(peer, id) : NULL;

	if (path)
		*settings = path->settings;
	return path;
}

/* --- peers --------------------------------------------------------------------------------- */

static struct shake_peer *find_peer(struct shake_dev *d, u32 id,
				    struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = shake_peer_find(d, id);

	if (!peer)
		NL_SET_ERR_MSG_MOD(extack, "no such peer");
	return peer;
}

int shake_peer_add(struct shake_dev *d, u32 id, struct netlink_ext_ack *extack)
{
	if (shake_peer_find(d, id))
		return 0;
	if (shake_is_leader(d)) {
		NL_SET_ERR_MSG_MOD(extack, "a leader has one peer: its own id");
		return -EINVAL;
	}
	if (d->peer_count == SHAKE_PEERS_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "an agent may have 1024 peers");
		return -ENOSPC;
	}
	return PTR_ERR_OR_ZERO(shake_peer_make(d, id));
}

int shake_peer_delete(struct shake_dev *d, u32 id, struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = find_peer(d, id, extack);

	if (!peer)
		return -ENOENT;
	if (shake_is_leader(d)) {
		NL_SET_ERR_MSG_MOD(extack, "a leader's peer goes with the device");
		return -EINVAL;
	}
	shake_peer_free(peer);
	return 0;
}

static int check_key(const struct shake_dev *d, struct netlink_ext_ack *extack)
{
	if (d->settings.auth)
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "auth is off: there is no key");
	return -EINVAL;
}

/* A new shared key; zero, which anybody knows: none. Sessions of the old one end. */
int shake_peer_key(struct shake_dev *d, u32 id, const u8 key[SHAKE_KEY],
		   struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = find_peer(d, id, extack);
	int err = peer ? check_key(d, extack) : -ENOENT;

	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	memcpy(peer->keys.psk, key, SHAKE_KEY);
	peer->keys.has_psk = memchr_inv(key, 0, SHAKE_KEY);
	spin_unlock_bh(&peer->lock);
	shake_keys_changed(peer);
	return 0;
}

static bool has_public(struct shake_dev *d, const struct shake_peer *but, const u8 *key)
{
	struct shake_peer *peer;
	unsigned long i;

	xa_for_each(&d->peers, i, peer)
		if (peer != but && peer->keys.has_public &&
		    !memcmp(peer->keys.public, key, SHAKE_KEY))
			return true;
	return false;
}

/* The other end's public key; zero: none. Sessions of the old one end. */
int shake_peer_public(struct shake_dev *d, u32 id, const u8 key[SHAKE_KEY],
		      struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = find_peer(d, id, extack);
	int err = peer ? check_key(d, extack) : -ENOENT;
	bool there = memchr_inv(key, 0, SHAKE_KEY);

	if (err)
		return err;
	if (there && has_public(d, peer, key)) {
		NL_SET_ERR_MSG_MOD(extack, "another peer has this public key");
		return -EADDRINUSE;
	}
	spin_lock_bh(&peer->lock);
	memcpy(peer->keys.public, key, SHAKE_KEY);
	peer->keys.has_public = there;
	spin_unlock_bh(&peer->lock);
	shake_keys_changed(peer);
	return 0;
}

/* The device's own key pair; zero: none. Sessions of the old one end. */
int shake_private_key(struct shake_dev *d, const u8 key[SHAKE_KEY],
		      struct netlink_ext_ack *extack)
{
	struct shake_identity own;
	struct shake_peer *peer;
	unsigned long i;
	int err;

	err = check_key(d, extack);
	if (!err && !shake_identity_set(&own, key)) {
		NL_SET_ERR_MSG_MOD(extack, "this is no private key");
		err = -EINVAL;
	}
	if (err)
		return err;
	spin_lock_bh(&d->guard_lock);
	d->identity = own;
	spin_unlock_bh(&d->guard_lock);
	memzero_explicit(&own, sizeof(own));
	xa_for_each(&d->peers, i, peer)
		if (peer->keys.has_public)
			shake_keys_changed(peer);
	return 0;
}

static int check_prefix(const struct shake_prefix *prefix, struct netlink_ext_ack *extack)
{
	if (shake_prefix_valid(prefix))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "a prefix must have no bits behind its length");
	return -EINVAL;
}

int shake_peer_allow(struct shake_dev *d, u32 id, const struct shake_prefix *prefix,
		     struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = find_peer(d, id, extack);
	int err;

	if (!peer)
		return -ENOENT;
	if (shake_is_leader(d)) {
		NL_SET_ERR_MSG_MOD(extack, "prefixes are an agent's");
		return -EOPNOTSUPP;
	}
	err = check_prefix(prefix, extack);
	return err ? err : shake_prefix_own(peer, prefix, extack);
}

int shake_peer_deny(struct shake_dev *d, u32 id, const struct shake_prefix *prefix,
		    struct netlink_ext_ack *extack)
{
	struct shake_peer *peer = find_peer(d, id, extack);
	int err;

	if (!peer)
		return -ENOENT;
	err = check_prefix(prefix, extack);
	if (err)
		return err;
	if (shake_prefix_disown(peer, prefix))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the peer has no such prefix");
	return -ENOENT;
}
