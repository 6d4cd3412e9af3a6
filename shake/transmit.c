// SPDX-License-Identifier: GPL-2.0
/*
 * Packets to the other end: a path is chosen, the head written, the tag put behind.
 */
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/icmp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip_tunnels.h>

#include <compat/gso.h>
#include <compat/udp_tunnel.h>

#include "choose.h"
#include "copies.h"
#include "held.h"
#include "packet.h"
#include "prefix.h"
#include "send.h"
#include "transmit.h"
#include "wake.h"
#include "way.h"

/**
 * struct parcel - a packet on its way down
 * @skb: the packet
 * @is_tcp: @segment is valid
 * @segment: its TCP header
 * @flags: of its head
 * @ack_path: of its head
 * @m_al: of its head
 * @kept: a copy is to be kept
 * @place: of its copy
 * @tell: MTU that its sender should know of; 0: none
 * @cut: routers may cut it to pieces
 * @pin: the stream that stays on its path; NULL: none
 * @path: number of the path that it took; 0: none
 * @twin: a second one of a packet that took this path; 0: it is none
 */
struct parcel {
	struct sk_buff *skb;
	bool is_tcp;
	struct shake_segment segment;
	u8 flags;
	u8 ack_path;
	u32 m_al;
	bool kept;
	u32 place;
	u32 tell;
	bool cut;
	struct shake_stream *pin;
	u8 path;
	u8 twin;
};

/* Tell the sender of a packet that it is too long. IPv6 has no MTU of less than 1280. */
static void too_big(struct sk_buff *skb, u32 mtu)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		mtu = max_t(u32, mtu, IPV6_MIN_MTU);
	skb_dst_update_pmtu_no_confirm(skb, mtu);
	if (skb->protocol == htons(ETH_P_IP))
		icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
	else
		icmpv6_ndo_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
}

/*
 * The tag covers what is sent: no device below may fill in a checksum. TCP's is left to the
 * other end's device, as if that had sent the packet itself.
 */
static bool finish_sum(struct parcel *parcel)
{
	struct sk_buff *skb = parcel->skb;

	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return true;
	if (!parcel->is_tcp || skb_checksum_start_offset(skb) != parcel->segment.at ||
	    skb->csum_offset != offsetof(struct tcphdr, check))
		return !skb_checksum_help(skb);
	parcel->flags |= SHAKE_UNSUMMED;
	skb->ip_summed = CHECKSUM_NONE;
	return true;
}

/* Make room in front, and what is encrypted linear, our own, and with room behind. */
static bool make_room(struct parcel *parcel, const struct dst_entry *dst, bool auth)
{
	struct sk_buff *skb = parcel->skb;
	u32 front = LL_RESERVED_SPACE(dst->dev) + dst->header_len + SHAKE_UDP_V6 +
		    SHAKE_HEAD_MAL + SHAKE_TAG;

	if (auth && !finish_sum(parcel))
		return false;
	if (!(parcel->flags & SHAKE_ENCRYPTED))
		return (!auth || shake_own(skb)) && !skb_cow_head(skb, front);
	if (skb_linearize(skb))
		return false;
	if (skb_cloned(skb) || skb_headroom(skb) < front || skb_tailroom(skb) < SHAKE_TAG)
		return !pskb_expand_head(skb, max_t(int, front - skb_headroom(skb), 0),
					 SHAKE_TAG, GFP_ATOMIC);
	return true;
}

/* Write head and tag. */
static void wrap_parcel(const struct parcel *parcel, const struct shake_way *way)
{
	const struct shake_session *s = &way->link->s;
	bool in_front = s->auth && !(parcel->flags & SHAKE_ENCRYPTED);
	u32 head = shake_head_octets(parcel->flags);
	struct sk_buff *skb = parcel->skb;

	shake_head_write(__skb_push(skb, head + (in_front ? SHAKE_TAG : 0)), &(struct shake_head){
		.type = SHAKE_TYPE_DATA,
		.ack_path = parcel->ack_path,
		.flags = parcel->flags,
		.index = s->peer_index,
		.counter = way->counter,
		.mal = parcel->m_al,
	});
	if (in_front) {
		shake_data_tag(skb, head, s->send, way->counter, skb->data + head);
	} else if (s->auth) {
		shake_seal(s, way->counter, skb->data, skb->len,
			   shake_clear_octets(parcel->flags));
		__skb_put(skb, SHAKE_TAG);
	}
}

