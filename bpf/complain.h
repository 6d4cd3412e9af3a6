/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes wrong is told in a line on standard error.
 */
#ifndef _APOGEE_BPF_COMPLAIN_H
#define _APOGEE_BPF_COMPLAIN_H

/* "apogee-bpf: ", where in a file, and the text. Returns -1. */
extern const char *complain_at;
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* _APOGEE_BPF_COMPLAIN_H */
