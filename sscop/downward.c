// SPDX-License-Identifier: GPL-2.0
/*
 * Downward: packets are cut into SDs when the link can take them, and not before, so
 * that what waits does so in the queue of the upper device.
 *
 * An SD is one buffer with its link header. Each transmission is a clone of it, which the
 * lower device must not change; so the link header is written again, into a buffer that
 * nobody shares, only if an address has changed.
 */
#include <linux/etherdevice.h>

#include "device.h"

#define WAITING_MAX 2	/* packets taken from the queue above and not yet begun */
#define ROUND_MAX 64	/* frames sent per round */

/* --- octets under way in the lower device ------------------------------------------------ */

struct sscop_under_way *sscop_under_way_new(struct napi_struct *napi)
{
	struct sscop_under_way *under_way = kzalloc(sizeof(*under_way), GFP_KERNEL);

	if (!under_way)
		return NULL;
	if (!try_module_get(THIS_MODULE)) {
		kfree(under_way);
		return NULL;
	}
	atomic_set(&under_way->octets, 1);
	RCU_INIT_POINTER(under_way->napi, napi);
	return under_way;
}

/* Return: what is left. */
static int give_back(struct sscop_under_way *under_way, int octets)
{
	int left = atomic_sub_return(octets, &under_way->octets);

	if (!left) {
		kfree_rcu(under_way, rcu);
		module_put(THIS_MODULE);
	}
	return left;
}

/* The device no longer uses it. */
void sscop_under_way_put(struct sscop_under_way *under_way)
{
	RCU_INIT_POINTER(under_way->napi, NULL);
	synchronize_net();
	give_back(under_way, 1);
}

/* The lower device frees a frame. It may hold locks: only a round is scheduled here. */
static void frame_gone(struct sk_buff *skb)
{
	struct sscop_under_way *under_way = skb_shinfo(skb)->destructor_arg;
	int octets = skb_shinfo(skb)->tskey;
	int low = READ_ONCE(under_way->low);
	struct napi_struct *napi;
	int left;

	rcu_read_lock();
	napi = rcu_dereference(under_way->napi);
	left = give_back(under_way, octets);
	if (napi && left <= low && left + octets > low) {
		local_bh_disable();
		napi_schedule(napi);
		local_bh_enable();
	}
	rcu_read_unlock();
}

static bool has_room(const struct sscop_dev *d)
{
	return atomic_read(&d->under_way->octets) - 1 < (int)d->settings.backlog;
}

/* --- frames ------------------------------------------------------------------------------ */

/* An empty frame of @length octets behind the link header. All frames are alike to queues
 * and to devices with several of them, so that they stay in order.
 */
static struct sk_buff *new_frame(struct sscop_dev *d, u32 length, bool cloned)
{
	struct net_device *lower = d->lower;
	u32 room = LL_RESERVED_SPACE(lower);
	u32 size = room + length + lower->needed_tailroom;
	struct sk_buff *skb;

	skb = cloned ? alloc_skb_fclone(size, GFP_ATOMIC) : alloc_skb(size, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	skb->dev = lower;
	skb->protocol = htons(SSCOP_ETHERTYPE);
	skb_set_hash(skb, lower->ifindex, PKT_HASH_TYPE_L4);
#ifdef CONFIG_XPS
	skb->sender_cpu = 1;	/* not the sending CPU's queue */
#endif
	return skb;
}

static const u8 *peer_of(const struct sscop_dev *d)
{
	return is_zero_ether_addr(d->settings.peer) ? d->learned : d->settings.peer;
}

static bool push_link_header(struct sscop_dev *d, struct sk_buff *skb, const u8 *to)
{
	/* The device below may need more than when the frame was made. */
	if (skb_headroom(skb) < READ_ONCE(d->lower->hard_header_len))
		return false;
	return dev_hard_header(skb, d->lower, SSCOP_ETHERTYPE, to, NULL, skb->len) >= 0;
}

/* Link control is for any station until the peer is known. */
static const u8 *control_address(const struct sscop_dev *d)
{
	bool known = !is_zero_ether_addr(d->settings.peer) ||
		     d->s.state > SSCOP_BEGINNING;

	return known ? peer_of(d) : d->lower->broadcast;
}

static struct sk_buff *control_frame(struct sscop_dev *d, const struct sscop_output *output)
{
	struct sk_buff *skb = new_frame(d, output->length, false);

	if (!skb)
		return NULL;
	skb_put_data(skb, output->octets, output->length);
	if (push_link_header(d, skb, control_address(d)))
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* Write a kept SD's link header again. */
static bool renew_link_header(struct sscop_dev *d, struct sk_buff *sd)
{
	__skb_pull(sd, skb_network_offset(sd));
	if (skb_cow(sd, LL_RESERVED_SPACE(d->lower)))
		return false;
	sscop_cb(sd)->link_version = d->link_version;
	return push_link_header(d, sd, peer_of(d));
}

/* One transmission of an SD. */
static struct sk_buff *sd_frame(struct sscop_dev *d, struct sk_buff *sd)
{
	struct sk_buff *skb;

