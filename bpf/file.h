/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load what a file lists.
 */
#ifndef _APOGEE_BPF_FILE_H
#define _APOGEE_BPF_FILE_H

/* 0, or -1 after a line. */
int load_file(const char *path);

#endif /* _APOGEE_BPF_FILE_H */
