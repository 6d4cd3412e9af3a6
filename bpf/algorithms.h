/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Algorithms that can be loaded: those that are compiled in, and what is known of one of another
 * object.
 */
#ifndef _APOGEE_BPF_ALGORITHMS_H
#define _APOGEE_BPF_ALGORITHMS_H

#include <stdbool.h>
#include <stddef.h>

#include <bpf/libbpf.h>

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

/* Those that are compiled in. */
extern const struct algorithm algorithms[];
extern const size_t algorithm_count;

struct bpf_object *open_elf(const struct algorithm *a);

#endif /* _APOGEE_BPF_ALGORITHMS_H */
