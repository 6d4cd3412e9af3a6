// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: two whole peers; an input is a script (script.c).
 */
#include "input.h"
#include "world.h"

int fuzz(const u8 *octets, size_t length)
{
	struct world *world = script_run(octets, length);

	if (world->failure[0])
		fprintf(stderr, "%s\n", world->failure);
	expect(!world->failure[0]);
	world_free(world);
	return 0;
}
