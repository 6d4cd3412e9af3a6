/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control per destination.
 */
#ifndef _APOGEE_BPF_CHOOSE_H
#define _APOGEE_BPF_CHOOSE_H

/* 0, or -1 after a line. */
int choose_for(int count, char *const words[]);

#endif /* _APOGEE_BPF_CHOOSE_H */
