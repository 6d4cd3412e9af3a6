/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a device for who listens by generic netlink: netlink.h has the attributes. */
#ifndef _SHAKE_EVENTS_H
#define _SHAKE_EVENTS_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "device.h"
#include "netlink.h"

#define SHAKE_EVENTS 256	/* that wait for the next sending */

/**
 * struct shake_event - something became of a path or a peer
 * @cmd: SHAKE_CMD_PATH, SHAKE_CMD_PEER or SHAKE_CMD_MOVED
 * @path: its number; 0: the peer itself
 * @state: enum shake_path_state, now
 * @was: the same, before
 * @peer: its number
 * @lost: how many found no room behind it
 * @at: ns since boot, sleep included
 * @remote: where the path sends to
 */
struct shake_event {
	u8 cmd;
	u8 path;
	u8 state;
	u8 was;
	u32 peer;
	u32 lost;
	u64 at;
	union shake_addr remote;
};

/**
 * struct shake_events - events of a device that are not sent yet
 * @lock: over what follows; taken last
 * @ring: the events
 * @first: where the oldest is
 * @count: how many
 * @sent_at: jiffies, when events were sent last
 * @work: sends them
 */
struct shake_events {
	spinlock_t lock;	/* over what follows */
	struct shake_event ring[SHAKE_EVENTS];
	u32 first;
	u32 count;
	unsigned long sent_at;
	struct delayed_work work;
};

/* The same path's move that is not told yet, or NULL. Under the lock. */
static inline struct shake_event *shake_events_moved(struct shake_events *events,
						     const struct shake_event *event)
{
	struct shake_event *other;
	u32 i;

	for (i = 0; event->cmd == SHAKE_CMD_MOVED && i < events->count; i++) {
		other = &events->ring[(events->first + i) % SHAKE_EVENTS];
		if (other->cmd == SHAKE_CMD_MOVED && other->peer == event->peer &&
		    other->path == event->path)
			return other;
	}
	return NULL;
}

/*
 * Note an event, or that there was no room for it. A leader that moves with each packet takes no
 * room from others: only where it is at last is told. Under the lock.
 */
static inline void shake_events_put(struct shake_events *events, const struct shake_event *event)
{
	u32 last = (events->first + events->count - 1) % SHAKE_EVENTS;
	struct shake_event *before = shake_events_moved(events, event);

	if (before)
		before->remote = event->remote;
	else if (events->count < SHAKE_EVENTS)
		events->ring[(events->first + events->count++) % SHAKE_EVENTS] = *event;
	else
		events->ring[last].lost++;
}

/* Take the oldest event. Returns whether there is one. Under the lock. */
static inline bool shake_events_take(struct shake_events *events, struct shake_event *event)
{
	if (!events->count)
		return false;
	*event = events->ring[events->first];
	events->first = (events->first + 1) % SHAKE_EVENTS;
	events->count--;
	return true;
}

struct shake_path;

void shake_events_init(struct shake_events *events);
void shake_events_flush(struct shake_events *events);
void shake_event_state(struct shake_path *path);
void shake_event_moved(struct shake_path *path);
int shake_events_register(void);
void shake_events_unregister(void);

#endif /* _SHAKE_EVENTS_H */
