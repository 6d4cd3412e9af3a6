/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_STRING_H
#define _TEST_LINUX_STRING_H

#include <string.h>

#define memzero_explicit(s, count) explicit_bzero(s, count)

#endif /* _TEST_LINUX_STRING_H */
