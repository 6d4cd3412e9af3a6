/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a simulation: a heap ordered by time, then by the order of insertion. Who
 * includes this has a struct event with `at` and `order`.
 */
#ifndef _SIMULATION_HEAP_H
#define _SIMULATION_HEAP_H

#include <stdlib.h>

static struct event *heap;
static size_t used, room;
static u64 added;

static bool sooner(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void sift_down(struct event event, size_t hole)
{
	size_t child;

	while ((child = 2 * hole + 1) < used) {
		if (child + 1 < used && sooner(&heap[child + 1], &heap[child]))
			child++;
		if (!sooner(&heap[child], &event))
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = event;
}

static void event_push(struct event event)
{
	size_t hole = used++, parent;
	struct event *grown;

	if (used > room) {
		room = room ? 2 * room : 4096;
		grown = realloc(heap, room * sizeof(*heap));
		if (!grown)
			abort();
		heap = grown;
	}
	event.order = added++;
	for (; hole; hole = parent) {
		parent = (hole - 1) / 2;
		if (!sooner(&event, &heap[parent]))
			break;
		heap[hole] = heap[parent];
	}
	heap[hole] = event;
}

static bool event_pop(struct event *event)
{
	if (!used)
		return false;
	*event = heap[0];
	used--;
	sift_down(heap[used], 0);
	return true;
}

#endif /* _SIMULATION_HEAP_H */
