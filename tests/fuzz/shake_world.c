// SPDX-License-Identifier: GPL-2.0
/*
 * What stands in for overhead.c, choose.c, send.c, packet.c, copies.c, prefix.c and events.c of
 * shake/, for the kernel, and for the network.
 */
#include <compat/udp_tunnel.h>

#include <shake/choose.h>
#include <shake/copies.h>
#include <shake/events.h>
#include <shake/held.h>
#include <shake/order.h>
#include <shake/overhead.h>
#include <shake/packet.h>
#include <shake/path.h>
#include <shake/peer.h>
#include <shake/prefix.h>
#include <shake/release.h>
#include <shake/send.h>
#include <shake/soon.h>
#include <shake/settings.h>
#include <shake/sockets.h>
#include <shake/up.h>
#include <shake/wake.h>
#include <shake/way.h>

#include "shake_world.h"

struct world world;
u64 fuzz_now;
u64 fuzz_clock;
struct list_head shake_devices;
static struct rcu_head *dying;

/* --- the kernel ---------------------------------------------------------------------------- */

/* Other octets each time, and the same in every run. */
void get_random_bytes(void *to, size_t length)
{
	u8 *octets = to;

	world.random++;
	for (size_t i = 0; i < length; i++)
		octets[i] = (world.random >> 8 * (i % 4)) + i;
}

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	*head = (struct rcu_head){ .next = dying, .function = function };
	dying = head;
}

void fuzz_grace_period(void)
{
	while (dying) {
		struct rcu_head *head = dying;

		dying = head->next;
		head->function(head);
	}
}

struct net_device *__dev_get_by_name(struct net *net, const char *name)
{
	for (u8 i = 0; i < LINKS; i++)
		if (world.links[i].dev.net == net && !strcmp(world.links[i].dev.name, name))
			return &world.links[i].dev;
	return NULL;
}

int udp_sock_create(struct net *net, const struct udp_port_cfg *port, struct socket **sock)
{
	bool no_family = world.no_sockets == ONLY_IPV4 && port->family == AF_INET6;

	expect(net);
	world.refused |= no_family || world.no_sockets == REFUSED;
	if (world.no_sockets == REFUSED)
		return -EADDRINUSE;
	if (no_family)
		return -EAFNOSUPPORT;
	*sock = calloc(1, sizeof(**sock));
	expect(*sock);
	(*sock)->sk.family = port->family;
	(*sock)->sk.port = port->local_udp_port ?: htons(++world.port);
	return 0;
}

/*
 * Waits for all who use the socket: nobody finds it any more, and nothing is given to a path
 * that has none.
 */
void apogee_tunnel_release(struct socket *sock)
{
	struct shake_dev *d = sock->sk.sk_user_data;
	struct shake_path *path;

	might_sleep();
	expect(d->sock4 != sock && d->sock6 != sock);
	if (shake_is_leader(d))
		shake_for_each_path(world_peer(d), path) {
			expect(path->sock != sock);
			expect(path->sock || path->state == SHAKE_PATH_ABSENT);
		}
	kfree(sock);
}

/* Who has the key gets what was written. */
void gro_cells_receive(struct gro_cells *cells, struct sk_buff *skb)
{
	const struct shake_dev *d = container_of(cells, struct shake_dev, gro);

	expect(!d->settings.auth || (skb->len <= INNER_ROOM &&
				     !memcmp(skb->data, world.coming->inner, skb->len)));
	cells->received++;
	kfree_skb(skb);
}

/* --- noise.c -------------------------------------------------------------------------------- */

/* Nobody attacks these keys here: a group in which a public key is its secret is a fast one. */
bool __wrap_shake_public_of(u8 public[SHAKE_KEY], const u8 secret[SHAKE_KEY])
{
	memcpy(public, secret, SHAKE_KEY);
	return true;
}

bool __wrap_shake_shared_of(u8 shared[SHAKE_KEY], const u8 secret[SHAKE_KEY],
			    const u8 public[SHAKE_KEY])
{
	bool good = false;

	for (u32 i = 0; i < SHAKE_KEY; i++) {
		shared[i] = secret[i] ^ public[i];
		good |= public[i];
	}
	return good;
}

