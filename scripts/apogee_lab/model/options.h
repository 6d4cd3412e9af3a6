/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_OPTIONS_H
#define _MODEL_OPTIONS_H

#include "world.h"

#define EVENTS_MOST	65536U

/* A change of the path during the run: --event T:KEY=VALUE. */
struct change {
	u64 at;
	char key[16];
	double value;
};

/* What is asked for, but the path and the flows, which are in `world`. */
struct options {
	double duration_s;
	double warmup_s;
	double spread_s;	/* below 0: one RTT */
	double series_s;	/* 0: none */
	u32 change_count;
	struct change changes[EVENTS_MOST];
};

extern struct options options;

void options_read(char **words);

#endif /* _MODEL_OPTIONS_H */
