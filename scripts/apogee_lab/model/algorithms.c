// SPDX-License-Identifier: GPL-2.0
/* The registered congestion controls, and their modules' parameters. */
#include <linux/moduleparam.h>

#include "algorithms.h"

static struct tcp_congestion_ops *known;
static struct kernel_param *params;

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	ops->next = known;
	known = ops;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
	(void)ops;
}

void model_add_param(struct kernel_param *param)
{
	param->next = params;
	params = param;
}

struct tcp_congestion_ops *algorithm(const char *name, size_t length)
{
	struct tcp_congestion_ops *ops;

	for (ops = known; ops; ops = ops->next)
		if (!strncmp(ops->name, name, length) && !ops->name[length])
			break;
	return ops;
}

/* Set a module's parameter by NAME=VALUE; the parameter checks its range. */
int algorithm_param(const char *setting)
{
	const char *value = strchr(setting, '=');

	for (struct kernel_param *p = params; p && value; p = p->next)
		if (!strncmp(p->name, setting, value - setting) &&
		    !p->name[value - setting])
			return p->ops->set(value + 1, p);
	return -ENOENT;
}
