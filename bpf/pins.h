/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is loaded stays when the program ends: it is pinned below PINS, in a folder per algorithm,
 * which begins with a + if it is from another object and then may lack all but the first:
 *
 *   ops	the operations; deleting its only element unregisters the algorithm
 *   link	instead of deleting it, for an object that has them in .struct_ops.link
 *   data	variables: parameters, until when records are wanted, what is registered
 *   params	names and ranges of the parameters
 *   events	the ring buffer of `trace`
 *   sockets	reading it lists the algorithm's sockets
 */
#ifndef _APOGEE_BPF_PINS_H
#define _APOGEE_BPF_PINS_H

#include <stdbool.h>

#include "algorithms.h"

#ifndef BPF_FS
#define BPF_FS	"/sys/fs/bpf"
#endif
#define PINS	BPF_FS "/apogee"

/* The path of a pin. Overwritten by the next call. */
const char *pin_path(const struct algorithm *a, const char *what);
int has_pins(const struct algorithm *a);
bool pins_are_ours(void);

/* Return 0, or -1 after a line. */
int check_pins(void);
int make_pins(void);
void remove_pins(const struct algorithm *a);

/* Wait for whoever changes pins, and keep others from that; @how: LOCK_SH, or LOCK_EX to change
 * them. It ends with the process, however that ends.
 */
int lock_pins(int how);
void unlock_pins(void);

#endif /* _APOGEE_BPF_PINS_H */
