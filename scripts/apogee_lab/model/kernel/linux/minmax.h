/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_MINMAX_H
#define _TEST_LINUX_MINMAX_H

#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
#define max3(x, y, z) max(max(x, y), z)
#define min3(x, y, z) min(min(x, y), z)
#define clamp_t(type, x, low, high) min_t(type, max_t(type, x, low), high)

#endif /* _TEST_LINUX_MINMAX_H */
