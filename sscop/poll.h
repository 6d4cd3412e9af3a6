/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The round of work, and the end of it.
 */
#ifndef _SSCOP_POLL_H
#define _SSCOP_POLL_H

#include "state.h"

extern const struct sscop_owner sscop_owner;
int sscop_poll(struct napi_struct *napi, int budget);
enum hrtimer_restart sscop_timer(struct hrtimer *timer);
u32 sscop_end(struct sscop_dev *d);

#endif /* _SSCOP_POLL_H */
