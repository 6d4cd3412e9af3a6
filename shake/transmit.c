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

#include "internal.h"

#define NO_ROOM 1	/* octets of a route that has room for no packet, or of none */
#define TELL_LEAST 1000	/* octets: shorter packets cost a path 3 % and more of what it carries */
#define TELL_US (10 * USEC_PER_MSEC)	/* between senders that are told of a path's MTU */
#define PIN_US (10 * USEC_PER_SEC)	/* after so long a flow's path is chosen anew */
#define QUIET_US (250 * USEC_PER_MSEC)	/* heard before others by so much: perhaps dying */

/* --- the way ------------------------------------------------------------------------------- */

static bool is_in(const struct shake_path *path, enum shake_path_state state, bool all)
{
	return path->state == state && shake_link(path) && (all || !path->estimate.loss.out);
}

/* The rank of those paths in a state that come first. Under the peer's lock. */
static u32 first_rank(struct shake_peer *peer, enum shake_path_state state, bool all)
{
	struct shake_path *path;
	u32 least = U32_MAX;

	shake_for_each_path(peer, path)
		if (is_in(path, state, all))
			least = min(least, shake_policy_rank(&path->settings.policy));
	return least;
}

/*
 * Paths in a state that take a packet of that length; @all: also those that lose too much; @now:
 * none that has carried what it may, 0: also those. Under the peer's lock.
 */
static unsigned int usable(struct shake_peer *peer, enum shake_path_state state, bool all,
			   u32 length, u64 now, struct shake_choice *choices,
			   struct shake_path **paths)
{
	u32 rank = first_rank(peer, state, all), mtu;
	struct shake_path *path;
	unsigned int count = 0;

	shake_for_each_path(peer, path) {
		mtu = READ_ONCE(path->mtu);	/* route() writes it without the lock */
		if (!is_in(path, state, all) || (mtu && length > mtu) ||
		    !shake_plpmtu_takes(&path->plpmtu, length) ||
		    shake_policy_rank(&path->settings.policy) != rank ||
		    (now && shake_is_over(path, now)))
			continue;
		choices[count].est = &path->estimate;
		choices[count].weight = path->settings.weight;
		paths[count++] = path;
	}
	return count;
}

/*
 * Paths that may take a packet: dead ones only if none is alive, too narrow ones only if none
 * of the same state is wide enough, those that are left out only if no other is, and those that
 * have carried what they may only if the others have, too. Under the peer's lock.
 */
static unsigned int candidates(struct shake_peer *peer, u32 length, u64 now,
			       struct shake_choice *choices, struct shake_path **paths)
{
	/* Too narrow: the sender is told, or the packet is cut outside. */
	return usable(peer, SHAKE_PATH_ALIVE, false, length, now, choices, paths) ?:
	       usable(peer, SHAKE_PATH_ALIVE, false, length, 0, choices, paths) ?:
	       usable(peer, SHAKE_PATH_ALIVE, true, length, 0, choices, paths) ?:
	       usable(peer, SHAKE_PATH_ALIVE, true, 0, 0, choices, paths) ?:
	       /* A path that holds packets back during an outage delivers them afterwards. */
	       usable(peer, SHAKE_PATH_DEAD, true, length, 0, choices, paths) ?:
	       usable(peer, SHAKE_PATH_DEAD, true, 0, 0, choices, paths);
}

/*
 * Whether the packet may be cut to pieces outside. No sender makes IPv6's packets shorter than
 * 1280 octets (RFC 2473, 7.1): they are cut if they have to be.
 */
static bool may_fragment(const struct sk_buff *skb, u32 mtu)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		return skb->len <= IPV6_MIN_MTU && skb->len > mtu;
	return !(ip_hdr(skb)->frag_off & htons(IP_DF));
}

/*
 * The least MTU of a path that is used, if a packet of that length is too long for it and the
 * sender should know: if it never did, the path would carry none of its packets. 0: there is none.
 * A path that is very narrow would cost the others more than it brings. Under the peer's lock.
 */
