// SPDX-License-Identifier: GPL-2.0
/*
 * count - loaded into QEMU: how many instructions a guest executes, and where
 *
 * Arguments: marker=ADDRESS of a function of the guest's kernel, to=PATH. Whenever the
 * guest calls the marker, a line "mark" and a line "ADDRESS COUNT" per piece of straight
 * code are appended to the file, and counting begins anew. Address 0 is all that runs
 * outside the kernel.
 *
 * Counting takes no time of the guest's.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

#define SHOWN __attribute__((visibility("default")))
#define KERNEL 0x8000000000000000	/* its addresses have this bit */
#define SLOTS 0x100000

SHOWN int qemu_plugin_version = 1;

struct count {
	uint64_t address;
	uint64_t instructions;
	bool used;
};

static struct count counts[SLOTS];
static uint64_t marker;
static const char *path;

/* The count of an address: in a hash table with open addressing. */
static struct count *count_of(uint64_t address)
{
	uint64_t at = (address * 0x9e3779b97f4a7c15ULL) >> 44;
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		struct count *c = &counts[(at + i) % SLOTS];

		if (!c->used || c->address == address) {
			c->used = true;
			c->address = address;
			return c;
		}
	}
	fprintf(stderr, "count: more than %d pieces of code\n", SLOTS);
	exit(1);
}

static void write_out(unsigned int cpu, void *data)
{
	FILE *file = fopen(path, "a");
	uint32_t i;

	(void)cpu;
	(void)data;
	if (!file) {
		perror(path);
		exit(1);
	}
	fprintf(file, "mark\n");
	for (i = 0; i < SLOTS; i++) {
		if (counts[i].instructions)
			fprintf(file, "%llx %llu\n", (unsigned long long)counts[i].address,
				(unsigned long long)counts[i].instructions);
		counts[i].instructions = 0;
	}
	fclose(file);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	struct count *count = count_of(address & KERNEL ? address : 0);

	(void)id;
	if (address == marker)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, write_out, 0, NULL);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &count->instructions,
						 qemu_plugin_tb_n_insns(tb));
}

SHOWN int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "marker=", 7))
			marker = strtoull(argv[i] + 7, NULL, 16);
		else if (!strncmp(argv[i], "to=", 3))
			path = strdup(argv[i] + 3);
	}
	if (!marker || !path) {
		fprintf(stderr, "count: marker=ADDRESS and to=PATH are needed\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
