// SPDX-License-Identifier: GPL-2.0
/*
 * What the tunnel's ends tell each other besides data: pseudo-ACKs, probes, and when a path has to
 * register.
 */
#include <compat/timer.h>

#include "control.h"
#include "copies.h"
#include "mtu.h"
#include "path.h"
#include "send.h"
#include "way.h"

/* Count a packet that was dropped. */
void shake_count_verdict(struct shake_dev *d, enum shake_verdict verdict)
{
	BUILD_BUG_ON(SHAKE_STRANGER - SHAKE_TRUNCATED != SHAKE_DROP_PEER - SHAKE_DROP_TRUNCATED);
	if (verdict >= SHAKE_TRUNCATED && verdict <= SHAKE_STRANGER)
		shake_count(d, SHAKE_DROP_TRUNCATED + verdict - SHAKE_TRUNCATED);
}

/* --- life ---------------------------------------------------------------------------------- */

/* Whether a leader's path has no socket: what comes in its session came by another's. Locked. */
static bool is_closed(const struct shake_path *path)
{
	return shake_is_leader(path->peer->d) && !path->sock;
}

/* Something true came by a path: it is alive. Under the peer's lock. */
void shake_path_heard(struct shake_path *path, u64 now)
{
	u64 gap;

	gap = now - path->heard_at;
	path->usual_gap = max(gap, path->usual_gap - path->usual_gap / 8);
	path->heard_at = now;
	path->rejoin_at = 0;	/* the agent knows the session */
	if (path->state == SHAKE_PATH_ALIVE || !shake_link(path) || is_closed(path))
		return;
	shake_copies_expire(path, now);
	/* Probes that were sent while it was dead are no sign of death now. */
	shake_path_forget(&path->estimate, now);
	shake_path_set_state(path, SHAKE_PATH_ALIVE);
	shake_mtu_doubt(path, now);	/* perhaps it died of too long packets */
	shake_flows_path_alive(&path->peer->flows, path->settings.id);
}

/* --- pseudo-ACKs --------------------------------------------------------------------------- */

/* The path that a leader wants TCP's ACKs on; 0: none. */
u8 shake_wished_path(const struct shake_peer *peer)
{
	return shake_is_leader(peer->d) ? peer->ack_path : 0;
}

/*
 * Which packets were received. Who passes all duplicate ACKs wants no copies: TCP retransmits
 * anyway.
 */
static u64 seen_behind(const struct shake_path *path, const struct shake_link *link, u64 echo)
{
	if (READ_ONCE(path->peer->d->settings.ack) == SHAKE_ACK_PASS)
		return U64_MAX;
	return shake_replay_behind(&link->s.replay, echo);
}

/* Write a pseudo-ACK of the packet @echo, received at a time. Under the peer's lock. */
static bool write_ack(struct shake_path *path, struct shake_way *way, u8 *packet, u64 echo,
		      u64 at, u64 now)
{
	struct shake_link *link = shake_link(path);

	if (!link || !link->received_packets || !shake_way_take(path, way, now))
		return false;
	shake_head_write(packet, &(struct shake_head){
		.type = SHAKE_TYPE_ACK,
		.ack_path = shake_wished_path(path->peer),
		.index = link->s.peer_index,
		.counter = way->counter,
	});
	shake_ack_write(packet, &(struct shake_ack_body){
		.echo = echo,
		.hold_us = now - at,
		.bytes = link->received_bytes,
		.packets = link->received_packets,
		.seen = seen_behind(path, link, echo),
	});
	return true;
}

/* The same of a copy, of which no other will tell. */
bool shake_ack_take_late(struct shake_path *path, struct shake_way *way, u8 *packet, u64 counter,
			 u64 now)
{
	return write_ack(path, way, packet, counter, now, now);
}

/* Write what was received on a path. Under the peer's lock. Returns whether to send it. */
bool shake_ack_take(struct shake_path *path, struct shake_way *way, u8 *packet, u64 now)
{
	struct shake_link *link = shake_link(path);

	path->ack_due = 0;
	path->ack_waiting = 0;
	if (!link || !write_ack(path, way, packet, link->echo, link->echo_at, now))
		return false;
	path->ack_at = now;
	return true;
}

void shake_ack_send(struct shake_dev *d, const struct shake_way *way, u8 *packet)
{
	shake_count(d, SHAKE_ACK_SENT);
	shake_send_sealed(d, way, packet, SHAKE_ACK_OCTETS);
}
