// SPDX-License-Identifier: GPL-2.0
/*
 * How long packets may be by a path, see core/shake_plpmtu.h: its probes, and their answers.
 * They are not counted: what is lost for its length says nothing of what a path loses.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "mtu.h"
#include "overhead.h"
#include "send.h"
#include "wake.h"
#include "way.h"

#define LEAST_ROUTE 68		/* octets: a route with less has none for a packet */

/* Whether it can be asked what a path takes. Under the peer's lock. */
static bool may_ask(const struct shake_path *path)
{
	return path->state == SHAKE_PATH_ALIVE && shake_link(path) && !shake_is_asleep();
}

/* Under the peer's lock. */
static void update_bound(struct shake_path *path, u64 now)
{
	const struct shake_dev *d = path->peer->d;
	u16 family = path->to.any.sa_family;
	u32 most = READ_ONCE(path->mtu);	/* route() writes it without the lock */

	if (most >= LEAST_ROUTE)
		shake_plpmtu_route(&path->plpmtu, family == AF_INET ? SHAKE_PLPMTU_BASE4 :
				   SHAKE_PLPMTU_BASE6, shake_overhead(d, family),
				   min_t(u32, most, READ_ONCE(d->dev->mtu)), now);
	WRITE_ONCE(path->bound, shake_plpmtu_bound(&path->plpmtu, now));
}

/* Nothing is known of a path that leads elsewhere. Under the peer's lock. */
void shake_mtu_forget(struct shake_path *path)
{
	path->plpmtu.most = 0;
	WRITE_ONCE(path->mtu, 0);
	WRITE_ONCE(path->bound, U32_MAX);
}

/* A path may not take what it took. Under the peer's lock. */
void shake_mtu_doubt(struct shake_path *path, u64 now)
{
	shake_plpmtu_doubt(&path->plpmtu, now);
	update_bound(path, now);
	shake_peer_wake(path->peer, now, now);
}

/* When shake_mtu_take() has something to do; U64_MAX: nothing. Under the peer's lock. */
u64 shake_mtu_due(const struct shake_path *path)
{
	if (!may_ask(path))
		return U64_MAX;
	if (!path->plpmtu.most)
		return READ_ONCE(path->mtu) >= LEAST_ROUTE ? 0 : U64_MAX;
	return shake_plpmtu_due(&path->plpmtu, shake_path_srtt(&path->estimate));
}

/*
 * Take the numbers of a probe, and of a short one behind it. Returns the size that is probed, 0:
 * none. Under the peer's lock.
 */
u32 shake_mtu_take(struct shake_path *path, struct shake_way ways[2], u64 now)
{
	struct shake_plpmtu *p = &path->plpmtu;
	u32 size;

	if (!may_ask(path))
		return 0;
	update_bound(path, now);
	size = shake_plpmtu_next(p, shake_path_srtt(&path->estimate), now);
	WRITE_ONCE(path->bound, shake_plpmtu_bound(p, now));
	if (!size || !shake_way_take(path, &ways[0], now) || !shake_way_take(path, &ways[1], now))
		return 0;
	shake_plpmtu_asked(p, (u32)ways[0].counter, (u32)ways[1].counter, now);
	shake_count(path->peer->d, SHAKE_MTU_PROBED);
	return size;
}

static void send_probe(struct shake_dev *d, const struct shake_way *way, u8 *packet, u32 length)
{
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_PROBE,
		.flags = SHAKE_SIZED,
		.index = way->link->s.peer_index,
		.counter = (u32)way->counter,
	});
	shake_send_sealed(d, way, packet, length);
}

/* Send them. Under RCU, without locks. */
void shake_mtu_send(struct shake_dev *d, const struct shake_way ways[2], u32 size)
{
	u16 family = ways[0].to.any.sa_family;
	u32 udp = family == AF_INET ? SHAKE_UDP_V4 : SHAKE_UDP_V6;
	u32 length = size + shake_overhead(d, family) - udp;	/* with tag */
	u8 small[SHAKE_SIZED_OCTETS + SHAKE_TAG] = { };
	u8 *packet = kzalloc(length, GFP_ATOMIC | __GFP_NOWARN);

	if (packet)
		send_probe(d, &ways[0], packet, length - shake_tag_octets(&ways[0].link->s));
	else
		shake_count(d, SHAKE_DROP_MEMORY);
	kfree(packet);
	send_probe(d, &ways[1], small, SHAKE_SIZED_OCTETS);
}

/*
 * Write the answer to such a probe. Returns whether to send it. Under the peer's lock.
 */
bool shake_came_take(struct shake_link *link, u64 counter, struct shake_way *way, u8 *packet,
		     u64 now)
{
	struct shake_path *path = link->path;

	if (link != shake_link(path) || !shake_way_take(path, way, now))
		return false;
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_PROBE,
		.flags = SHAKE_CAME,
		.index = link->s.peer_index,
		.counter = (u32)way->counter,
	});
	shake_came_write(packet, (u32)counter);
	if (!path->plpmtu.most)		/* now this end finds a route, too */
		shake_peer_wake(path->peer, now, now);
	return true;
}

/* Such an answer. Under the peer's lock. */
void shake_came_in(struct shake_link *link, const u8 *packet, u64 now)
{
	struct shake_path *path = link->path;

	if (link != shake_link(path))
		return;
	shake_plpmtu_came(&path->plpmtu, shake_came_read(packet), now);
	update_bound(path, now);
	shake_peer_wake(path->peer, max(shake_mtu_due(path), now), now);
}
