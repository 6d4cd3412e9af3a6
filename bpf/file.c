// SPDX-License-Identifier: GPL-2.0
/*
 * Load what a file lists.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complain.h"
#include "file.h"
#include "find.h"
#include "load.h"
#include "system.h"

#define MOST_WORDS	32
/* What some editors begin a file with. */
#define BYTE_ORDER_MARK	"\xef\xbb\xbf"

/* Words of a line, up to NULL. Returns their number, or -1 if there are too many. */
static int split(char *line, char *words[MOST_WORDS + 1])
{
	size_t length = strcspn(line, "\n");
	int count = 0;
	char *word;

	/* Some editors end a line with two characters. */
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	if (strchr(line, '\r'))
		return complain("a carriage return within the line");
	line[strcspn(line, "#")] = '\0';
	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (count == MOST_WORDS)
			return complain("more than %d words", MOST_WORDS);
		words[count++] = word;
	}
	words[count] = NULL;
	return count;
}

/* An algorithm and its parameters; nothing in an empty line. */
static int load_line(char *line)
{
	char *words[MOST_WORDS + 1];
	int count = split(line, words);
	const struct algorithm *a;

	if (count <= 0)
		return count;
	a = find_algorithm(words[0]);
	if (!a)
		return -1;
	for (int i = 1; i < count; i++)
		if (!strchr(words[i], '='))
			return complain("%s: want NAME=VALUE", words[i]);
	return check_system() ? -1 : load(a, words + 1);
}

static int load_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	char where[PATH_MAX + sizeof(":4294967295: ")];
	int err = 0;

	if (!file)
		return complain("%s: %s", path, strerror(errno));
	complain_at = where;
	while (!err && (length = getline(&line, &size, file)) >= 0) {
		snprintf(where, sizeof(where), "%s:%u: ", path, ++number);
		if (strlen(line) != (size_t)length)
			err = complain("a NUL character");
		else if (number == 1 && !strncmp(line, BYTE_ORDER_MARK, 3))
			err = load_line(line + 3);
		else
			err = load_line(line);
	}
	complain_at = "";
	if (!err && !feof(file))
		err = complain("%s: %s", path, strerror(errno));
	free(line);
	fclose(file);
	return err;
}

/* What cannot be read to its end, as a FIFO, is no file of a folder. */
static int load_regular(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat found;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return complain("%s/%s: %s", folder, name, strerror(ENAMETOOLONG));
	if (!stat(path, &found) && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
		return complain("%s: no file", path);
	return load_lines(path);
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".conf");
}

/* The files of a folder in the order of their names. One that may be missing begins with a -. */
int load_file(const char *path)
{
	bool optional = *path == '-';
	struct dirent **files;
	int count, err = 0;

	path += optional;
	count = scandir(path, &files, is_conf, alphasort);
	if (count < 0)
		return optional && errno == ENOENT ? 0 : load_lines(path);
	for (int i = 0; i < count; i++) {
		err = err ? err : load_regular(path, files[i]->d_name);
		free(files[i]);
	}
	free(files);
	return err;
}
