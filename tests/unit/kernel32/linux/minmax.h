/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL32_MINMAX_H
#define _KERNEL32_MINMAX_H

#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))

#endif /* _KERNEL32_MINMAX_H */
