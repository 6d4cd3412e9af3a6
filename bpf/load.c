// SPDX-License-Identifier: GPL-2.0
/*
 * Load an algorithm, and remove it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "complain.h"
#include "foreign.h"
#include "load.h"
#include "params.h"
#include "pins.h"
#include "system.h"

/* BPF_F_LINK, which older headers lack: the operations are registered as long as a link exists. */
#define OPS_BY_LINK	0x2000

bool verbose;

/* The end of a section's map has its name; what is before that is the object's, shortened. */
static struct bpf_map *section_map(struct bpf_object *object, const char *section)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);
		size_t length = strlen(name), end = strlen(section);

		if (length >= end && !strcmp(name + length - end, section))
			return map;
	}
	return NULL;
}

/* The start of sending has an operation of its own from Linux 7.1 on. The object has the older
 * one: give it the other's name, which is among the object's strings as that of a type. libbpf
 * looks up operations by name when it loads.
 */
static void rename_tx_start(struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	int id = btf__find_by_name_kind(btf, "tcp_congestion_ops", BTF_KIND_STRUCT);
	int name = btf__find_by_name_kind(btf, "cwnd_event_tx_start", BTF_KIND_STRUCT);
	const struct btf_type *ops = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; ops && name > 0 && i < btf_vlen(ops); i++) {
		struct btf_member *m = &btf_members(ops)[i];
		const char *member = btf__name_by_offset(btf, m->name_off);

		if (member && !strcmp(member, "cwnd_event"))
			m->name_off = btf__type_by_id(btf, name)->name_off;
	}
}

/* Tell the programs what the kernel passes to them. */
static int fit_to_kernel(struct bpf_object *object, const struct algorithm *a)
{
	struct bpf_map *rodata = section_map(object, ".rodata");
	struct btf *kernel = btf__load_vmlinux_btf();
	const struct btf *btf = bpf_object__btf(object);
	unsigned int *control, *start;
	size_t size = 0;
	void *data = rodata ? (void *)bpf_map__initial_value(rodata, &size) : NULL;
	int arguments;
	bool tx_start;

	if (!kernel)
		return complain("the kernel's BTF cannot be read: %s", strerror(errno));
	arguments = kernel_arguments(kernel, "cong_control");
	tx_start = kernel_arguments(kernel, "cwnd_event_tx_start") > 0;
	btf__free(kernel);
	if (arguments != 2 && arguments != 4)
		return complain("this kernel's cong_control has %d arguments", arguments);
	control = find_variable(btf, ".rodata", data, size, "apogee_new_control");
	start = find_variable(btf, ".rodata", data, size, "apogee_tx_start");
	if (control)
		*control = arguments == 4;
	else if (!a->foreign)
		return complain("an object without flags");
	if (start && tx_start) {
		*start = true;
		rename_tx_start(object);
	}
	return 0;
}

static int apply(const struct algorithm *a, const struct variables *v, char *const settings[])
{
	for (; *settings; settings++) {
		if (!has_parameter(v, *settings))
			return complain("%s has no parameter %.*s; see apogee-bpf list", a->name,
					(int)strcspn(*settings, "="), *settings);
		if (set_parameter(v, *settings))
			return -1;
	}
	return 0;
}

static int pin_map(struct bpf_map *map, const struct algorithm *a, const char *what)
{
	return map ? bpf_map__pin(map, pin_path(a, what)) : -ENOENT;
}

static struct bpf_map *operations(struct bpf_object *object, const struct algorithm *a)
{
	return bpf_object__find_map_by_name(object, a->map ? a->map : a->kernel_name);
}

static int pin(struct bpf_object *object, const struct algorithm *a)
{
	struct bpf_program *sockets = bpf_object__find_program_by_name(object, "sockets");
	struct bpf_link *link = sockets ? bpf_program__attach_iter(sockets, NULL) : NULL;
	int err = link || a->foreign ? 0 : -errno;

	/* Somebody may have pinned something beside those of an earlier load. */
	if (!err && mkdir(pin_path(a, ""), 0755) && errno != EEXIST)
		err = -errno;
	err = err ? err : pin_map(operations(object, a), a, "ops");
	if (a->foreign)
		goto out;
	err = err ? err : pin_map(section_map(object, ".data"), a, "data");
	err = err ? err : pin_map(section_map(object, APOGEE_PARAMS), a, "params");
	err = err ? err : pin_map(section_map(object, "apogee_events"), a, "events");
	err = err ? err : bpf_link__pin(link, pin_path(a, "sockets"));
out:
	bpf_link__destroy(link);
	return err;
}

