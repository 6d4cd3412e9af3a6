// SPDX-License-Identifier: GPL-2.0
/*
 * Upward: frames of the lower device into the machines, their segments into packets.
 */
#include <linux/etherdevice.h>

#include "events.h"
#include "udp.h"
#include "upward.h"

#define ARRIVED_MAX 1024	/* frames that wait for the next round */

/* Octets of a packet in one piece of memory, and of a longer one's beginning */
#define PACKET_LINEAR 8192
#define PACKET_HEAD 256

/* A frame waits for the round, its data being the PDU. */
void sscop_arrived(struct sscop_dev *d, struct sk_buff *skb)
{
	if (skb_queue_len_lockless(&d->arrived) >= ARRIVED_MAX) {
		DEV_STATS_INC(d->dev, rx_missed_errors);
		kfree_skb(skb);
		return;
	}
	skb_orphan(skb);	/* a sender on this host must not wait until it is delivered */
	spin_lock(&d->arrived.lock);	/* only used with bottom halves off */
	__skb_queue_tail(&d->arrived, skb);
	spin_unlock(&d->arrived.lock);
	napi_schedule(&d->napi);
}

/* The lower device's packet_type::func. */
int sscop_frame_in(struct sk_buff *skb, struct net_device *lower, struct packet_type *type,
		   struct net_device *orig)
{
	struct sscop_dev *d = container_of(type, struct sscop_dev, frames);
	const u8 *peer = d->settings.peer;

	/* It may be of another link on the same device. */
	if (!is_zero_ether_addr(peer) && !ether_addr_equal(eth_hdr(skb)->h_source, peer)) {
		atomic64_inc(&d->peer_stranger);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb->pkt_type == PACKET_OTHERHOST || skb->pkt_type == PACKET_LOOPBACK) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	sscop_arrived(d, skb);
	return NET_RX_SUCCESS;
}

/* --- from segments to packets ----------------------------------------------------------- */

static void break_packet(struct sscop_dev *d)
{
	sscop_drop_pieces(d);
	d->broken = true;
	d->packets_broken++;
	DEV_STATS_INC(d->dev, rx_errors);
}

static __be16 protocol_of(const struct sk_buff *skb)
{
	switch (skb->len ? skb->data[0] >> 4 : 0) {
	case 4:
		return htons(ETH_P_IP);
	case 6:
		return htons(ETH_P_IPV6);
	default:
		return 0;
	}
}

/* A buffer for @length octets, in pages if it is long: so much memory in one piece is
 * often not to be had at once.
 */
static struct sk_buff *new_packet(struct sscop_dev *d, u32 length)
{
	struct sk_buff *skb;
	int err;

	if (length <= PACKET_LINEAR) {
		skb = napi_alloc_skb(&d->napi, length);
		if (skb)
			skb_put(skb, length);
		return skb;
	}
	skb = alloc_skb_with_frags(NET_SKB_PAD + PACKET_HEAD, length - PACKET_HEAD,
				   PAGE_ALLOC_COSTLY_ORDER, &err, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_put(skb, PACKET_HEAD);
	skb->data_len = length - PACKET_HEAD;
	skb->len = length;
	return skb;
}

static void put_piece(struct sk_buff *packet, u32 at, const struct sk_buff *piece)
{
	if (skb_is_nonlinear(packet))
		skb_store_bits(packet, at, piece->data, piece->len);
	else
		memcpy(packet->data + at, piece->data, piece->len);
}

/* One packet of all pieces; NULL: no memory. */
static struct sk_buff *join_pieces(struct sscop_dev *d)
{
	struct sk_buff *packet = new_packet(d, d->octets);
	struct sk_buff *piece;
	u32 at = 0;

