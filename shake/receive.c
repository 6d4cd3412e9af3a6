// SPDX-License-Identifier: GPL-2.0
/*
 * Packets from the other end. Nothing of a packet is believed before its tag was checked.
 */
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip_tunnels.h>

#include <compat/unaligned.h>

#include "choose.h"
#include "control.h"
#include "copies.h"
#include "events.h"
#include "mtu.h"
#include "order.h"
#include "packet.h"
#include "path.h"
#include "prefix.h"
#include "receive.h"
#include "register.h"
#include "release.h"
#include "send.h"
#include "soon.h"
#include "up.h"
#include "wake.h"
#include "way.h"

#define LONGEST_ACK (SHAKE_ACK_OCTETS + SHAKE_TAG)

/**
 * struct arrival - a packet that came in
 * @skb: the packet, its data behind the UDP header
 * @from: who sent it
 * @to: the address it was sent to
 * @tos: traffic class outside
 * @head: its head
 * @clear: octets of its head
 * @front: octets in front of the inner packet
 * @link: its session
 * @counter: its number in the session
 * @now: us
 * @waits: it may have to, for others of its flow
 */
struct arrival {
	struct sk_buff *skb;
	union shake_addr from;
	union shake_addr to;
	u8 tos;
	struct shake_head head;
	u32 clear;
	u32 front;
	struct shake_link *link;
	u64 counter;
	u64 now;
	bool waits;
};

static void drop_received(struct shake_dev *d, struct sk_buff *skb, enum shake_count cause)
{
	shake_count(d, cause);
	dev_core_stats_rx_dropped_inc(d->dev);
	kfree_skb(skb);
}

static void refuse_packet(struct shake_dev *d, struct sk_buff *skb, enum shake_verdict verdict)
{
	shake_count_verdict(d, verdict);
	dev_core_stats_rx_dropped_inc(d->dev);
	kfree_skb(skb);
}

/* --- the inner packet ---------------------------------------------------------------------- */

/* The copies that TCP's sender takes for a loss: three duplicate ACKs in all. */
static void make_duplicates(struct shake_dev *d, const struct sk_buff *skb)
{
	struct sk_buff *copy;
	int i;

	for (i = 0; i < 2; i++) {
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy)
			gro_cells_receive(&d->gro, copy);
	}
}

/* Whether the inner addresses are such as this peer may use. If not, writes the cause. */
static bool check_inner(struct shake_peer *peer, const struct sk_buff *skb,
			enum shake_count *cause)
{
	bool v4 = skb->protocol == htons(ETH_P_IP);
	u8 family = v4 ? AF_INET : AF_INET6;
	const void *source, *destination;
	struct shake_dev *d = peer->d;
	struct shake_peer *owner;

	if (shake_is_leader(d))
		return true;
	source = v4 ? (void *)&ip_hdr(skb)->saddr : (void *)&ipv6_hdr(skb)->saddr;
	destination = v4 ? (void *)&ip_hdr(skb)->daddr : (void *)&ipv6_hdr(skb)->daddr;
	*cause = SHAKE_DROP_SOURCE;
	if (shake_prefix_owner(d, family, source) != peer)
		return false;
	*cause = SHAKE_DROP_BETWEEN;
	/* its own prefix may have an address of this host; what comes back is not sent */
	owner = shake_prefix_owner(d, family, destination);
	return !owner || owner == peer;
}

/* Whether there is an IP packet, as long as it says. */
static bool find_inner(struct sk_buff *skb)
{
	u32 length;

	if (!pskb_may_pull(skb, 1))
		return false;
	skb_reset_network_header(skb);
	switch (skb->data[0] >> 4) {
	case 4:
		if (!pskb_may_pull(skb, sizeof(struct iphdr)))
			return false;
		skb->protocol = htons(ETH_P_IP);
		length = ntohs(ip_hdr(skb)->tot_len);
		if (length < sizeof(struct iphdr))
			return false;
		break;
	case 6:
		if (!pskb_may_pull(skb, sizeof(struct ipv6hdr)))
			return false;
		skb->protocol = htons(ETH_P_IPV6);
		length = ntohs(ipv6_hdr(skb)->payload_len) + sizeof(struct ipv6hdr);
		break;
	default:
		return false;
	}
	return length <= skb->len && !pskb_trim_rcsum(skb, length);
}

