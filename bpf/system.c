// SPDX-License-Identifier: GPL-2.0
/*
 * What the machine has: refuse with a line that says what is missing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "apogee-bpf.h"

#define AVAILABLE	"/proc/sys/net/ipv4/tcp_available_congestion_control"
#define DEFAULT		"/proc/sys/net/ipv4/tcp_congestion_control"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define TCP_STRUCT_OPS	"bpf_struct_ops_tcp_congestion_ops"
/* Of those that the programs call, the one that came last: in Linux 6.1. */
#define NEWEST_HELPER	"BPF_FUNC_ktime_get_tai_ns"

/* Is a word among those of a file's first line? -1: the file cannot be read. */
static int has_word(const char *path, const char *word)
{
	char line[4096], *rest = line, *found;
	FILE *file = fopen(path, "re");
	int has = 0;

	if (!file)
		return -1;
	if (fgets(line, sizeof(line), file))
		while (!has && (found = strsep(&rest, "\n ")))
			has = !strcmp(found, word);
	fclose(file);
	return has;
}

static int names(const char *path, const struct algorithm *a)
{
	int has = has_word(path, a->kernel_name);

	return has < 0 ? complain("%s: %s", path, strerror(errno)) : has;
}

int is_registered(const struct algorithm *a)
{
	return names(AVAILABLE, a);
}

int is_default(const struct algorithm *a)
{
	return names(DEFAULT, a);
}

/* BPF for the programs, NET_ADMIN for congestion controls, PERFMON to read the kernel's memory. */
static int check_rights(void)
{
	static const struct {
		cap_value_t value;
		const char *name;
	} needed[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" },
	};
	cap_t mine = cap_get_proc();
	int err = 0;

	for (size_t i = 0; mine && !err && i < sizeof(needed) / sizeof(needed[0]); i++) {
		cap_flag_value_t has = CAP_CLEAR;

		cap_get_flag(mine, needed[i].value, CAP_EFFECTIVE, &has);
		if (has != CAP_SET)
			err = complain("no %s: run as root", needed[i].name);
	}
	cap_free(mine);
	return err;
}

/* The number of arguments of an operation of tcp_congestion_ops in this kernel; 0 if it has no such
 * operation.
 */
int kernel_arguments(const struct btf *kernel, const char *operation)
{
	int id = btf__find_by_name_kind(kernel, "tcp_congestion_ops", BTF_KIND_STRUCT);
	const struct btf_type *ops = id > 0 ? btf__type_by_id(kernel, id) : NULL;

	for (int i = 0; ops && i < btf_vlen(ops); i++) {
		const struct btf_member *m = &btf_members(ops)[i];
		const struct btf_type *t = btf__type_by_id(kernel, m->type);

		if (strcmp(btf__name_by_offset(kernel, m->name_off), operation))
			continue;
		t = btf_is_ptr(t) ? btf__type_by_id(kernel, t->type) : t;
		return btf_is_func_proto(t) ? btf_vlen(t) : 0;
	}
	return 0;
}

static bool has_helper(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *helpers = id > 0 ? btf__type_by_id(kernel, id) : NULL;

	for (int i = 0; helpers && i < btf_vlen(helpers); i++)
		if (!strcmp(btf__name_by_offset(kernel, btf_enum(helpers)[i].name_off), name))
			return true;
	return false;
}

static int check_kernel(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int err = 0;

	if (!kernel)
		return complain("no BTF: this kernel has no " KERNEL_BTF
				" (CONFIG_DEBUG_INFO_BTF)");
	if (btf__find_by_name_kind(kernel, TCP_STRUCT_OPS, BTF_KIND_STRUCT) < 0 ||
	    !has_helper(kernel, NEWEST_HELPER))
		err = complain("kernel too old: it takes no congestion control as BPF; "
			       "Linux 6.1 or later is needed");
	btf__free(kernel);
	return err;
}

/* What cannot be seen looks as if nothing were loaded. What is no folder is not this program's. */
int check_pins(void)
{
	struct stat found;
	int err = lstat(PINS, &found);

	if (!err && S_ISDIR(found.st_mode))
		err = access(PINS, X_OK);
	if (err && errno == EACCES)
		return complain(PINS ": %s: run as root", strerror(errno));
	return 0;
}

int check_system(void)
{
	struct statfs fs;

	if (check_rights())
		return -1;
	if (has_word(LOCKDOWN, "[confidentiality]") > 0)
		return complain("lockdown=confidentiality: "
				"this kernel lets no BPF program read its memory");
	if (check_kernel())
		return -1;
	if (statfs(BPF_FS, &fs) || fs.f_type != BPF_FS_MAGIC)
		return complain("no BPF file system: mount -t bpf -o mode=700 bpf " BPF_FS);
	return 0;
}
