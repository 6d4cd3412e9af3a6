// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of links under UDP: open while the link is up, and gone with their namespace.
 */
#include <linux/rtnetlink.h>
#include <linux/udp.h>

#include <compat/udp_tunnel.h>

#include "sockets.h"
#include "udp.h"
#include "upward.h"

static LIST_HEAD(links);	/* under RTNL */

/* udp_sock::encap_rcv: takes every datagram. */
static int receive(struct sock *sk, struct sk_buff *skb)
{
	struct sscop_dev *d = rcu_dereference_sk_user_data(sk);

	if (!d || !netif_running(d->dev)) {
		kfree_skb(skb);
		return 0;
	}
	skb_mark_not_on_list(skb);	/* UDP may have cut it from others */
	skb_scrub_packet(skb, true);
	__skb_pull(skb, sizeof(struct udphdr));
	sscop_arrived(d, skb);
	return 0;
}

/* --- the socket ---------------------------------------------------------------------------- */

int sscop_socket_open(struct sscop_dev *d)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = d,
		.encap_type = 1,
		.encap_rcv = receive,
	};
	struct sscop_udp *u = &d->udp;
	struct udp_port_cfg port = {
		.family = sscop_udp_family(u),
		.local_udp_port = htons(u->port),
		.ipv6_v6only = true,
		.use_udp6_tx_checksums = true,
		.use_udp6_rx_checksums = true,
	};
	int err;

	if (u->local.any.sa_family == AF_INET)
		port.local_ip = u->local.v4.sin_addr;
	else if (u->local.any.sa_family == AF_INET6)
		port.local_ip6 = u->local.v6.sin6_addr;
	err = udp_sock_create(u->net, &port, &u->sock);
	if (err == -EADDRINUSE)
		netdev_err(d->dev, "port %u is used by another link or program\n", u->port);
	if (err)
		return err;
	u->learned = (union sscop_address){ };
	u->asked = (union sscop_address){ };
	apogee_tunnel_setup(u->net, u->sock, &tunnel);
	return 0;
}

/* Nothing is sent any more. Afterwards nothing comes. */
void sscop_socket_close(struct sscop_dev *d)
{
	apogee_tunnel_release(d->udp.sock);
	d->udp.sock = NULL;
	dst_cache_reset_now(&d->udp.dst);
}

/* --- the namespace of the socket goes: so does the link ------------------------------------- */

void sscop_socket_register(struct sscop_dev *d)
{
	list_add(&d->udp.list, &links);
}

static void net_gone(struct net *net)
{
	struct sscop_dev *d, *next;
	LIST_HEAD(gone);

	rtnl_lock();
	list_for_each_entry_safe(d, next, &links, udp.list)
		if (d->udp.net == net)
			unregister_netdevice_queue(d->dev, &gone);
	unregister_netdevice_many(&gone);
	rtnl_unlock();
}

struct pernet_operations sscop_socket_net_ops = { .pre_exit = net_gone };
