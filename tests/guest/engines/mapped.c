// SPDX-License-Identifier: GPL-2.0
/*
 * Maps a file whose pages are in memory, but none beside the one that follows it, and reads one of
 * each 64: engine uml asks the host for a mapping of each page, more than the host allows.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096L
#define PAGES 72000L

int main(void)
{
	static const char page[PAGE];
	int file = open("one", O_RDWR | O_CREAT, 0600);
	int other = open("other", O_RDWR | O_CREAT, 0600);
	const volatile char *map;

	for (long i = 0; i < PAGES; i++) {
		if (write(file, page, PAGE) != PAGE || write(other, page, PAGE) != PAGE) {
			perror("mapped: write");
			return 1;
		}
	}
	map = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (map == MAP_FAILED) {
		perror("mapped: mmap");
		return 1;
	}
	for (long i = 0; i < PAGES; i += 64)
		(void)map[i * PAGE];
	puts("all was mapped");
	return 0;
}
