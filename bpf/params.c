// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters: variables of an object, whose names and ranges the object has, too.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "complain.h"
#include "params.h"
#include "pins.h"
#include "system.h"

void *find_variable(const struct btf *btf, const char *section, void *data, size_t size,
		    const char *name)
{
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	const struct btf_type *all = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; all && i < btf_vlen(all); i++) {
		const struct btf_var_secinfo *place = &btf_var_secinfos(all)[i];
		const struct btf_type *t = btf__type_by_id(btf, place->type);
		const char *found = t ? btf__name_by_offset(btf, t->name_off) : NULL;

		if (found && !strcmp(found, name) && place->size >= sizeof(unsigned int) &&
		    place->size <= size && place->offset <= size - place->size)
			return (char *)data + place->offset;
	}
	return NULL;
}

void *variable(const struct variables *v, const char *name)
{
	return find_variable(v->btf, ".data", v->data, v->size, name);
}

static const struct apogee_param *parameter(const struct variables *v, const char *setting)
{
	size_t length = strcspn(setting, "=");

	for (size_t i = 0; i < v->count; i++)
		if (!strncmp(v->params[i].name, setting, length) && !v->params[i].name[length])
			return &v->params[i];
	return NULL;
}

bool has_parameter(const struct variables *v, const char *setting)
{
	return parameter(v, setting);
}

/* Where a setting goes, and what: NULL after a line if it is refused. */
static unsigned int *look_up(const struct variables *v, const char *setting, unsigned int *wanted)
{
	const struct apogee_param *p = parameter(v, setting);
	const char *value = strchr(setting, '=') + 1;
	unsigned int *place;
	unsigned long number;
	char *end;

	if (!p) {
		complain("unknown parameter %.*s; see apogee-bpf list",
			 (int)strcspn(setting, "="), setting);
		return NULL;
	}
	if (!*value) {
		complain("%s has no value: want %s=NUMBER, %u to %u", setting, p->name, p->lo,
			 p->hi);
		return NULL;
	}
	errno = 0;
	number = strtoul(value, &end, 0);
	/* strtoul() takes blanks and a sign before it. */
	if (errno || !isdigit((unsigned char)*value) || *end || number < p->lo ||
	    number > p->hi) {
		complain("parameter %s must be %u to %u", p->name, p->lo, p->hi);
		return NULL;
	}
	place = variable(v, p->variable);
	if (!place)
		complain("%s: the object has no variable %s", p->name, p->variable);
	*wanted = number;
	return place;
}

int check_parameter(const struct variables *v, const char *setting)
{
	unsigned int number;

	return look_up(v, setting, &number) ? 0 : -1;
}

int set_parameter(const struct variables *v, const char *setting)
{
	unsigned int number, *place = look_up(v, setting, &number);

	if (!place)
		return -1;
	__atomic_store_n(place, number, __ATOMIC_RELAXED);
	set_tai_offset(v);
	return 0;
}

void set_tai_offset(const struct variables *v)
{
	struct timex clock = {};
	__u64 *place = variable(v, "apogee_tai_offset");

	if (place && adjtimex(&clock) >= 0)
		__atomic_store_n(place, (__u64)clock.tai * 1000000000, __ATOMIC_RELAXED);
}

/* Map a pinned array of one element. */
static void *map_pinned(const struct algorithm *a, const char *what, int protection, size_t *size,
			__u32 *btf_id)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	void *at = MAP_FAILED;
	int fd = bpf_obj_get(pin_path(a, what));

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &length)) {
		*size = info.value_size;
		*btf_id = info.btf_id;
		at = mmap(NULL, info.value_size, protection, MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}

int open_variables(const struct algorithm *a, struct variables *v)
{
	int loaded = is_loaded(a), err;
	size_t size = 0;
	__u32 id = 0;

	*v = (struct variables) {};
	if (loaded <= 0)
		return loaded ? -1 : complain("%s is not loaded", a->name);
	if (a->pinned || a->foreign)
		return 0;
	v->params = map_pinned(a, "params", PROT_READ, &size, &id);
	v->count = size / sizeof(*v->params);
	if (v->params)
		v->data = map_pinned(a, "data", PROT_READ | PROT_WRITE, &v->size, &id);
	if (v->data)
		v->btf = btf__load_from_kernel_by_id(id);
	if (v->btf)
		return 0;
	err = errno;
	close_variables(v);
	return complain("%s: its pins below " PINS " cannot be read: %s", a->name, strerror(err));
}

void close_variables(struct variables *v)
{
	if (v->params)
		munmap((void *)v->params, v->count * sizeof(*v->params));
	if (v->data)
		munmap(v->data, v->size);
	btf__free((struct btf *)v->btf);
}

int object_variables(struct bpf_object *object, const struct algorithm *a, struct variables *v)
{
	struct bpf_map *map;

	*v = (struct variables) { .btf = bpf_object__btf(object) };
	bpf_object__for_each_map(map, object) {
		size_t size;
		const void *value = bpf_map__initial_value(map, &size);
		const char *name = bpf_map__name(map);

		if (value && !strcmp(name, APOGEE_PARAMS)) {
			v->params = value;
			v->count = size / sizeof(*v->params);
		} else if (value && strlen(name) > 5 && !strcmp(name + strlen(name) - 5, ".data")) {
			v->data = (void *)value;
			v->size = size;
		}
	}
	if (a->foreign)
		v->count = 0;
	return a->foreign || (v->params && v->data) ? 0 : complain("an object without parameters");
}
