// SPDX-License-Identifier: GPL-2.0
/*
 * The same settings in /sys/class/net/DEVICE/sscop, for those without iproute2's plug-in.
 */
#include <linux/capability.h>
#include <linux/etherdevice.h>
#include <linux/kstrtox.h>
#include <linux/rtnetlink.h>
#include <linux/sysfs.h>

#include <compat/hex.h>

#include "events.h"
#include "ops.h"
#include "piece.h"
#include "settings.h"

static struct sscop_dev *of_device(struct device *device)
{
	return netdev_priv(to_net_dev(device));
}

/* Reads one setting from its text. */
typedef int (*set_fn)(struct sscop_settings *settings, size_t offset, const char *text);

/* Replace one setting. */
static ssize_t store(struct device *device, const char *text, size_t length, set_fn set,
		     size_t offset)
{
	struct sscop_dev *d = of_device(device);
	struct netlink_ext_ack extack = { };
	struct sscop_settings settings;
	int err;

	if (!ns_capable(dev_net(d->dev)->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (!rtnl_trylock())
		return restart_syscall();
	settings = d->settings;
	err = set(&settings, offset, text);
	if (err)
		NL_SET_ERR_MSG_MOD(&extack, "this is not a value of that setting");
	else
		err = sscop_settings_change(d, &settings, &extack);
	if (err && extack._msg && net_ratelimit())
		netdev_err(d->dev, "%s\n", extack._msg + strlen(KBUILD_MODNAME ": "));
	rtnl_unlock();
	return err ? err : length;
}

/* --- numbers ------------------------------------------------------------------------------- */

static u32 *number_at(struct sscop_settings *settings, size_t offset)
{
	return (u32 *)((char *)settings + offset);
}

static size_t offset_of(struct device_attribute *attr)
{
	return (size_t)container_of(attr, struct dev_ext_attribute, attr)->var;
}

static ssize_t number_show(struct device *device, struct device_attribute *attr, char *text)
{
	struct sscop_dev *d = of_device(device);

	return sysfs_emit(text, "%u\n", *number_at(&d->settings, offset_of(attr)));
}

static ssize_t auto_show(struct device *device, struct device_attribute *attr, char *text)
{
	u32 number = *number_at(&of_device(device)->settings, offset_of(attr));

	return number ? sysfs_emit(text, "%u\n", number) : sysfs_emit(text, "auto\n");
}

static int number_set(struct sscop_settings *settings, size_t offset, const char *text)
{
	return kstrtou32(text, 0, number_at(settings, offset));
}

static ssize_t number_store(struct device *device, struct device_attribute *attr,
			    const char *text, size_t length)
{
	return store(device, text, length, number_set, offset_of(attr));
}

static int auto_set(struct sscop_settings *settings, size_t offset, const char *text)
{
	if (!sysfs_streq(text, "auto"))
		return number_set(settings, offset, text);
	*number_at(settings, offset) = 0;
	return 0;
}

static ssize_t auto_store(struct device *device, struct device_attribute *attr,
			  const char *text, size_t length)
{
	return store(device, text, length, auto_set, offset_of(attr));
}

/* A number of struct sscop_settings, */
#define SSCOP_VALUE(name, member, kind)						\
	static struct dev_ext_attribute number_##name = {			\
		__ATTR(name, 0644, kind##_show, kind##_store),			\
		(void *)offsetof(struct sscop_settings, member)			\
	}
#define SSCOP_NUMBER(name, member) SSCOP_VALUE(name, member, number)
/* and one that may be 0, for "auto". */
#define SSCOP_AUTO(name, member) SSCOP_VALUE(name, member, auto)

SSCOP_NUMBER(window, rules.window);
SSCOP_NUMBER(poll_bytes, rules.poll_bytes);
SSCOP_NUMBER(poll_sds, rules.poll_sds);
SSCOP_NUMBER(poll_time_us, rules.poll_time);
SSCOP_NUMBER(poll_idle_us, rules.poll_idle);
SSCOP_NUMBER(persist_us, rules.persist);
SSCOP_NUMBER(link_id, rules.link_id);
SSCOP_NUMBER(small, small);
SSCOP_AUTO(segment, segment);
SSCOP_AUTO(backlog, backlog);

/* --- DSCPs ---------------------------------------------------------------------------------- */

static u64 *dscps_at(struct sscop_settings *settings, size_t offset)
{
	return (u64 *)((char *)settings + offset);
}

static ssize_t dscps_show(struct device *device, struct device_attribute *attr, char *text)
{
	u64 bits = *dscps_at(&of_device(device)->settings, offset_of(attr));
	ssize_t length = 0;
	int dscp;

	for (dscp = 0; dscp < SSCOP_DSCPS; dscp++)
		if (bits >> dscp & 1)
			length += sysfs_emit_at(text, length, length ? ",%d" : "%d", dscp);
	return length + sysfs_emit_at(text, length, length ? "\n" : "none\n");
}

static int dscps_set(struct sscop_settings *settings, size_t offset, const char *text)
{
	DECLARE_BITMAP(map, SSCOP_DSCPS);
	u64 bits = 0;
	int dscp;

	bitmap_zero(map, SSCOP_DSCPS);
	if (!sysfs_streq(text, "none") && bitmap_parselist(text, map, SSCOP_DSCPS))
		return -EINVAL;
	for_each_set_bit(dscp, map, SSCOP_DSCPS)
		bits |= 1ULL << dscp;
	*dscps_at(settings, offset) = bits;
	return 0;
}

static ssize_t dscps_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return store(device, text, length, dscps_set, offset_of(attr));
}

SSCOP_VALUE(unassured, unassured, dscps);
SSCOP_VALUE(bounded, bounded, dscps);

/* --- others -------------------------------------------------------------------------------- */

static ssize_t ustat_show(struct device *device, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%d\n", of_device(device)->settings.rules.ustat);
}

static int ustat_set(struct sscop_settings *settings, size_t offset, const char *text)
{
	return kstrtobool(text, &settings->rules.ustat);
}

static ssize_t ustat_store(struct device *device, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return store(device, text, length, ustat_set, 0);
}
static DEVICE_ATTR_RW(ustat);

static ssize_t peer_show(struct device *device, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%pM\n", of_device(device)->settings.peer);
}

static int peer_set(struct sscop_settings *settings, size_t offset, const char *text)
{
	return mac_pton(text, settings->peer) ? 0 : -EINVAL;
}

static ssize_t peer_store(struct device *device, struct device_attribute *attr,
			  const char *text, size_t length)
{
	return store(device, text, length, peer_set, 0);
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
	&number_segment.attr.attr,
	&number_window.attr.attr,
	&number_poll_bytes.attr.attr,
	&number_poll_sds.attr.attr,
	&number_poll_time_us.attr.attr,
	&number_poll_idle_us.attr.attr,
	&dev_attr_ustat.attr,
	&dev_attr_peer.attr,
	&number_link_id.attr.attr,
	&number_backlog.attr.attr,
	&number_unassured.attr.attr,
	&number_bounded.attr.attr,
	&number_small.attr.attr,
	&number_persist_us.attr.attr,
	&dev_attr_state.attr,
	&dev_attr_segment_now.attr,
	NULL,
};

const struct attribute_group sscop_group = {
	.name = "sscop",
	.attrs = attributes,
};
