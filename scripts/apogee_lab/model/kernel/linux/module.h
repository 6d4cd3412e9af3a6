/* SPDX-License-Identifier: GPL-2.0 */
/* A module is part of the program, and registers before main(). */
#ifndef _TEST_LINUX_MODULE_H
#define _TEST_LINUX_MODULE_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>

#define THIS_MODULE		NULL
#define MODULE_DESCRIPTION(text) _Static_assert(1, text)
#define MODULE_LICENSE(text)	_Static_assert(1, text)
#define MODULE_AUTHOR(text)	_Static_assert(1, text)
#define MODULE_ALIAS(text)	_Static_assert(1, text)
#define MODULE_VERSION(text)	_Static_assert(1, text)
#define EXPORT_SYMBOL(name)	_Static_assert(1, #name)

#define module_init(function)						\
	static void __attribute__((constructor)) function##_first(void)	\
	{								\
		if (function())						\
			abort();					\
	}								\
	_Static_assert(1, "")
#define module_exit(function)						\
	static void __attribute__((destructor)) function##_last(void)	\
	{								\
		function();						\
	}								\
	_Static_assert(1, "")

#endif /* _TEST_LINUX_MODULE_H */