/* It would take long: it is done while no data waits. */
bool __wrap_shake_noise_dh(struct shake_noise *n, const u8 secret[SHAKE_KEY],
			   const u8 public[SHAKE_KEY])
{
	u8 shared[SHAKE_KEY];

	expect(!fuzz_locks_taken);
	if (!__wrap_shake_shared_of(shared, secret, public))
		return false;
	shake_noise_key(n, shared);
	return true;
}

/* --- overhead.c, prefix.c, copies.c, events.c --------------------------------------------- */

u32 shake_overhead(const struct shake_dev *d, sa_family_t family)
{
	return (family == AF_INET6 ? SHAKE_UDP_V6 : SHAKE_UDP_V4) + SHAKE_HEAD_MAL +
	       (d->settings.auth ? SHAKE_TAG : 0);
}

void shake_update_mtu(struct shake_dev *d)
{
	expect(d);
}

/* Nobody tries again before another event. */
bool schedule_delayed_work(struct delayed_work *work, unsigned long delay)
{
	struct shake_dev *d = container_of(work, struct shake_dev, retry);

	expect(d->dev->running && world.refused && delay);
	return true;
}

/* What is told is under the lock. */
void shake_event_state(struct shake_path *path)
{
	expect(path->peer->lock.taken);
	path->told = shake_path_shown(path);
}

void shake_event_moved(struct shake_path *path)
{
	shake_event_state(path);
}

bool shake_prefix_valid(const struct shake_prefix *prefix)
{
	return prefix;
}

int shake_prefix_own(struct shake_peer *peer, const struct shake_prefix *prefix,
		     struct netlink_ext_ack *extack)
{
	return peer && prefix && !extack ? 0 : -EEXIST;
}

bool shake_prefix_disown(struct shake_peer *peer, const struct shake_prefix *prefix)
{
	return peer && prefix;
}

/* 10.0.0.0/8 and what is not IPv4 are the leader's. */
struct shake_peer *shake_prefix_owner(struct shake_dev *d, u8 family, const void *address)
{
	if (family == AF_INET && *(const u8 *)address != 10)
		return NULL;
	return shake_peer_find(d, LEADER_ID);
}

void shake_copies_begin(struct shake_path *path, gfp_t gfp)
{
	(void)gfp;
	expect(!path->copies);
}

void shake_copies_end(struct shake_path *path)
{
	expect(!path->peer->lock.taken);
}

void shake_copies_free(struct shake_path *path)
{
	(void)path;
}

void shake_copies_purge(struct shake_path *path)
{
	expect(path->peer->lock.taken);
}

void shake_copies_expire(struct shake_path *path, u64 now)
{
	expect(path->peer->lock.taken && now);
}

struct sk_buff *shake_copies_told(struct shake_path *path, const struct shake_ack_body *ack,
				  u64 now)
{
	expect(path->peer->lock.taken && ack && now);
	return NULL;
}

void shake_send_copies(struct shake_dev *d, const struct shake_way *way, struct sk_buff *list)
{
	expect(d && way && !list);
}

/* --- order.c: what is numbered does not wait ------------------------------------------------ */

void shake_streams_init(struct shake_peer *peer)
{
	expect(!peer->orders);
}

void shake_order_take(struct shake_peer *peer, struct sk_buff *skb, u32 number)
{
	expect(number || !peer->lock.taken);
	shake_give(peer->d, skb);
}

void shake_orders_stop(struct shake_peer *peer)
{
	expect(!peer->orders);
}

void shake_orders_shutdown(struct shake_peer *peer)
{
	expect(!peer->orders);
}

void shake_orders_free(struct shake_peer *peer)
{
	expect(!peer->orders);
}

/* --- soon.c: no ACK waits -------------------------------------------------------------------- */

void shake_soon_init(struct shake_peer *peer)
{
	expect(peer->d);
}

bool shake_soon_take(struct shake_peer *peer, const struct shake_segment *s, struct sk_buff *skb,
		     u64 now)
{
	expect(!peer->lock.taken && s && skb && now);
	return false;
}

u64 shake_soon_due(struct shake_peer *peer, u32 *room, u64 now)
{
	expect(!peer->lock.taken && room && now);
	return U64_MAX;
}

void shake_soon_purge(struct shake_peer *peer)
{
	expect(!peer->lock.taken);
}

/* --- held.c: nothing is held back ---------------------------------------------------------- */

