/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_TRANSFERS_H
#define _MODEL_TRANSFERS_H

#include "world.h"

void transfers_read(const char *text, const char *option);
bool transfers_of(const struct flow *f);
u32 transfers_next(void);
u16 transfers_payload(const struct flow *f, u32 seg);
void transfers_arrived(struct flow *f);
bool transfers_close(void);
void transfers_print(void);

#endif /* _MODEL_TRANSFERS_H */