/* Copies are kept of TCP's data. Who watches its own losses otherwise repairs them, too. */
static bool wants_copy(const struct shake_path *path, const struct parcel *parcel)
{
	return shake_repairs(&path->peer->d->settings) && parcel->is_tcp &&
	       !parcel->segment.pure_ack && parcel->skb->len <= SHAKE_REPAIR_LONGEST;
}

/* Find a place for a copy, and tell of the packets before. Under the peer's lock. */
static void keep_copy(struct shake_path *path, struct parcel *parcel, u32 counter, u64 now)
{
	if (!shake_copies_ready(path))
		return;
	if (shake_repair_covers(&path->copies->repair))
		parcel->flags |= SHAKE_KEPT;
	parcel->kept = shake_copies_keep(path, counter, now, &parcel->place);
	if (parcel->kept && path->estimate.loss.share >= SHAKE_TAIL_LOSS)
		shake_copies_tail(path, now);
}

/* What a packet is on the chosen path. Under the peer's lock. */
static void mark_parcel(struct shake_peer *peer, struct parcel *parcel, const struct shake_way *way,
			bool small, u64 now)
{
	struct shake_path *path = way->path;
	enum shake_mal mal = SHAKE_NO_MAL;
	u32 length = parcel->skb->len;

	if (parcel->is_tcp)
		mal = shake_flows_sending(&peer->flows, &parcel->segment, path->settings.id,
					  &parcel->m_al, now);
	if (mal != SHAKE_NO_MAL)
		parcel->flags |= SHAKE_MAL;
	if (mal == SHAKE_MAL_GAP)
		parcel->flags |= SHAKE_GAP;
	if (!small) {
		parcel->flags |= SHAKE_COUNTED;
		if (wants_copy(path, parcel))
			keep_copy(path, parcel, (u32)way->counter, now);
		shake_way_count(way, shake_head_octets(parcel->flags) + length +
				shake_tag_octets(&way->link->s), now);
		shake_plpmtu_sent(&path->plpmtu, (u32)way->counter, length);
	}
	path->sent++;
	path->sent_bytes += length;
	shake_limit_count(path, shake_head_octets(parcel->flags) + length +
			  shake_tag_octets(&way->link->s), now);
}

/* TCP's ACKs go where the leader wants them, without pseudo-ACKs of their own. */
static bool is_small(const struct parcel *parcel)
{
	return parcel->is_tcp && parcel->segment.pure_ack && parcel->skb->len <= SHAKE_SMALL;
}

/*
 * Choose the way of a packet, which has no number yet. If there is none, writes why: an agent has
 * no queue in which packets could wait for a path's rate.
 */
static bool find_way(struct shake_peer *peer, struct parcel *parcel, struct shake_way *way,
		     enum shake_count *cause)
{
	bool small = is_small(parcel);
	struct shake_path *path;
	u64 now;

	spin_lock_bh(&peer->lock);
	now = shake_now();	/* under the lock: no other CPU has a later one */
	path = shake_choose(peer, parcel->pin, parcel->skb->len, small, parcel->twin, now);
	*cause = SHAKE_DROP_NO_PATH;
	if (path && parcel->skb->len > SHAKE_SMALL && !shake_is_leader(peer->d) &&
	    shake_is_over(path, now)) {
		*cause = SHAKE_DROP_LIMIT;
		path = NULL;
	}
	if (path) {
		shake_way_again(path, way);
		parcel->cut = shake_plpmtu_cuts(&path->plpmtu, parcel->skb->len);
	}
	if (!parcel->tell && !parcel->twin)
		parcel->tell = shake_narrowest(peer, parcel->skb, now);
	if (now - peer->data_at > SHAKE_IDLE_US)
		shake_peer_wake(peer, now, now);
	peer->data_at = now;
	spin_unlock_bh(&peer->lock);
	return path;
}

/*
 * Choose a way that has a route. A path without one has room for nothing: others come first,
 * until something of its own finds a route.
 */
static bool find_route(struct shake_peer *peer, struct parcel *parcel, struct shake_way *way,
		       struct shake_route *route, enum shake_count *cause)
{
	int tries;

