/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of what is loaded, or of an object that is being loaded.
 */
#ifndef _APOGEE_BPF_PARAMS_H
#define _APOGEE_BPF_PARAMS_H

#include <bpf/btf.h>

#include "algorithms.h"
#include "object.h"

struct variables {
	const struct btf *btf;
	void *data;
	size_t size;
	const struct apogee_param *params;
	size_t count;
};

void *find_variable(const struct btf *btf, const char *section, void *data, size_t size,
		    const char *name);
bool has_parameter(const struct variables *v, const char *setting);
int check_parameter(const struct variables *v, const char *setting);
int set_parameter(const struct variables *v, const char *setting);
void *variable(const struct variables *v, const char *name);
int open_variables(const struct algorithm *a, struct variables *v);
void close_variables(struct variables *v);
/* compound_plus's periods are those of the wall clock; BPF has TAI. Time daemons set the difference
 * after the unit has loaded.
 */
void set_tai_offset(const struct variables *v);
int object_variables(struct bpf_object *object, const struct algorithm *a, struct variables *v);

#endif /* _APOGEE_BPF_PARAMS_H */