struct shake_held *shake_held_make(struct shake_dev *d)
{
	expect(d);
	return NULL;
}

void shake_held_free(struct shake_held *held)
{
	expect(!held);
}

void shake_held_purge(struct shake_held *held)
{
	expect(!held);
}

void shake_release_held(struct shake_peer *peer)
{
	expect(!peer->lock.taken && !peer->held);
}

/* --- choose.c, packet.c, send.c -------------------------------------------------------------- */

void shake_let_go(struct shake_peer *peer, u64 now)
{
	expect(peer->lock.taken && now);
}

bool shake_segment_pull(struct sk_buff *skb, struct shake_segment *segment)
{
	return shake_segment_read(skb->data, skb->len, skb->len, segment);
}

static void data_tag(const u8 *octets, u32 length, u32 head, const u8 *key, u64 counter, u8 *tag)
{
	struct shake_tagger t;

	shake_tag_begin(&t, key, counter);
	shake_tag_add(&t, octets, head);
	shake_tag_add(&t, octets + head + SHAKE_TAG, length - head - SHAKE_TAG);
	shake_tag_end(&t, tag);
}

void shake_data_tag(const struct sk_buff *skb, u32 head, const u8 *key, u64 counter, u8 *tag)
{
	data_tag(skb->data, skb->len, head, key, counter, tag);
}

/* The number of the link that an address of the leader is at. */
static u8 link_of(const union shake_addr *a)
{
	u8 number = a->any.sa_family == AF_INET ? ((const u8 *)&a->v4.sin_addr)[2] :
						  a->v6.sin6_addr.s6_addr[1];

	return number && number <= LINKS ? number : 1;
}

/* A port of either family: it stands at the same place. */
static u16 *port_of(union shake_addr *a)
{
	return a->any.sa_family == AF_INET ? &a->v4.sin_port : &a->v6.sin6_port;
}

static void set_port(union shake_addr *a, u16 port)
{
	*port_of(a) = htons(port);
}

static u16 get_port(const union shake_addr *a)
{
	return ntohs(a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

static void leaders_address(union shake_addr *a, u16 family, u8 link, u16 port)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	if (family == AF_INET) {
		memcpy(&a->v4.sin_addr, (u8[]){ 10, 0, link, 1 }, 4);
	} else {
		a->v6.sin6_addr.s6_addr[0] = 0xfd;
		a->v6.sin6_addr.s6_addr[1] = link;
	}
	set_port(a, port + world.links[link - 1].nat);
}

static void agents_address(union shake_addr *a, u16 family, u16 port)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	if (family == AF_INET)
		memcpy(&a->v4.sin_addr, (u8[]){ 10, 9, 9, 9 }, 4);
	else
		memset(&a->v6.sin6_addr, 0xfd, 16);
	set_port(a, port);
}

static struct socket *socket_of(struct shake_dev *d, const struct shake_way *way)
{
	struct socket *sock;

	if (!READ_ONCE(d->net))
		return NULL;
	if (shake_is_leader(d))
		sock = way->path->sock;
	else
		sock = way->to.any.sa_family == AF_INET ? d->sock4 : d->sock6;
	return sock && sock->sk.family == way->to.any.sa_family ? sock : NULL;
}

void shake_send_control(struct shake_dev *d, const struct shake_way *way, const u8 *packet,
			u32 length)
{
	struct frame f = { .length = length, .to = way->to, .to_agent = shake_is_leader(d) };
	struct socket *sock = socket_of(d, way);
	struct link *link;

	expect(!way->path || !way->path->peer->lock.taken);
	expect(!d->guard_lock.taken);
	expect(length <= FRAME_ROOM);
	memcpy(f.octets, packet, length);
	memcpy(f.inner, world.inner, INNER_ROOM);
	world_sent(d, way, &f);
	world.sent++;
	if (!sock || slab_refuses) {
		shake_count(d, sock ? SHAKE_DROP_MEMORY : SHAKE_DROP_NO_ROUTE);
		return;
	}
	f.link = f.to_agent ? way->path->settings.id : link_of(&way->to);
	if (f.to_agent)
		leaders_address(&f.from, sock->sk.family, f.link, ntohs(sock->sk.port));
	else	/* it answers from where it was asked */
		f.from = way->from;
	link = &world.links[f.link - 1];
	f.at = fuzz_now + link->delay;
	if (!link->cut[f.to_agent] && world.flying < FLYING)
		world.frames[world.flying++] = f;
}

