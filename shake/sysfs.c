// SPDX-License-Identifier: GPL-2.0
/*
 * The same settings in /sys/class/net/DEVICE/shake, to be read and changed without
 * iproute2's plug-in. A link can't be made without it: the role is a word of ip.
 */
#include <linux/kstrtox.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <compat/hex.h>

#include "ops.h"
#include "read.h"
#include "settings.h"
#include "text.h"

static struct shake_dev *of_device(struct device *device)
{
	return shake_dev(to_net_dev(device));
}

/* Take RTNL, if the caller may write. */
static int begin_write(const struct shake_dev *d)
{
	if (!rtnl_trylock())
		return restart_syscall();
	if (shake_may_change(d))
		return 0;
	rtnl_unlock();
	return -EPERM;
}

/* Why something was refused, to the kernel's log. */
static void explain(struct shake_dev *d, const struct netlink_ext_ack *extack,
		    const char *otherwise)
{
	const char *said = extack->_msg ?: otherwise;

	if (strstarts(said, KBUILD_MODNAME ": "))
		said += strlen(KBUILD_MODNAME ": ");
	netdev_err(d->dev, "%s\n", said);
}

/* --- settings ------------------------------------------------------------------------------- */

enum kind {
	U8,
	U16,
	U32,
	SWITCH,
	ADDRESS,
	NAME_U8,	/* a word that stands for a number */
	NAME_ENUM,
};

/**
 * struct setting - a file of one setting
 * @attr: the file
 * @kind: type of the member
 * @offset: of the member in struct shake_settings
 * @names: words by number
 */
struct setting {
	struct device_attribute attr;
	enum kind kind;
	size_t offset;
	const char *const *names;
};

static unsigned int number_of(const struct setting *setting, const void *member)
{
	switch (setting->kind) {
	case U16:
		return *(const u16 *)member;
	case SWITCH:
		return *(const bool *)member;
	case U8:
	case NAME_U8:
		return *(const u8 *)member;
	default:
		return *(const u32 *)member;
	}
}

static ssize_t setting_show(struct device *device, struct device_attribute *attr, char *text)
{
	const struct setting *setting = container_of(attr, struct setting, attr);
	const void *member = (char *)&of_device(device)->settings + setting->offset;
	int length;

	if (setting->kind == ADDRESS) {
		length = shake_write_address(text, PAGE_SIZE, member);
		return length + sysfs_emit_at(text, length, "\n");
	}
	if (setting->names)
		return sysfs_emit(text, "%s\n", setting->names[number_of(setting, member)]);
	return sysfs_emit(text, "%u\n", number_of(setting, member));
}

static int read_name(const struct setting *setting, void *member, const char *line)
{
	int i;

	for (i = 0; setting->names[i]; i++) {
		if (strcmp(setting->names[i], line))
			continue;
		if (setting->kind == NAME_U8)
			*(u8 *)member = i;
		else
			*(u32 *)member = i;
		return 0;
	}
	return -EINVAL;
}

static int read_setting(const struct setting *setting, void *member, const char *line)
{
	switch (setting->kind) {
	case ADDRESS:
		return shake_read_address(line, member);
	case SWITCH:
		return kstrtobool(line, member);
	case U32:
		return kstrtou32(line, 0, member);
	case U16:
		return kstrtou16(line, 0, member);
	case U8:
		return kstrtou8(line, 0, member);
	default:
		return read_name(setting, member, line);
	}
}

static int change_setting(struct shake_dev *d, const struct setting *setting, const char *line,
			  struct netlink_ext_ack *extack)
{
	struct shake_settings settings = d->settings;
	int err = read_setting(setting, (char *)&settings + setting->offset, line);

	return err ?: shake_settings_change(d, &settings, extack);
}

static ssize_t setting_store(struct device *device, struct device_attribute *attr,
			     const char *text, size_t length)
{
	const struct setting *setting = container_of(attr, struct setting, attr);
	struct shake_dev *d = of_device(device);
	struct netlink_ext_ack extack = { };
	char line[64];
	int err;

	if (strscpy(line, text, sizeof(line)) < 0)
		return -EINVAL;
	err = begin_write(d);
	if (err)
		return err;
	err = change_setting(d, setting, strim(line), &extack);
	if (err)
		explain(d, &extack, "this is not a value of that setting");
	rtnl_unlock();
	return err ? err : length;
}

