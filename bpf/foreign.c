// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that are not compiled in: any congestion control as BPF programs (struct_ops), by the
 * path of its object or by its name among those in OBJECTS.
 *
 * What an object says is not trusted: it is read once, within bounds, and its name becomes part of
 * a path only if it is a plain word.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "complain.h"
#include "foreign.h"
#include "pins.h"

#define MOST_OCTETS	(16 << 20)
#define WORD		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

bool is_object(const char *name)
{
	size_t length = strlen(name);

	return strchr(name, '/') || (length > 2 && !strcmp(name + length - 2, ".o")) ||
	       strstr(name, ".o:");
}

static bool is_name(const char *name, size_t most)
{
	size_t length = strnlen(name, most);

	return length && length < most && name[0] != '-' && strspn(name, WORD) == length;
}

/* The whole file; NULL after a line. */
static void *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat found;
	char *image = NULL;
	size_t got = 0;
	ssize_t part = 1;

	if (fd < 0 || fstat(fd, &found)) {
		complain("%s: %s", path, strerror(errno));
	} else if (!S_ISREG(found.st_mode) || found.st_size > MOST_OCTETS || !found.st_size) {
		complain("%s: no object of BPF programs", path);
	} else {
		image = malloc(found.st_size);
		if (!image)
			complain("%s: %s", path, strerror(errno));
		while (image && got < (size_t)found.st_size && part > 0) {
			part = read(fd, image + got, found.st_size - got);
			got += part > 0 ? part : 0;
		}
		*size = got;
	}
	if (fd >= 0)
		close(fd);
	return image;
}