	if (unlikely(sscop_cb(sd)->link_version != d->link_version) &&
	    !renew_link_header(d, sd))
		return NULL;
	skb = skb_clone(sd, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_shinfo(sd)->destructor_arg = d->under_way;
	skb_shinfo(sd)->tskey = sd->len;
	atomic_add(sd->len, &d->under_way->octets);
	skb->destructor = frame_gone;
	return skb;
}

/* --- packets ----------------------------------------------------------------------------- */

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
	skb_queue_tail(&d->waiting, skb);
	if (skb_queue_len_lockless(&d->waiting) >= WAITING_MAX) {
		netif_stop_queue(dev);
		/* A round may have emptied it in between. */
		smp_mb__after_atomic();
		if (skb_queue_empty_lockless(&d->waiting))
			netif_start_queue(dev);
	}
	napi_schedule(&d->napi);
	return NETDEV_TX_OK;
drop:
	DEV_STATS_INC(dev, tx_dropped);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static u32 piece_limit(const struct sscop_dev *d)
{
	u32 mtu = max(READ_ONCE(d->lower->mtu), SSCOP_LOWER_MTU_MIN);

	return min(mtu - SSCOP_SHORT_HEADER, SSCOP_PAYLOAD_MAX);
}

/* Octets per SD of a packet of @packet octets, by the losses known to @losses. */
u32 sscop_piece(const struct sscop_dev *d, struct sscop_segment *losses, u32 packet)
{
	u32 limit = piece_limit(d);

	if (d->settings.segment)
		return min(d->settings.segment, limit);
	return sscop_segment_choose(losses, packet, SSCOP_OVERHEAD, limit);
}

/* Begin with the next packet. */
static bool begin_packet(struct sscop_dev *d)
{
	d->packet = skb_dequeue(&d->waiting);
	if (!d->packet)
		return false;
	d->cut = 0;
	d->piece = sscop_piece(d, &d->auto_segment, d->packet->len);
	if (skb_queue_empty_lockless(&d->waiting)) {
		smp_mb();	/* as in sscop_start_xmit() */
		if (netif_queue_stopped(d->dev))
			netif_wake_queue(d->dev);
	}
	return true;
}

static void end_packet(struct sscop_dev *d)
{
	dev_sw_netstats_tx_add(d->dev, 1, d->packet->len);
	consume_skb(d->packet);
	d->packet = NULL;
}

/* The next SD of the packet. */
static struct sk_buff *cut_piece(struct sscop_dev *d, u32 seq)
{
	u32 left = d->packet->len - d->cut;
	u32 length = min3(left, d->piece, piece_limit(d));
	u32 header = sscop_sd_header(length);
	struct sk_buff *sd = new_frame(d, header + length, true);
	struct sscop_cb *cb;

	if (!sd)
		return NULL;
	cb = sscop_cb(sd);
	cb->outgoing = true;
	cb->first = !d->cut;
	cb->last = length == left;
	cb->payload = length;
	cb->link_version = d->link_version;
	skb_put(sd, header + length);
	if (skb_copy_bits(d->packet, d->cut, sd->data + header, length))
		goto fail;
	sscop_encode_sd(sd->data, length, seq, cb->first, cb->last, d->s.seal_out);
	if (push_link_header(d, sd, peer_of(d)))
		return sd;
fail:
	kfree_skb(sd);
	return NULL;
}

/* Cut an SD, and give it to the machines. */
static struct sk_buff *new_sd(struct sscop_dev *d, u32 seq, u64 now)
{
	struct sk_buff *sd, *skb;

	if (!d->packet && !begin_packet(d))
		return NULL;
	sd = cut_piece(d, seq);
	if (!sd)
		return NULL;
	skb = sd_frame(d, sd);
	if (!skb) {
		kfree_skb(sd);
		return NULL;
	}
	sscop_sent(&d->s, sd, sd->len - skb_network_offset(sd), now);
	d->cut += sscop_cb(sd)->payload;
	if (sscop_cb(sd)->last)
		end_packet(d);
	return skb;
}

/* --- the machines' wishes ------------------------------------------------------------------ */

static struct sk_buff *next_frame(struct sscop_dev *d, u64 now)
{
	bool more = d->packet || !skb_queue_empty_lockless(&d->waiting);
	struct sscop_output output;
	struct sk_buff *skb = NULL;
	enum sscop_action action;

	action = sscop_next(&d->s, now, has_room(d), more, &output);
	switch (action) {
	case SSCOP_CONTROL:
		skb = control_frame(d, &output);
		break;
	case SSCOP_RESEND:
		skb = sd_frame(d, output.segment);
		break;
	case SSCOP_NEW:
		skb = new_sd(d, output.seq, now);
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

	while (skb_queue_len(down) < ROUND_MAX) {
		skb = next_frame(d, now);
		if (!skb)
			return false;
		__skb_queue_tail(down, skb);
	}
	return true;
}

void sscop_send(struct sk_buff_head *down)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(down)))
		dev_queue_xmit(skb);
}

/* Send link control at once. */
void sscop_send_control(struct sscop_dev *d, const struct sscop_output *output)
{
	struct sk_buff *skb = control_frame(d, output);

	if (skb)
		dev_queue_xmit(skb);
}
