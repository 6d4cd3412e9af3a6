// SPDX-License-Identifier: GPL-2.0
/*
 * Faults that the kernel reports in its log, for tests only: one is caused when
 * the module is loaded, as its parameter says. The module is never left loaded.
 *
 *   warning   WARN() with a text
 *   refcount  a reference count that underflows, reported in words of its own
 *   atomic    sleeping where that is not allowed
 *   null      a read at address 8: an oops
 *   stall     a CPU that is not given up
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/string.h>

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "fault to cause: warning, refcount, atomic, null or stall");

static void underflow(void)
{
	refcount_t users = REFCOUNT_INIT(0);

	refcount_dec(&users);
}

static void sleep_in_atomic(void)
{
	preempt_disable();
	msleep(20);
	preempt_enable();
}

static void read_nowhere(void)
{
	char *nowhere = (char *)8;

	OPTIMIZER_HIDE_VAR(nowhere);
	pr_info("read %d\n", READ_ONCE(*nowhere));
}

static void stall(void)
{
	preempt_disable();
	for (;;)
		mdelay(1);
}

static int __init faults_init(void)
{
	if (!strcmp(kind, "warning"))
		WARN(1, "a fault that a test has planted\n");
	else if (!strcmp(kind, "refcount"))
		underflow();
	else if (!strcmp(kind, "atomic"))
		sleep_in_atomic();
	else if (!strcmp(kind, "null"))
		read_nowhere();
	else if (!strcmp(kind, "stall"))
		stall();
	else
		return -EINVAL;
	return -ECANCELED;
}
module_init(faults_init);

MODULE_DESCRIPTION("Test only: faults that the kernel reports");
MODULE_LICENSE("GPL");
