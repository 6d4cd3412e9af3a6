// SPDX-License-Identifier: GPL-2.0
/*
 * The same settings in /sys/class/net/DEVICE/sscop, for those without iproute2's plug-in.
 */
#include <linux/etherdevice.h>
#include <linux/kstrtox.h>
#include <linux/rtnetlink.h>
#include <linux/sysfs.h>

#include <compat/hex.h>

#include "device.h"

static struct sscop_dev *of_device(struct device *device)
{
	return netdev_priv(to_net_dev(device));
}

/* Replace one setting: @set reads it from the text. */
static ssize_t store(struct device *device, const char *text, size_t length,
		     int (*set)(struct sscop_settings *settings, const char *text))
{
	struct sscop_dev *d = of_device(device);
	struct netlink_ext_ack extack = { };
	struct sscop_settings settings;
	int err;

	if (!rtnl_trylock())
		return restart_syscall();
	settings = d->settings;
	err = set(&settings, text);
	if (err)
		NL_SET_ERR_MSG_MOD(&extack, "this is not a value of that setting");
	else
		err = sscop_settings_change(d, &settings, &extack);
	if (err && extack._msg)
		netdev_err(d->dev, "%s\n", extack._msg + strlen(KBUILD_MODNAME ": "));
	rtnl_unlock();
	return err ? err : length;
}

/* A number of struct sscop_settings. */
#define SSCOP_NUMBER(name, member)						\
	static ssize_t name##_show(struct device *device,			\
				   struct device_attribute *attr, char *text)	\
	{									\
		return sysfs_emit(text, "%u\n", of_device(device)->settings.member); \
	}									\
	static int name##_set(struct sscop_settings *settings, const char *text) \
	{									\
		return kstrtou32(text, 0, &settings->member);			\
	}									\
	static ssize_t name##_store(struct device *device,			\
				    struct device_attribute *attr,		\
				    const char *text, size_t length)		\
	{									\
		return store(device, text, length, name##_set);			\
	}									\
	static DEVICE_ATTR_RW(name)

SSCOP_NUMBER(window, rules.window);
SSCOP_NUMBER(poll_bytes, rules.poll_bytes);
SSCOP_NUMBER(poll_sds, rules.poll_sds);
SSCOP_NUMBER(poll_time_us, rules.poll_time);
SSCOP_NUMBER(poll_idle_us, rules.poll_idle);
SSCOP_NUMBER(backlog, backlog);

static ssize_t ustat_show(struct device *device, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%d\n", of_device(device)->settings.rules.ustat);
}

static int ustat_set(struct sscop_settings *settings, const char *text)
{
	return kstrtobool(text, &settings->rules.ustat);
}

static ssize_t ustat_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return store(device, text, length, ustat_set);
}
static DEVICE_ATTR_RW(ustat);

static ssize_t segment_show(struct device *device, struct device_attribute *attr, char *text)
{
	u32 segment = of_device(device)->settings.segment;

	return segment ? sysfs_emit(text, "%u\n", segment) : sysfs_emit(text, "auto\n");
}

static int segment_set(struct sscop_settings *settings, const char *text)
{
	if (!sysfs_streq(text, "auto"))
		return kstrtou32(text, 0, &settings->segment);
	settings->segment = 0;
	return 0;
}

static ssize_t segment_store(struct device *device, struct device_attribute *attr,
			     const char *text, size_t length)
{
	return store(device, text, length, segment_set);
}
static DEVICE_ATTR_RW(segment);

static ssize_t peer_show(struct device *device, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%pM\n", of_device(device)->settings.peer);
}

static int peer_set(struct sscop_settings *settings, const char *text)
{
	return mac_pton(text, settings->peer) ? 0 : -EINVAL;
}

static ssize_t peer_store(struct device *device, struct device_attribute *attr,
			  const char *text, size_t length)
{
	return store(device, text, length, peer_set);
}
static DEVICE_ATTR_RW(peer);

/* --- only read ----------------------------------------------------------------------------- */

static ssize_t state_show(struct device *device, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%s\n",
			  sscop_state_names[READ_ONCE(of_device(device)->s.state)]);
}
static DEVICE_ATTR_RO(state);

static ssize_t segment_now_show(struct device *device, struct device_attribute *attr,
				char *text)
{
	return sysfs_emit(text, "%u\n", sscop_segment_now(of_device(device)));
}
static DEVICE_ATTR_RO(segment_now);

static struct attribute *attributes[] = {
	&dev_attr_segment.attr,
	&dev_attr_window.attr,
	&dev_attr_poll_bytes.attr,
	&dev_attr_poll_sds.attr,
	&dev_attr_poll_time_us.attr,
	&dev_attr_poll_idle_us.attr,
	&dev_attr_ustat.attr,
	&dev_attr_peer.attr,
	&dev_attr_backlog.attr,
	&dev_attr_state.attr,
	&dev_attr_segment_now.attr,
	NULL,
};

const struct attribute_group sscop_group = {
	.name = "sscop",
	.attrs = attributes,
};
