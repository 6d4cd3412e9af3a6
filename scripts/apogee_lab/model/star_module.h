/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_STAR_MODULE_H
#define _MODEL_STAR_MODULE_H

#include <net/tcp.h>

void star_print(const struct sock *sk);

#endif /* _MODEL_STAR_MODULE_H */