/*
 * TCP's checksum is as old as the tunnel, or is still to be filled in, by the device that sends
 * the packet on. Where it is, is what the packet's headers say.
 */
static bool set_sum(struct sk_buff *skb, const struct arrival *a,
		    const struct shake_segment *segment)
{
	if (!a->link->s.auth)
		return true;
	skb->ip_summed = CHECKSUM_NONE;
	if (!(a->head.flags & SHAKE_UNSUMMED))
		return true;
	return segment && skb_partial_csum_set(skb, segment->at, offsetof(struct tcphdr, check));
}

/*
 * Learn what TCP of the other end has sent. Returns false if the packet is not what its head says.
 * Only an ACK may ask for duplicates.
 */
static bool note_segment(struct shake_peer *peer, struct arrival *a, struct shake_segment *segment,
			 bool *is_tcp)
{
	struct sk_buff *skb = a->skb;
	enum shake_mal mal = a->head.flags & SHAKE_MAL ? SHAKE_MAL_SENT : SHAKE_NO_MAL;

	if (mal && a->head.flags & SHAKE_GAP)
		mal = SHAKE_MAL_GAP;
	*is_tcp = shake_segment_pull(skb, segment);
	if (!set_sum(skb, a, *is_tcp ? segment : NULL))
		return false;
	if (!*is_tcp || !segment->pure_ack)
		a->head.flags &= ~SHAKE_RETRANSMIT;
	if (*is_tcp)
		a->waits = shake_flows_arrived(&peer->flows, segment, a->link->path->settings.id,
					       mal, a->head.mal, a->head.flags & SHAKE_KEPT,
					       a->now);
	if (*is_tcp && peer->held)
		shake_flows_timed(&peer->flows, segment, a->now);
	return true;
}

/*
 * Whether TCP's slow start does without an ACK (core/shake_opening.h). It needs those that tell
 * of losses, or of congestion.
 */
static bool is_needless(struct shake_peer *peer, const struct shake_segment *s,
			const struct shake_head *head, u64 now)
{
	if (!READ_ONCE(peer->flows.opening) || !s->pure_ack)
		return false;
	return !shake_flows_passes(&peer->flows, s, head->flags & SHAKE_RETRANSMIT ||
				   (s->has_sack && !s->has_dsack) ||
				   s->flags & SHAKE_SEGMENT_ECE, now);
}

/*
 * TCP's data goes up in order, as far as it is late, or a copy comes soon. Who wants duplicate
 * ACKs to be dropped in some other way gets them.
 */
static void put_in_order(struct shake_peer *peer, const struct shake_segment *segment,
			 const struct shake_head *head, struct sk_buff *skb, u64 now)
{
	u32 had = shake_up_room(peer->d), room = had;
	u32 behind = segment->seq;
	u64 due;

	if (head->flags & SHAKE_MAL)
		shake_raise(&behind, head->mal);
	due = shake_flows_order(&peer->flows, segment, behind, &skb, &room, now);

	shake_up_count(peer->d, had > room ? had - room : 0);
	if (due != U64_MAX)
		shake_peer_wake(peer, due, now);
	shake_deliver(peer->d, skb);
}

