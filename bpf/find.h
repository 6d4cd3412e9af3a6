/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An algorithm by its name.
 */
#ifndef _APOGEE_BPF_FIND_H
#define _APOGEE_BPF_FIND_H

#include "algorithms.h"

/* Either of both names, or of an object, by its path or among OBJECTS; NULL after a line. */
const struct algorithm *find_algorithm(const char *name);

#endif /* _APOGEE_BPF_FIND_H */
