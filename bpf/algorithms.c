// SPDX-License-Identifier: GPL-2.0
/*
 * The algorithms that are compiled in.
 */
#include <errno.h>

#include "algorithms.h"
#include "object.h"
#include "compound.skel.h"
#include "compound_plus.skel.h"
#include "hstcp_gentle.skel.h"
#include "star.skel.h"

const struct algorithm algorithms[] = {
	{ .name = "star", .kernel_name = "bpf_star", .elf = star_bpf__elf_bytes,
	  .about = "a lossy satellite or radio link of your own" },
	{ .name = "hstcp_gentle", .kernel_name = "bpf_gentle", .elf = hstcp_gentle_bpf__elf_bytes,
	  .about = "bulk data on long fat pipes that loss-based flows share" },
	{ .name = "compound_plus", .kernel_name = "bpf_comp_plus",
	  .elf = compound_plus_bpf__elf_bytes,
	  .about = "many stations that upload through one WLAN access point" },
	{ .name = "compound", .kernel_name = "bpf_compound", .elf = compound_bpf__elf_bytes,
	  .about = "Compound TCP, to compare with" },
};

const size_t algorithm_count = sizeof(algorithms) / sizeof(algorithms[0]);

struct bpf_object *open_elf(const struct algorithm *a)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = a->name);
	const void *elf = NULL;
	size_t size = 0;

	if (a->foreign) {
		elf = a->foreign->image;
		size = a->foreign->size;
	} else if (a->elf) {
		elf = a->elf(&size);
	}
	errno = ENOENT;
	return elf ? bpf_object__open_mem(elf, size, &opts) : NULL;
}
