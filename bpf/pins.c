// SPDX-License-Identifier: GPL-2.0
/*
 * Where what is loaded is pinned, and who may change that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "pins.h"

/* Half a minute, longer than loading takes where BPF's compiler runs on a busy machine. */
#define LOCK_TRIES	300
#define LOCK_PAUSE_US	100000

static const char *const pins[] = { "ops", "link", "data", "params", "events", "sockets" };

const char *pin_path(const struct algorithm *a, const char *what)
{
	static char path[128];

	snprintf(path, sizeof(path), PINS "/%s%s/%s", a->foreign || a->pinned ? "+" : "", a->name,
		 what);
	return path;
}

/* A BPF file system has mode 1777 by default: anybody may make PINS there, and its owner decides
 * what is in it.
 */
bool pins_are_ours(void)
{
	struct stat found;

	return !lstat(PINS, &found) && S_ISDIR(found.st_mode) &&
	       (!found.st_uid || found.st_uid == geteuid()) &&
	       !(found.st_mode & 0022);
}

int has_pins(const struct algorithm *a)
{
	return pins_are_ours() && !access(pin_path(a, "ops"), F_OK);
}

void remove_pins(const struct algorithm *a)
{
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		unlink(pin_path(a, pins[i]));
	rmdir(pin_path(a, ""));
	rmdir(PINS);
}

/* Make PINS, or refuse what somebody else made. Nobody else looks in, as a folder that can be
 * opened can be locked.
 */
int make_pins(void)
{
	if (!mkdir(PINS, 0700) || (errno == EEXIST && pins_are_ours()))
		return 0;
	return complain(PINS ": %s", errno == EEXIST ?
			"not a folder that only root or this user may change" : strerror(errno));
}

/* One load or unload at a time: another one would remove the pins of this one, and what is
 * registered without pins cannot be removed. A reader opens all pins of one load.
 */
static int pins_lock = -1;

int lock_pins(int how)
{
	pins_lock = open(BPF_FS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (pins_lock < 0)
		return complain(BPF_FS " cannot be locked: %s", strerror(errno));
	for (int tries = 0; flock(pins_lock, how | LOCK_NB); tries++) {
		if (errno != EWOULDBLOCK || tries == LOCK_TRIES) {
			complain(BPF_FS " cannot be locked: %s", errno == EWOULDBLOCK ?
				 "another process has it" : strerror(errno));
			unlock_pins();
			return -1;
		}
		usleep(LOCK_PAUSE_US);
	}
	return 0;
}

void unlock_pins(void)
{
	close(pins_lock);
	pins_lock = -1;
}

/* What cannot be seen looks as if nothing were loaded. What is no folder is not this program's. */
int check_pins(void)
{
	struct stat found;
	int err = lstat(PINS, &found);

	if (!err && S_ISDIR(found.st_mode))
		err = access(PINS, X_OK);
	if (err && errno == EACCES)
		return complain(PINS ": %s: run as root", strerror(errno));
	return 0;
}
