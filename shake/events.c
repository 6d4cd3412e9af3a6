// SPDX-License-Identifier: GPL-2.0
/*
 * Events: a path's or a peer's state changed. Who joins the group "events" of the generic netlink
 * family "shake" is told, in the device's namespace.
 *
 * A state changes under its peer's lock, often in softirq. There it is only noted; a work item
 * sends, each 100 ms at most, what has been noted until then. What finds no room is counted in the
 * last one that did: a listener then asks for all states again.
 */
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <net/genetlink.h>

#include "events.h"

#define GAP (HZ / 10)	/* between sendings */

static const struct genl_multicast_group groups[] = {
	{ .name = SHAKE_GENL_EVENTS },
};

static struct genl_family family __ro_after_init = {
	.name = SHAKE_GENL_NAME,
	.version = SHAKE_GENL_VERSION,
	.maxattr = SHAKE_EVENT_MAX,
	.netnsok = true,
	.module = THIS_MODULE,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/* --- noted ---------------------------------------------------------------------------------- */

static void note_event(struct shake_dev *d, const struct shake_event *event)
{
	struct shake_events *events = &d->events;
	unsigned long since;

	spin_lock_bh(&events->lock);
	since = jiffies - events->sent_at;
	shake_events_put(events, event);
	schedule_delayed_work(&events->work, since < GAP ? GAP - since : 0);
	spin_unlock_bh(&events->lock);
}

static bool carries(enum shake_path_state state)
{
	return state == SHAKE_PATH_ALIVE || state == SHAKE_PATH_LOSSY;
}

/* A peer is alive while one of its paths is. */
static void peer_state(struct shake_peer *peer)
{
	struct shake_path *path;
	bool alive = false;

	shake_for_each_path(peer, path)
		alive = alive || carries(path->told);
	if (alive == peer->told)
		return;
	note_event(peer->d, &(struct shake_event){
		.cmd = SHAKE_CMD_PEER,
		.state = alive ? SHAKE_PATH_ALIVE : SHAKE_PATH_DEAD,
		.was = alive ? SHAKE_PATH_DEAD : SHAKE_PATH_ALIVE,
		.peer = peer->id,
		.at = ktime_get_boottime_ns(),
	});
	peer->told = alive;
}

static void path_event(struct shake_path *path, u8 cmd)
{
	enum shake_path_state state = shake_path_shown(path);

	note_event(path->peer->d, &(struct shake_event){
		.cmd = cmd,
		.path = path->settings.id,
		.state = state,
		.was = path->told,
		.peer = path->peer->id,
		.at = ktime_get_boottime_ns(),
		.remote = path->to,
	});
	path->told = state;
}

/* A path's state may have changed. Under the peer's lock. */
void shake_event_state(struct shake_path *path)
{
	if (shake_path_shown(path) == path->told)
		return;
	path_event(path, SHAKE_CMD_PATH);
	peer_state(path->peer);
}

/* The other end of a path has another address. Under the peer's lock. */
void shake_event_moved(struct shake_path *path)
{
	path_event(path, SHAKE_CMD_MOVED);
}

/* --- sent ----------------------------------------------------------------------------------- */

/* Returns the octets of a message's attributes, at most. */
static size_t size_of_event(void)
{
	return nla_total_size(IFNAMSIZ) + 3 * nla_total_size(sizeof(u32)) +
	       3 * nla_total_size(sizeof(u8)) + nla_total_size(sizeof(u16)) +
	       nla_total_size(sizeof(struct in6_addr)) + nla_total_size_64bit(sizeof(u64));
}

static bool bad_remote(struct sk_buff *skb, const union shake_addr *remote)
{
	switch (remote->any.sa_family) {
	case AF_INET:
		return nla_put_in_addr(skb, SHAKE_EVENT_REMOTE, remote->v4.sin_addr.s_addr) ||
		       nla_put_u16(skb, SHAKE_EVENT_PORT, ntohs(remote->v4.sin_port));
	case AF_INET6:
		return nla_put_in6_addr(skb, SHAKE_EVENT_REMOTE, &remote->v6.sin6_addr) ||
		       nla_put_u16(skb, SHAKE_EVENT_PORT, ntohs(remote->v6.sin6_port));
	}
	return false;
}

/* The device may be renamed meanwhile: its number says which one it is. */
static bool bad_event(struct sk_buff *skb, const struct shake_event *event,
		      const struct net_device *dev)
{
	char name[IFNAMSIZ];

	strscpy(name, dev->name, sizeof(name));
	return nla_put_u32(skb, SHAKE_EVENT_IFINDEX, dev->ifindex) ||
	       nla_put_string(skb, SHAKE_EVENT_IFNAME, name) ||
	       nla_put_u32(skb, SHAKE_EVENT_PEER, event->peer) ||
	       (event->path && nla_put_u8(skb, SHAKE_EVENT_PATH, event->path)) ||
	       nla_put_u8(skb, SHAKE_EVENT_STATE, event->state) ||
	       nla_put_u8(skb, SHAKE_EVENT_WAS, event->was) ||
	       bad_remote(skb, &event->remote) ||
	       nla_put_u64_64bit(skb, SHAKE_EVENT_AT, event->at, SHAKE_EVENT_PAD) ||
	       (event->lost && nla_put_u32(skb, SHAKE_EVENT_LOST, event->lost));
}

static void send_event(struct shake_dev *d, const struct shake_event *event)
{
	struct sk_buff *skb = genlmsg_new(size_of_event(), GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &family, 0, event->cmd);
	if (!head || bad_event(skb, event, d->dev)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&family, dev_net(d->dev), skb, 0, 0, GFP_KERNEL);
}

static bool take_event(struct shake_events *events, struct shake_event *event)
{
	bool found;

	spin_lock_bh(&events->lock);
	found = shake_events_take(events, event);
	if (found)
		events->sent_at = jiffies;
	spin_unlock_bh(&events->lock);
	return found;
}

static void send_all(struct shake_events *events)
{
	struct shake_dev *d = container_of(events, struct shake_dev, events);
	struct shake_event event;

	while (take_event(events, &event))
		if (genl_has_listeners(&family, dev_net(d->dev), 0))
			send_event(d, &event);
}

/* The device does not go to another namespace meanwhile: it would be stopped before. */
static void events_work(struct work_struct *work)
{
	send_all(container_of(to_delayed_work(work), struct shake_events, work));
}

void shake_events_init(struct shake_events *events)
{
	spin_lock_init(&events->lock);
	events->sent_at = jiffies - GAP;
	INIT_DELAYED_WORK(&events->work, events_work);
}

/* The device stops: send what is left. Nothing happens any more. */
void shake_events_flush(struct shake_events *events)
{
	cancel_delayed_work_sync(&events->work);
	send_all(events);
}

int shake_events_register(void)
{
	return genl_register_family(&family);
}

void shake_events_unregister(void)
{
	genl_unregister_family(&family);
}