/* The inner packet. Returns its octets. */
static u32 write_inner(u8 *packet, u8 kind)
{
	static const u8 ip4[20] = { 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10,
				    0, 0, 2 };
	u32 length = kind & 1 ? 40 : 20;

	memset(packet, 0, INNER_ROOM);
	if (kind & 2) {		/* IPv6 without anything behind */
		packet[0] = 0x60;
		packet[6] = 59;
		return 40 - (kind & 1);
	}
	memcpy(packet, ip4, sizeof(ip4));
	if (length == 40) {
		packet[3] = 40;
		packet[9] = 6;
		packet[32] = 0x50;
		packet[33] = 0x10;
	}
	if (kind & 4)
		packet[12] = 11;	/* not the leader's source */
	if (kind & 8)
		packet[0] = kind;	/* any octet, no version mostly */
	return length;
}

/* As send_packet() of transmit.c does it, by this path, for any inner packet. */
void world_send_data(struct shake_path *path, struct input *in)
{
	u8 octets[FRAME_ROOM], kind = next8(in), flags = next8(in), *inner;
	struct shake_peer *peer = path->peer;
	struct shake_head head = { .type = SHAKE_TYPE_DATA, .mal = kind };
	struct shake_dev *d = peer->d;
	u32 clear, front, length;
	struct shake_way way;
	struct shake_session *s;
	bool found;

	spin_lock_bh(&peer->lock);
	found = shake_way_take(path, &way, fuzz_now);
	s = &way.link->s;
	head.flags = flags & (SHAKE_COUNTED | SHAKE_MAL | SHAKE_RETRANSMIT | SHAKE_KEPT |
			      (s->auth ? SHAKE_UNSUMMED : 0));
	if (!(head.flags & SHAKE_MAL))
		head.flags |= flags & SHAKE_NUMBERED;
	if (s->encrypt || (s->auth && d->settings.encrypt))
		head.flags |= SHAKE_ENCRYPTED;
	head.index = s->peer_index;
	head.counter = (u32)way.counter;
	head.ack_path = shake_is_leader(d) ? peer->ack_path : 0;
	clear = shake_head_write(octets, &head);
	front = clear + (s->auth && !(head.flags & SHAKE_ENCRYPTED) ? SHAKE_TAG : 0);
	inner = octets + front;
	length = front + write_inner(inner, kind);
	memcpy(world.inner, inner, INNER_ROOM);
	if (found && head.flags & SHAKE_COUNTED)
		shake_way_count(&way, length + (head.flags & SHAKE_ENCRYPTED ? SHAKE_TAG : 0),
				fuzz_now);
	if (fuzz_now - peer->data_at > SHAKE_IDLE_US)
		shake_peer_wake(peer, fuzz_now, fuzz_now);
	peer->data_at = fuzz_now;
	spin_unlock_bh(&peer->lock);
	if (!found)
		return;
	if (head.flags & SHAKE_ENCRYPTED) {
		shake_seal(s, way.counter, octets, length, clear);
		length += SHAKE_TAG;
	} else if (s->auth) {
		data_tag(octets, length, clear, s->send, way.counter, octets + clear);
	}
	shake_send_control(d, &way, octets, length);
}

/* --- the network --------------------------------------------------------------------------- */

static struct sock *leaders_socket(const struct frame *f)
{
	u16 port = get_port(&f->to) - world.links[f->link - 1].nat;
	struct shake_path *path;

	shake_for_each_path(world_peer(world_dev(LEADER)), path)
		if (path->sock && ntohs(path->sock->sk.port) == port &&
		    path->sock->sk.family == f->to.any.sa_family)
			return &path->sock->sk;
	return NULL;
}

