// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of the tunnel leave: a route, UDP.
 */
#include <net/ip.h>

#include <compat/udp_tunnel.h>

#include "copies.h"
#include "overhead.h"
#include "send.h"

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

static struct dst_entry *route4(const struct shake_way *way, struct shake_route *route,
				struct net *net)
{
	struct flowi4 flow = {
		.flowi4_oif = way->path ? way->path->ifindex : 0,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = way->to.v4.sin_addr.s_addr,
		.fl4_dport = way->to.v4.sin_port,
		.fl4_sport = inet_sk(route->sk)->inet_sport,
	};
	struct rtable *rt;

	rt = way->path ? dst_cache_get_ip4(&way->path->dst, &route->saddr4) : NULL;
	if (rt)
		return &rt->dst;
	if (way->from.any.sa_family == AF_INET)
		flow.saddr = way->from.v4.sin_addr.s_addr;
	rt = ip_route_output_flow(net, &flow, route->sk);
	if (IS_ERR(rt))
		return NULL;
	route->saddr4 = flow.saddr;
	if (way->path)
		dst_cache_set_ip4(&way->path->dst, &rt->dst, flow.saddr);
	return &rt->dst;
}

static struct dst_entry *route6(const struct shake_way *way, struct shake_route *route,
				struct net *net)
{
	struct flowi6 flow = {
		.flowi6_oif = way->to.v6.sin6_scope_id,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = way->to.v6.sin6_addr,
		.fl6_dport = way->to.v6.sin6_port,
		.fl6_sport = inet_sk(route->sk)->inet_sport,
	};
	struct dst_entry *dst;

	dst = way->path ? dst_cache_get_ip6(&way->path->dst, &route->saddr6) : NULL;
	if (dst)
		return dst;
	if (way->path && way->path->ifindex)
		flow.flowi6_oif = way->path->ifindex;
	if (way->from.any.sa_family == AF_INET6)
		flow.saddr = way->from.v6.sin6_addr;
	dst = apogee_route6(net, route->sk, &flow);
	if (IS_ERR(dst))
		return NULL;
	route->saddr6 = flow.saddr;
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

	return mtu > overhead ? mtu - overhead : SHAKE_NO_ROOM;
}

/* Find socket and route. Returns whether there are any; the caller drops route->dst. */
bool shake_find_route(struct shake_dev *d, const struct shake_way *way, struct shake_route *route)
{
	struct net *net = READ_ONCE(d->net);

	route->sk = socket_of(d, way);
	if (!route->sk || !net)
		return false;
	if (way->to.any.sa_family == AF_INET)
		route->dst = route4(way, route, net);
	else
		route->dst = route6(way, route, net);
	if (!route->dst)
		return false;
	check_cached(way);
	if (route->dst->dev == d->dev) {	/* the tunnel through itself */
		dst_release(route->dst);
		return false;
	}
	route->mtu = inner_mtu(d, way, route->dst);
	if (way->path) {
		WRITE_ONCE(way->path->mtu, route->mtu);
		route->mtu = min(route->mtu, READ_ONCE(way->path->bound));
	}
	return true;
}

/*
 * Hand a complete packet to UDP, which doesn't count it. Consumes the packet and the route.
 * Without a tag only UDP's checksum keeps damaged heads away.
 */
void shake_send_outside(struct shake_dev *d, const struct shake_way *way, struct shake_route *route,
			struct sk_buff *skb, u8 tos, bool df)
{
	bool other_net = !net_eq(READ_ONCE(d->net), dev_net(d->dev));

	skb->dev = NULL;
	if (way->to.any.sa_family == AF_INET) {
		apogee_tunnel_xmit4(route->dst, route->sk, skb, route->saddr4,
				    way->to.v4.sin_addr.s_addr, tos, df ? htons(IP_DF) : 0,
				    inet_sk(route->sk)->inet_sport, way->to.v4.sin_port,
				    other_net, d->settings.auth);
		return;
	}
	skb_scrub_packet(skb, other_net);
	skb->ignore_df = !df;
	apogee_tunnel_xmit6(route->dst, route->sk, skb, NULL, &route->saddr6,
			    (struct in6_addr *)&way->to.v6.sin6_addr, tos,
			    inet_sk(route->sk)->inet_sport, way->to.v6.sin6_port);
}

/* Send a copy. It may be cut: perhaps it was lost for its length. Consumes it. */
static void shake_send_again(struct shake_dev *d, const struct shake_way *way, struct sk_buff *skb)
{
	u8 tos = *(u8 *)skb->cb;
	struct shake_route route;

	if (!shake_find_route(d, way, &route)) {
		kfree_skb(skb);
		return;
	}
	shake_count(d, SHAKE_REPAIR_SENT);
	memset(skb->cb, 0, sizeof(skb->cb));
	shake_send_outside(d, way, &route, skb, tos, false);
}

/* Send a packet of the tunnel's own. Under RCU, without locks. */
void shake_send_control(struct shake_dev *d, const struct shake_way *way, const u8 *packet,
			u32 length)
{
	struct sk_buff *skb;
	struct shake_route route;
	u32 front;

	if (!shake_find_route(d, way, &route)) {
		shake_count(d, SHAKE_DROP_NO_ROUTE);
		return;
	}
	front = LL_RESERVED_SPACE(route.dst->dev) + route.dst->header_len + SHAKE_UDP_V6;
	skb = alloc_skb(front + length, GFP_ATOMIC);
	if (!skb) {
		shake_count(d, SHAKE_DROP_MEMORY);
		dst_release(route.dst);
		return;
	}
	skb_reserve(skb, front);
	skb_put_data(skb, packet, length);
	skb_reset_network_header(skb);
	skb_reset_inner_headers(skb);
	shake_send_outside(d, way, &route, skb, 0, true);
}

/* Send copies, a list. Under RCU, without locks. */
void shake_send_copies(struct shake_dev *d, const struct shake_way *way, struct sk_buff *list)
{
	struct sk_buff *skb, *next;

	skb_list_walk_safe(list, skb, next) {
		skb_mark_not_on_list(skb);
		shake_send_again(d, way, skb);
	}
}
