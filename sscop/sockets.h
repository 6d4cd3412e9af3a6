/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets of links under UDP.
 */
#ifndef _SSCOP_SOCKETS_H
#define _SSCOP_SOCKETS_H

#include "state.h"

extern struct pernet_operations sscop_socket_net_ops;
void sscop_socket_register(struct sscop_dev *d);
int sscop_socket_open(struct sscop_dev *d);
void sscop_socket_close(struct sscop_dev *d);

#endif /* _SSCOP_SOCKETS_H */
