/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the machine has.
 */
#ifndef _APOGEE_BPF_SYSTEM_H
#define _APOGEE_BPF_SYSTEM_H

#include <bpf/btf.h>

#include "algorithms.h"

/* 1, 0, or -1 after a line: what cannot be known is not taken for a no. */
int is_registered(const struct algorithm *a);
int is_loaded(const struct algorithm *a);
int is_default(const struct algorithm *a);

/* 0, or -1 after a line that says what is missing. */
int check_system(void);
int kernel_arguments(const struct btf *kernel, const char *operation);

#endif /* _APOGEE_BPF_SYSTEM_H */
