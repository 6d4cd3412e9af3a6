// SPDX-License-Identifier: GPL-2.0
/*
 * What a device shows of itself, its paths and its peers.
 */
#include "read.h"

void shake_path_read(struct shake_path *path, struct shake_path_stats *stats)
{
	struct shake_peer *peer = path->peer;

	spin_lock_bh(&peer->lock);
	*stats = (struct shake_path_stats){
		.peer = peer->id,
		.id = path->settings.id,
		.state = shake_path_shown(path),
		.settings = path->settings,
		.srtt = shake_path_srtt(&path->estimate),
		.min_rtt = shake_path_min_rtt(&path->estimate),
		.throughput = shake_path_rate(&path->estimate),
		.queue = shake_path_queue(&path->estimate, shake_now()),
		.sent = path->sent,
		.sent_bytes = path->sent_bytes,
		.received = path->received,
		.received_bytes = path->received_bytes,
		.lost = shake_path_lost(&path->estimate),
		.late = path->late,
		.died = path->died,
		.loss = (u64)path->estimate.loss.share * 1000000 / SHAKE_LOSS_ALL,
		.left = path->left,
		.mtu = path->plpmtu.most ? path->bound : 0,
	};
	if (!shake_is_leader(peer->d))
		stats->settings.remote = path->to;
	spin_unlock_bh(&peer->lock);
}

/* Calls @show for each path until it returns non-zero. Under RTNL or RCU. */
int shake_each_path(struct shake_dev *d,
		    int (*show)(const struct shake_path_stats *path, void *to), void *to)
{
	struct shake_path_stats *stats;
	struct shake_peer *peer;
	struct shake_path *path;
	unsigned long i;
	int err = 0;

	stats = kmalloc(sizeof(*stats), GFP_ATOMIC);
	if (!stats)
		return -ENOMEM;
	xa_for_each(&d->peers, i, peer)
		shake_for_each_path(peer, path) {
			shake_path_read(path, stats);
			err = show(stats, to);
			if (err)
				goto out;
		}
out:
	kfree(stats);
	return err;
}

void shake_peer_read(struct shake_peer *peer, struct shake_peer_shown *shown)
{
	shown->id = peer->id;
	shown->has_key = peer->keys.has_psk;
	shown->has_public = peer->keys.has_public;
	memcpy(shown->public, peer->keys.public, SHAKE_KEY);
	shown->prefix_count = peer->prefix_count;
	memcpy(shown->prefixes, peer->prefixes, sizeof(shown->prefixes));
}

/* Calls @show for each peer until it returns non-zero. Under RTNL. */
int shake_each_peer(struct shake_dev *d,
		    int (*show)(const struct shake_peer_shown *peer, void *to), void *to)
{
	struct shake_peer_shown shown;
	struct shake_peer *peer;
	unsigned long i;
	int err;

	xa_for_each(&d->peers, i, peer) {
		shake_peer_read(peer, &shown);
		err = show(&shown, to);
		if (err)
			return err;
	}
	return 0;
}

/* Add what a peer's flows counted. */
void shake_flow_counts_add(struct shake_flow_counts *to, struct shake_peer *peer)
{
	struct shake_flow_counts one;
	u32 i;

	shake_flows_read(&peer->flows, &one);
	for (i = 0; i < sizeof(one) / sizeof(u64); i++)
		((u64 *)to)[i] += ((u64 *)&one)[i];
}

/* What a device counted, of deleted peers as well. Under RTNL. */
void shake_read_counts(struct shake_dev *d, u64 counts[SHAKE_COUNTS],
		       struct shake_flow_counts *flows)
{
	struct shake_peer *peer;
	unsigned long i;
	u32 n;

	for (n = 0; n < SHAKE_COUNTS; n++)
		counts[n] = atomic64_read(&d->counts[n]);
	*flows = d->gone;
	xa_for_each(&d->peers, i, peer)
		shake_flow_counts_add(flows, peer);
}