/* A setting that may be changed. */
#define SHAKE_SETTING(name, kind, member, names)				\
	static struct setting setting_##name = {				\
		__ATTR(name, 0644, setting_show, setting_store),		\
		kind, offsetof(struct shake_settings, member), names		\
	}

/* A setting for which the device would have to be made again. */
#define SHAKE_FIXED(name, kind, member, names)					\
	static struct setting setting_##name = {				\
		__ATTR(name, 0444, setting_show, NULL),				\
		kind, offsetof(struct shake_settings, member), names		\
	}

SHAKE_FIXED(role, NAME_ENUM, role, shake_role_names);
SHAKE_FIXED(id, U32, id, NULL);
SHAKE_FIXED(port, U16, port, NULL);
SHAKE_FIXED(local, ADDRESS, local, NULL);
SHAKE_SETTING(remote, ADDRESS, remote, NULL);
SHAKE_SETTING(scheduler, NAME_U8, sched.scheduler, shake_scheduler_names);
SHAKE_SETTING(theta, U32, sched.theta, NULL);
SHAKE_SETTING(ack, NAME_ENUM, ack, shake_ack_names);
SHAKE_SETTING(threshold, U32, threshold, NULL);
SHAKE_FIXED(auth, SWITCH, auth, NULL);
SHAKE_SETTING(encrypt, SWITCH, encrypt, NULL);
SHAKE_SETTING(interval_us, U32, estimate.interval, NULL);
SHAKE_SETTING(rtt_window_us, U32, estimate.rtt_window, NULL);
SHAKE_SETTING(keepalive_us, U32, keepalive, NULL);
SHAKE_SETTING(queue_us, U32, queue, NULL);
SHAKE_SETTING(repair, SWITCH, repair, NULL);
SHAKE_SETTING(datagrams, NAME_U8, datagrams, shake_datagrams_names);
SHAKE_SETTING(duplicate, U32, duplicate, NULL);
SHAKE_SETTING(duplicate_dscp, U8, duplicate_dscp, NULL);
SHAKE_SETTING(hold_acks, SWITCH, hold_acks, NULL);

/* --- paths, peers, keys: a line is written, many are read ------------------------------------ */

/* Does what one line asks for. */
typedef int (*line_fn)(struct shake_dev *d, char *line, struct netlink_ext_ack *extack);

static int try_line(struct shake_dev *d, char *line, line_fn take)
{
	struct netlink_ext_ack extack = { };
	int err = begin_write(d);

	if (err)
		return err;
	err = take(d, line, &extack);
	if (err)
		explain(d, &extack, "this is not a line of that file");
	rtnl_unlock();
	return err;
}

static ssize_t store_line(struct device *device, const char *text, size_t length, line_fn take)
{
	struct shake_dev *d = of_device(device);
	char *copy;
	int err;

	copy = kmemdup_nul(text, length, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = try_line(d, strim(copy), take);
	kfree_sensitive(copy);
	return err ? err : length;
}

/* The page that is read. What does not fit is told by a last line: "...". */
struct page_text {
	char *text;
	int length;
	bool full;
	bool agent;
};

#define SHAKE_MORE "...\n"

static int room(const struct page_text *page)
{
	return page->full ? 0 : PAGE_SIZE - sizeof(SHAKE_MORE) - page->length;
}

/* A line of this length was written at the end of the page, but may have been cut. */
static void end_line(struct page_text *page, int length)
{
	if (page->full)
		return;
	if (length && page->text[page->length + length - 1] == '\n') {
		page->length += length;
		return;
	}
	page->full = true;
	page->length += sysfs_emit_at(page->text, page->length, SHAKE_MORE);
}

static int print_path(const struct shake_path_stats *path, void *to)
{
	struct page_text *page = to;

	end_line(page, shake_write_path(page->text + page->length, room(page), path,
					page->agent));
	return 0;
}

static int print_peer(const struct shake_peer_shown *peer, void *to)
{
	struct page_text *page = to;

	end_line(page, shake_write_peer(page->text + page->length, room(page), peer));
	return 0;
}

static ssize_t paths_show(struct device *device, struct device_attribute *attr, char *text)
{
	struct shake_dev *d = of_device(device);
	struct page_text page = { .text = text, .agent = !shake_is_leader(d) };

	if (!rtnl_trylock())
		return restart_syscall();
	shake_each_path(d, print_path, &page);
	rtnl_unlock();
	return page.length;
}

static ssize_t peers_show(struct device *device, struct device_attribute *attr, char *text)
{
	struct page_text page = { .text = text };

	if (!rtnl_trylock())
		return restart_syscall();
	shake_each_peer(of_device(device), print_peer, &page);
	rtnl_unlock();
	return page.length;
}

/* "+1 dev=eth0 weight=50", "-1" */
static int take_path(struct shake_dev *d, char *line, struct netlink_ext_ack *extack)
{
	char *word = strsep(&line, " ");
	struct shake_path_settings path;
	u8 id;
	int err;

	if ((*word != '+' && *word != '-') || kstrtou8(word + 1, 10, &id))
		return -EINVAL;
	if (*word == '-')
		return line ? -EINVAL : shake_path_delete(d, id, extack);
	shake_path_begin(d, id, &path);
	err = shake_read_path(line, &path);
	return err ?: shake_path_set(d, &path, extack);
}

static ssize_t paths_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return store_line(device, text, length, take_path);
}
static DEVICE_ATTR_RW(paths);

