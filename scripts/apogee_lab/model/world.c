// SPDX-License-Identifier: GPL-2.0
/* The time and the state of a simulation, with the path as it is without options. */
#include "world.h"

u64 model_now = NSEC_PER_SEC;	/* 0 means no time */
struct world world = {
	.path = { .rate = 10e6, .access_rate = 100e6, .rtt = 500 * NSEC_PER_MSEC,
		  .queue = 417, .ack_queue = 20, .window = 16000000 / MODEL_MSS },
	.seed = 1,
};
