/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Algorithms of objects that are not compiled in.
 */
#ifndef _APOGEE_BPF_FOREIGN_H
#define _APOGEE_BPF_FOREIGN_H

#include "algorithms.h"

#ifndef OBJECTS
#define OBJECTS	"/usr/lib/apogee-bpf"
#endif

bool is_object(const char *name);
size_t loaded_objects(const struct algorithm *found[], size_t most);

/* NULL, or -1 after a line. */
const struct algorithm *open_object(const char *word);
int each_object(bool (*act)(const struct algorithm *a, void *data), void *data);

#endif /* _APOGEE_BPF_FOREIGN_H */
