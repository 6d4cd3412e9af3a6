/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header: no attributes.
 */
#ifndef _FUZZ_LINUX_COMPILER_ATTRIBUTES_H
#define _FUZZ_LINUX_COMPILER_ATTRIBUTES_H

/* nothing */

#endif /* _FUZZ_LINUX_COMPILER_ATTRIBUTES_H */
