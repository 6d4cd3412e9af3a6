/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a module's source takes from <linux/module.h>, for BPF: a program is not a module, so its
 * entry and exit are left out.
 */
#ifndef _BPF_LINUX_MODULE_H
#define _BPF_LINUX_MODULE_H

#include <apogee/int.h>

struct module;

#define THIS_MODULE	((struct module *)0)

#define __init		__attribute__((unused))
#define __exit		__attribute__((unused))
/* Variables that the loader sets, and the operations, which are not used. */
#define __read_mostly	__attribute__((unused, section(".data")))

#define module_init(function)
#define module_exit(function)
#define MODULE_ALIAS(name)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)

#endif /* _BPF_LINUX_MODULE_H */