static u32 narrowest(struct shake_peer *peer, const struct sk_buff *skb, u64 now)
{
	u32 least = skb->protocol == htons(ETH_P_IPV6) ? IPV6_MIN_MTU : TELL_LEAST;
	struct shake_path *path, *found = NULL;
	u32 rank = first_rank(peer, SHAKE_PATH_ALIVE, false);
	u32 mtu, narrow = skb->len;

	shake_for_each_path(peer, path) {
		mtu = min(READ_ONCE(path->mtu), path->bound);
		if (!is_in(path, SHAKE_PATH_ALIVE, false) || mtu < least || mtu >= narrow ||
		    (path->plpmtu.most && !path->plpmtu.done) ||
		    shake_policy_rank(&path->settings.policy) != rank)
			continue;
		narrow = mtu;
		found = path;
	}
	/* who is not told must not take the turn of who should be */
	if (!found || may_fragment(skb, narrow) || now - found->told_at < TELL_US)
		return 0;
	found->told_at = now;
	return narrow;
}

/*
 * The path for ACKs: the one that the leader named, unless others have been heard since for so
 * long that it may be dying. Then the one heard last. Under the peer's lock.
 */
static struct shake_path *ack_path(struct shake_peer *peer)
{
	struct shake_path *named = shake_path(peer, READ_ONCE(peer->ack_path));
	struct shake_path *path, *last = named;
	u64 quiet;

	if (!named || named->state != SHAKE_PATH_ALIVE || !shake_link(named))
		return NULL;
	shake_for_each_path(peer, path)
		if (path->state == SHAKE_PATH_ALIVE && shake_link(path) &&
		    path->heard_at > last->heard_at)
			last = path;
	quiet = max_t(u64, QUIET_US, 4 * named->usual_gap);	/* one not used is not dying */
	return last->heard_at - named->heard_at > quiet ? last : named;
}

/* How paths are chosen, as the user has set it. */
static struct shake_sched_config config_of(const struct shake_settings *settings)
{
	struct shake_sched_config config = settings->sched;

	config.even = READ_ONCE(settings->ack) != SHAKE_ACK_AUTO;
	return config;
}

/* The path that a flow is pinned to, if it may be taken and the flow has not slept. Locked. */
static struct shake_path *pinned(const struct shake_stream *stream, struct shake_path **paths,
				 unsigned int count, u64 now)
{
	unsigned int i;

	if (now - stream->used_at > PIN_US)
		return NULL;
	for (i = 0; i < count; i++)
		if (paths[i]->settings.id == stream->path)
			return paths[i];
	return NULL;
}

/* Leave out the path with this number. Returns how many are left. */
static unsigned int without(u8 id, struct shake_choice *choices, struct shake_path **paths,
			    unsigned int count)
{
	unsigned int i, left = 0;

	for (i = 0; i < count; i++) {
		if (paths[i]->settings.id == id)
			continue;
		choices[left] = choices[i];
		paths[left++] = paths[i];
	}
	return left;
}