/* Let a frame come in. */
void world_deliver(const struct frame *f)
{
	bool v4 = f->to.any.sa_family == AF_INET;
	struct shake_dev *d = world_dev(f->to_agent);
	u32 front = v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	u8 octets[sizeof(struct ipv6hdr) + sizeof(struct udphdr) + FRAME_ROOM] = { 0 };
	struct iphdr *ip = (struct iphdr *)octets;
	struct ipv6hdr *ip6 = (struct ipv6hdr *)octets;
	struct udphdr *udp = (struct udphdr *)(octets + front);
	struct socket *sock = v4 ? d->sock4 : d->sock6;
	struct sock *sk = f->to_agent ? (sock ? &sock->sk : NULL) : leaders_socket(f);
	struct sk_buff *skb;

	if (!sk)
		return;
	if (v4) {
		octets[0] = 0x45;
		ip->saddr = f->from.v4.sin_addr.s_addr;
		ip->daddr = f->to.v4.sin_addr.s_addr;
		ip->tos = f->link;
	} else {
		octets[0] = 0x60;
		ip6->saddr = f->from.v6.sin6_addr;
		ip6->daddr = f->to.v6.sin6_addr;
	}
	udp->source = htons(get_port(&f->from));
	udp->dest = htons(get_port(&f->to));
	memcpy(octets + front + sizeof(*udp), f->octets, f->length);
	skb = fuzz_skb(octets, front + sizeof(*udp) + f->length);
	skb->transport = front;
	skb->data += front;
	skb->len -= front;
	skb->next = (struct sk_buff *)octets;	/* UDP cut it from others, which may have gone */
	world.coming = f;
	sk->encap_rcv(sk, skb);
	world.coming = NULL;
}

/* --- devices ------------------------------------------------------------------------------- */

/* As init_private() and shake_dev_init() of device.c do it. */
void world_boot(u8 who, bool auth)
{
	struct host *host = calloc(1, sizeof(*host));
	struct shake_dev *d;

	if (!host)
		__builtin_trap();
	d = &host->d;
	world.hosts[who] = host;
	host->dev.priv = d;
	host->dev.net = &world.nets[who];
	d->dev = &host->dev;
	d->net = &world.nets[who];
	shake_settings_init(&d->settings);
	d->settings.role = who == LEADER ? SHAKE_LEADER : SHAKE_AGENT;
	d->settings.id = LEADER_ID;
	d->settings.auth = auth;
	d->settings.encrypt = auth;
	if (who == LEADER)
		agents_address(&d->settings.remote, AF_INET, SHAKE_PORT_DEFAULT);
	d->refilled = jiffies - 2 * HZ;
	if (who == LEADER)
		expect(!PTR_ERR_OR_ZERO(shake_peer_make(d, LEADER_ID)));
	list_add(&d->list, &shake_devices);
}

void world_stop(u8 who)
{
	struct shake_dev *d = world_dev(who);
	struct shake_path *path;

	if (!d->dev->running)
		return;
	d->dev->running = false;
	if (who == LEADER)
		shake_for_each_path(world_peer(d), path)
			shake_path_close(path);
	else
		shake_agent_close(d);
	shake_peers_stop(d);
}

int world_open(u8 who)
{
	struct shake_dev *d = world_dev(who);
	struct shake_path *path;
	int err = 0;

	if (d->dev->running)
		return 0;
	d->dev->running = true;
	if (who == AGENT) {
		err = shake_agent_open(d);
	} else {
		netif_carrier_off(d->dev);
		shake_for_each_path(world_peer(d), path)
			shake_path_try(path);
	}
	if (err)
		world_stop(who);
	return err;
}

void world_remove(u8 who)
{
	struct host *host = world.hosts[who];

	world_stop(who);
	list_del(&host->d.list);
	shake_peers_free(&host->d);
	fuzz_grace_period();
	free(host);
	world.hosts[who] = NULL;
}

void world_begin(void)
{
	memset(&world, 0, sizeof(world));
	INIT_LIST_HEAD(&shake_devices);
	fuzz_now = 100 * USEC_PER_SEC;
	fuzz_clock = 0;
	slab_refuses = false;
	world.port = 40000;
	world.ns.rules = true;
	for (u8 who = LEADER; who <= AGENT; who++)
		world.nets[who].user_ns = &world.ns;
	for (u8 i = 0; i < LINKS; i++) {
		struct net_device *dev = &world.links[i].dev;

		snprintf(dev->name, sizeof(dev->name), "eth%u", i + 1);
		dev->ifindex = i + 1;
		dev->net = &world.nets[LEADER];
		dev->flags = IFF_UP;
		world.links[i].delay = 20 * USEC_PER_MSEC;
	}
}

void world_end(void)
{
	slab_refuses = false;
	world_remove(LEADER);
	world_remove(AGENT);
}
