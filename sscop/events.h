/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the machines report.
 */
#ifndef _SSCOP_EVENTS_H
#define _SSCOP_EVENTS_H

#include "state.h"

/* The pieces of a packet that is not complete. */
void sscop_drop_pieces(struct sscop_dev *d);
void sscop_follow_events(struct sscop_dev *d);

static inline void sscop_count_freed(struct sscop_dev *d)
{
	d->freed = 0;
	d->freed_last = NULL;
}

/* To be called after each step of the machines, with sscop_count_freed() before it. */
static inline void sscop_follow(struct sscop_dev *d)
{
	if (unlikely(d->s.events))
		sscop_follow_events(d);
	sscop_count_freed(d);
}

#endif /* _SSCOP_EVENTS_H */
