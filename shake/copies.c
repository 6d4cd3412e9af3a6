// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of what was sent, to be sent again if its path lost it (core/shake_repair.h). All under
 * the peer's lock but where it says so.
 */
#include <linux/slab.h>

#include "copies.h"
#include "wake.h"

#define MOST_OF_ALL 16384	/* copies of all leaders of a device, ... */
#define FEW 16			/* ... of which each may have so many in any case */

/* --- their table --------------------------------------------------------------------------- */

/* Its pages need not be neighbours: memory may be in pieces. */
static struct shake_copies *make_table(gfp_t gfp)
{
	return kvzalloc(sizeof(struct shake_copies), gfp | __GFP_NOWARN);
}

static void make_table_later(struct work_struct *work)
{
	struct shake_path *path = container_of(work, struct shake_path, table);
	struct shake_copies *copies = make_table(GFP_KERNEL);

	spin_lock_bh(&path->peer->lock);
	if (!path->copies)
		swap(path->copies, copies);
	spin_unlock_bh(&path->peer->lock);
	kvfree(copies);
}

/* A path begins, which nobody knows yet. An agent's is made in softirq, its table soon after. */
void shake_copies_begin(struct shake_path *path, gfp_t gfp)
{
	INIT_WORK(&path->table, make_table_later);
	if (gfpflags_allow_blocking(gfp))
		path->copies = make_table(gfp);
	else
		schedule_work(&path->table);
}

/* A path ends: it has no session, and gets none. Without locks. */
void shake_copies_end(struct shake_path *path)
{
	cancel_work_sync(&path->table);
}

/* Nobody uses the path any more. */
void shake_copies_free(struct shake_path *path)
{
	kvfree(path->copies);
}

/* Whether a path has a table. If not, there was no memory for it: that is told, and tried again. */
bool shake_copies_ready(struct shake_path *path)
{
	if (path->copies)
		return true;
	shake_count(path->peer->d, SHAKE_REPAIR_REFUSED);
	schedule_work(&path->table);
	return false;
}

/* --- copies -------------------------------------------------------------------------------- */

static void drop_copy(struct shake_path *path, u32 place)
{
	struct shake_copies *copies = path->copies;

	consume_skb(copies->skb[place]);	/* no packet is dropped */
	copies->skb[place] = NULL;
	shake_repair_close(&copies->repair, place);
	path->peer->copies--;
	atomic_dec(&path->peer->d->copies);
}

/* Find a place for a copy of a packet. Returns false if it is to have none. */
bool shake_copies_keep(struct shake_path *path, u32 counter, u64 now, u32 *place)
{
	struct shake_repair *repair = &path->copies->repair;
	struct shake_peer *peer = path->peer;
	struct shake_dev *d = peer->d;
	int left = MOST_OF_ALL - atomic_read(&d->copies);
	u32 most = shake_has_share(peer->copies, FEW, left) ? SHAKE_REPAIR_KEPT : 0;
	u64 rate = shake_path_rate(&path->estimate);

	if (shake_repair_keep(repair, counter, rate, most, now, place)) {
		peer->copies++;
		atomic_inc(&d->copies);
		return true;
	}
	if (repair->full)
		shake_count(d, SHAKE_REPAIR_REFUSED);
	return false;
}

/*
 * A probe follows what has a copy, and leaves now. Nothing is armed if the last had arrived when
 * its time came.
 */
void shake_copies_tail(struct shake_path *path, u64 now)
{
	if (!path->tail_at || now - path->tail_at >= SHAKE_TAIL_US)
		shake_peer_wake(path->peer, now + SHAKE_TAIL_US, now);
	path->tail_at = now;
}

/* Forget all copies. */
void shake_copies_purge(struct shake_path *path)
{
	struct shake_copies *copies = path->copies;
	u32 number;

	if (!copies)
		return;
	for (number = copies->repair.tail; shake_repair_next(&copies->repair, &number);)
		drop_copy(path, shake_repair_place(number));
}