	for (tries = 0; tries < SHAKE_PATHS_MAX; tries++) {
		if (!find_way(peer, parcel, way, cause))
			return false;
		if (shake_find_route(peer->d, way, route))
			return true;
		*cause = SHAKE_DROP_NO_ROUTE;
		if (READ_ONCE(way->path->mtu) == SHAKE_NO_ROOM)
			return false;	/* the others have none, either */
		WRITE_ONCE(way->path->mtu, SHAKE_NO_ROOM);
	}
	return false;
}

/*
 * A packet leaves: it gets its number and is counted. What was dropped before is not counted as
 * sent. If it does not, writes why.
 */
static bool number_parcel(struct shake_peer *peer, struct parcel *parcel, struct shake_way *way,
			  enum shake_count *cause)
{
	bool found, small = is_small(parcel);
	u64 now;

	spin_lock_bh(&peer->lock);
	now = shake_now();
	/* its path may have another session since it was chosen, or none */
	found = shake_link(way->path) == way->link;
	*cause = found ? SHAKE_DROP_NONCE : SHAKE_DROP_NO_PATH;
	found = found && shake_session_next(&way->link->s, &way->counter);
	if (found) {
		way->path->sent_at = now;
		mark_parcel(peer, parcel, way, small, now);
		parcel->ack_path = shake_is_leader(peer->d) ? peer->ack_path : 0;
	}
	if (found && shake_is_leader(peer->d))
		shake_hold_back(peer, now);
	spin_unlock_bh(&peer->lock);
	return found;
}

static bool is_encrypted(const struct shake_dev *d, const struct shake_session *s)
{
	return s->encrypt || (s->auth && READ_ONCE(d->settings.encrypt));
}

/* Send a packet that is not GSO's. */
static void send_packet(struct shake_peer *peer, struct parcel *parcel)
{
	struct shake_dev *d = peer->d;
	struct sk_buff *skb = parcel->skb;
	struct shake_way way __uninitialized;
	u32 length = skb->len;
	struct shake_route route;
	enum shake_count cause;
	bool df;
	u8 tos;

	if (!find_route(peer, parcel, &way, &route, &cause))
		goto drop;
	cause = SHAKE_DROP_TOO_BIG;
	df = !parcel->cut && !shake_may_fragment(skb, route.mtu);
	if (df && skb->len > route.mtu) {
		if (!parcel->twin)
			too_big(skb, route.mtu);
		goto drop_route;
	}
	if (parcel->tell) {
		too_big(skb, parcel->tell);
		shake_flows_told(&peer->flows, shake_now());
		shake_count(d, SHAKE_MTU_TOLD);
	}
	cause = SHAKE_DROP_MEMORY;
	if (is_encrypted(d, &way.link->s))
		parcel->flags |= SHAKE_ENCRYPTED;
	if (!make_room(parcel, route.dst, way.link->s.auth) ||
	    !number_parcel(peer, parcel, &way, &cause))
		goto drop_route;
	/* RFC 6040, 4.1, normal mode: the outside has the DSCP and ECN of the inside */
	tos = ip_tunnel_get_dsfield(ip_hdr(skb), skb);
	udp_tunnel_handle_offloads(skb, false);
	wrap_parcel(parcel, &way);
	if (parcel->kept)
		shake_copies_put(&way, parcel->place, skb, tos);
	shake_send_outside(d, &way, &route, skb, tos, df);
	parcel->path = way.path->settings.id;
	if (parcel->twin)
		shake_count(d, SHAKE_DUPLICATED);
	else
		dev_sw_netstats_tx_add(d->dev, 1, length);
	return;

drop_route:
	dst_release(route.dst);
drop:
	if (parcel->twin) {	/* the first one has left */
		consume_skb(skb);
		return;
	}
	shake_count(d, cause);
	dev_core_stats_tx_dropped_inc(d->dev);
	kfree_skb(skb);
}

/* Take an ACK's SACK blocks away. Without memory it goes on as it is. */
static void unsack_parcel(struct parcel *parcel)
{
	const struct shake_segment *segment = &parcel->segment;
	struct sk_buff *skb = parcel->skb;

	if (!skb_ensure_writable(skb, segment->at + sizeof(struct tcphdr) + segment->options))
		shake_segment_unsack(skb->data, segment, skb->ip_summed != CHECKSUM_PARTIAL);
}