/* The rest of "7 allow PREFIX". */
static int take_prefix(struct shake_dev *d, u32 id, char *rest, struct netlink_ext_ack *extack)
{
	char *verb = strsep(&rest, " ");
	struct shake_prefix prefix;

	if (!rest || shake_read_prefix(rest, &prefix))
		return -EINVAL;
	if (!strcmp(verb, "allow"))
		return shake_peer_allow(d, id, &prefix, extack);
	if (!strcmp(verb, "deny"))
		return shake_peer_deny(d, id, &prefix, extack);
	return -EINVAL;
}

/* "+7", "-7", "7 allow PREFIX", "7 deny PREFIX" */
static int take_peer(struct shake_dev *d, char *line, struct netlink_ext_ack *extack)
{
	char *word = strsep(&line, " ");
	bool add = *word == '+';
	bool delete = *word == '-';
	u32 id;

	if (kstrtou32(word + (add || delete), 10, &id) || (add || delete) == !!line)
		return -EINVAL;
	if (add)
		return shake_peer_add(d, id, extack);
	if (delete)
		return shake_peer_delete(d, id, extack);
	return take_prefix(d, id, line, extack);
}

static ssize_t peers_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return store_line(device, text, length, take_peer);
}
static DEVICE_ATTR_RW(peers);

/* "7 HEX" */
static int take_key(struct shake_dev *d, char *line, struct netlink_ext_ack *extack)
{
	char *word = strsep(&line, " ");
	u8 key[SHAKE_KEY];
	u32 id;
	int err;

	if (!line || strlen(line) != 2 * SHAKE_KEY || kstrtou32(word, 10, &id) ||
	    hex2bin(key, line, SHAKE_KEY)) {
		NL_SET_ERR_MSG_MOD(extack, "a key is a peer's number and 64 hexadecimal digits");
		return -EINVAL;
	}
	err = shake_peer_key(d, id, key, extack);
	memzero_explicit(key, sizeof(key));
	return err;
}

static ssize_t key_store(struct device *device, struct device_attribute *attr,
			 const char *text, size_t length)
{
	return store_line(device, text, length, take_key);
}
static DEVICE_ATTR_WO(key);

static struct attribute *attributes[] = {
	&setting_role.attr.attr,
	&setting_id.attr.attr,
	&setting_port.attr.attr,
	&setting_local.attr.attr,
	&setting_remote.attr.attr,
	&setting_scheduler.attr.attr,
	&setting_theta.attr.attr,
	&setting_ack.attr.attr,
	&setting_threshold.attr.attr,
	&setting_auth.attr.attr,
	&setting_encrypt.attr.attr,
	&setting_interval_us.attr.attr,
	&setting_rtt_window_us.attr.attr,
	&setting_keepalive_us.attr.attr,
	&setting_queue_us.attr.attr,
	&setting_repair.attr.attr,
	&setting_datagrams.attr.attr,
	&setting_duplicate.attr.attr,
	&setting_duplicate_dscp.attr.attr,
	&setting_hold_acks.attr.attr,
	&dev_attr_paths.attr,
	&dev_attr_peers.attr,
	&dev_attr_key.attr,
	NULL,
};

const struct attribute_group shake_group = {
	.name = "shake",
	.attrs = attributes,
};
