// SPDX-License-Identifier: GPL-2.0
/*
 * The module shake: several slow links as one, with an agent that keeps needless
 * duplicate ACKs away, after H. Ogino and S. Ishihara, "A Scheme for Avoiding Unnecessary
 * Retransmissions of Asymmetric TCP Flows on Multipath Environment".
 *
 *   ip link add shake0 type shake role leader remote AGENT
 */
#include <linux/module.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>

#include "events.h"
#include "ops.h"
#include "secrets.h"
#include "sockets.h"

static int __init shake_module_init(void)
{
	/* keys are drawn where nobody can wait for good random numbers */
	int err = wait_for_random_bytes();

	if (!err)
		err = register_pernet_subsys(&shake_net_ops);
	if (err)
		return err;
	err = shake_events_register();
	if (err)
		goto unregister_net;
	err = register_netdevice_notifier(&shake_notifier);
	if (err)
		goto unregister_events;
	err = shake_secrets_register();
	if (err)
		goto unregister_notifier;
	err = rtnl_link_register(&shake_link_ops);
	if (err)
		goto unregister_secrets;
	return 0;

unregister_secrets:
	shake_secrets_unregister();
unregister_notifier:
	unregister_netdevice_notifier(&shake_notifier);
unregister_events:
	shake_events_unregister();
unregister_net:
	unregister_pernet_subsys(&shake_net_ops);
	return err;
}

static void __exit shake_module_exit(void)
{
	rtnl_link_unregister(&shake_link_ops);
	shake_secrets_unregister();
	unregister_netdevice_notifier(&shake_notifier);
	shake_events_unregister();
	unregister_pernet_subsys(&shake_net_ops);
	rcu_barrier();	/* paths and sessions are freed by functions of this module */
}

module_init(shake_module_init);
module_exit(shake_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SHAKE: several links as one, and an agent that drops needless ACKs");
MODULE_ALIAS_RTNL_LINK("shake");
