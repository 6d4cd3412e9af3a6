/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets need not be assured.
 */
#ifndef _SSCOP_CLASSIFY_H
#define _SSCOP_CLASSIFY_H

#include "state.h"

u32 sscop_class_of(struct sscop_dev *d, struct sk_buff *skb);

#endif /* _SSCOP_CLASSIFY_H */
