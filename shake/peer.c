// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: made and deleted under RTNL, found under RCU.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <compat/timer.h>
#include <compat/unaligned.h>

#include "held.h"
#include "order.h"
#include "path.h"
#include "peer.h"
#include "prefix.h"
#include "read.h"
#include "soon.h"
#include "timer.h"
#include "wake.h"

/* Returns the new peer, or an error. */
struct shake_peer *shake_peer_make(struct shake_dev *d, u32 id)
{
	struct shake_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);
	int err;

	if (!peer)
		return ERR_PTR(-ENOMEM);
	peer->d = d;
	peer->id = id;
	shake_keys_settle(&peer->keys, &d->identity, d->settings.auth, shake_is_leader(d));
	spin_lock_init(&peer->lock);
	shake_soon_init(peer);
	timer_setup(&peer->timer, shake_peer_timer, 0);
	shake_sched_init(&peer->sched);
	shake_streams_init(peer);
	err = shake_flows_init(&peer->flows, &d->early);
	if (err)
		goto free;
	if (!shake_is_leader(d))
		peer->held = shake_held_make(d);
	err = xa_err(xa_store_bh(&d->peers, id, peer, GFP_KERNEL_ACCOUNT));
	if (err)
		goto free_flows;
	d->peer_count++;
	return peer;

free_flows:
	shake_held_free(peer->held);
	shake_flows_free(&peer->flows);
free:
	kfree(peer);
	return ERR_PTR(err);
}

/* Nobody finds it any more, and it does nothing. */
static void unlink_peer(struct shake_peer *peer)
{
	struct shake_path *path;

	while (peer->prefix_count)
		shake_prefix_disown(peer, &peer->prefixes[0]);
	timer_shutdown_sync(&peer->timer);
	shake_orders_shutdown(peer);
	shake_for_each_path(peer, path)
		shake_path_remove(path);
}

static void release_peer(struct shake_peer *peer)
{
	shake_orders_free(peer);
	shake_soon_purge(peer);
	shake_held_free(peer->held);
	shake_flows_free(&peer->flows);
	kfree_sensitive(peer);
}

/* Remove a peer with all that it has. */
void shake_peer_free(struct shake_peer *peer)
{
	struct shake_dev *d = peer->d;

	xa_erase_bh(&d->peers, peer->id);
	d->peer_count--;
	synchronize_net();	/* no registration makes a path any more */
	unlink_peer(peer);
	synchronize_net();
	shake_flow_counts_add(&d->gone, peer);
	release_peer(peer);
}

/* --- all of them --------------------------------------------------------------------------- */

/* The device goes up: a leader registers. */
void shake_peers_start(struct shake_dev *d)
{
	struct shake_peer *peer;
	unsigned long i;

	xa_for_each(&d->peers, i, peer)
		mod_timer(&peer->timer, jiffies);
}

/* The device goes down: sessions end. */
void shake_peers_stop(struct shake_dev *d)
{
	struct shake_peer *peer;
	struct shake_path *path;
	unsigned long i;

	xa_for_each(&d->peers, i, peer) {
		spin_lock_bh(&peer->lock);
		shake_for_each_path(peer, path) {
			shake_link_use(path, NULL, shake_now());
			shake_path_set_state(path, SHAKE_PATH_ABSENT);
			path->watched = false;	/* the timer ends: who sends next starts it */
		}
		spin_unlock_bh(&peer->lock);
		timer_delete_sync(&peer->timer);
		shake_orders_stop(peer);
		shake_soon_purge(peer);
		shake_held_purge(peer->held);
		shake_flows_purge(&peer->flows);
	}
}

/* Remove all peers of a device that is down. */
void shake_peers_free(struct shake_dev *d)
{
	struct shake_peer *peer;
	unsigned long i;

	xa_for_each(&d->peers, i, peer)
		unlink_peer(peer);
	synchronize_net();
	xa_for_each(&d->peers, i, peer)
		release_peer(peer);
	xa_destroy(&d->peers);
}

/* --- keys ---------------------------------------------------------------------------------- */

/* A peer's sessions end; a leader's are made anew at once, if they can be. Under its lock. */
static void end_sessions(struct shake_peer *peer)
{
	struct shake_path *path;

	shake_for_each_path(peer, path) {
		shake_link_end(path, shake_now());
		path->hello_at = 0;
		path->tries = 0;
	}
}

static void wake_peer(struct shake_peer *peer)
{
	if (netif_running(peer->d->dev))
		mod_timer(&peer->timer, jiffies);
}

/* A peer's keys, or the device's, are other ones. Under RTNL. */
void shake_keys_changed(struct shake_peer *peer)
{
	struct shake_dev *d = peer->d;

	spin_lock_bh(&peer->lock);
	shake_keys_settle(&peer->keys, &d->identity, d->settings.auth, shake_is_leader(d));
	WRITE_ONCE(peer->mark, get_unaligned_le64(peer->keys.public));
	end_sessions(peer);
	spin_unlock_bh(&peer->lock);
	wake_peer(peer);
}

/* All sessions end; @sleep: and no other begins. Under RTNL. */
void shake_forget_all(bool sleep)
{
	struct shake_peer *peer;
	struct shake_dev *d;
	unsigned long i;

	WRITE_ONCE(shake_asleep, sleep);
	list_for_each_entry(d, &shake_devices, list)
		xa_for_each(&d->peers, i, peer) {
			spin_lock_bh(&peer->lock);
			end_sessions(peer);
			spin_unlock_bh(&peer->lock);
			wake_peer(peer);
		}
}
