// SPDX-License-Identifier: GPL-2.0
/*
 * ethtool: statistics (-S) and the driver's name (-i).
 */
#include <linux/ethtool.h>
#include <linux/stddef.h>

#include "ops.h"
#include "read.h"

const char shake_count_names[SHAKE_COUNTS][ETH_GSTRING_LEN] = {
	[SHAKE_DROP_TRUNCATED] = "dropped_truncated",
	[SHAKE_DROP_TYPE] = "dropped_type",
	[SHAKE_DROP_SESSION] = "dropped_session",
	[SHAKE_DROP_TAG] = "dropped_tag",
	[SHAKE_DROP_REPLAY] = "dropped_replay",
	[SHAKE_DROP_STALE] = "dropped_stale",
	[SHAKE_DROP_PEER] = "dropped_peer",
	[SHAKE_DROP_RATE] = "dropped_rate",
	[SHAKE_DROP_SOURCE] = "dropped_source",
	[SHAKE_DROP_BETWEEN] = "dropped_between",
	[SHAKE_DROP_INNER] = "dropped_inner",
	[SHAKE_DROP_MEMORY] = "dropped_memory",
	[SHAKE_DROP_NO_PEER] = "dropped_no_peer",
	[SHAKE_DROP_NO_PATH] = "dropped_no_path",
	[SHAKE_DROP_NO_ROUTE] = "dropped_no_route",
	[SHAKE_DROP_TOO_BIG] = "dropped_too_big",
	[SHAKE_DROP_NONCE] = "dropped_nonce",
	[SHAKE_DROP_LIMIT] = "dropped_limit",
	[SHAKE_DROP_HELD] = "dropped_held",
	[SHAKE_HELLO_SENT] = "hello_sent",
	[SHAKE_HELLO_RECEIVED] = "hello_received",
	[SHAKE_REGISTERED] = "registered",
	[SHAKE_RESET_SENT] = "reset_sent",
	[SHAKE_RESET_RECEIVED] = "reset_received",
	[SHAKE_ACK_SENT] = "ack_sent",
	[SHAKE_ACK_RECEIVED] = "ack_received",
	[SHAKE_PROBE_SENT] = "probe_sent",
	[SHAKE_REPAIR_SENT] = "repair_sent",
	[SHAKE_HELD_BACK] = "held_back",
	[SHAKE_PATH_DIED] = "path_died",
	[SHAKE_PATH_REVIVED] = "path_revived",
	[SHAKE_PATH_LEFT] = "path_left",
	[SHAKE_PATH_READMITTED] = "path_readmitted",
	[SHAKE_MTU_TOLD] = "mtu_told",
	[SHAKE_DUPLICATED] = "duplicated",
	[SHAKE_ORDER_WAITED] = "order_waited",
	[SHAKE_ORDER_GAVE_UP] = "order_gave_up",
	[SHAKE_ORDER_OVERTAKEN] = "order_overtaken",
	[SHAKE_ORDER_REPEATED] = "order_repeated",
	[SHAKE_ADDRESS_CHANGED] = "address_changed",
	[SHAKE_COOKIE_SENT] = "cookie_sent",
	[SHAKE_COOKIE_RECEIVED] = "cookie_received",
	[SHAKE_MTU_PROBED] = "mtu_probed",
	[SHAKE_REPAIR_REFUSED] = "repair_refused",
	[SHAKE_ACK_HELD] = "acks_held",
};

#define FLOWS(name) { "flows_" #name, offsetof(struct shake_flow_counts, name) }
#define PATH_U32(name, member) { name, offsetof(struct shake_path_stats, member), sizeof(u32) }
#define PATH_U64(name, member) { name, offsetof(struct shake_path_stats, member), sizeof(u64) }

/* What happened to flows and duplicate ACKs. */
static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} flow_counts[] = {
	FLOWS(dropped_undecided),
	FLOWS(dropped_unneeded),
	FLOWS(dropped_mending),
	FLOWS(dropped_opening),
	FLOWS(unsacked),
	FLOWS(relayed),
	FLOWS(forced),
	FLOWS(repaired),
	FLOWS(holes),
	FLOWS(holes_late),
	FLOWS(holes_lost),
	FLOWS(holes_mended),
	FLOWS(holes_refused),
	FLOWS(evicted),
	FLOWS(expired),
	FLOWS(refused),
	FLOWS(senseless),
};

/* Of each path of a leader, those that are not there as well: the number of counts is fixed. */
static const struct {
	const char *name;
	size_t offset;
	size_t size;
} path_counts[] = {
	PATH_U32("srtt_us", srtt),
	PATH_U32("min_rtt_us", min_rtt),
	PATH_U64("throughput", throughput),
	PATH_U64("queue", queue),
	PATH_U64("sent", sent),
	PATH_U64("sent_bytes", sent_bytes),
	PATH_U64("received", received),
	PATH_U64("received_bytes", received_bytes),
	PATH_U64("lost", lost),
	PATH_U64("late", late),
	PATH_U64("died", died),
	PATH_U32("loss_ppm", loss),
	PATH_U64("left", left),
	PATH_U32("mtu", mtu),
};

static int get_sset_count(struct net_device *dev, int set)
{
	int count = SHAKE_COUNTS + ARRAY_SIZE(flow_counts);

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	if (shake_is_leader(shake_dev(dev)))
		count += SHAKE_PATHS_MAX * ARRAY_SIZE(path_counts);
	return count;
}

static void path_strings(u8 *data)
{
	size_t i;
	u8 id;

	for (id = 1; id <= SHAKE_PATHS_MAX; id++)
		for (i = 0; i < ARRAY_SIZE(path_counts); i++, data += ETH_GSTRING_LEN)
			snprintf(data, ETH_GSTRING_LEN, "path%u_%s", id, path_counts[i].name);
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	size_t i;

	if (set != ETH_SS_STATS)
		return;
	memcpy(data, shake_count_names, sizeof(shake_count_names));
	data += sizeof(shake_count_names);
	for (i = 0; i < ARRAY_SIZE(flow_counts); i++, data += ETH_GSTRING_LEN)
		memcpy(data, flow_counts[i].name, ETH_GSTRING_LEN);
	if (shake_is_leader(shake_dev(dev)))
		path_strings(data);
}

static int path_data(const struct shake_path_stats *path, void *to)
{
	u64 *data = (u64 *)to + (path->id - 1) * ARRAY_SIZE(path_counts);
	const char *member;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(path_counts); i++) {
		member = (const char *)path + path_counts[i].offset;
		data[i] = path_counts[i].size == sizeof(u32) ? *(const u32 *)member :
							       *(const u64 *)member;
	}
	return 0;
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct shake_dev *d = shake_dev(dev);
	struct shake_flow_counts flows = { };
	size_t i;

	shake_read_counts(d, data, &flows);
	data += SHAKE_COUNTS;
	for (i = 0; i < ARRAY_SIZE(flow_counts); i++)
		*data++ = *(u64 *)((char *)&flows + flow_counts[i].offset);
	if (!shake_is_leader(d))
		return;
	memset(data, 0, SHAKE_PATHS_MAX * ARRAY_SIZE(path_counts) * sizeof(*data));
	shake_each_path(d, path_data, data);
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "shake", sizeof(info->driver));
}

const struct ethtool_ops shake_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
};
