/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registration: packets of the handshake.
 */
#ifndef _SHAKE_REGISTER_H
#define _SHAKE_REGISTER_H

#include "state.h"

void shake_control_in(struct shake_dev *d, const u8 *packet, u32 length,
		      const union shake_addr *from, const union shake_addr *to);
void shake_confirm_in(struct shake_dev *d, struct shake_link *link, const u8 *packet, u32 length,
		      const union shake_addr *from, const union shake_addr *to);
void shake_ready_in(struct shake_dev *d, struct shake_link *link, const u8 *packet,
		    u32 length);
u32 shake_hello_take(struct shake_path *path, u8 *packet);
void shake_reset_in(struct shake_dev *d, const u8 *packet, u32 length,
		    const union shake_addr *from);
void shake_reset_send(struct shake_dev *d, const struct shake_head *head,
		      const union shake_addr *from, const union shake_addr *to);

#endif /* _SHAKE_REGISTER_H */
