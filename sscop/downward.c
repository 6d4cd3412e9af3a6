// SPDX-License-Identifier: GPL-2.0
/*
 * Downward: packets are cut into SDs when the link can take them, and not before, so
 * that what waits does so in the queue of the upper device.
 *
 * Of an SD the packet is kept, and where in it the piece lies. Each transmission is a
 * frame made anew, which the lower device may change.
 */
#include <linux/etherdevice.h>
#include <net/inet_sock.h>
#include <net/sch_generic.h>
#include <net/sock.h>

#include "above.h"
#include "below.h"
#include "classify.h"
#include "downward.h"
#include "events.h"
#include "piece.h"
#include "udp.h"

#define WAITING_MAX 2	/* packets taken from the queue above and not yet begun ... */
#define CLASSED_MAX 8	/* ... of a class */
#define ROUND_MAX 64	/* frames sent per round */
#define UDP_ROOM (MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* --- frames ------------------------------------------------------------------------------ */

/* A buffer for a frame that is sent at once. */
static struct sk_buff *new_buffer(u32 size)
{
	u32 whole = SKB_DATA_ALIGN(size) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data;

	if (whole > PAGE_SIZE)
		return alloc_skb(size, GFP_ATOMIC);
	data = napi_alloc_frag(whole);
	if (!data)
		return NULL;
	skb = napi_build_skb(data, whole);
	if (!skb)
		skb_free_frag(data);
	return skb;
}

/* An empty frame of @length octets behind the link header. All frames are alike to queues
 * and to devices with several of them, so that they stay in order.
 */
static struct sk_buff *new_frame(struct sscop_dev *d, u32 length)
{
	struct net_device *lower = d->lower;
	u32 room = lower ? LL_RESERVED_SPACE(lower) : UDP_ROOM;
	struct sk_buff *skb = new_buffer(room + length + (lower ? lower->needed_tailroom : 0));

	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	skb->dev = lower;
	skb->protocol = htons(SSCOP_ETHERTYPE);
	skb_set_hash(skb, (lower ?: d->dev)->ifindex, PKT_HASH_TYPE_L4);
#ifdef CONFIG_XPS
	skb->sender_cpu = 1;	/* not the sending CPU's queue */
#endif
	return skb;
}

/* Whether the peer is known, and cannot be another one. */
static bool is_peer_known(const struct sscop_dev *d)
{
	return !is_zero_ether_addr(d->settings.peer) ||
	       (d->s.state > SSCOP_BEGINNING && !sscop_is_silent(d, sscop_now()));
}

/* Until then link control is for any station. */
static const u8 *address_of(const struct sscop_dev *d, bool known)
{
	if (!known)
		return d->lower->broadcast;
	return is_zero_ether_addr(d->settings.peer) ? d->learned : d->settings.peer;
}

/* Say where a frame goes: to the peer, if it is known. */
static bool push_address(struct sscop_dev *d, struct sk_buff *skb, bool known)
{
	if (!d->lower) {
		sscop_udp_address(&d->udp, skb, known);
		return true;
	}
	/* The device below may need more than when the frame was made. */
	if (skb_headroom(skb) < READ_ONCE(d->lower->hard_header_len))
		return false;
	return dev_hard_header(skb, d->lower, SSCOP_ETHERTYPE, address_of(d, known), NULL,
			       skb->len) >= 0;
}

static struct sk_buff *control_frame(struct sscop_dev *d, const struct sscop_output *output)
{
	struct sk_buff *skb = new_frame(d, output->length);

	if (!skb)
		return NULL;
	skb_put_data(skb, output->octets, output->length);
	if (push_address(d, skb, is_peer_known(d)))
		return skb;
	kfree_skb(skb);
	return NULL;
}

static bool ends_packet(const struct sscop_kept *kept)
{
	return kept->at + kept->length == kept->packet->len;
}

