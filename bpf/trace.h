/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line per record of the algorithms' tracepoints.
 */
#ifndef _APOGEE_BPF_TRACE_H
#define _APOGEE_BPF_TRACE_H

#include "algorithms.h"

/* 0, or -1 after a line. */
int trace(const struct algorithm *const *which, size_t count);

#endif /* _APOGEE_BPF_TRACE_H */
