// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a packet: by which path and session, and with which number.
 */
#include "wake.h"
#include "way.h"

#define WATCH_US (100 * USEC_PER_MSEC)	/* the timer looks at a used path so often, at least */

/* Where a path sends to. Under the peer's lock. */
void shake_way_again(struct shake_path *path, struct shake_way *way)
{
	way->path = path;
	way->link = shake_link(path);
	way->from = path->from;
	way->to = path->to;
	way->counter = 0;
}

/* Take the next number of a path that has a session. Under the peer's lock. */
bool shake_way_take(struct shake_path *path, struct shake_way *way, u64 now)
{
	shake_way_again(path, way);
	path->sent_at = now;
	return shake_session_next(&way->link->s, &way->counter);
}

/* A packet that wants a pseudo-ACK. Under the peer's lock. */
void shake_way_count(const struct shake_way *way, u32 bytes, u64 now)
{
	struct shake_path *path = way->path;

	path->counted_at = now;
	if (!path->watched) {
		path->watched = true;
		shake_peer_wake(path->peer, now + WATCH_US, now);
	}
	shake_path_sent(&path->estimate, (u32)way->counter, bytes, now);
}
