/* SPDX-License-Identifier: GPL-2.0 */
/* Events of a device for who listens by generic netlink: uapi.h has the attributes. */
#ifndef _SHAKE_EVENTS_H
#define _SHAKE_EVENTS_H

#include "state.h"

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

void shake_events_init(struct shake_events *events);
void shake_events_flush(struct shake_events *events);
void shake_event_state(struct shake_path *path);
void shake_event_moved(struct shake_path *path);
int shake_events_register(void);
void shake_events_unregister(void);

#endif /* _SHAKE_EVENTS_H */