static void deliver_inner(struct shake_dev *d, struct arrival *a)
{
	struct shake_peer *peer = a->link->path->peer;
	struct shake_segment segment __uninitialized;
	bool is_tcp;
	struct sk_buff *skb = a->skb;
	enum shake_count cause;

	skb_pull_rcsum(skb, a->front);
	/* what is encrypted has its tag behind it, which is no part of the packet */
	if (a->head.flags & SHAKE_ENCRYPTED &&
	    pskb_trim_rcsum(skb, skb->len - SHAKE_TAG)) {
		drop_received(d, skb, SHAKE_DROP_MEMORY);
		return;
	}
	if (!find_inner(skb) ||
	    INET_ECN_decapsulate(skb, a->tos, ip_tunnel_get_dsfield(ip_hdr(skb), skb)) > 1) {
		drop_received(d, skb, SHAKE_DROP_INNER);
		return;
	}
	if (!check_inner(peer, skb, &cause)) {
		drop_received(d, skb, cause);
		return;
	}
	if (!note_segment(peer, a, &segment, &is_tcp)) {
		drop_received(d, skb, SHAKE_DROP_INNER);
		return;
	}
	if (is_tcp && is_needless(peer, &segment, &a->head, a->now)) {
		dev_sw_netstats_rx_add(d->dev, skb->len);
		consume_skb(skb);
		return;
	}
	skb->dev = d->dev;
	skb_reset_mac_header(skb);
	skb->pkt_type = PACKET_HOST;
	skb->encapsulation = 0;
	skb_clear_hash(skb);	/* that of the tunnel: inner flows have their own */
	skb_scrub_packet(skb, !net_eq(READ_ONCE(d->net), dev_net(d->dev)));
	if (a->head.flags & SHAKE_RETRANSMIT)
		make_duplicates(d, skb);
	if (a->head.flags & SHAKE_NUMBERED) {
		shake_order_take(peer, skb, a->head.mal);
	} else if (is_tcp && !(a->head.flags & SHAKE_RETRANSMIT) &&
		   shake_soon_take(peer, &segment, skb, a->now)) {
		return;
	} else if (a->waits && READ_ONCE(d->settings.ack) == SHAKE_ACK_AUTO) {
		dev_sw_netstats_rx_add(d->dev, skb->len);
		put_in_order(peer, &segment, &a->head, skb, a->now);
	} else {
		shake_give(d, skb);
	}
}

/* --- the session --------------------------------------------------------------------------- */

/* An agent's path follows its leader to another address. Under the peer's lock. */
static void follow_address(struct shake_path *path, const struct arrival *a)
{
	if (shake_is_leader(path->peer->d))
		return;
	if (!shake_addr_equal(&path->to, &a->from) || !shake_addr_equal(&path->from, &a->to)) {
		bool moved = path->to.any.sa_family != AF_UNSPEC;

		path->to = a->from;
		path->from = a->to;
		if (moved) {
			shake_count(path->peer->d, SHAKE_ADDRESS_CHANGED);
			shake_event_moved(path);
		}
		dst_cache_reset(&path->dst);
		shake_mtu_forget(path);
	}
}

/* Count a packet that wants a pseudo-ACK. Under the peer's lock. */
static void note_counted(struct shake_link *link, const struct arrival *a, u32 length)
{
	struct shake_path *path = link->path;

	link->received_bytes += length;
	link->received_packets++;
	if (a->counter >= link->echo) {
		link->echo = a->counter;
		link->echo_at = a->now;
	}
	path->ack_waiting++;
	if (a->head.type == SHAKE_TYPE_PROBE || path->ack_waiting >= SHAKE_ACK_PACKETS ||
	    a->now - path->ack_at >= SHAKE_ACK_US) {
		path->ack_due = a->now;
	} else if (!path->ack_due) {
		path->ack_due = path->ack_at + SHAKE_ACK_US;
		shake_peer_wake(path->peer, path->ack_due, a->now);
	}
}

/* What a packet tells besides its contents. Under the peer's lock. */
static void note_received(struct shake_link *link, const struct arrival *a, u32 length)
{
	struct shake_path *path = link->path;
	struct shake_peer *peer = path->peer;

	if (a->counter > link->newest) {
		link->newest = a->counter;
		if (a->head.ack_path && !shake_is_leader(peer->d))
			WRITE_ONCE(peer->ack_path, a->head.ack_path);
		if (link == shake_link(path))
			follow_address(path, a);
	} else if (a->head.type == SHAKE_TYPE_DATA) {
		path->late++;
	}
	link->used = true;
	/* in a session that is being made: it says nothing of the one that is sent in */
	if (link != path->next)
		shake_path_heard(path, a->now);
	if (a->head.type == SHAKE_TYPE_DATA) {
		path->received++;
		path->received_bytes += length - a->clear - shake_tag_octets(&link->s);
		peer->data_at = a->now;
	}
	if (a->head.flags & SHAKE_COUNTED)
		note_counted(link, a, length);
}

