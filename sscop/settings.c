// SPDX-License-Identifier: GPL-2.0
/*
 * What a user sets, by netlink or sysfs.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "below.h"
#include "events.h"
#include "lower.h"
#include "poll.h"
#include "settings.h"

const char * const sscop_state_names[] = {
	[SSCOP_IDLE] = "idle",
	[SSCOP_BEGINNING] = "beginning",
	[SSCOP_CONFIRMING] = "confirming",
	[SSCOP_READY] = "ready",
	[SSCOP_RESYNCING] = "resyncing",
};

void sscop_settings_init(struct sscop_settings *settings)
{
	*settings = (struct sscop_settings){
		.rules = {
			.window = 16384,
			.poll_bytes = 3000,
			.poll_time = 100000,
			.poll_idle = 10000,
			.ustat = true,
			.clock = true,
			.persist = 1000000,
		},
	};
}

static int check_segment(u32 segment, u32 mtu, struct netlink_ext_ack *extack)
{
	if (!segment)
		return 0;
	if (segment < SSCOP_SEGMENT_MIN || segment > SSCOP_PAYLOAD_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "segment must be auto or 64 to 65000 octets");
		return -ERANGE;
	}
	if (segment + SSCOP_SHORT_HEADER > mtu) {
		NL_SET_ERR_MSG_MOD(extack,
				   "segment must be at most the MTU of the device below, less 9");
		return -ERANGE;
	}
	return 0;
}

static int check_rules(const struct sscop_config *rules, struct netlink_ext_ack *extack)
{
	if (!rules->window || rules->window > SSCOP_WINDOW_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "window must be 1 to 65536 SDs");
		return -ERANGE;
	}
	if (rules->poll_time < SSCOP_POLL_TIME_MIN ||
	    rules->poll_time > SSCOP_POLL_TIME_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "poll-time must be 1ms to 10s");
		return -ERANGE;
	}
	if (rules->poll_idle && (rules->poll_idle < SSCOP_POLL_IDLE_MIN ||
				 rules->poll_idle > SSCOP_POLL_TIME_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "poll-idle must be 0 or 100us to 10s");
		return -ERANGE;
	}
	if (rules->link_id > SSCOP_LINK_ID_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "link-id must be 0 to 65535");
		return -ERANGE;
	}
	return 0;
}

static int check_classes(const struct sscop_settings *settings, struct netlink_ext_ack *extack)
{
	if (settings->unassured & settings->bounded) {
		NL_SET_ERR_MSG_MOD(extack, "a DSCP cannot be unassured and bounded");
		return -EINVAL;
	}
	if (settings->small > SSCOP_SMALL_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "small must be 0 to 65535 octets");
		return -ERANGE;
	}
	if (settings->rules.persist < SSCOP_PERSIST_MIN ||
	    settings->rules.persist > SSCOP_PERSIST_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "persist must be 1ms to 10s");
		return -ERANGE;
	}
	return 0;
}

static bool is_peer(const u8 *address, const struct sscop_dev *d)
{
	if (is_zero_ether_addr(address))
		return true;
	return d->lower && is_valid_ether_addr(address) &&
	       !ether_addr_equal(address, d->lower->dev_addr);
}

/* Whether the values are in their ranges. */
int sscop_settings_check(const struct sscop_settings *settings, const struct sscop_dev *d,
			 struct netlink_ext_ack *extack)
{
	int err = check_segment(settings->segment, sscop_mtu_below(d), extack);

	if (!err)
		err = check_rules(&settings->rules, extack);
	if (!err)
		err = check_classes(settings, extack);
	if (err)
		return err;
	if (settings->backlog && (settings->backlog < SSCOP_BACKLOG_MIN ||
				  settings->backlog > SSCOP_BACKLOG_MAX)) {
		NL_SET_ERR_MSG_MOD(extack, "backlog must be auto or 64 to 16777216 octets");
		return -ERANGE;
	}
	if (!is_peer(settings->peer, d)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "peer must be the hardware address of another station");
		return -EADDRNOTAVAIL;
	}
	if (d->lower && !sscop_lower_has_room(d->lower, d->dev, settings)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "the device below carries another link: each needs a peer or link-id of its own");
		return -EBUSY;
	}
	return 0;
}

/* --- change ------------------------------------------------------------------------------ */

/* Whether the connection is with another station than @peer allows. */
static bool is_with_another(const struct sscop_dev *d, const u8 *peer)
{
	return d->s.state > SSCOP_BEGINNING && !is_zero_ether_addr(peer) &&
	       !ether_addr_equal(d->learned, peer);
}

/* End a connection that @peer does not allow. Return: whether there was one. */
static bool leave_peer(struct sscop_dev *d, const u8 *peer)
{
	bool leave;
	u32 lost;

	spin_lock_bh(&d->lock);
	leave = is_with_another(d, peer);
	spin_unlock_bh(&d->lock);
	if (!leave)
		return false;
	lost = sscop_end(d);	/* before @peer is set: its peer is told */
	if (net_ratelimit())
		netdev_warn(d->dev, "connection ended: another peer is set; %u packets may be lost\n",
			    lost);
	return true;
}

static int check_change(const struct sscop_dev *d, const struct sscop_settings *settings,
			struct netlink_ext_ack *extack)
{
	struct sscop_settings checked = *settings;
	int err;

	/* What stays as it is may be more than the device below takes by now. */
	if (settings->segment == d->settings.segment)
		checked.segment = 0;
	err = sscop_settings_check(&checked, d, extack);
	if (err)
		return err;
	if (settings->rules.window != d->settings.rules.window && netif_running(d->dev)) {
		NL_SET_ERR_MSG_MOD(extack, "window can only be changed while the device is down");
		return -EBUSY;
	}
	if (settings->rules.link_id != d->settings.rules.link_id && netif_running(d->dev)) {
		NL_SET_ERR_MSG_MOD(extack, "link-id can only be changed while the device is down");
		return -EBUSY;
	}
	if (sscop_has_classes(settings) != sscop_has_classes(&d->settings) &&
	    netif_running(d->dev)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "classes can only be begun or left while the device is down");
		return -EBUSY;
	}
	return 0;
}

/* Apply new settings, if they are good. */
int sscop_settings_change(struct sscop_dev *d, const struct sscop_settings *settings,
			  struct netlink_ext_ack *extack)
{
	bool anew;
	int err;

	ASSERT_RTNL();
	err = check_change(d, settings, extack);
	if (err)
		return err;
	anew = leave_peer(d, settings->peer);
	spin_lock_bh(&d->lock);
	d->settings = *settings;
	d->s.config = settings->rules;
	if (anew) {
		sscop_start(&d->s, sscop_now());
		sscop_follow_events(d);	/* the carrier: the machines do not report their stop */
	}
	spin_unlock_bh(&d->lock);
	if (netif_running(d->dev))
		sscop_wake(d);
	return 0;
}

/* --- the length of SDs ------------------------------------------------------------------- */
