/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UDP tunnels: setup_udp_tunnel_sock() and udp_tunnel_sock_release() take a struct sock
 * from Linux 7.2 on, a struct socket before. udp_tunnel_xmit_skb() and
 * udp_tunnel6_xmit_skb() got the control buffer's flags as last argument in 6.16.
 * Routes of IPv6 were looked up through ipv6_stub while IPv6 could be a module, which
 * has a header of its own.
 */
#ifndef APOGEE_COMPAT_UDP_TUNNEL_H
#define APOGEE_COMPAT_UDP_TUNNEL_H

#include <net/ipv6.h>
#include <net/udp_tunnel.h>

#ifdef APOGEE_HAS_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#endif

#ifdef APOGEE_HAS_TUNNEL_SOCK
#define apogee_tunnel_sock(sock) ((sock)->sk)
#else
#define apogee_tunnel_sock(sock) (sock)
#endif

/* Prepare @sock for a tunnel. */
static inline void apogee_tunnel_setup(struct net *net, struct socket *sock,
				       struct udp_tunnel_sock_cfg *config)
{
	setup_udp_tunnel_sock(net, apogee_tunnel_sock(sock), config);
}

/* Close a tunnel's socket, and wait for all who use it: where it takes a struct sock, the kernel
 * doesn't wait.
 */
static inline void apogee_tunnel_release(struct socket *sock)
{
	udp_tunnel_sock_release(apogee_tunnel_sock(sock));
#ifdef APOGEE_HAS_TUNNEL_SOCK
	synchronize_net();
#endif
}

/* udp_tunnel_xmit_skb() without flags */
static inline void apogee_tunnel_xmit4(struct dst_entry *dst, struct sock *sk,
				       struct sk_buff *skb, __be32 from, __be32 to, u8 tos,
				       __be16 df, __be16 from_port, __be16 to_port,
				       bool other_net, bool nocheck)
{
	struct rtable *rt = container_of(dst, struct rtable, dst);
	u8 ttl = ip4_dst_hoplimit(dst);

#ifdef APOGEE_HAS_TUNNEL_FLAGS
	udp_tunnel_xmit_skb(rt, sk, skb, from, to, tos, ttl, df, from_port, to_port,
			    other_net, nocheck, 0);
#else
	udp_tunnel_xmit_skb(rt, sk, skb, from, to, tos, ttl, df, from_port, to_port,
			    other_net, nocheck);
#endif
}

/* udp_tunnel6_xmit_skb() without flags and label */
static inline void apogee_tunnel_xmit6(struct dst_entry *dst, struct sock *sk,
				       struct sk_buff *skb, struct net_device *dev,
				       struct in6_addr *from, struct in6_addr *to, u8 tos,
				       __be16 from_port, __be16 to_port)
{
	u8 ttl = ip6_dst_hoplimit(dst);

#ifdef APOGEE_HAS_TUNNEL_FLAGS
	udp_tunnel6_xmit_skb(dst, sk, skb, dev, from, to, tos, ttl, 0, from_port, to_port,
			     false, 0);
#else
	udp_tunnel6_xmit_skb(dst, sk, skb, dev, from, to, tos, ttl, 0, from_port, to_port,
			     false);
#endif
}

static inline struct dst_entry *apogee_route6(struct net *net, const struct sock *sk,
					      struct flowi6 *flow)
{
#ifdef APOGEE_HAS_IPV6_STUBS_H
	return ipv6_stub->ipv6_dst_lookup_flow(net, sk, flow, NULL);
#else
	return ip6_dst_lookup_flow(net, sk, flow, NULL);
#endif
}

#endif /* APOGEE_COMPAT_UDP_TUNNEL_H */
