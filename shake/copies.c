// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of what a leader has sent, to be sent again if its path lost it
 * (core/shake_repair.h). All under the peer's lock but where it says so.
 */
#include "copies.h"

static void drop_copy(struct shake_copies *copies, u32 place)
{
	consume_skb(copies->skb[place]);	/* no packet is dropped */
	copies->skb[place] = NULL;
	shake_repair_close(&copies->repair, place);
}

/* Forget all copies. */
void shake_copies_purge(struct shake_path *path)
{
	struct shake_copies *copies = path->copies;
	u32 number;

	if (!copies)
		return;
	for (number = copies->repair.tail; shake_repair_next(&copies->repair, &number);)
		drop_copy(copies, shake_repair_place(number));
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
			drop_copy(copies, place);
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
		      const struct shake_ip_fields *fields)
{
	struct shake_copies *copies = way->path->copies;
	struct sk_buff *copy = make_copy(skb);
	struct shake_kept *kept;

	if (!copy)
		return;
	*(struct shake_ip_fields *)copy->cb = *fields;
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
			shake_repair_close(repair, place);
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
			end = &(*end)->next;
		}
		if (fate == SHAKE_COPY_LAST)
			path->estimate.resent += tries + 1;
		else if (fate == SHAKE_COPY_DONE && repair->needless == needless)
			path->estimate.resent += tries;
		if (fate == SHAKE_COPY_DONE || fate == SHAKE_COPY_LAST)
			drop_copy(copies, place);
	}
	return list;
}
