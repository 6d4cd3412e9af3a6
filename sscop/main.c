// SPDX-License-Identifier: GPL-2.0
/*
 * The module sscop: a link layer that hides radio errors from TCP, after A. Hara,
 * A. Idoue, T. Kato and K. Suzuki, "A Study on High Speed TCP Communication using SSCOP
 * over Radio Link with Packet Losses".
 *
 *   ip link add link eth0 name sscop0 type sscop
 */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "lower.h"
#include "ops.h"
#include "sockets.h"

static int __init sscop_module_init(void)
{
	int err = register_netdevice_notifier(&sscop_notifier);

	if (err)
		return err;
	err = register_pernet_subsys(&sscop_socket_net_ops);
	if (err)
		goto no_pernet;
	err = rtnl_link_register(&sscop_link_ops);
	if (err)
		goto no_links;
	return 0;
no_links:
	unregister_pernet_subsys(&sscop_socket_net_ops);
no_pernet:
	unregister_netdevice_notifier(&sscop_notifier);
	return err;
}

static void __exit sscop_module_exit(void)
{
	rtnl_link_unregister(&sscop_link_ops);
	unregister_pernet_subsys(&sscop_socket_net_ops);
	unregister_netdevice_notifier(&sscop_notifier);
	synchronize_net();	/* destructors of frames that were the last to hold the module */
}

module_init(sscop_module_init);
module_exit(sscop_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SSCOP: assured data transfer with segmentation over lossy links");
MODULE_ALIAS_RTNL_LINK("sscop");
