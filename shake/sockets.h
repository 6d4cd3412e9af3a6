/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets of paths and of an agent. All under RTNL.
 */
#ifndef _SHAKE_SOCKETS_H
#define _SHAKE_SOCKETS_H

#include "state.h"

int shake_path_open(struct shake_path *path);
void shake_path_try(struct shake_path *path);
int shake_agent_open(struct shake_dev *d);
void shake_agent_close(struct shake_dev *d);
void shake_retry_later(struct shake_dev *d);
extern struct notifier_block shake_notifier;
extern struct pernet_operations shake_net_ops;

#endif /* _SHAKE_SOCKETS_H */
