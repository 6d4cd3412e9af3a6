/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load an algorithm, and remove it.
 */
#ifndef _APOGEE_BPF_LOAD_H
#define _APOGEE_BPF_LOAD_H

#include "algorithms.h"

/* Print what the kernel says of each program that is loaded. */
extern bool verbose;

/* @settings: NAME=VALUE, up to NULL. Both return 0, or -1 after a line. */
int load(const struct algorithm *a, char *const settings[]);
int unload(const struct algorithm *a);

#endif /* _APOGEE_BPF_LOAD_H */