/* @stream: pinned; NULL: not. @other: any path but this. Under the peer's lock. */
static struct shake_path *choose(struct shake_peer *peer, struct shake_stream *stream, u32 length,
				 bool small, u8 other, u64 now)
{
	struct shake_choice choices[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_path *paths[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_sched_config config;
	struct shake_path *path;
	unsigned int count;

	path = small ? ack_path(peer) : NULL;
	if (path)
		return path;
	count = candidates(peer, length, now, choices, paths);
	if (other)
		count = without(other, choices, paths, count);
	if (!count)
		return NULL;
	path = stream ? pinned(stream, paths, count, now) : NULL;
	if (!path && count == 1)
		path = paths[0];
	/* a short packet adds nothing to a queue, and should not take a long way to avoid one */
	config = config_of(&peer->d->settings);
	if (!path)
		path = paths[shake_sched_pick(&peer->sched, &config, choices, count, length,
					      length <= SHAKE_SMALL ? 0 :
					      READ_ONCE(peer->d->settings.queue), now)];
	if (stream) {
		stream->path = path->settings.id;
		stream->used_at = now;
	}
	return path;
}

/*
 * Whether packets would only wait elsewhere, or all paths have carried what they may. @trip
 * becomes the longest of the paths' least round trips, and @hold the time, in us, after which to
 * look again. Under the peer's lock.
 */
static bool is_full(struct shake_peer *peer, u32 bytes, u32 *trip, u32 *hold, u64 now)
{
	struct shake_choice choices[SHAKE_PATHS_MAX] __uninitialized;
	struct shake_path *paths[SHAKE_PATHS_MAX] __uninitialized;
	const struct shake_settings *settings = &peer->d->settings;
	struct shake_sched_config config = config_of(settings);
	unsigned int count, index;
	bool over;

	count = usable(peer, SHAKE_PATH_ALIVE, false, 0, now, choices, paths);
	over = !count;
	if (!count)
		count = usable(peer, SHAKE_PATH_ALIVE, false, 0, 0, choices, paths);
	over = over && count;
	if (!count)
		count = usable(peer, SHAKE_PATH_ALIVE, true, 0, 0, choices, paths);
	*trip = 0;
	*hold = SHAKE_HOLD_US;
	for (index = 0; index < count; index++) {
		*trip = max(*trip, shake_path_min_rtt(choices[index].est));
		*hold = min(*hold, shake_sched_look(choices[index].est));
	}
	return over || shake_sched_is_full(&config, choices, count, bytes,
					   READ_ONCE(settings->queue), now);
}

/* The same of an agent's leader, which is looked at again soon. */
bool shake_is_full(struct shake_peer *peer, u32 *trip)
{
	bool full;
	u32 hold;
	u64 now;

	spin_lock_bh(&peer->lock);
	now = shake_now();
	full = is_full(peer, peer->d->dev->mtu, trip, &hold, now);
	if (full)
		shake_peer_wake(peer, now + hold, now);
	spin_unlock_bh(&peer->lock);
	return full;
}

/* Stop the leader's queue if packets would only wait elsewhere. Under the peer's lock. */
static void hold_back(struct shake_peer *peer, u32 bytes, u64 now)
{
	struct shake_dev *d = peer->d;
	u32 trip, hold;

	if (is_full(peer, bytes, &trip, &hold, now)) {
		if (!netif_queue_stopped(d->dev)) {
			netif_stop_queue(d->dev);
			shake_count(d, SHAKE_HELD_BACK);
		}
		shake_peer_wake(peer, now + hold, now);
	} else if (netif_queue_stopped(d->dev)) {
		netif_wake_queue(d->dev);
	}
}

/* Let the leader's queue go on if there is room, or nothing to wait for. The same. */
void shake_let_go(struct shake_peer *peer, u64 now)
{
	if (shake_is_leader(peer->d) && netif_queue_stopped(peer->d->dev))
		hold_back(peer, peer->d->dev->mtu, now);
}

/* --- the route ----------------------------------------------------------------------------- */

/**
 * struct outside - the packet outside
 * @sk: socket
 * @dst: route, referenced
 * @mtu: longest inner packet of the route; another CPU may forget the path's meanwhile
 * @saddr4: address that is sent from
 * @saddr6: address that is sent from
 */
struct outside {
	struct sock *sk;
	struct dst_entry *dst;
	u32 mtu;
	__be32 saddr4;
	struct in6_addr saddr6;
};

/* The socket, or NULL if a leader's path has got one of the other family meanwhile. */
static struct sock *socket_of(struct shake_dev *d, const struct shake_way *way)
{
	struct socket *sock;
	struct sock *sk;

	if (shake_is_leader(d))
		sock = READ_ONCE(way->path->sock);
	else if (way->to.any.sa_family == AF_INET)
		sock = rcu_dereference_raw(d->sock4);
	else
		sock = rcu_dereference_raw(d->sock6);
	sk = sock ? sock->sk : NULL;
	return sk && sk->sk_family == way->to.any.sa_family ? sk : NULL;
}

static struct dst_entry *route4(const struct shake_way *way, struct outside *out,
				struct net *net)
{
	struct flowi4 flow = {
		.flowi4_oif = way->path ? way->path->ifindex : 0,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = way->to.v4.sin_addr.s_addr,
		.fl4_dport = way->to.v4.sin_port,
		.fl4_sport = inet_sk(out->sk)->inet_sport,
	};
	struct rtable *rt;

	rt = way->path ? dst_cache_get_ip4(&way->path->dst, &out->saddr4) : NULL;
	if (rt)
		return &rt->dst;
	if (way->from.any.sa_family == AF_INET)
		flow.saddr = way->from.v4.sin_addr.s_addr;
	rt = ip_route_output_flow(net, &flow, out->sk);
	if (IS_ERR(rt))
		return NULL;
	out->saddr4 = flow.saddr;
	if (way->path)
		dst_cache_set_ip4(&way->path->dst, &rt->dst, flow.saddr);
	return &rt->dst;
}

static struct dst_entry *route6(const struct shake_way *way, struct outside *out,
				struct net *net)
{
	struct flowi6 flow = {
		.flowi6_oif = way->to.v6.sin6_scope_id,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = way->to.v6.sin6_addr,
		.fl6_dport = way->to.v6.sin6_port,
		.fl6_sport = inet_sk(out->sk)->inet_sport,
	};
	struct dst_entry *dst;

	dst = way->path ? dst_cache_get_ip6(&way->path->dst, &out->saddr6) : NULL;
	if (dst)
		return dst;
	if (way->path && way->path->ifindex)
		flow.flowi6_oif = way->path->ifindex;
	if (way->from.any.sa_family == AF_INET6)
		flow.saddr = way->from.v6.sin6_addr;
	dst = apogee_route6(net, out->sk, &flow);
	if (IS_ERR(dst))
		return NULL;
	out->saddr6 = flow.saddr;
	if (way->path)
		dst_cache_set_ip6(&way->path->dst, dst, &flow.saddr);
	return dst;
}

/* A route that was cached while another CPU changed the address is not of that address. */
static void check_cached(const struct shake_way *way)
{
	struct shake_path *path = way->path;

	if (path && (!shake_addr_equal(&way->to, &path->to) ||
		     !shake_addr_equal(&way->from, &path->from)))
		dst_cache_reset(&path->dst);
}

/* The longest inner packet of a route, which may have no room for any. */
static u32 inner_mtu(const struct shake_dev *d, const struct shake_way *way,
		     const struct dst_entry *dst)
{
	u32 overhead = shake_overhead(d, way->to.any.sa_family);
	u32 mtu = dst_mtu(dst);

	return mtu > overhead ? mtu - overhead : NO_ROOM;
}

/* Find socket and route. Returns whether there are any; the caller drops out->dst. */
static bool route(struct shake_dev *d, const struct shake_way *way, struct outside *out)
{
	struct net *net = READ_ONCE(d->net);

	out->sk = socket_of(d, way);
	if (!out->sk || !net)
		return false;
	if (way->to.any.sa_family == AF_INET)
		out->dst = route4(way, out, net);
	else
		out->dst = route6(way, out, net);
	if (!out->dst)
		return false;
	check_cached(way);
	if (out->dst->dev == d->dev) {	/* the tunnel through itself */
		dst_release(out->dst);
		return false;
	}
	out->mtu = inner_mtu(d, way, out->dst);
	if (way->path) {
		WRITE_ONCE(way->path->mtu, out->mtu);
		out->mtu = min(out->mtu, READ_ONCE(way->path->bound));
	}
	return true;
}

/*
 * Hand a complete packet to UDP, which doesn't count it. Consumes the packet and the route.
 * Without a tag only UDP's checksum keeps damaged heads away.
 */
static void send(struct shake_dev *d, const struct shake_way *way, struct outside *out,
		 struct sk_buff *skb, u8 tos, bool df)
{
	bool other_net = !net_eq(READ_ONCE(d->net), dev_net(d->dev));

	skb->dev = NULL;
	if (way->to.any.sa_family == AF_INET) {
		apogee_tunnel_xmit4(out->dst, out->sk, skb, out->saddr4,
				    way->to.v4.sin_addr.s_addr, tos, df ? htons(IP_DF) : 0,
				    inet_sk(out->sk)->inet_sport, way->to.v4.sin_port,
				    other_net, d->settings.auth);
		return;
	}
	skb_scrub_packet(skb, other_net);
	skb->ignore_df = !df;
	apogee_tunnel_xmit6(out->dst, out->sk, skb, NULL, &out->saddr6,
			    (struct in6_addr *)&way->to.v6.sin6_addr, tos,
			    inet_sk(out->sk)->inet_sport, way->to.v6.sin6_port);
}

/* --- data ---------------------------------------------------------------------------------- */

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

static void add_frag(struct shake_tagger *t, const skb_frag_t *frag)
{
	u32 at, length, done;
	struct page *page;
	u8 *octets;

	skb_frag_foreach_page(frag, skb_frag_off(frag), skb_frag_size(frag), page, at, length,
			      done) {
		octets = kmap_local_page(page);
		shake_tag_add(t, octets + at, length);
		kunmap_local(octets);
	}
}

/**
 * shake_data_tag() - the tag of DATA in the clear
 * @skb: its data is the head, SHAKE_TAG octets and the inner packet; shake_own() has seen it
 * @head: octets of the head
 * @key: of the sender
 * @counter: of the packet
 * @tag: written; may be the octets behind the head
 */
void shake_data_tag(const struct sk_buff *skb, u32 head, const u8 *key, u64 counter, u8 *tag)
{
	struct shake_tagger t __uninitialized;	/* 0.5 kB that need no zeros first */
	u32 front = head + SHAKE_TAG;
	int i;

	shake_tag_begin(&t, key, counter);
	shake_tag_add(&t, skb->data, head);
	shake_tag_add(&t, skb->data + front, skb_headlen(skb) - front);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		add_frag(&t, &skb_shinfo(skb)->frags[i]);
	shake_tag_end(&t, tag);
}

/* Write head and tag. */
static void wrap(const struct parcel *parcel, const struct shake_way *way)
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
	return path->copies && shake_repairs(&path->peer->d->settings) && parcel->is_tcp &&
	       !parcel->segment.pure_ack && parcel->skb->len <= SHAKE_REPAIR_LONGEST;
}

/* Find a place for a copy, and tell of the packets before. Under the peer's lock. */
static void keep(struct shake_path *path, struct parcel *parcel, u32 counter, u64 now)
{
	struct shake_repair *repair = &path->copies->repair;
	u32 mtu = READ_ONCE(path->mtu);

	/* copies that the path has become too narrow for: none must be waited for */
	if (mtu && mtu < path->copies->mtu)
		shake_copies_purge(path);
	path->copies->mtu = mtu ?: path->copies->mtu;
	if (shake_repair_covers(repair))
		parcel->flags |= SHAKE_KEPT;
	parcel->kept = shake_repair_keep(repair, counter, path->estimate.rate, now,
					 &parcel->place);
}

/* What a packet is on the chosen path. Under the peer's lock. */
static void mark(struct shake_peer *peer, struct parcel *parcel, const struct shake_way *way,
		 bool small, u64 now)
{
	struct shake_path *path = way->path;
	u32 length = parcel->skb->len;

	if (parcel->is_tcp &&
	    shake_flows_sending(&peer->flows, &parcel->segment, path->settings.id,
				&parcel->m_al, now))
		parcel->flags |= SHAKE_MAL;
	if (!small) {
		parcel->flags |= SHAKE_COUNTED;
		if (wants_copy(path, parcel))
			keep(path, parcel, (u32)way->counter, now);
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
	path = choose(peer, parcel->pin, parcel->skb->len, small, parcel->twin, now);
	*cause = SHAKE_DROP_NO_PATH;
	if (path && parcel->skb->len > SHAKE_SMALL && !shake_is_leader(peer->d) &&
	    shake_is_over(path, now)) {
		*cause = SHAKE_DROP_LIMIT;
		path = NULL;
	}
	if (path)
		shake_way_again(path, way);
	if (!parcel->tell && !parcel->twin)
		parcel->tell = narrowest(peer, parcel->skb, now);
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
		       struct outside *out, enum shake_count *cause)
{
	int tries;

	for (tries = 0; tries < SHAKE_PATHS_MAX; tries++) {
		if (!find_way(peer, parcel, way, cause))
			return false;
		if (route(peer->d, way, out))
			return true;
		*cause = SHAKE_DROP_NO_ROUTE;
		if (READ_ONCE(way->path->mtu) == NO_ROOM)
			return false;	/* the others have none, either */
		WRITE_ONCE(way->path->mtu, NO_ROOM);
	}
	return false;
}

/*
 * A packet leaves: it gets its number and is counted. What was dropped before is not counted as
 * sent. If it does not, writes why.
 */
static bool leave(struct shake_peer *peer, struct parcel *parcel, struct shake_way *way,
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
		mark(peer, parcel, way, small, now);
		parcel->ack_path = shake_is_leader(peer->d) ? peer->ack_path : 0;
	}
	if (found && shake_is_leader(peer->d))
		hold_back(peer, parcel->skb->len, now);
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
	enum shake_count cause;
	struct shake_outside outside;
	struct outside out;

	if (!find_route(peer, parcel, &way, &out, &cause))
		goto drop;
	cause = SHAKE_DROP_TOO_BIG;
	outside.df = !may_fragment(skb, out.mtu);
	if (outside.df && skb->len > out.mtu) {
		if (!parcel->twin)
			too_big(skb, out.mtu);
		goto drop_route;
	}
	if (parcel->tell) {
		too_big(skb, parcel->tell);
		shake_count(d, SHAKE_MTU_TOLD);
	}
	cause = SHAKE_DROP_MEMORY;
	if (is_encrypted(d, &way.link->s))
		parcel->flags |= SHAKE_ENCRYPTED;
	if (!make_room(parcel, out.dst, way.link->s.auth) || !leave(peer, parcel, &way, &cause))
		goto drop_route;
	/* RFC 6040, 4.1, normal mode: the outside has the DSCP and ECN of the inside */
	outside.tos = ip_tunnel_get_dsfield(ip_hdr(skb), skb);
	udp_tunnel_handle_offloads(skb, false);
	wrap(parcel, &way);
	if (parcel->kept)
		shake_copies_put(&way, parcel->place, skb, &outside);
	send(d, &way, &out, skb, outside.tos, outside.df);
	parcel->path = way.path->settings.id;
	if (parcel->twin)
		shake_count(d, SHAKE_DUPLICATED);
	else
		dev_sw_netstats_tx_add(d->dev, 1, length);
	return;

drop_route:
	dst_release(out.dst);
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
static void unsack(struct parcel *parcel)
{
	const struct shake_segment *segment = &parcel->segment;
	struct sk_buff *skb = parcel->skb;

	if (!skb_ensure_writable(skb, segment->at + sizeof(struct tcphdr) + segment->options))
		shake_segment_unsack(skb->data, segment, skb->ip_summed != CHECKSUM_PARTIAL);
}

/* Look at what goes to TCP at the other end. Returns whether it goes on. */
static bool look_at(struct shake_peer *peer, struct parcel *parcel)
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
		unsack(parcel);
		return true;
	case SHAKE_PASS:
		break;
	}
	return true;
}

