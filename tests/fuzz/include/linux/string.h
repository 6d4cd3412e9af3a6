/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header.
 */
#ifndef _FUZZ_LINUX_STRING_H
#define _FUZZ_LINUX_STRING_H

#include <string.h>

#define memzero_explicit(s, count) explicit_bzero(s, count)

#endif /* _FUZZ_LINUX_STRING_H */