/* Look at what goes to TCP at the other end. Returns whether it goes on. */
static bool judge_ack(struct shake_peer *peer, struct parcel *parcel)
{
	const struct shake_settings *settings = &peer->d->settings;

	switch (shake_flows_ack(&peer->flows, &parcel->segment, READ_ONCE(settings->ack),
				READ_ONCE(settings->threshold), shake_now())) {
	case SHAKE_DROP:
		return false;
	case SHAKE_PASS_RETRANSMIT:
		parcel->flags |= SHAKE_RETRANSMIT;
		return true;
	case SHAKE_PASS_UNSACKED:
		unsack_parcel(parcel);
		return true;
	case SHAKE_PASS:
		break;
	}
	return true;
}

/* Whether a packet goes by two paths: it is short, or of the class that a user has named. */
static bool is_doubled(const struct shake_dev *d, const struct sk_buff *skb)
{
	u8 dscp = READ_ONCE(d->settings.duplicate_dscp);

	return skb->len <= READ_ONCE(d->settings.duplicate) ||
	       (dscp && ip_tunnel_get_dsfield(ip_hdr(skb), skb) >> 2 == dscp);
}

/*
 * What is not TCP's keeps its order by one path, or by its number, or does not. What goes by two
 * paths is in a hurry: its numbers only tell copies, and are other streams'.
 */
static void prepare_datagram(struct shake_peer *peer, struct parcel *parcel, bool doubled)
{
	u8 datagrams = READ_ONCE(peer->d->settings.datagrams);
	u32 place = skb_get_hash(parcel->skb) % (SHAKE_STREAMS / 2);
	struct shake_stream *stream;

	if (doubled)
		place += SHAKE_STREAMS / 2;
	stream = &peer->streams[place];
	if (datagrams == SHAKE_DATAGRAMS_PIN)
		parcel->pin = stream;
	if (!doubled && datagrams != SHAKE_DATAGRAMS_ORDER)
		return;
	parcel->flags |= SHAKE_NUMBERED;
	parcel->m_al = shake_order_number(!doubled, place,
					  (u32)atomic_inc_return(&stream->number));
}

/* A packet that is not TCP's, and one like it by the second best path. */
static void send_datagram(struct shake_peer *peer, struct parcel *parcel)
{
	bool doubled = is_doubled(peer->d, parcel->skb);
	struct parcel twin = { };

	prepare_datagram(peer, parcel, doubled);
	if (doubled)
		twin.skb = skb_copy(parcel->skb, GFP_ATOMIC);
	twin.flags = parcel->flags;
	twin.m_al = parcel->m_al;
	send_packet(peer, parcel);
	twin.twin = parcel->path;
	if (twin.skb && twin.twin)
		send_packet(peer, &twin);
	else
		consume_skb(twin.skb);
}

static struct shake_peer *peer_of_packet(struct shake_dev *d, const struct sk_buff *skb)
{
	if (shake_is_leader(d))
		return shake_only_peer(d);
	if (skb->protocol == htons(ETH_P_IP))
		return shake_prefix_owner(d, AF_INET, &ip_hdr(skb)->daddr);
	return shake_prefix_owner(d, AF_INET6, &ipv6_hdr(skb)->daddr);
}

/* ip_do_fragment()'s output: a piece, which is not cut again. */
static int send_piece(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct shake_dev *d = shake_dev(skb->dev);
	struct shake_peer *peer = peer_of_packet(d, skb);
	struct parcel parcel = { .skb = skb };

	if (peer) {
		send_datagram(peer, &parcel);
		return 0;
	}
	shake_count(d, SHAKE_DROP_NO_PEER);	/* it has gone just now */
	dev_core_stats_tx_dropped_inc(d->dev);
	kfree_skb(skb);
	return 0;
}

/*
 * A packet that may be cut is, if all paths drop what is so long and tell nobody: outside nobody
 * would cut it, as the routes take it. Returns whether it was; then it is consumed.
 */
