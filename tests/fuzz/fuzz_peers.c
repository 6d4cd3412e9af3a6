// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: two whole peers; an input is a script (script.c).
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "world.h"

int fuzz(const u8 *octets, size_t length)
{
	struct world *world = script_run(octets, length);

	if (world->failure[0]) {
		fprintf(stderr, "fuzz_peers: %s\n", world->failure);
		abort();
	}
	world_free(world);
	return 0;
}
