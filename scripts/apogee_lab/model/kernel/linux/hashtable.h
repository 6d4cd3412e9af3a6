/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_HASHTABLE_H
#define _TEST_LINUX_HASHTABLE_H

#include <linux/list.h>

#define DECLARE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]

#endif /* _TEST_LINUX_HASHTABLE_H */
