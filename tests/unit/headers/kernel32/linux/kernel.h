/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL32_KERNEL_H
#define _KERNEL32_KERNEL_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* _KERNEL32_KERNEL_H */
