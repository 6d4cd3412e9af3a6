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
 *
 * Those that take a kernel with debugging tools:
 *
 *   freed     a read of memory that has been freed (KASAN)
 *   shift     a shift by as many bits as a number has (UBSAN)
 *   order     two locks, taken in both orders (lockdep)
 *   sleep     a function that may sleep, with a spinlock held (DEBUG_ATOMIC_SLEEP)
 *   leak      memory that nothing refers to any more (kmemleak)
 *   cache     a cache that is destroyed with an object in it (the slab allocator)
 *   packet    a packet whose link-layer header is read and was never set (DEBUG_NET)
 *   timer     a pending timer in memory that is freed (DEBUG_OBJECTS)
 *   list      an entry that is deleted from its list twice (DEBUG_LIST)
 *   race      two CPUs that count in the same variable (KCSAN)
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "fault to cause, see the source");

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

static void warn(void)
{
	WARN(1, "a fault that a test has planted\n");
}

static void read_freed(void)
{
	char *gone = kmalloc(64, GFP_KERNEL);

	if (!gone)
		return;
	kfree(gone);
	OPTIMIZER_HIDE_VAR(gone);
	pr_info("read %d\n", READ_ONCE(*gone));
}

static void shift(void)
{
	int bits = 32;

	OPTIMIZER_HIDE_VAR(bits);
	pr_info("shifted to %d\n", 1 << bits);
}

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);

static void take(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	mutex_lock(second);
	mutex_unlock(second);
	mutex_unlock(first);
}

static void take_in_both_orders(void)
{
	take(&one, &other);
	take(&other, &one);
}

static DEFINE_SPINLOCK(held);

static void sleep_with_lock(void)
{
	spin_lock(&held);
	might_sleep();
	spin_unlock(&held);
}

static void leak(void)
{
	void *lost;
	int i;

	for (i = 0; i < 16; i++) {
		lost = kmalloc(120, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void destroy_used_cache(void)
{
	struct kmem_cache *cache = kmem_cache_create("faults", 256, 0, 0, NULL);

	if (!cache || !kmem_cache_alloc(cache, GFP_KERNEL))
		return;
	kmem_cache_destroy(cache);
}

static void read_no_header(void)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);

	if (!skb)
		return;
	pr_info("at %d\n", skb_mac_header(skb) != skb->data);
	kfree_skb(skb);
}

static void ring(struct timer_list *timer)
{
}

static void free_pending_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, ring, 0);
	mod_timer(timer, jiffies + HZ);
	kfree(timer);
}

static void delete_twice(void)
{
	struct list_head head, entry;

	INIT_LIST_HEAD(&head);
	list_add(&entry, &head);
	list_del(&entry);
	list_del(&entry);
}

static unsigned int counted;

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		counted++;
		cond_resched();
	}
	return 0;
}

static struct task_struct *count_on(unsigned int cpu)
{
	struct task_struct *counter = kthread_create(count, NULL, "faults");

	if (!IS_ERR(counter)) {
		kthread_bind(counter, cpu);
		wake_up_process(counter);
	}
	return counter;
}

static void race(void)
{
	struct task_struct *one = count_on(cpumask_first(cpu_online_mask));
	struct task_struct *other = count_on(cpumask_last(cpu_online_mask));

	msleep(5000);
	if (!IS_ERR(one))
		kthread_stop(one);
	if (!IS_ERR(other))
		kthread_stop(other);
}

static const struct {
	const char *kind;
	void (*cause)(void);
} faults[] = {
	{ "warning", warn },
	{ "refcount", underflow },
	{ "atomic", sleep_in_atomic },
	{ "null", read_nowhere },
	{ "stall", stall },
	{ "freed", read_freed },
	{ "shift", shift },
	{ "order", take_in_both_orders },
	{ "sleep", sleep_with_lock },
	{ "leak", leak },
	{ "cache", destroy_used_cache },
	{ "packet", read_no_header },
	{ "timer", free_pending_timer },
	{ "list", delete_twice },
	{ "race", race },
};

static int __init faults_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(kind, faults[i].kind))
			continue;
		faults[i].cause();
		return -ECANCELED;
	}
	return -EINVAL;
}
module_init(faults_init);

MODULE_DESCRIPTION("Test only: faults that the kernel reports");
MODULE_LICENSE("GPL");
