/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_BTF_IDS_H
#define _TEST_LINUX_BTF_IDS_H

struct btf_id_set8 {
	int count;
};

#define BTF_SET8_START(name)	static struct btf_id_set8 name;
#define BTF_SET8_END(name)	_Static_assert(1, #name);
#define BTF_ID_FLAGS(kind, name)

#endif /* _TEST_LINUX_BTF_IDS_H */
