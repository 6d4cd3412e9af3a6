/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What libFuzzer calls.
 */
#ifndef _FUZZ_FUZZ_H
#define _FUZZ_FUZZ_H

#include <stddef.h>

#include <apogee/int.h>

int fuzz(const u8 *octets, size_t length) __asm__("LLVMFuzzerTestOneInput");

#endif /* _FUZZ_FUZZ_H */
