/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be loaded, and what is.
 */
#ifndef _APOGEE_BPF_SHOW_H
#define _APOGEE_BPF_SHOW_H

#include "algorithms.h"

enum form { AS_TEXT, AS_JSON, AS_METRICS };

/* 0, or -1 after a line. */
int list_all(enum form form);
int show(const struct algorithm *a);
int statuses(const struct algorithm *const which[], size_t count, enum form form);

#endif /* _APOGEE_BPF_SHOW_H */