	while ((piece = __skb_dequeue(&d->pieces))) {
		if (packet)
			put_piece(packet, at, piece);
		at += piece->len;
		napi_consume_skb(piece, 1);
	}
	d->octets = 0;
	return packet;
}

/* @packet may be NULL: there was no memory. */
static void hand_up(struct sscop_dev *d, struct sk_buff *packet, struct sk_buff_head *up)
{
	if (!packet) {
		DEV_STATS_INC(d->dev, rx_dropped);
		return;
	}
	packet->protocol = protocol_of(packet);
	if (!packet->protocol) {
		d->rx_not_ip++;
		DEV_STATS_INC(d->dev, rx_errors);
		kfree_skb(packet);
		return;
	}
	packet->dev = d->dev;
	skb_reset_mac_header(packet);
	skb_reset_network_header(packet);
	dev_sw_netstats_rx_add(d->dev, packet->len);
	__skb_queue_tail(up, packet);
}

/* The next segment in order. */
static void take_piece(struct sscop_dev *d, struct sk_buff *skb, struct sk_buff_head *up)
{
	const struct sscop_cb *cb = sscop_cb(skb);

	if (cb->first && !skb_queue_empty(&d->pieces))
		break_packet(d);	/* its end is missing */
	if (cb->first)
		d->broken = false;
	else if (skb_queue_empty(&d->pieces) && !d->broken)
		break_packet(d);	/* its beginning is missing */
	if (!d->broken && d->octets + skb->len > READ_ONCE(d->dev->mtu))
		break_packet(d);
	if (d->broken) {
		kfree_skb(skb);
		return;
	}
	__skb_queue_tail(&d->pieces, skb);
	d->octets += skb->len;
	if (cb->last)
		hand_up(d, join_pieces(d), up);
}

/* A packet of a class, which is whole. */
static void take_datagram(struct sscop_dev *d, struct sk_buff *skb, struct sk_buff_head *up)
{
	struct sk_buff *packet;

	if (skb->len > READ_ONCE(d->dev->mtu)) {
		d->packets_broken++;
		DEV_STATS_INC(d->dev, rx_errors);
		kfree_skb(skb);
		return;
	}
	packet = new_packet(d, skb->len);
	if (packet)
		put_piece(packet, 0, skb);
	hand_up(d, packet, up);
	napi_consume_skb(skb, 1);
}

/* --- from frames to segments ------------------------------------------------------------ */

/* Whether a PDU comes from where the peer is. @set: the user said where. */
static bool is_from_peer(const struct sscop_dev *d, const struct sk_buff *skb, bool *set)
{
	if (!d->lower) {
		*set = sscop_udp_has_remote(&d->udp);
		return sscop_udp_is_from_peer(&d->udp, skb);
	}
	*set = !is_zero_ether_addr(d->settings.peer);
	return ether_addr_equal(eth_hdr(skb)->h_source, *set ? d->settings.peer : d->learned);
}

/* Whether a PDU may come from this address. The seal proves that the peer has made a PDU;
 * link control of others is heard only while there is no peer that could be disturbed.
 */
static bool may_be_peer(const struct sscop_dev *d, const struct sk_buff *skb, u8 type, u64 now)
{
	bool set, same = is_from_peer(d, skb, &set);

	if (d->lower && ether_addr_equal(eth_hdr(skb)->h_source, d->lower->dev_addr))
		return false;
	if (same || set)
		return same;
	return sscop_is_sealed(type) || d->s.state == SSCOP_BEGINNING || sscop_is_silent(d, now);
}

/* A PDU was taken, and by that its sender is the peer, or one who begins. */
static void learn(struct sscop_dev *d, const struct sk_buff *skb, u8 type)
{
	bool is_peer = type != SSCOP_BGN && type != SSCOP_BGREJ;

	if (!d->lower)
		sscop_udp_learn(&d->udp, skb, is_peer);
	else if (is_peer)
		ether_addr_copy(d->learned, eth_hdr(skb)->h_source);
}

/* Whether there is memory for a segment. The next one in order frees some. */
static bool may_store(const struct sscop_dev *d, const struct sscop_pdu *pdu)
{
	return d->stored < sscop_memory_most(d) ||
	       (pdu->type == SSCOP_SD && pdu->seq == d->s.rx.next);
}

/* Let the frame be the segment that the machines keep of an SD or UD. */
static void keep_segment(struct sk_buff *skb, const struct sscop_pdu *pdu)
{
	struct sscop_cb *cb = sscop_cb(skb);

	__skb_pull(skb, pdu->header);
	__skb_trim(skb, pdu->length);
	cb->first = pdu->first;
	cb->last = pdu->last;
}

/* Return: whether the machines have kept the frame. */
static bool take_frame(struct sscop_dev *d, struct sk_buff *skb, u64 now)
{
	struct sscop_pdu *pdu = &d->pdu;
	enum sscop_verdict verdict;

	verdict = sscop_decode(pdu, skb->data, skb->len, d->s.seal_in);
	if (verdict != SSCOP_TAKEN) {
		d->s.counts.dropped[verdict]++;
		return false;
	}
	if (!may_be_peer(d, skb, pdu->type, now)) {
		atomic64_inc(&d->peer_stranger);
		return false;
	}
	if (sscop_is_data(pdu->type)) {
		if (!may_store(d, pdu)) {
			DEV_STATS_INC(d->dev, rx_dropped);
			return false;
		}
		keep_segment(skb, pdu);
	}
	verdict = sscop_receive(&d->s, pdu, skb, now);
	if (verdict == SSCOP_TAKEN)
		learn(d, skb, pdu->type);
	if (verdict != SSCOP_TAKEN || !sscop_is_data(pdu->type))
		return false;
	d->stored += skb->truesize;
	return true;
}

/* The next frame that arrived. All that did are fetched together. */
static struct sk_buff *next_arrived(struct sscop_dev *d)
{
	if (skb_queue_empty(&d->fetched) && !skb_queue_empty_lockless(&d->arrived)) {
		spin_lock(&d->arrived.lock);
		skb_queue_splice_tail_init(&d->arrived, &d->fetched);
		spin_unlock(&d->arrived.lock);
	}
	return __skb_dequeue(&d->fetched);
}

/* Packets and segments that are in order by now */
static void deliver(struct sscop_dev *d, u64 now, struct sk_buff_head *up)
{
	struct sk_buff *skb;

	while ((skb = sscop_deliver_datagram(&d->s, now))) {
		d->stored -= skb->truesize;
		take_datagram(d, skb, up);
	}
	while ((skb = sscop_deliver(&d->s))) {
		d->stored -= skb->truesize;
		take_piece(d, skb, up);
	}
}

/* Take the frames that arrived, at most @budget, and put packets into @up. */
int sscop_take(struct sscop_dev *d, int budget, u64 now, struct sk_buff_head *up)
{
	struct sk_buff *skb;
	int taken = 0;

	deliver(d, now, up);	/* what has waited for long enough */
	while (taken < budget && (skb = next_arrived(d))) {
		taken++;
		if (skb_linearize(skb) || !take_frame(d, skb, now))
			napi_consume_skb(skb, budget);
		sscop_follow(d);
		deliver(d, now, up);
	}
	return taken;
}