/* Registered it stays, without this process. */
static int register_ops(struct bpf_object *object, const struct algorithm *a)
{
	struct bpf_map *ops = operations(object, a);
	struct bpf_link *link = bpf_map__attach_struct_ops(ops);
	int err = 0;

	if (!link)
		return -errno;
	if (bpf_map__map_flags(ops) & OPS_BY_LINK)
		err = bpf_link__pin(link, pin_path(a, "link"));
	else
		bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return err;
}

/* Why a program is refused: the last line of the verifier's log before its statistics, or else
 * libbpf's first warning.
 */
static char last_words[256];

static int keep_last_words(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[1 << 20];
	char *words = text, *end;

	if (level != LIBBPF_WARN || vsnprintf(text, sizeof(text), format, args) < 0)
		return 0;
	end = strstr(text, "\nprocessed ");
	if (end) {
		*end = 0;
		words = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
	} else if (last_words[0]) {
		return 0;
	}
	snprintf(last_words, sizeof(last_words), "%.*s", (int)strcspn(words, "\n"), words);
	return 0;
}

/* How much the verifier had to look at, and how large the programs have become. */
static void print_programs(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {};
		__u32 length = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
			printf("%s: %u instructions verified, %u octets, %u compiled\n",
			       bpf_program__name(program), info.verified_insns,
			       info.xlated_prog_len, info.jited_prog_len);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int bring_up(struct bpf_object *object, const struct algorithm *a, char *const settings[])
{
	struct variables v;
	double began;
	int err;

	if (!operations(object, a))
		return complain("%s: libbpf %s does not know such operations", a->name,
				libbpf_version_string());
	if (object_variables(object, a, &v) || apply(a, &v, settings) || fit_to_kernel(object, a))
		return -1;
	set_tai_offset(&v);
	began = seconds();
	err = bpf_object__load(object);
	if (err)
		return complain("%s: the kernel refuses its programs: %s%s%s", a->name,
				strerror(-err), last_words[0] ? ": " : "", last_words);
	if (verbose) {
		print_programs(object);
		printf("%s: loaded in %.3f s\n", a->name, seconds() - began);
	}
	if (make_pins())
		return -1;
	err = pin(object, a);
	if (err) {
		remove_pins(a);
		return complain("%s: cannot pin below " PINS ": %s", a->name, strerror(-err));
	}
	err = register_ops(object, a);
	if (!err)
		return 0;
	remove_pins(a);
	return complain("%s: cannot be registered: %s", a->name, strerror(-err));
}

static int load_locked(const struct algorithm *a, char *const settings[])
{
	const struct algorithm *loaded[MOST_FOREIGN];
	struct bpf_object *object;
	int err = is_registered(a);

	if (err < 0)
		return -1;
	if (err)
		return complain(has_pins(a) ? "%s is already loaded" :
			"%s: the name is taken by another congestion control", a->kernel_name);
	if (a->foreign && loaded_objects(loaded, MOST_FOREIGN) == MOST_FOREIGN)
		return complain("%s: %d are loaded from objects already", a->name, MOST_FOREIGN);
	/* Left by a load that was interrupted. */
	if (pins_are_ours())
		remove_pins(a);
	last_words[0] = '\0';
	libbpf_set_print(keep_last_words);
	object = open_elf(a);
	if (!object)
		return complain("%s: its object cannot be read: %s", a->name, strerror(errno));
	err = bring_up(object, a, settings);
	bpf_object__close(object);
	return err;
}

int load(const struct algorithm *a, char *const settings[])
{
	int err;

	if (lock_pins(LOCK_EX))
		return -1;
	err = load_locked(a, settings);
	unlock_pins();
	return err;
}

static int unload_locked(const struct algorithm *a)
{
	const __u32 zero = 0;
	bool linked;
	int fd, err;

	if (!has_pins(a))
		return complain("%s is not loaded", a->name);
	err = is_default(a);
	if (err < 0)
		return -1;
	if (err)
		return complain("%s is the default; choose another one first: "
				"sysctl net.ipv4.tcp_congestion_control=cubic", a->kernel_name);
	linked = !unlink(pin_path(a, "link"));
	fd = bpf_obj_get(pin_path(a, "ops"));
	err = fd < 0 ? -errno : 0;
	/* Not registered yet, or no longer: a load or an unload was interrupted. */
	if (!err && !linked && bpf_map_delete_elem(fd, &zero) && errno != ENOENT &&
	    errno != EINPROGRESS && errno != EOPNOTSUPP)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		return complain("%s: cannot be removed: %s", a->name, strerror(-err));
	remove_pins(a);
	return 0;
}

int unload(const struct algorithm *a)
{
	int err;

	if (lock_pins(LOCK_EX))
		return -1;
	err = unload_locked(a);
	unlock_pins();
	return err;
}