/* A pseudo-ACK. Under the peer's lock. Returns copies of what is lost, a list. */
static struct sk_buff *ack_in(struct shake_link *link, const u8 *packet, u32 length, u64 now)
{
	struct shake_path *path = link->path;
	struct shake_dev *d = path->peer->d;
	struct shake_ack_body body;
	struct shake_path_ack ack;

	if (link != shake_link(path) || shake_ack_read(packet, length, &body))
		return NULL;
	shake_count(d, SHAKE_ACK_RECEIVED);
	/* the answer to a probe is of that probe: it came, with what it told */
	if (path->policy_at && body.echo == (u32)path->policy_at)
		path->policy_told = true;
	ack = (struct shake_path_ack){
		.echo = body.echo,
		.hold_us = body.hold_us,
		.bytes = body.bytes,
		.packets = body.packets,
	};
	if (shake_path_acked(&path->estimate, &d->settings.estimate, &ack, now)) {
		shake_choose_ack_path(path->peer);
		shake_measure_ways(path->peer, now);
		shake_path_judge(path, now);
	}
	if (shake_plpmtu_acked(&path->plpmtu, body.echo, body.seen, now))
		shake_mtu_doubt(path, now);
	shake_let_go(path->peer, now);
	return shake_copies_told(path, &body, now);
}

/* The policy of its path that a leader tells. Under the peer's lock. */
static void policy_in(struct shake_link *link, const u8 *packet, u64 counter)
{
	struct shake_path *path = link->path;
	struct shake_policy policy;

	if (shake_is_leader(path->peer->d) || link != shake_link(path) ||
	    counter <= path->policy_at || !shake_policy_read(packet, &policy))
		return;
	path->policy_at = counter;
	shake_path_set_policy(path, &policy);
}

/* Whether a packet is one that the next pseudo-ACK may not tell of: a copy as a rule. */
static bool is_late(const struct shake_link *link, const struct arrival *a)
{
	return a->head.flags & SHAKE_COUNTED &&
	       a->counter + SHAKE_REPAIR_SEEN - SHAKE_ACK_PACKETS <= link->echo &&
	       link == shake_link(link->path);
}

/* Write a pseudo-ACK of a late packet; of others the next tells. Under the peer's lock. */
static bool late_in(struct shake_path *path, struct shake_way *way, u8 *packet,
		    const struct arrival *a)
{
	if (path->ack_due)
		shake_peer_wake(path->peer, path->ack_due, a->now);
	return shake_ack_take_late(path, way, packet, a->counter, a->now);
}

