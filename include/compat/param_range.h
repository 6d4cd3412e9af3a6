/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters with an enforced range: a value outside is rejected with -EINVAL
 * and a line in the log that gives the range, both at load time and on writes to
 * /sys/module/.../parameters.
 *
 * The kernel's param_set_uint_minmax() rejects without a message, and stable kernels
 * before 5.16 lack it.
 */
#ifndef APOGEE_COMPAT_PARAM_RANGE_H
#define APOGEE_COMPAT_PARAM_RANGE_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>

static inline int apogee_param_set(const char *val,
				   const struct kernel_param *kp,
				   unsigned int min, unsigned int max)
{
	unsigned int num;
	int err = kstrtouint(val, 0, &num);

	if (err || num < min || num > max) {
		pr_err("parameter %s must be %u to %u\n", kp->name, min, max);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, num);
	return 0;
}

/* The module parameter @name, stored in the unsigned int @variable, from @lo to @hi,
 * both included.
 */
#define APOGEE_PARAM(name, variable, lo, hi, desc)			\
	static int variable##_set(const char *val,			\
				  const struct kernel_param *kp)	\
	{								\
		return apogee_param_set(val, kp, lo, hi);		\
	}								\
	static const struct kernel_param_ops variable##_ops = {		\
		.set = variable##_set,					\
		.get = param_get_uint,					\
	};								\
	module_param_cb(name, &variable##_ops, &(variable), 0644);	\
	__MODULE_PARM_TYPE(name, "uint");				\
	MODULE_PARM_DESC(name, desc)

#endif /* APOGEE_COMPAT_PARAM_RANGE_H */