static bool cut_packet(struct shake_peer *peer, struct sk_buff *skb)
{
	u32 most;

	if (skb->len <= SHAKE_PLPMTU_LEAST || skb->protocol != htons(ETH_P_IP) ||
	    ip_hdr(skb)->frag_off & htons(IP_DF) || !skb_dst(skb))
		return false;
	most = shake_widest(peer);
	if (!most || skb->len <= most)
		return false;
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	IPCB(skb)->frag_max_size = most;
	ip_do_fragment(dev_net(peer->d->dev), NULL, skb, send_piece);
	return true;
}

/* TCP's packets, and others. */
static void send_any(struct shake_peer *peer, struct parcel *parcel)
{
	if (cut_packet(peer, parcel->skb))
		return;
	if (parcel->is_tcp)
		send_packet(peer, parcel);
	else
		send_datagram(peer, parcel);
}

/*
 * Whether an agent holds a packet back. Short ones add nothing to a queue, but TCP's last data and
 * its FIN follow what waits; and what goes by two paths is in a hurry.
 */
static bool has_to_wait(struct shake_peer *peer, const struct parcel *parcel)
{
	u32 trip;

	if (!peer->held || parcel->flags & SHAKE_RETRANSMIT)
		return false;
	if (parcel->skb->len <= SHAKE_SMALL)
		return parcel->is_tcp && parcel->segment.seq != parcel->segment.end &&
		       shake_held_has(peer->held, parcel->skb);
	if (!parcel->is_tcp && is_doubled(peer->d, parcel->skb))
		return false;
	return shake_held_waits(peer->held) || shake_is_full(peer, &trip);
}

static void send_one(struct shake_peer *peer, struct sk_buff *skb)
{
	struct parcel parcel = { .skb = skb };

	parcel.is_tcp = shake_segment_pull(skb, &parcel.segment);
	if (parcel.is_tcp && !judge_ack(peer, &parcel)) {
		consume_skb(skb);
		return;
	}
	if (has_to_wait(peer, &parcel)) {
		shake_count(peer->d, SHAKE_HELD_BACK);
		/* the last one may have left since, and nobody look any more */
		if (shake_held_put(peer->held, skb, parcel.is_tcp &&
				   shake_flows_opens(&peer->flows, &parcel.segment, shake_now())))
			shake_peer_wake(peer, shake_now() + SHAKE_HOLD_US, shake_now());
		return;
	}
	send_any(peer, &parcel);
}

/* A packet that an agent has held back. Under RCU, without locks. */
void shake_send_held(struct shake_peer *peer, struct sk_buff *skb)
{
	struct parcel parcel = { .skb = skb };

	parcel.is_tcp = shake_segment_pull(skb, &parcel.segment);
	send_any(peer, &parcel);
}

static void send_segments(struct shake_peer *peer, struct sk_buff *skb)
{
	struct sk_buff *segments, *next;

	segments = skb_gso_segment(skb, NETIF_F_SG | NETIF_F_HW_CSUM);
	if (IS_ERR_OR_NULL(segments)) {
		shake_count(peer->d, SHAKE_DROP_MEMORY);
		dev_core_stats_tx_dropped_inc(peer->d->dev);
		kfree_skb(skb);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segments, skb, next) {
		skb_mark_not_on_list(skb);
		send_one(peer, skb);
	}
}

/* net_device_ops::ndo_start_xmit */
netdev_tx_t shake_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct shake_dev *d = shake_dev(dev);
	struct shake_peer *peer;

	if (!pskb_inet_may_pull(skb) || (skb->protocol != htons(ETH_P_IP) &&
					 skb->protocol != htons(ETH_P_IPV6))) {
		shake_count(d, SHAKE_DROP_INNER);
		goto drop;
	}
	/* from one peer to another, by whatever way the stack found */
	if (!shake_is_leader(d) && skb->skb_iif == dev->ifindex) {
		shake_count(d, SHAKE_DROP_BETWEEN);
		goto drop;
	}
	peer = peer_of_packet(d, skb);
	if (!peer) {
		shake_count(d, SHAKE_DROP_NO_PEER);
		goto drop;
	}
	if (skb_is_gso(skb))
		send_segments(peer, skb);
	else
		send_one(peer, skb);
	return NETDEV_TX_OK;

drop:
	dev_core_stats_tx_dropped_inc(dev);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}
