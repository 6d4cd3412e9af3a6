/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_ALGORITHMS_H
#define _MODEL_ALGORITHMS_H

#include <net/tcp.h>

struct tcp_congestion_ops *algorithm(const char *name, size_t length);
int algorithm_param(const char *setting);

#endif /* _MODEL_ALGORITHMS_H */
