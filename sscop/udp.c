// SPDX-License-Identifier: GPL-2.0
/*
 * A link under UDP: PDUs are datagrams of a socket of the kernel. The ends need no common Ethernet,
 * and may be behind NAT, which POLLs keep open. With a remote address only what comes from there,
 * and from its port, is heard; without one the peer is learned as a hardware address is.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/route.h>

#include <compat/udp_tunnel.h>

#include "udp.h"

/* --- addresses ----------------------------------------------------------------------------- */

/* Of the link: IPv4 if nothing is said */
u16 sscop_udp_family(const struct sscop_udp *u)
{
	if (sscop_udp_has_remote(u))
		return u->remote.any.sa_family;
	return u->local.any.sa_family == AF_INET6 ? AF_INET6 : AF_INET;
}

static bool is_same(const union sscop_address *a, const union sscop_address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr &&
		       a->v4.sin_port == b->v4.sin_port;
	return ipv6_addr_equal(&a->v6.sin6_addr, &b->v6.sin6_addr) &&
	       a->v6.sin6_port == b->v6.sin6_port;
}

/* The sender of a datagram */
static void read_source(const struct sk_buff *skb, union sscop_address *source)
{
	const struct udphdr *udp = udp_hdr(skb);

	memset(source, 0, sizeof(*source));
	if (ip_hdr(skb)->version == 4) {
		source->v4.sin_family = AF_INET;
		source->v4.sin_addr.s_addr = ip_hdr(skb)->saddr;
		source->v4.sin_port = udp->source;
	} else {
		source->v6.sin6_family = AF_INET6;
		source->v6.sin6_addr = ipv6_hdr(skb)->saddr;
		source->v6.sin6_port = udp->source;
	}
}

static bool is_one_host(const union sscop_address *a)
{
	if (a->any.sa_family == AF_INET)
		return !ipv4_is_zeronet(a->v4.sin_addr.s_addr) &&
		       !ipv4_is_multicast(a->v4.sin_addr.s_addr) &&
		       !ipv4_is_lbcast(a->v4.sin_addr.s_addr);
	/* That of one link would need a device. */
	return !(ipv6_addr_type(&a->v6.sin6_addr) & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL)) &&
	       !ipv6_addr_any(&a->v6.sin6_addr);
}

/* Whether a link can be made of what a user gave. */
int sscop_udp_check(struct sscop_udp *u, struct netlink_ext_ack *extack)
{
	bool both = sscop_udp_has_remote(u) && u->local.any.sa_family != AF_UNSPEC;

	if (sscop_udp_has_remote(u) && !is_one_host(&u->remote)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "remote must be the address of one host, of no link's scope");
		return -EADDRNOTAVAIL;
	}
	if (both && u->local.any.sa_family != u->remote.any.sa_family) {
		NL_SET_ERR_MSG_MOD(extack, "local and remote must be of one family");
		return -EAFNOSUPPORT;
	}
	if (u->remote.any.sa_family == AF_INET)
		u->remote.v4.sin_port = htons(u->port);
	else
		u->remote.v6.sin6_port = htons(u->port);
	return 0;
}

/* --- who the peer is ----------------------------------------------------------------------- */

static const union sscop_address *peer_of(const struct sscop_udp *u)
{
	return sscop_udp_has_remote(u) ? &u->remote : &u->learned;
}

bool sscop_udp_is_from_peer(const struct sscop_udp *u, const struct sk_buff *skb)
{
	union sscop_address source;

	read_source(skb, &source);
	return is_same(&source, peer_of(u));
}

/* A PDU was taken: of the peer, or of one who begins. */
void sscop_udp_learn(struct sscop_udp *u, const struct sk_buff *skb, bool is_peer)
{
	read_source(skb, &u->asked);
	if (is_peer)
		u->learned = u->asked;
}

static union sscop_address *address_in(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(union sscop_address) > sizeof(skb->cb));
	return (union sscop_address *)skb->cb;
}

/* Where a PDU goes: to the peer, or to who began last if the peer is not known. */
void sscop_udp_address(const struct sscop_udp *u, struct sk_buff *skb, bool is_known)
{
	*address_in(skb) = is_known || sscop_udp_has_remote(u) ? *peer_of(u) : u->asked;
}

/* --- what leaves --------------------------------------------------------------------------- */

