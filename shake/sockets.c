// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of paths and of an agent: opened when there is what they need, closed when it goes.
 */
#include <linux/rtnetlink.h>

#include <compat/udp_tunnel.h>

#include "mtu.h"
#include "path.h"
#include "receive.h"
#include "sockets.h"

#define RETRY (5 * HZ)	/* between attempts to get a socket */

static int open_socket(struct shake_dev *d, struct udp_port_cfg *port, struct socket **sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = d,
		.encap_type = 1,
		.encap_rcv = shake_encap_rcv,
	};
	int err;

	if (!d->net)
		return -ENETDOWN;
	port->ipv6_v6only = true;
	port->use_udp6_tx_checksums = true;
	port->use_udp6_rx_checksums = true;
	err = udp_sock_create(d->net, port, sock);
	if (!err)
		apogee_tunnel_setup(d->net, *sock, &tunnel);
	return err;
}

/* The address that a path sends to. */
static void find_remote(const struct shake_path *path, union shake_addr *to)
{
	const struct shake_settings *settings = &path->peer->d->settings;

	*to = path->settings.remote;
	if (to->any.sa_family == AF_UNSPEC)
		*to = settings->remote;
	if (to->any.sa_family == AF_INET)
		to->v4.sin_port = htons(settings->port);
	else
		to->v6.sin6_port = htons(settings->port);
}

/* Find the device that a leader's path leaves by. Returns whether it is there and up. */
static bool find_device(struct shake_path *path)
{
	struct shake_dev *d = path->peer->d;
	struct net_device *dev;

	path->ifindex = 0;
	if (!path->settings.dev[0])
		return true;
	dev = d->net ? __dev_get_by_name(d->net, path->settings.dev) : NULL;
	if (!dev)
		return false;
	path->ifindex = dev->ifindex;
	return dev->flags & IFF_UP;
}

/* Let a leader's path register, if it can. Under RTNL; the device is up. */
int shake_path_open(struct shake_path *path)
{
	struct shake_peer *peer = path->peer;
	struct udp_port_cfg port = { };
	union shake_addr to;
	struct socket *sock;
	int err;

	find_remote(path, &to);
	if (path->sock || to.any.sa_family == AF_UNSPEC || !find_device(path))
		return 0;
	port.family = to.any.sa_family;
	port.bind_ifindex = path->ifindex;
	err = open_socket(peer->d, &port, &sock);
	if (err)
		return err;
	path->refused = 0;
	spin_lock_bh(&peer->lock);
	path->from = path->settings.local;
	path->to = to;
	dst_cache_reset(&path->dst);
	shake_mtu_forget(path);
	WRITE_ONCE(path->sock, sock);
	path->hello_at = 0;
	path->tries = 0;
	/* with a session from before: dead until it answers */
	shake_path_set_state(path, shake_link(path) ? SHAKE_PATH_DEAD : SHAKE_PATH_JOINING);
	spin_unlock_bh(&peer->lock);
	mod_timer(&peer->timer, jiffies);
	return 0;
}

/* A path that is up got no socket: open it later. Under RTNL. */
void shake_retry_later(struct shake_dev *d)
{
	schedule_delayed_work(&d->retry, RETRY);
}

/*
 * The same for one path of several: what it has no socket for, IPv6 that is off or a port, must
 * not stop the others. It is told once, and tried again.
 */
void shake_path_try(struct shake_path *path)
{
	struct shake_dev *d = path->peer->d;
	int err = shake_path_open(path);

	if (!err || !d->net)	/* without its namespace there is nothing to wait for */
		return;
	if (!path->refused)
		netdev_warn(d->dev, "path %u has no socket (error %d): it is tried again\n",
			    path->settings.id, err);
	shake_path_set_refused(path, err);
	shake_retry_later(d);
}

