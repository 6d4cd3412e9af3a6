/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs call none of the functions here. */
#ifndef _TEST_LINUX_BTF_H
#define _TEST_LINUX_BTF_H

enum {
	BPF_PROG_TYPE_STRUCT_OPS = 27,
};

struct btf_id_set8;

struct btf_kfunc_id_set {
	void *owner;
	struct btf_id_set8 *set;
};

static inline int register_btf_kfunc_id_set(int type, const struct btf_kfunc_id_set *set)
{
	(void)type;
	(void)set;
	return 0;
}

#endif /* _TEST_LINUX_BTF_H */
