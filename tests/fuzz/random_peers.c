// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for libFuzzer where clang is missing: random scripts, or those in files.
 *
 *   random_peers COUNT SEED
 *   random_peers FILE...
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define LENGTH_MAX 400

static u64 state;

static u32 draw(u32 below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static void run_random(u32 seed)
{
	u8 octets[LENGTH_MAX];
	u32 i, length;

	state = seed;
	draw(1);
	length = 5 + draw(LENGTH_MAX - 5);
	for (i = 0; i < length; i++)
		octets[i] = draw(256);
	fuzz(octets, length);
}

static void run_file(const char *name)
{
	u8 octets[65536];
	FILE *file = fopen(name, "rb");
	size_t length;

	if (!file) {
		perror(name);
		exit(2);
	}
	length = fread(octets, 1, sizeof(octets), file);
	fclose(file);
	fuzz(octets, length);
}

int main(int argc, char **argv)
{
	char *end = "";
	u32 count, seed;
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: random_peers COUNT SEED | FILE...\n");
		return 2;
	}
	count = strtoul(argv[1], &end, 10);
	if (argc != 3 || *end) {
		for (i = 1; i < argc; i++)
			run_file(argv[i]);
		return 0;
	}
	for (seed = strtoul(argv[2], NULL, 10); count; count--, seed++) {
		fprintf(stderr, "\rseed %u", seed);
		run_random(seed);
	}
	fprintf(stderr, "\n");
	return 0;
}