/* A frame whose PDU has @length octets of a packet, from @at, behind a header yet to be written. */
static struct sk_buff *data_frame(struct sscop_dev *d, const struct sk_buff *packet, u32 at,
				  u32 header, u32 length)
{
	struct sk_buff *skb = new_frame(d, header + length);

	if (skb && skb_copy_bits(packet, at, (u8 *)__skb_put(skb, header + length) + header,
				 length)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* A PDU with data is whole. Return: its frame, NULL if that has no address. */
static struct sk_buff *data_below(struct sscop_dev *d, struct sk_buff *skb)
{
	if (!push_address(d, skb, true)) {
		kfree_skb(skb);
		return NULL;
	}
	sscop_put_below(d, skb);
	return skb;
}

/* One transmission of an SD. */
static struct sk_buff *sd_frame(struct sscop_dev *d, const struct sscop_kept *kept, u32 seq)
{
	struct sk_buff *skb = data_frame(d, kept->packet, kept->at, sscop_sd_header(kept->length),
					 kept->length);

	if (!skb)
		return NULL;
	sscop_encode_sd(skb->data, kept->length, seq, !kept->at, ends_packet(kept), d->s.seal_out);
	return data_below(d, skb);
}

/* One transmission of a packet of a class. */
static struct sk_buff *ud_frame(struct sscop_dev *d, const struct sk_buff *packet,
				const struct sscop_pdu *ud)
{
	struct sk_buff *skb = data_frame(d, packet, 0, sscop_ud_header(packet->len), packet->len);

	if (!skb)
		return NULL;
	sscop_encode_ud(skb->data, packet->len, ud, d->s.seal_out);
	return data_below(d, skb);
}

/* The machines no longer need an SD or UD. Return: whether it was one of the transmitter's. */
bool sscop_forget(struct sscop_dev *d, void *segment)
{
	struct sscop_kept *kept = segment;

	if (kept < d->kept || kept >= d->kept + sscop_kept_slots(d->s.tx.size))
		return false;
	if (kept->packet != d->packet && kept->packet != d->freed_last)
		d->freed++;
	d->freed_last = kept->packet;
	if (!skb_shared(kept->packet))
		WRITE_ONCE(d->held, d->held - kept->packet->truesize);
	consume_skb(kept->packet);
	kept->packet = NULL;
	return true;
}

/* --- packets ----------------------------------------------------------------------------- */

/* A packet may be read again after its owner has gone on: pages of its user, of a file, or
 * of a packet socket's ring are copied. Return: 0, or an error.
 */
static int own_data(struct sk_buff *skb)
{
	int err = skb_orphan_frags_rx(skb, GFP_ATOMIC);

	if (err || !skb_is_nonlinear(skb))
		return err;
	if (skb_has_shared_frag(skb) || (skb->sk && skb->sk->sk_family == PF_PACKET))
		return skb_linearize(skb);
	return 0;
}

static struct sscop_intake read_intake(const struct sscop_dev *d)
{
	return (struct sscop_intake){
		.rate = READ_ONCE(d->intake.rate),
		.most = READ_ONCE(d->intake.most),
	};
}

/* Whether it is of a TCP connection, which sends no more while its packets wait. */
static bool is_held_back(const struct sk_buff *skb)
{
	const struct sock *sk = skb_to_full_sk(skb);

	return sk && sk_is_tcp(sk);
}

/* A packet comes in. Other sockets do not wait for the device below to come back. */
static void put_waiting(struct sscop_dev *d, struct sk_buff *skb)
{
	u32 class = sscop_class_of(d, skb);

	if (!READ_ONCE(d->lower_up) && !is_held_back(skb))
		skb_orphan(skb);
	spin_lock_bh(&d->waiting.lock);
	WRITE_ONCE(d->came, d->came + skb->len);
	WRITE_ONCE(d->came_memory, d->came_memory + skb->truesize);
	if (class == SSCOP_ASSURED)
		__skb_queue_tail(&d->waiting, skb);
	else
		skb_queue_tail(&d->classed[class], skb);
	spin_unlock_bh(&d->waiting.lock);
}

/* What is known of the link by now */
static void renew_intake(struct sscop_dev *d)
{
	u64 rate = sscop_tx_is_clocked(&d->s) ? sscop_clock_rate(&d->s.clock) : 0;
	struct sscop_intake intake = sscop_intake(rate, sscop_clock_base(&d->s.clock));

	WRITE_ONCE(d->intake.rate, intake.rate);
	WRITE_ONCE(d->intake.most, intake.most);
	if (!READ_ONCE(d->above.fq.backlog))
		return;
	spin_lock_bh(&d->above.fq.lock);
	sscop_above_know(&d->above, rate, sscop_clock_base(&d->s.clock),
			 sscop_clock_takes(&d->s.clock, d->dev->mtu), d->dev->mtu);
	spin_unlock_bh(&d->above.fq.lock);
}

/* A frame is sent. */
static void count_sent(struct sscop_dev *d, u32 octets, u64 now)
{
	WRITE_ONCE(d->intake_at, sscop_intake_sent(d->intake, d->intake_at, octets, now));
}

/* Whether the link has been silent for longer than what waits takes, and there is memory. */
static bool may_take_in(const struct sscop_dev *d, u64 now)
{
	u32 memory = READ_ONCE(d->came_memory) - READ_ONCE(d->begun_memory);

	return READ_ONCE(d->held) + memory < sscop_memory_most(d) &&
	       sscop_intake_may(read_intake(d), READ_ONCE(d->intake_at),
				READ_ONCE(d->came) - READ_ONCE(d->begun), now);
}

/* Whether one more packet of any class may wait. */
static bool may_classed_wait(const struct sscop_dev *d)
{
	return skb_queue_len_lockless(&d->classed[SSCOP_UNASSURED]) < CLASSED_MAX &&
	       skb_queue_len_lockless(&d->classed[SSCOP_BOUNDED]) < CLASSED_MAX;
}

/*
 * Whether one more packet may wait here. The queue above is emptied when the carrier goes:
 * while the device below is down its packets are kept here, as are SDs.
 */
bool sscop_may_wait(const struct sscop_dev *d)
{
	u32 most = WAITING_MAX;

	if (!READ_ONCE(d->lower_up))
		most = max_t(u32, READ_ONCE(d->dev->tx_queue_len), most);
	return may_classed_wait(d) &&
	       (skb_queue_len_lockless(&d->waiting) < most || may_take_in(d, sscop_now()));
}

/* Packets of the own queue above come in, as far as they may, behind @skb if there is one. */
void sscop_follow_above(struct sscop_dev *d, struct sk_buff *skb)
{
	spin_lock_bh(&d->above.fq.lock);
	if (skb)
		sscop_above_put(&d->above, skb);
	while (sscop_may_wait(d) && (skb = sscop_above_next(&d->above)))
		put_waiting(d, skb);
	spin_unlock_bh(&d->above.fq.lock);
}

/* Whether a queueing discipline keeps packets. */
static bool has_qdisc(struct net_device *dev)
{
	return rcu_dereference_bh(netdev_get_tx_queue(dev, 0)->qdisc)->enqueue;
}

/* A packet of a queueing discipline comes in, which is told to wait. */
static void take_in(struct sscop_dev *d, struct sk_buff *skb)
{
	put_waiting(d, skb);
	if (sscop_may_wait(d))
		return;
	netif_stop_queue(d->dev);
	/* In between, a round may have begun packets, or the device below gone down. */
	smp_mb__after_atomic();
	if (sscop_may_wait(d))
		netif_start_queue(d->dev);
}

netdev_tx_t sscop_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);

	if (!skb->len ||
	    (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6))) {
		atomic64_inc(&d->tx_not_ip);
		goto drop;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		goto drop;
	if (own_data(skb))
		goto drop;
	if (has_qdisc(dev))
		take_in(d, skb);
	else if (netif_carrier_ok(dev))
		sscop_follow_above(d, skb);
	else
		goto drop;
	napi_schedule(&d->napi);
	return NETDEV_TX_OK;
drop:
	DEV_STATS_INC(dev, tx_dropped);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* Whether there is something to cut. */
bool sscop_has_more(struct sscop_dev *d)
{
	if (d->packet)
		return true;
	if (skb_queue_empty_lockless(&d->waiting))
		return false;
	if (d->held < sscop_memory_most(d))
		return true;
	sscop_tx_close(&d->s);
	return false;
}

/* Let the queue above go on if there is nothing, or if more may come in. */
static void wake_above(struct sscop_dev *d, u64 now)
{
	if ((!skb_queue_empty_lockless(&d->waiting) && !may_take_in(d, now)) ||
	    !may_classed_wait(d))
		return;
	if (READ_ONCE(d->above.fq.backlog))
		sscop_follow_above(d, NULL);
	smp_mb();	/* as in take_in() */
	if (!netif_queue_stopped(d->dev))
		return;
	netif_wake_queue(d->dev);
	d->s.soon = true;	/* it hands over more behind this round */
}

/* A packet no longer waits; it is kept. */
static void count_begun(struct sscop_dev *d, const struct sk_buff *packet)
{
	WRITE_ONCE(d->begun, d->begun + packet->len);
	WRITE_ONCE(d->begun_memory, d->begun_memory + packet->truesize);
	WRITE_ONCE(d->held, d->held + packet->truesize);
}

/* Begin with the next packet. */
static bool begin_packet(struct sscop_dev *d, u64 now)
{
	d->packet = skb_dequeue(&d->waiting);
	if (!d->packet)
		return false;
	count_begun(d, d->packet);
	d->cut = 0;
	d->piece = sscop_piece(d, &d->auto_segment, d->packet->len);
	wake_above(d, now);
	return true;
}

/* A packet is sent, and only kept. Nobody else waits for it. */
static void release_owner(struct sscop_dev *d, struct sk_buff *packet)
{
	dev_sw_netstats_tx_add(d->dev, 1, packet->len);
	skb_orphan(packet);
	nf_reset_ct(packet);
}

/* The whole packet is in SDs, which keep it. */
static void end_packet(struct sscop_dev *d)
{
	release_owner(d, d->packet);
	consume_skb(d->packet);
	d->packet = NULL;
}

/* Cut an SD, and give it to the machines. */
static struct sk_buff *new_sd(struct sscop_dev *d, u32 seq, u64 now)
{
	struct sscop_kept *kept = &d->kept[seq & (d->s.tx.size - 1)];
	struct sk_buff *skb;

	if (!d->packet && !begin_packet(d, now))
		return NULL;
	kept->packet = d->packet;
	kept->at = d->cut;
	kept->length = min3(d->packet->len - d->cut, d->piece, sscop_piece_limit(d));
	skb = sd_frame(d, kept, seq);
	if (!skb)
		return NULL;
	skb_get(d->packet);
	sscop_sent(&d->s, kept, skb->len - skb_network_offset(skb), now);
	d->cut += kept->length;
	if (ends_packet(kept))
		end_packet(d);
	return skb;
}

/* --- classes ----------------------------------------------------------------------------- */

/* Tell the machines which classes have a packet. */
static void offer_classed(struct sscop_dev *d)
{
	bool memory = d->held < sscop_memory_most(d);
	u32 class;

	for (class = 0; d->s.classed && class < SSCOP_CLASSES; class++)
		d->s.classes[class].tx.offered =
			memory && !skb_queue_empty_lockless(&d->classed[class]);
}

/* What waits for a peer that does not know classes is assured. */
static void assure_classed(struct sscop_dev *d)
{
	struct sk_buff *skb;
	u32 class;

	for (class = 0; !d->s.classed && class < SSCOP_CLASSES; class++)
		while ((skb = skb_dequeue(&d->classed[class])))
			skb_queue_tail(&d->waiting, skb);
}

/* Send the next packet of a class, and give it to the machines. */
static struct sk_buff *new_ud(struct sscop_dev *d, const struct sscop_pdu *ud, u64 now)
{
	u32 slot = ud->class * SSCOP_CLASS_SLOTS + ud->packet % SSCOP_CLASS_SLOTS;
	struct sscop_kept *kept = &d->kept[d->s.tx.size + slot];
	struct sk_buff *packet = skb_peek(&d->classed[ud->class]);
	struct sk_buff *skb = packet ? ud_frame(d, packet, ud) : NULL;

	if (!skb)
		return NULL;
	skb_unlink(packet, &d->classed[ud->class]);
	count_begun(d, packet);
	release_owner(d, packet);
	*kept = (struct sscop_kept){ .packet = packet, .length = packet->len };
	sscop_datagram_sent(&d->s, ud->class, kept, packet->len, now);
	wake_above(d, now);
	return skb;
}

static struct sk_buff *next_ud(struct sscop_dev *d, const struct sscop_output *output, u64 now)
{
	const struct sscop_kept *kept = output->segment;

	return kept ? ud_frame(d, kept->packet, &output->ud) : new_ud(d, &output->ud, now);
}

/* --- the machines' wishes ------------------------------------------------------------------ */

static struct sk_buff *next_frame(struct sscop_dev *d, u64 now)
{
	bool more = sscop_has_more(d);
	struct sscop_output *output = &d->output;
	struct sk_buff *skb = NULL;
	enum sscop_room room = sscop_room_below(d);
	enum sscop_action action;

	offer_classed(d);
	if (room == SSCOP_FULL)
		room = sscop_await_room(d);
	if (room == SSCOP_FULL && sscop_waits(&d->s, more))
		sscop_budget_wait(&d->budget);
	action = sscop_next(&d->s, now, room, more, output);
	switch (action) {
	case SSCOP_CONTROL:
		skb = control_frame(d, output);
		if (skb)
			sscop_put_below(d, skb);
		break;
	case SSCOP_RESEND:
		skb = sd_frame(d, output->segment, output->seq);
		break;
	case SSCOP_NEW:
		skb = new_sd(d, output->seq, now);
		break;
	case SSCOP_DATAGRAM:
		skb = next_ud(d, output, now);
		break;
	case SSCOP_NOTHING:
		break;
	}
	d->starved = !skb && action != SSCOP_NOTHING;
	sscop_follow(d);
	return skb;
}

/* Put the frames that are to be sent now into @down.
 *
 * Return: whether there are more than one round sends.
 */
bool sscop_give(struct sscop_dev *d, u64 now, struct sk_buff_head *down)
{
	struct sk_buff *skb;

	sscop_look_below(d, now);
	renew_intake(d);
	d->s.soon = false;
	assure_classed(d);
	wake_above(d, now);
	while (skb_queue_len(down) < ROUND_MAX) {
		skb = next_frame(d, now);
		if (!skb)
			return false;
		count_sent(d, skb->len, now);
		__skb_queue_tail(down, skb);
	}
	return true;
}

/* Let a frame out. Return: whether the lower device refused it, or dropped another for it. */
static bool let_out(struct sscop_dev *d, struct sk_buff *skb)
{
	if (d->lower)
		return dev_queue_xmit(skb) != NET_XMIT_SUCCESS;
	sscop_udp_send(d, skb);
	return false;
}

/* Return: how many frames were refused. */
u32 sscop_send(struct sscop_dev *d, struct sk_buff_head *down)
{
	struct sk_buff *skb;
	u32 refused = 0;

	while ((skb = __skb_dequeue(down)))
		refused += let_out(d, skb);
	return refused;
}

/* Send link control at once. */
void sscop_send_control(struct sscop_dev *d, const struct sscop_output *output)
{
	struct sk_buff *skb;

	local_bh_disable();
	skb = control_frame(d, output);
	if (skb)
		let_out(d, skb);
	local_bh_enable();
}
