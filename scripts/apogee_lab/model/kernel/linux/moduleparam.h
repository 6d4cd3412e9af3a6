/* SPDX-License-Identifier: GPL-2.0 */
/* Module parameters, to be set with the simulation's --param. */
#ifndef _TEST_LINUX_MODULEPARAM_H
#define _TEST_LINUX_MODULEPARAM_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>

#define pr_err(...) fprintf(stderr, __VA_ARGS__)
#define pr_debug(...) do { } while (0)

static inline int kstrtouint(const char *text, unsigned int base, unsigned int *num)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, base);
	if (errno || end == text || *end || *text == '-' || value != (u32)value)
		return -EINVAL;
	*num = value;
	return 0;
}

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp);
};

struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
	struct kernel_param *next;
};

void model_add_param(struct kernel_param *param);

static inline int param_get_uint(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%u\n", *(unsigned int *)kp->arg);
}

#define module_param_cb(title, its_ops, its_arg, perm)			\
	static struct kernel_param title##_param = {			\
		.name = #title, .ops = its_ops, .arg = its_arg,		\
	};								\
	static void __attribute__((constructor)) title##_add(void)	\
	{								\
		model_add_param(&title##_param);			\
	}								\
	_Static_assert((perm) <= 0777, "permissions")
/* The kernel's own parameters keep their defaults. */
#define module_param(title, type, perm)	_Static_assert((perm) <= 0777, "permissions")
#define __MODULE_PARM_TYPE(title, type) _Static_assert(1, type)
#define MODULE_PARM_DESC(title, text) _Static_assert(1, text)

#endif /* _TEST_LINUX_MODULEPARAM_H */
