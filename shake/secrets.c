// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions end when the machine's memory is about to be kept, or was copied: who gets it later
 * must not find their keys, and two machines must not go on with the same counters.
 */
#include <linux/notifier.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/suspend.h>

#include "peer.h"
#include "secrets.h"
#include "wake.h"

static void forget_sessions(bool sleep)
{
	rtnl_lock();
	shake_forget_all(sleep);
	rtnl_unlock();
	rcu_barrier();	/* keys are zeroed behind a grace period */
}

static int power_changes(struct notifier_block *block, unsigned long event, void *unused)
{
	/* who is suspended and woken all day has no time for that, as WireGuard has it */
	if (IS_ENABLED(CONFIG_PM_AUTOSLEEP) || IS_ENABLED(CONFIG_PM_USERSPACE_AUTOSLEEP))
		return NOTIFY_DONE;
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		forget_sessions(true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		forget_sessions(false);
		break;
	}
	return NOTIFY_DONE;
}

static int machine_copied(struct notifier_block *block, unsigned long event, void *unused)
{
	forget_sessions(shake_is_asleep());
	return NOTIFY_DONE;
}

static struct notifier_block power_notifier = { .notifier_call = power_changes };
static struct notifier_block fork_notifier = { .notifier_call = machine_copied };

int shake_secrets_register(void)
{
	int err = register_pm_notifier(&power_notifier);

	if (err)
		return err;
	err = register_random_vmfork_notifier(&fork_notifier);
	if (err)
		unregister_pm_notifier(&power_notifier);
	return err;
}

void shake_secrets_unregister(void)
{
	unregister_random_vmfork_notifier(&fork_notifier);
	unregister_pm_notifier(&power_notifier);
}