static struct dst_entry *route4(struct sscop_udp *u, const struct sock *sk,
				const union sscop_address *to, union sscop_address *from)
{
	struct flowi4 flow = {
		.flowi4_proto = IPPROTO_UDP,
		.daddr = to->v4.sin_addr.s_addr,
		.saddr = u->local.any.sa_family == AF_INET ? u->local.v4.sin_addr.s_addr : 0,
		.fl4_dport = to->v4.sin_port,
		.fl4_sport = htons(u->port),
	};
	struct rtable *rt = dst_cache_get_ip4(&u->dst, &from->v4.sin_addr.s_addr);

	if (rt)
		return &rt->dst;
	rt = ip_route_output_flow(u->net, &flow, sk);
	if (IS_ERR(rt))
		return NULL;
	from->v4.sin_addr.s_addr = flow.saddr;
	dst_cache_set_ip4(&u->dst, &rt->dst, flow.saddr);
	return &rt->dst;
}

static struct dst_entry *route6(struct sscop_udp *u, const struct sock *sk,
				const union sscop_address *to, union sscop_address *from)
{
	struct flowi6 flow = {
		.flowi6_proto = IPPROTO_UDP,
		.daddr = to->v6.sin6_addr,
		.fl6_dport = to->v6.sin6_port,
		.fl6_sport = htons(u->port),
	};
	struct dst_entry *dst = dst_cache_get_ip6(&u->dst, &from->v6.sin6_addr);

	if (dst)
		return dst;
	if (u->local.any.sa_family == AF_INET6)
		flow.saddr = u->local.v6.sin6_addr;
	dst = apogee_route6(u->net, sk, &flow);
	if (IS_ERR(dst))
		return NULL;
	from->v6.sin6_addr = flow.saddr;
	dst_cache_set_ip6(&u->dst, dst, &flow.saddr);
	return dst;
}

/* With bottom halves off. The caller has the route. */
static struct dst_entry *find_route(struct sscop_udp *u, const struct sock *sk,
				    const union sscop_address *to, union sscop_address *from)
{
	struct dst_entry *dst;

	if (to->any.sa_family != sscop_udp_family(u))
		return NULL;
	if (!is_same(to, &u->routed)) {
		dst_cache_reset(&u->dst);
		u->routed = *to;
	}
	dst = to->any.sa_family == AF_INET ? route4(u, sk, to, from) : route6(u, sk, to, from);
	if (dst)
		WRITE_ONCE(u->mtu, max(dst_mtu(dst), SSCOP_LOWER_MTU_MIN + u->head) - u->head);
	return dst;
}

/* Octets of a PDU that the route to the peer takes in one piece */
u32 sscop_udp_find_mtu(struct sscop_udp *u)
{
	union sscop_address from;
	struct dst_entry *dst;

	u->head = sizeof(struct udphdr) +
		  (sscop_udp_family(u) == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	u->mtu = ETH_DATA_LEN - u->head;
	local_bh_disable();
	dst = find_route(u, NULL, peer_of(u), &from);
	local_bh_enable();
	dst_release(dst);
	return u->mtu;
}

/* Send a PDU, by the one round, or behind it. A longer one than the route takes may be cut. */
void sscop_udp_send(struct sscop_dev *d, struct sk_buff *skb)
{
	union sscop_address to = *address_in(skb), from;
	bool other_net = !net_eq(d->udp.net, dev_net(d->dev));
	struct sock *sk = d->udp.sock->sk;
	struct dst_entry *dst = find_route(&d->udp, sk, &to, &from);

	if (!dst || dst->dev == d->dev) {	/* not through itself */
		dst_release(dst);
		kfree_skb(skb);
		return;
	}
	skb->dev = NULL;	/* UDP is not to count it */
	memset(skb->cb, 0, sizeof(skb->cb));
	if (to.any.sa_family == AF_INET) {
		apogee_tunnel_xmit4(dst, sk, skb, from.v4.sin_addr.s_addr,
				    to.v4.sin_addr.s_addr, 0, 0, htons(d->udp.port),
				    to.v4.sin_port, other_net, false);
		return;
	}
	skb_scrub_packet(skb, other_net);
	skb->ignore_df = true;
	apogee_tunnel_xmit6(dst, sk, skb, NULL, &from.v6.sin6_addr, &to.v6.sin6_addr, 0,
			    htons(d->udp.port), to.v6.sin6_port);
}