/* Take what a packet says, if it is new. Returns whether it is. */
static bool take_packet(struct shake_dev *d, struct arrival *a)
{
	u8 packet[SHAKE_ACK_OCTETS + SHAKE_TAG] __uninitialized;
	struct shake_way way __uninitialized, same __uninitialized;
	struct shake_link *link = a->link;
	struct shake_path *path = link->path;
	struct shake_peer *peer = path->peer;
	u32 length = a->skb->len;
	struct sk_buff *again = NULL;
	bool answer = false, came = false;

	spin_lock_bh(&peer->lock);
	a->now = shake_now();	/* under the lock: no other CPU has a later one */
	if (!shake_replay_check(&link->s.replay, a->counter)) {
		spin_unlock_bh(&peer->lock);
		return false;
	}
	shake_replay_update(&link->s.replay, a->counter);
	note_received(link, a, length);
	if (a->head.type == SHAKE_TYPE_ACK)
		again = ack_in(link, a->skb->data, length - shake_tag_octets(&link->s), a->now);
	if (a->head.flags & SHAKE_POLICY && a->head.type == SHAKE_TYPE_PROBE)
		policy_in(link, a->skb->data, a->counter);
	if (a->head.type == SHAKE_TYPE_PROBE && a->head.flags & SHAKE_CAME)
		shake_came_in(link, a->skb->data, a->now);
	if (again)
		shake_way_again(path, &same);
	if (a->head.type == SHAKE_TYPE_PROBE && a->head.flags & SHAKE_SIZED)
		came = shake_came_take(link, a->counter, &way, packet, a->now);
	else if (is_late(link, a))
		answer = late_in(path, &way, packet, a);
	else if (path->ack_due && path->ack_due <= a->now)
		answer = shake_ack_take(path, &way, packet, a->now);
	spin_unlock_bh(&peer->lock);
	if (answer)
		shake_ack_send(d, &way, packet);
	if (came)
		shake_send_sealed(d, &way, packet, SHAKE_SIZED_OCTETS);
	if (again)
		shake_send_copies(d, &same, again);
	if (a->head.type == SHAKE_TYPE_ACK)
		shake_release_held(peer);
	return true;
}

/* An index may have been somebody else's before a restart. */
static void doubt_sender(struct shake_dev *d, const struct arrival *a)
{
	struct shake_path *path = a->link->path;
	bool elsewhere;

	spin_lock_bh(&path->peer->lock);
	elsewhere = !shake_addr_equal(&path->to, &a->from);
	spin_unlock_bh(&path->peer->lock);
	if (elsewhere)
		shake_reset_send(d, &a->head, &a->from, &a->to);
}

/* Whether the tag stands in front of the inner packet. */
static bool is_in_front(const struct arrival *a)
{
	return a->link->s.auth && a->head.type == SHAKE_TYPE_DATA &&
	       !(a->head.flags & SHAKE_ENCRYPTED);
}

/*
 * Make the octets of what is not DATA in the clear linear, and ours if they are to be
 * decrypted.
 */
static bool make_linear(struct sk_buff *skb, const struct arrival *a)
{
	if (!a->link->s.auth)
		return true;
	if (is_in_front(a))
		return shake_own(skb);
	if (a->head.flags & SHAKE_ENCRYPTED && skb_cloned(skb) &&
	    pskb_expand_head(skb, 0, 0, GFP_ATOMIC))
		return false;
	return !skb_linearize(skb);
}

/* Check the tag, and decrypt what is encrypted. */
static enum shake_verdict open_packet(struct sk_buff *skb, const struct arrival *a)
{
	const struct shake_session *s = &a->link->s;
	u8 tag[SHAKE_TAG];

	if (!s->auth)
		return SHAKE_TAKEN;
	if (!is_in_front(a))
		return shake_open(s, a->counter, skb->data, skb->len,
				  a->head.flags & SHAKE_ENCRYPTED ? SHAKE_HEAD :
				  skb->len - SHAKE_TAG);
	shake_data_tag(skb, a->clear, s->receive, a->counter, tag);
	return shake_tag_compare(skb->data + a->clear, tag);
}

/* CONFIRM and READY, which make a session. */
static void final_in(struct shake_dev *d, const struct arrival *a)
{
	if (a->head.type == SHAKE_TYPE_READY)
		shake_ready_in(d, a->link, a->skb->data, a->skb->len);
	else
		shake_confirm_in(d, a->link, a->skb->data, a->skb->len, &a->from, &a->to);
	consume_skb(a->skb);
}

