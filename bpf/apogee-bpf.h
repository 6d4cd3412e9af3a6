/* SPDX-License-Identifier: GPL-2.0 */
/*
 * apogee-bpf: loads congestion controls as BPF programs: Apogee's, and those of other objects.
 *
 * What is loaded stays when the program ends: it is pinned below PINS, in a folder per algorithm,
 * which begins with a + if it is from another object and then may lack all but the first:
 *
 *   ops	the operations; deleting its only element unregisters the algorithm
 *   link	instead of deleting it, for an object that has them in .struct_ops.link
 *   data	variables: parameters, until when records are wanted, what is registered
 *   params	names and ranges of the parameters
 *   events	the ring buffer of `trace`
 *   sockets	reading it lists the algorithm's sockets
 */
#ifndef _APOGEE_BPF_H
#define _APOGEE_BPF_H

#include <stdbool.h>
#include <stddef.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "object.h"

#ifndef BPF_FS
#define BPF_FS	"/sys/fs/bpf"
#endif
#define PINS	BPF_FS "/apogee"
#ifndef OBJECTS
#define OBJECTS	"/usr/lib/apogee-bpf"
#endif

/* TCP_CA_NAME_MAX of the kernel; algorithms of an object, and loaded from objects, at most */
#define KERNEL_NAME	16
#define MOST_FOREIGN	16

/**
 * struct foreign - an object that is not compiled in
 * @image: the file's content
 * @size: its octets
 * @count: algorithms in it
 * @name: their names
 * @map: the names of their variables
 */
struct foreign {
	void *image;
	size_t size;
	int count;
	char name[MOST_FOREIGN][KERNEL_NAME];
	char map[MOST_FOREIGN][64];
};

/**
 * struct algorithm - an algorithm that can be loaded
 * @name: as the module's
 * @kernel_name: its name as a congestion control; the kernel allows 15 characters
 * @elf: its object, for libbpf
 * @about: what it is for
 * @map: the variable with its operations
 * @foreign: where it is from, if it is not compiled in
 * @pinned: it is not compiled in, and only its pins are known
 */
struct algorithm {
	const char *name;
	const char *kernel_name;
	const void *(*elf)(size_t *size);
	const char *about;
	const char *map;
	const struct foreign *foreign;
	bool pinned;
};

extern const struct algorithm algorithms[];
extern const size_t algorithm_count;

/* Print what the kernel says of each program that is loaded. */
extern bool verbose;

/* The algorithm with a name, either of both, or of an object, by its path or among OBJECTS; NULL
 * after a line on standard error.
 */
const struct algorithm *find_algorithm(const char *name);

/* A line on standard error: "apogee-bpf: ", where in a file, and the text. Returns -1. */
extern const char *complain_at;
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The path of a pin. Overwritten by the next call. */
const char *pin_path(const struct algorithm *a, const char *what);
bool pins_are_ours(void);
int has_pins(const struct algorithm *a);

/* Wait for whoever changes pins, and keep others from that; @how: LOCK_SH, or LOCK_EX to change
 * them. It ends with the process, however that ends.
 */
int lock_pins(int how);
void unlock_pins(void);

/* 1, 0, or -1 after a line: what cannot be known is not taken for a no. */
int is_loaded(const struct algorithm *a);

/* system.c: what the machine has; the first two as is_loaded() */
int is_registered(const struct algorithm *a);
int is_default(const struct algorithm *a);
int check_pins(void);
int check_system(void);
int kernel_arguments(const struct btf *kernel, const char *operation);

/* load.c. @settings: NAME=VALUE, up to NULL. All return 0, or -1 after a line. */
int load(const struct algorithm *a, char *const settings[]);
int unload(const struct algorithm *a);

/* file.c */
int load_file(const char *path);

/* params.c: the parameters of what is loaded, or of an object that is being loaded */
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

/* foreign.c; each_object() and open_object() after a line as load() */
bool is_object(const char *name);
const struct algorithm *open_object(const char *word);
int each_object(bool (*act)(const struct algorithm *a, void *data), void *data);
size_t loaded_objects(const struct algorithm *found[], size_t most);

/* choose.c */
int choose_for(int count, char *const words[]);

/* show.c */
enum form { AS_TEXT, AS_JSON, AS_METRICS };

struct bpf_object *open_elf(const struct algorithm *a);
int list(enum form form);
int show(const struct algorithm *a);
int statuses(const struct algorithm *const which[], size_t count, enum form form);

/* trace.c */
int trace(const struct algorithm *const *which, size_t count);

#endif /* _APOGEE_BPF_H */
