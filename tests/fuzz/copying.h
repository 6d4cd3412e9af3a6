/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of shake/copies.c in user space: of the eight paths of a peer of a device, and of one
 * path of each of 32 others.
 */
#ifndef _FUZZ_COPYING_H
#define _FUZZ_COPYING_H

#include <apogee/int.h>

void copying_begin(void);
void copying_end(void);

/* memory is refused, or no more */
void copying_refuse(bool refuses);
/* what was to be done in a process is; whether there was anything */
bool copying_work(void);

/* a packet leaves by a path, 0 to 39; whether a copy is kept */
bool copying_send(u8 path);
/* octets a second come by a path, which has never had a queue */
void copying_speed(u8 path, u32 rate);
/* all packets of a path have arrived */
void copying_arrived(u8 path);
/* what has a copy leaves by a path after a pause, in us; how often a probe was armed */
u32 copying_tail(u8 path, u32 pause);
/* places of all paths; packets that got none as there was no memory, or too many had one */
u32 copying_count(void);
u32 copying_refused(void);

#endif /* _FUZZ_COPYING_H */