/* A packet of a session. */
static void session_in(struct shake_dev *d, struct arrival *a)
{
	struct sk_buff *skb = a->skb;
	enum shake_verdict verdict;
	struct shake_peer *peer;

	verdict = shake_head_read(skb->data, skb->len, &a->head);
	if (verdict) {
		refuse_packet(d, skb, verdict);
		return;
	}
	a->link = xa_load(&d->sessions, a->head.index);
	if (!a->link) {
		refuse_packet(d, skb, SHAKE_NO_SESSION);
		shake_reset_send(d, &a->head, &a->from, &a->to);
		return;
	}
	if (a->head.type <= SHAKE_TYPE_READY) {
		final_in(d, a);
		return;
	}
	if (!make_linear(skb, a)) {
		drop_received(d, skb, SHAKE_DROP_MEMORY);
		return;
	}
	/* another CPU may note a packet of this session just now; take_packet() looks again */
	peer = a->link->path->peer;
	spin_lock_bh(&peer->lock);
	verdict = shake_session_check(&a->link->s, &a->head, skb->len, &a->counter);
	spin_unlock_bh(&peer->lock);
	a->clear = shake_head_octets(a->head.flags);
	a->front = a->clear + (is_in_front(a) ? SHAKE_TAG : 0);
	if (!verdict)
		verdict = open_packet(skb, a);
	if (!verdict && a->head.flags & SHAKE_ENCRYPTED && a->clear > SHAKE_HEAD)
		a->head.mal = get_unaligned_be32(skb->data + SHAKE_HEAD);
	if (!verdict && !take_packet(d, a))
		verdict = SHAKE_REPLAYED;
	if (verdict == SHAKE_BAD_TAG)
		doubt_sender(d, a);
	if (verdict)
		refuse_packet(d, skb, verdict);
	else if (a->head.type == SHAKE_TYPE_DATA)
		deliver_inner(d, a);
	else
		consume_skb(skb);
}

/* --- the socket ---------------------------------------------------------------------------- */

static void read_outside(struct arrival *a)
{
	const struct udphdr *udp = udp_hdr(a->skb);

	if (ip_hdr(a->skb)->version == 4) {
		const struct iphdr *ip = ip_hdr(a->skb);

		a->from.v4.sin_family = AF_INET;
		a->from.v4.sin_addr.s_addr = ip->saddr;
		a->from.v4.sin_port = udp->source;
		a->to.v4.sin_family = AF_INET;
		a->to.v4.sin_addr.s_addr = ip->daddr;
		a->to.v4.sin_port = udp->dest;
		a->tos = ip->tos;
	} else {
		const struct ipv6hdr *ip = ipv6_hdr(a->skb);

		a->from.v6.sin6_family = AF_INET6;
		a->from.v6.sin6_addr = ip->saddr;
		a->from.v6.sin6_port = udp->source;
		a->from.v6.sin6_scope_id = ipv6_iface_scope_id(&ip->saddr, inet6_iif(a->skb));
		a->to.v6.sin6_family = AF_INET6;
		a->to.v6.sin6_addr = ip->daddr;
		a->to.v6.sin6_port = udp->dest;
		a->tos = ipv6_get_dsfield(ip);
	}
}

/* udp_sock::encap_rcv: takes every packet. */
int shake_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct shake_dev *d = rcu_dereference_sk_user_data(sk);
	struct arrival a = { .skb = skb };

	if (!d || !netif_running(d->dev)) {
		kfree_skb(skb);
		return 0;
	}
	skb_mark_not_on_list(skb);	/* UDP may have cut it from others */
	read_outside(&a);
	skb_pull_rcsum(skb, sizeof(struct udphdr));
	/* heads of data, and all that is none: an ACK, or the longest HELLO */
	if (!pskb_may_pull(skb, min_t(u32, skb->len, LONGEST_ACK)) ||
	    (shake_type_registers(shake_type_of(skb->data, skb->len)) &&
	     !pskb_may_pull(skb, min_t(u32, skb->len, SHAKE_HELLO_MOST)))) {
		drop_received(d, skb, SHAKE_DROP_MEMORY);
		return 0;
	}
	if (shake_type_registers(shake_type_of(skb->data, skb->len))) {
		shake_control_in(d, skb->data, skb->len, &a.from, &a.to);
		consume_skb(skb);
	} else if (shake_type_of(skb->data, skb->len) == SHAKE_TYPE_RESET) {
		shake_reset_in(d, skb->data, skb->len, &a.from);
		consume_skb(skb);
	} else {
		session_in(d, &a);
	}
	return 0;
}
