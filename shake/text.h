/* SPDX-License-Identifier: GPL-2.0 */
/* Paths, peers and addresses as text, for sysfs. */
#ifndef _SHAKE_TEXT_H
#define _SHAKE_TEXT_H

#include "types.h"

extern const char *const shake_role_names[];
extern const char *const shake_scheduler_names[];
extern const char *const shake_ack_names[];
extern const char *const shake_state_names[];
extern const char *const shake_datagrams_names[];

void shake_path_begin(struct shake_dev *d, u8 id, struct shake_path_settings *path);
int shake_read_address(const char *text, union shake_addr *addr);
int shake_read_prefix(char *text, struct shake_prefix *prefix);
int shake_read_path(char *text, struct shake_path_settings *path);
int shake_write_address(char *text, size_t size, const union shake_addr *addr);
int shake_write_prefix(char *text, size_t size, const struct shake_prefix *prefix);
int shake_write_path(char *text, size_t size, const struct shake_path_stats *path, bool agent);
int shake_write_peer(char *text, size_t size, const struct shake_peer_shown *peer);

#endif /* _SHAKE_TEXT_H */
