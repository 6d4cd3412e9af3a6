/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What waits in shake/order.c and held.c of one peer of a device, in user space. Packets are known
 * by numbers; those that went on are taken one by one.
 */
#ifndef _FUZZ_WAITING_H
#define _FUZZ_WAITING_H

#include <apogee/int.h>

#define WAITING_NONE 0xffffffffU	/* no packet */

void waiting_begin(void);
void waiting_end(void);

/* us from now on; timers run when their time has come */
void waiting_advance(u32 us);

/* order.c: a datagram comes; so many more of others wait; one that went up; how many wait */
void waiting_datagram(u32 number);
void waiting_elsewhere(s32 count);
u32 waiting_up(void);
u32 waiting_count(void);

/*
 * held.c, of one of several leaders: a packet waits, of a flow by its hash; how many of the device
 * do, and how many others there are; all paths are full, or have room; a packet that left
 */
bool waiting_hold(u8 leader, u32 number, u32 hash);
bool waiting_has(u8 leader, u32 hash);
u32 waiting_held(void);
void waiting_fill(bool full);
void waiting_let_go(u8 leader);
u32 waiting_left(void);
void waiting_others(u32 count);
u32 waiting_wakes(void);

#endif /* _FUZZ_WAITING_H */
