/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets, which can be refused. */
#ifndef _TEST_COMPAT_UDP_TUNNEL_H
#define _TEST_COMPAT_UDP_TUNNEL_H

#include <linux/netdevice.h>

struct udp_port_cfg {
	u8 family;
	struct in_addr local_ip;
	struct in6_addr local_ip6;
	u16 local_udp_port;
	int bind_ifindex;
	bool ipv6_v6only;
	bool use_udp6_tx_checksums;
	bool use_udp6_rx_checksums;
};

struct udp_tunnel_sock_cfg {
	void *sk_user_data;
	u8 encap_type;
	int (*encap_rcv)(struct sock *sk, struct sk_buff *skb);
};

int udp_sock_create(struct net *net, const struct udp_port_cfg *port, struct socket **sock);

static inline void apogee_tunnel_setup(struct net *net, struct socket *sock,
				       const struct udp_tunnel_sock_cfg *tunnel)
{
	sock->sk.sk_user_data = net ? tunnel->sk_user_data : NULL;
	sock->sk.encap_rcv = tunnel->encap_rcv;
}

void apogee_tunnel_release(struct socket *sock);

#endif /* _TEST_COMPAT_UDP_TUNNEL_H */