/* A section's data by its name; NULL if it has none. */
static Elf_Data *section_data(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *head = elf64_getshdr(section);
		const char *name = head ? elf_strptr(elf, names, head->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* Where the operations have their name; -1 if they have none. */
static long name_offset(const struct btf *btf, const struct btf_type *ops)
{
	for (int i = 0; i < btf_vlen(ops); i++) {
		const struct btf_member *m = &btf_members(ops)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);

		if (name && !strcmp(name, "name"))
			return btf_member_bit_offset(ops, i) / 8;
	}
	return -1;
}

/* The names in a section of operations, with those of their variables. */
static void names_in(struct foreign *all, const struct btf *btf, Elf *elf, const char *section)
{
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	const struct btf_type *places = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const Elf_Data *data = places ? section_data(elf, section) : NULL;

	for (int i = 0; data && data->d_buf && i < btf_vlen(places); i++) {
		const struct btf_var_secinfo *place = &btf_var_secinfos(places)[i];
		const struct btf_type *var = btf__type_by_id(btf, place->type);
		const char *variable = var ? btf__name_by_offset(btf, var->name_off) : NULL;
		const struct btf_type *ops;
		const char *type;
		size_t at;
		long within;

		if (!var || !btf_is_var(var) || all->count == MOST_FOREIGN)
			continue;
		ops = btf__type_by_id(btf, var->type);
		type = ops && btf_is_struct(ops) ? btf__name_by_offset(btf, ops->name_off) : NULL;
		if (!type || strcmp(type, "tcp_congestion_ops"))
			continue;
		within = name_offset(btf, ops);
		at = (size_t)place->offset + within;
		if (within < 0 || !variable || at + KERNEL_NAME > data->d_size ||
		    !is_name((char *)data->d_buf + at, KERNEL_NAME))
			continue;
		snprintf(all->name[all->count], KERNEL_NAME, "%s", (char *)data->d_buf + at);
		snprintf(all->map[all->count++], sizeof(all->map[0]), "%s", variable);
	}
}

/* libbpf fills in where variables are: compilers leave that to the linker. */
static int find_names(struct foreign *all)
{
	struct bpf_object *object = bpf_object__open_mem(all->image, all->size, NULL);
	const struct btf *btf = object ? bpf_object__btf(object) : NULL;
	Elf *elf = NULL;

	if (btf && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_memory(all->image, all->size);
	all->count = 0;
	if (elf) {
		names_in(all, btf, elf, ".struct_ops");
		names_in(all, btf, elf, ".struct_ops.link");
	}
	elf_end(elf);
	bpf_object__close(object);
	return all->count;
}

/* Files can be made on which libraries that read them break or go on for ever: that is to be a
 * line, so their first reader is a process of its own.
 */
static bool can_be_read(const struct foreign *all)
{
	const struct rlimit most = { .rlim_cur = 1, .rlim_max = 1 };
	pid_t child;
	int status = -1;

	fflush(NULL);
	child = fork();
	if (!child) {
		struct foreign copy = *all;

		/* The C library tells of what it ends for. */
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);

		setrlimit(RLIMIT_CPU, &most);
		setrlimit(RLIMIT_CORE, &(struct rlimit) {});
		libbpf_set_print(NULL);
		_exit(find_names(&copy) ? 0 : 1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static void close_foreign(struct foreign *all)
{
	free(all->image);
	free(all);
}

/* An object's algorithms; NULL after a line. */
static struct foreign *open_foreign(const char *path)
{
	struct foreign *all = calloc(1, sizeof(*all));

	if (!all) {
		complain("%s: %s", path, strerror(errno));
		return NULL;
	}
	all->image = read_file(path, &all->size);
	if (!all->image) {
		free(all);
		return NULL;
	}
	if (can_be_read(all) && find_names(all))
		return all;
	complain("%s: no congestion control of BPF programs that can be read", path);
	close_foreign(all);
	return NULL;
}

static const struct algorithm *as_algorithm(struct foreign *from, int which)
{
	struct algorithm *a = calloc(1, sizeof(*a));

	if (!a) {
		complain("%s", strerror(errno));
		exit(EXIT_FAILURE);
	}
	a->name = from->name[which];
	a->kernel_name = from->name[which];
	a->map = from->map[which];
	a->foreign = from;
	return a;
}

/* PATH or PATH:NAME */
const struct algorithm *open_object(const char *word)
{
	char *path = strdup(word), *name = path ? strrchr(path, ':') : NULL;
	const struct algorithm *found = NULL;
	struct foreign *all;

	if (name && !access(word, F_OK))
		name = NULL;
	if (name)
		*name++ = '\0';
	all = path ? open_foreign(path) : NULL;
	for (int i = 0; all && !found && i < all->count; i++)
		if (name ? !strcmp(name, all->name[i]) : all->count == 1)
			found = as_algorithm(all, i);
	if (all && !found) {
		char list[MOST_FOREIGN * (KERNEL_NAME + 2)] = "";

		for (int i = 0; i < all->count; i++) {
			strcat(list, i ? ", " : "");
			strcat(list, all->name[i]);
		}
		complain("%s: say %s:NAME, one of %s", word, path, list);
		close_foreign(all);
	}
	free(path);
	return found;
}

/* Those of OBJECTS, in the order of their files; @act returns whether to stop. */
int each_object(bool (*act)(const struct algorithm *a, void *data), void *data)
{
	struct dirent **files;
	int before = errno; /* of what was printed up to now */
	int count = scandir(OBJECTS, &files, NULL, alphasort), err = 0;
	bool stop = false;

	for (int i = 0; i < count; i++) {
		char path[sizeof(OBJECTS) + 257];
		struct foreign *all;

		if (!stop && is_object(files[i]->d_name)) {
			snprintf(path, sizeof(path), OBJECTS "/%s", files[i]->d_name);
			all = open_foreign(path);
			err |= all ? 0 : -1;
			for (int k = 0; all && !stop && k < all->count; k++)
				stop = act(as_algorithm(all, k), data);
		}
		free(files[i]);
	}
	if (count >= 0)
		free(files);
	errno = before;
	return err;
}

/* What was loaded from objects, by its folder. */
size_t loaded_objects(const struct algorithm *found[], size_t most)
{
	DIR *folder = pins_are_ours() ? opendir(PINS) : NULL;
	struct dirent *entry;
	size_t count = 0;

	while (folder && count < most && (entry = readdir(folder))) {
		struct algorithm *a;

		if (entry->d_name[0] != '+' || !is_name(entry->d_name + 1, KERNEL_NAME))
			continue;
		a = calloc(1, sizeof(*a));
		if (!a)
			break;
		a->name = strdup(entry->d_name + 1);
		a->kernel_name = a->name;
		a->pinned = true;
		found[count++] = a;
	}
	if (folder)
		closedir(folder);
	return count;
}
