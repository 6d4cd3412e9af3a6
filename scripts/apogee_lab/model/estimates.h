/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_ESTIMATES_H
#define _MODEL_ESTIMATES_H

#include "segments.h"

/* Result of an ACK. */
#define A_UNA		1	/* snd_una has advanced */
#define A_SACKED	2
#define A_DSACK		4
#define A_RETRANS	8	/* of a segment that was retransmitted */
#define A_ORIG		16	/* of one that was not, sent before the loss event */
#define A_LOST_RETRANS	32
#define A_SET_TIMER	64

/* The current ACK. */
struct ack_state {
	struct ack ack;
	struct rate_sample rs;
	u64 first_acked_us;
	u64 last_acked_us;
	u64 first_sacked_us;
	u64 last_sacked_us;
	u32 prior_una;
	u32 flags;
	u32 acked;
};

void update_min_rtt(struct flow *f, u32 rtt);
void estimate_rtt(struct flow *f, u32 rtt);
bool ack_update_rtt(struct flow *f, struct ack_state *a);
void rate_delivered(struct flow *f, struct ack_state *a, u32 seg);
void rate_generate(struct flow *f, struct ack_state *a, u32 delivered, u32 lost);

#endif /* _MODEL_ESTIMATES_H */