static int agent_socket(struct shake_dev *d, u8 family, struct socket __rcu **place)
{
	const union shake_addr *local = &d->settings.local;
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(d->settings.port),
	};
	struct socket *sock;
	int err;

	if (local->any.sa_family != AF_UNSPEC && local->any.sa_family != family)
		return 0;
	if (local->any.sa_family == AF_INET)
		port.local_ip = local->v4.sin_addr;
	else if (local->any.sa_family == AF_INET6)
		port.local_ip6 = local->v6.sin6_addr;
	err = open_socket(d, &port, &sock);
	if (!err)
		rcu_assign_pointer(*place, sock);
	return err;
}

/* Open an agent's sockets. Under RTNL. */
int shake_agent_open(struct shake_dev *d)
{
	int err = agent_socket(d, AF_INET, &d->sock4);

	if (err)
		return err;
	err = agent_socket(d, AF_INET6, &d->sock6);
	if (err == -EAFNOSUPPORT && d->settings.local.any.sa_family != AF_INET6)
		return 0;	/* a host without IPv6 */
	if (err)
		shake_agent_close(d);
	return err;
}

static void agent_release(struct socket __rcu **place)
{
	struct socket *sock = rtnl_dereference(*place);

	if (!sock)
		return;
	RCU_INIT_POINTER(*place, NULL);
	apogee_tunnel_release(sock);
}

void shake_agent_close(struct shake_dev *d)
{
	agent_release(&d->sock4);
	agent_release(&d->sock6);
}

/* --- devices that paths leave by ----------------------------------------------------------- */

/* A device is there and up: it may be the one that the path waits for. */
static void device_there(struct shake_path *path, const struct net_device *dev)
{
	if (netif_running(path->peer->d->dev) && !path->sock && dev->flags & IFF_UP &&
	    !strcmp(path->settings.dev, dev->name))
		shake_path_try(path);
}

static void device_event(struct shake_path *path, const struct net_device *dev,
			 unsigned long event)
{
	bool same = path->ifindex == dev->ifindex;

	switch (event) {
	case NETDEV_UP:
		device_there(path, dev);
		break;
	case NETDEV_UNREGISTER:
	case NETDEV_DOWN:
		if (same)
			shake_path_close(path);
		if (same && event == NETDEV_UNREGISTER)
			path->ifindex = 0;	/* another may get its number */
		break;
	case NETDEV_CHANGENAME:
		if (same)
			strscpy(path->settings.dev, dev->name, IFNAMSIZ);
		else
			device_there(path, dev);
		break;
	}
}

static int device_notified(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct shake_peer *peer;
	struct shake_path *path;
	struct shake_dev *d;

	list_for_each_entry(d, &shake_devices, list) {
		peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
		if (!peer || d->net != dev_net(dev))
			continue;
		shake_for_each_path(peer, path)
			if (path->settings.dev[0])
				device_event(path, dev, event);
	}
	return NOTIFY_DONE;
}

struct notifier_block shake_notifier = { .notifier_call = device_notified };

/* --- the namespace of the sockets goes ----------------------------------------------------- */

/* A route must not outlive its namespace. Under RTNL; nobody sends any more. */
static void forget_routes(struct shake_dev *d)
{
	struct shake_peer *peer;
	struct shake_path *path;
	unsigned long i;

	xa_for_each(&d->peers, i, peer)
		shake_for_each_path(peer, path)
			dst_cache_reset_now(&path->dst);
}

static void leave_net(struct shake_dev *d)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	struct shake_path *path;

	WRITE_ONCE(d->net, NULL);
	shake_agent_close(d);
	if (peer) {
		shake_for_each_path(peer, path)
			shake_path_close(path);
	}
	synchronize_net();
	forget_routes(d);
}

static void net_gone(struct net *net)
{
	struct shake_dev *d;

	rtnl_lock();
	list_for_each_entry(d, &shake_devices, list)
		if (d->net == net)
			leave_net(d);
	rtnl_unlock();
	rcu_barrier();	/* paths that were removed just before have routes, too */
}

struct pernet_operations shake_net_ops = { .pre_exit = net_gone };
