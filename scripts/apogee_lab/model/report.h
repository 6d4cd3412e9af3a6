/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_REPORT_H
#define _MODEL_REPORT_H

#include "world.h"

void report_begin(void);
void report_state(void);
void report_result(void);

#endif /* _MODEL_REPORT_H */
