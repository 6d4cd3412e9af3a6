// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of include/apogee as compiled for this kernel: for tests only.
 *
 * In user space these headers define their own div_u64(), min(), fls64(); in the
 * kernel they use the kernel's, which differ between versions. To compare the results
 * there is /proc/apogee-answers: calls are written to it, each as a struct answer_head and
 * the arguments as in calls.h; reading it returns the same calls with their results.
 * The calls must be in a single write of at most ANSWERS_MAX bytes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "calls.h"

#define ANSWERS_FILE "apogee-answers"
#define ANSWERS_MAX (64U << 20)

/* Header of each call. */
struct answer_head {
	u32 function;		/* index of the function in the table of calls.h */
	/* size of the following arguments in bytes, without the padding to eight */
	u32 size;
};

static DEFINE_MUTEX(answers_lock);
static u8 *answers;
static size_t answers_size;

/* Make the calls in place. */
static int answers_make(u8 *at, size_t left)
{
	while (left) {
		const struct answer_head *head = (const void *)at;
		size_t whole;

		if (left < sizeof(*head) ||
		    head->function >= ARRAY_SIZE(answer_calls) ||
		    head->size != answer_calls[head->function].size)
			return -EINVAL;
		whole = sizeof(*head) + ALIGN((size_t)head->size, 8);
		if (left < whole)
			return -EINVAL;
		answer_calls[head->function].make(at + sizeof(*head));
		at += whole;
		left -= whole;
		cond_resched();
	}
	return 0;
}

static ssize_t answers_write(struct file *file, const char __user *from,
			     size_t size, loff_t *pos)
{
	u8 *calls;
	int err;

	if (size > ANSWERS_MAX)
		return -EFBIG;
	calls = vmemdup_user(from, size);
	if (IS_ERR(calls))
		return PTR_ERR(calls);
	err = answers_make(calls, size);
	if (err) {
		kvfree(calls);
		return err;
	}
	mutex_lock(&answers_lock);
	kvfree(answers);
	answers = calls;
	answers_size = size;
	mutex_unlock(&answers_lock);
	return size;
}

static ssize_t answers_read(struct file *file, char __user *to, size_t size,
			    loff_t *pos)
{
	ssize_t done;

	mutex_lock(&answers_lock);
	done = simple_read_from_buffer(to, size, pos, answers, answers_size);
	mutex_unlock(&answers_lock);
	return done;
}

static const struct proc_ops answers_ops = {
	.proc_read	= answers_read,
	.proc_write	= answers_write,
};

static int __init answers_register(void)
{
	return proc_create(ANSWERS_FILE, 0600, NULL, &answers_ops) ? 0 : -ENOMEM;
}

static void __exit answers_unregister(void)
{
	remove_proc_entry(ANSWERS_FILE, NULL);
	kvfree(answers);
}

module_init(answers_register);
module_exit(answers_unregister);

MODULE_AUTHOR("The Apogee developers");
MODULE_DESCRIPTION("The functions of include/apogee, for tests only");
MODULE_LICENSE("GPL");