/* A path is dead: forget what TCP has sent again by now. */
void shake_copies_expire(struct shake_path *path, u64 now)
{
	u32 srtt = shake_path_srtt(&path->estimate), number, place;
	struct shake_copies *copies = path->copies;

	if (!copies)
		return;
	for (number = copies->repair.tail; shake_repair_next(&copies->repair, &number); number++) {
		place = shake_repair_place(number);
		if (shake_repair_is_old(&copies->repair.kept[place], srtt, now))
			drop_copy(path, place);
	}
}

/* A copy with nothing that belongs to somebody else. */
static struct sk_buff *make_copy(const struct sk_buff *skb)
{
	struct sk_buff *copy = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);

	if (!copy)
		return NULL;
	skb_dst_drop(copy);
	nf_reset_ct(copy);
	skb_ext_reset(copy);
	copy->dev = NULL;
	return copy;
}

/* Keep a copy of a packet that is about to leave, at its place. Without locks. */
void shake_copies_put(const struct shake_way *way, u32 place, const struct sk_buff *skb,
		      u8 tos)
{
	struct shake_copies *copies = way->path->copies;
	struct sk_buff *copy = make_copy(skb);
	struct shake_kept *kept;

	if (!copy) {
		shake_count(way->path->peer->d, SHAKE_REPAIR_REFUSED);
		return;
	}
	*(u8 *)copy->cb = tos;
	spin_lock_bh(&way->path->peer->lock);
	kept = &copies->repair.kept[place];
	/* the path may have another session by now, or none */
	if (way->link == shake_link(way->path) && kept->open &&
	    kept->counter == (u32)way->counter)
		swap(copies->skb[place], copy);
	spin_unlock_bh(&way->path->peer->lock);
	consume_skb(copy);
}

/* What a pseudo-ACK tells of the copies. Returns a list of those to be sent. */
struct sk_buff *shake_copies_told(struct shake_path *path, const struct shake_ack_body *ack,
				  u64 now)
{
	u32 least = shake_path_min_rtt(&path->estimate), number, place;
	u32 srtt = shake_path_srtt(&path->estimate), needless, tries;
	struct shake_copies *copies = path->copies;
	struct sk_buff *list = NULL, **end = &list;
	struct shake_repair *repair;
	enum shake_copy fate;

	if (!copies)
		return NULL;
	if (!shake_repairs(&path->peer->d->settings)) {
		shake_copies_purge(path);
		return NULL;
	}
	repair = &copies->repair;
	shake_repair_look(repair, ack->seen, now);
	for (number = repair->tail; shake_repair_next(repair, &number); number++) {
		place = shake_repair_place(number);
		if (shake_repair_is_ahead(repair, place, ack->echo))
			break;
		if (!copies->skb[place]) {	/* not sent, or without memory */
			drop_copy(path, place);
			continue;
		}
		tries = repair->kept[place].tries;
		needless = repair->needless;
		fate = shake_repair_judge(repair, place, ack->echo, ack->seen, srtt, least, now);
		if (fate == SHAKE_COPY_SENT)
			*end = make_copy(copies->skb[place]);
		if (fate == SHAKE_COPY_LAST)
			swap(*end, copies->skb[place]);
		if (*end) {
			repair->kept[place].after = path->estimate.counter;
			shake_path_again(&path->estimate, (*end)->len, now);
			shake_limit_count(path, (*end)->len, now);
			path->tail_at = now;
			end = &(*end)->next;
		}
		if (fate == SHAKE_COPY_LAST)
			path->estimate.resent += tries + 1;
		else if (fate == SHAKE_COPY_DONE && repair->needless == needless)
			path->estimate.resent += tries;
		if (fate == SHAKE_COPY_DONE || fate == SHAKE_COPY_LAST)
			drop_copy(path, place);
	}
	if (path->tail_at == now)
		shake_peer_wake(path->peer, now + SHAKE_TAIL_US, now);
	return list;
}
