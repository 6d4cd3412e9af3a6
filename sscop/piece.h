/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long SDs are.
 */
#ifndef _SSCOP_PIECE_H
#define _SSCOP_PIECE_H

#include "state.h"

u32 sscop_piece_limit(const struct sscop_dev *d);
u32 sscop_piece(const struct sscop_dev *d, struct sscop_segment *losses, u32 packet);
u32 sscop_segment_now_locked(const struct sscop_dev *d);
u32 sscop_segment_now(struct sscop_dev *d);

#endif /* _SSCOP_PIECE_H */
