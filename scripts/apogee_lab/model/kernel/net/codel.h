/* SPDX-License-Identifier: GPL-2.0 */
/* CoDel that drops nothing. */
#ifndef _TEST_NET_CODEL_H
#define _TEST_NET_CODEL_H

#include <linux/skbuff.h>
#include <linux/timer.h>

#define CODEL_SHIFT 10
#define MS2TIME(ms) ((u32)(((u64)(ms) * 1000000) >> CODEL_SHIFT))

typedef u32 codel_time_t;

struct codel_params {
	codel_time_t target;
	codel_time_t interval;
	u32 mtu;
	bool ecn;
};

struct codel_vars {
	u32 count;
};

struct codel_stats {
	u32 drop_count;
};

#define codel_get_time() ((codel_time_t)(fuzz_now * 1000 >> CODEL_SHIFT))
#define codel_params_init(params) ((void)(params))
#define codel_stats_init(stats) ((void)(stats))
#define codel_vars_init(vars) ((void)(vars))

#endif /* _TEST_NET_CODEL_H */
