/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What count.c needs of QEMU's qemu-plugin.h, version 1, which distributions do not
 * package. A tb is a piece of straight code that QEMU translates at once.
 */
#ifndef _QEMU_PLUGIN_H
#define _QEMU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define qemu_plugin_id_t uint64_t

struct qemu_plugin_tb;

/* @cb is called for each tb before it is run for the first time */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb));
/* @cb is called whenever @tb is run; @flags 0: it reads no registers */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int cpu, void *data),
					  int flags, void *data);
/* @add is added to the u64 @at whenever @tb is run; @op 0 */
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *at,
					      uint64_t add);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#endif /* _QEMU_PLUGIN_H */
