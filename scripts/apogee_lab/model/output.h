/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_OUTPUT_H
#define _MODEL_OUTPUT_H

#include "segments.h"

enum pending {
	PENDING_NONE,
	PENDING_RTO,
	PENDING_PROBE,
	PENDING_REORDER,
};

void order_remove(struct flow *f, u32 seg);
void set_xmit_timer(struct flow *f, u8 what, u64 us);
void rearm_rto(struct flow *f);
bool schedule_loss_probe(struct flow *f, bool advancing);
bool has_new(const struct flow *f);
void restart_after_idle(struct flow *f);
u32 write_xmit(struct flow *f, bool probe);
void retransmit(struct flow *f, u32 seg);
void xmit_retransmit_queue(struct flow *f);

#endif /* _MODEL_OUTPUT_H */