/*
 * Read the TCP segment in a packet whose data is an IP header. Headers are mostly linear, and
 * then nothing is copied.
 */
bool shake_segment_pull(struct sk_buff *skb, struct shake_segment *segment)
{
	u32 headers = min_t(u32, skb->len, SHAKE_TCP_HEADERS);

	if (shake_segment_read(skb->data, skb_headlen(skb), skb->len, segment))
		return true;
	return skb_headlen(skb) < headers && pskb_may_pull(skb, headers) &&
	       shake_segment_read(skb->data, skb_headlen(skb), skb->len, segment);
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

static struct shake_peer *peer_of(struct shake_dev *d, const struct sk_buff *skb)
{
	if (shake_is_leader(d))
		return shake_only_peer(d);
	if (skb->protocol == htons(ETH_P_IP))
		return shake_prefix_owner(d, AF_INET, &ip_hdr(skb)->daddr);
	return shake_prefix_owner(d, AF_INET6, &ipv6_hdr(skb)->daddr);
}

/* The longest packet that a living path is known to take; 0: one takes what its route does. */
static u32 widest(struct shake_peer *peer)
{
	struct shake_path *path;
	u32 most = 0, least = U32_MAX;

	spin_lock_bh(&peer->lock);
	shake_for_each_path(peer, path) {
		if (!is_in(path, SHAKE_PATH_ALIVE, true))
			continue;
		most = max(most, path->bound);
		if (path->bound >= READ_ONCE(path->mtu))
			least = 0;
	}
	spin_unlock_bh(&peer->lock);
	return min(most, least);
}

/* ip_do_fragment()'s output: a piece, which is not cut again. */
static int send_piece(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct shake_dev *d = shake_dev(skb->dev);
	struct shake_peer *peer = peer_of(d, skb);
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
static bool cut(struct shake_peer *peer, struct sk_buff *skb)
{
	u32 most;

	if (skb->len <= SHAKE_PLPMTU_LEAST || skb->protocol != htons(ETH_P_IP) ||
	    ip_hdr(skb)->frag_off & htons(IP_DF) || !skb_dst(skb))
		return false;
	most = widest(peer);
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
	if (cut(peer, parcel->skb))
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
static bool waits(struct shake_peer *peer, const struct parcel *parcel)
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
	if (parcel.is_tcp && !look_at(peer, &parcel)) {
		consume_skb(skb);
		return;
	}
	if (waits(peer, &parcel)) {
		shake_count(peer->d, SHAKE_HELD_BACK);
		/* the last one may have left since, and nobody look any more */
		if (shake_held_put(peer->held, skb))
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
	peer = peer_of(d, skb);
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

/* Send a copy, as it is. Under RCU, without locks. Consumes it. */
void shake_send_again(struct shake_dev *d, const struct shake_way *way, struct sk_buff *skb)
{
	const struct shake_outside outside = *(struct shake_outside *)skb->cb;
	struct outside out;

	if (!route(d, way, &out)) {
		kfree_skb(skb);
		return;
	}
	shake_count(d, SHAKE_REPAIR_SENT);
	memset(skb->cb, 0, sizeof(skb->cb));
	send(d, way, &out, skb, outside.tos, outside.df);
}

/* --- control ------------------------------------------------------------------------------- */

/* Send a packet of the tunnel's own. Under RCU, without locks. */
void shake_send_control(struct shake_dev *d, const struct shake_way *way, const u8 *packet,
			u32 length)
{
	struct sk_buff *skb;
	struct outside out;
	u32 front;

	if (!route(d, way, &out)) {
		shake_count(d, SHAKE_DROP_NO_ROUTE);
		return;
	}
	front = LL_RESERVED_SPACE(out.dst->dev) + out.dst->header_len + SHAKE_UDP_V6;
	skb = alloc_skb(front + length, GFP_ATOMIC);
	if (!skb) {
		shake_count(d, SHAKE_DROP_MEMORY);
		dst_release(out.dst);
		return;
	}
	skb_reserve(skb, front);
	skb_put_data(skb, packet, length);
	skb_reset_network_header(skb);
	skb_reset_inner_headers(skb);
	send(d, way, &out, skb, 0, true);
}
