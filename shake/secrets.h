/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When secrets must not live on: the machine sleeps, or is copied.
 */
#ifndef _SHAKE_SECRETS_H
#define _SHAKE_SECRETS_H

#include "state.h"

int shake_secrets_register(void);
void shake_secrets_unregister(void);

#endif /* _SHAKE_SECRETS_H */
