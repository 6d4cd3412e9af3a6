// SPDX-License-Identifier: GPL-2.0
/*
 * ethtool: statistics (-S), the driver's name (-i), resynchronization (-r).
 */
#include <linux/ethtool.h>
#include <linux/stddef.h>

#include "events.h"
#include "ops.h"
#include "piece.h"
#include "settings.h"

#define COUNT(name) { #name, offsetof(struct sscop_counts, name) }
#define CLASS_COUNT(name, class, field) \
	{ #name "_" #field, offsetof(struct sscop_counts, classes[class].field) }
#define DROPPED(name, verdict) \
	{ "dropped_" #name, offsetof(struct sscop_counts, dropped[verdict]) }

/* What the machines count. */
static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} counted[] = {
	COUNT(sd_sent),
	COUNT(sd_again),
	COUNT(sd_repeated),
	COUNT(sd_bytes),
	COUNT(sd_received),
	COUNT(poll_sent),
	COUNT(poll_received),
	COUNT(stat_sent),
	COUNT(stat_received),
	COUNT(ustat_sent),
	COUNT(ustat_received),
	COUNT(control_sent),
	COUNT(control_received),
	COUNT(window_closed),
	COUNT(began),
	COUNT(resets),
	COUNT(reset_restart),
	COUNT(reset_end),
	COUNT(reset_silence),
	COUNT(reset_asked),
	COUNT(reset_error),
	CLASS_COUNT(unassured, SSCOP_UNASSURED, sent),
	CLASS_COUNT(unassured, SSCOP_UNASSURED, again),
	CLASS_COUNT(unassured, SSCOP_UNASSURED, received),
	CLASS_COUNT(unassured, SSCOP_UNASSURED, missed),
	CLASS_COUNT(bounded, SSCOP_BOUNDED, sent),
	CLASS_COUNT(bounded, SSCOP_BOUNDED, again),
	CLASS_COUNT(bounded, SSCOP_BOUNDED, given_up),
	CLASS_COUNT(bounded, SSCOP_BOUNDED, received),
	CLASS_COUNT(bounded, SSCOP_BOUNDED, missed),
	COUNT(udstat_sent),
	COUNT(udstat_received),
	DROPPED(truncated, SSCOP_TRUNCATED),
	DROPPED(length, SSCOP_BAD_LENGTH),
	DROPPED(type, SSCOP_BAD_TYPE),
	DROPPED(crc, SSCOP_BAD_CRC),
	DROPPED(list, SSCOP_BAD_LIST),
	DROPPED(state, SSCOP_BAD_STATE),
	DROPPED(stranger, SSCOP_STRANGER),
	DROPPED(flood, SSCOP_FLOOD),
	DROPPED(outside, SSCOP_OUTSIDE),
	DROPPED(duplicate, SSCOP_DUPLICATE),
	DROPPED(stale, SSCOP_STALE),
	DROPPED(unasked, SSCOP_UNASKED),
};

/* What the device adds, in the order of device_counts(). */
static const char device_names[][ETH_GSTRING_LEN] = {
	"peer_stranger", "packets_broken", "not_ip", "packets_lost", "segment_now", "srtt_us",
	"link_bps", "link_rtt_us", "link_window", "link_pressed", "backlog_now",
	"refused_below", "queue_dropped", "queue_marked", "copies_now",
};

static void device_counts(struct sscop_dev *d, u64 *data)
{
	data[0] = atomic64_read(&d->peer_stranger);
	data[1] = d->packets_broken;
	data[2] = d->rx_not_ip + atomic64_read(&d->tx_not_ip);
	data[3] = d->packets_lost;
	data[4] = sscop_segment_now_locked(d);
	data[5] = d->s.tx.srtt;
	data[6] = 8 * sscop_clock_rate(&d->s.clock);
	data[7] = sscop_clock_base(&d->s.clock);
	data[8] = sscop_clock_window(&d->s.clock);
	data[9] = d->s.clock.pressed;
	data[10] = d->settings.backlog ? d->settings.backlog : d->budget.limit;
	data[11] = d->refused;
	data[14] = d->s.classed ? sscop_class_copies(&d->s.classes[SSCOP_UNASSURED].losses) : 0;
	spin_lock(&d->above.fq.lock);
	data[12] = d->above.dropped;
	data[13] = d->above.stats.ecn_mark;
	spin_unlock(&d->above.fq.lock);
}

static int get_sset_count(struct net_device *dev, int set)
{
	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(counted) + ARRAY_SIZE(device_names);
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	size_t i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(counted); i++, data += ETH_GSTRING_LEN)
		memcpy(data, counted[i].name, ETH_GSTRING_LEN);
	memcpy(data, device_names, sizeof(device_names));
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct sscop_dev *d = netdev_priv(dev);
	size_t i;

	spin_lock_bh(&d->lock);
	for (i = 0; i < ARRAY_SIZE(counted); i++)
		data[i] = *(u64 *)((char *)&d->s.counts + counted[i].offset);
	device_counts(d, data + ARRAY_SIZE(counted));
	spin_unlock_bh(&d->lock);
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "sscop", sizeof(info->driver));
}

/* ethtool -r */
static int nway_reset(struct net_device *dev)
{
	struct sscop_dev *d = netdev_priv(dev);
	bool ready;

	if (!netif_running(dev))
		return -ENETDOWN;
	spin_lock_bh(&d->lock);
	ready = d->s.state == SSCOP_READY;
	sscop_count_freed(d);
	sscop_resync(&d->s, sscop_now());
	sscop_follow(d);
	spin_unlock_bh(&d->lock);
	sscop_wake(d);
	return ready ? 0 : -ENOTCONN;
}

const struct ethtool_ops sscop_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
	.nway_reset = nway_reset,
};
