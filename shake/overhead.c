// SPDX-License-Identifier: GPL-2.0
/*
 * Octets outside of packets, and the MTU that they leave.
 */
#include "overhead.h"

/* Octets outside of an inner packet, at most. */
u32 shake_overhead(const struct shake_dev *d, sa_family_t family)
{
	return (family == AF_INET6 ? SHAKE_UDP_V6 : SHAKE_UDP_V4) + SHAKE_HEAD_MAL +
	       (d->settings.auth ? SHAKE_TAG : 0);
}

static bool has_ipv6_path(struct shake_dev *d)
{
	struct shake_peer *peer = shake_is_leader(d) ? shake_only_peer(d) : NULL;
	struct shake_path *path;

	if (!shake_is_leader(d))
		return d->settings.local.any.sa_family != AF_INET;
	if (!peer || d->settings.remote.any.sa_family == AF_INET6)
		return true;
	shake_for_each_path(peer, path)
		if (path->settings.remote.any.sa_family == AF_INET6)
			return true;
	return false;
}

u32 shake_default_mtu(struct shake_dev *d)
{
	return SHAKE_MTU_LINK - shake_overhead(d, has_ipv6_path(d) ? AF_INET6 : AF_INET);
}

/* Let the MTU follow the paths' families, as long as the user has not set it. */
void shake_update_mtu(struct shake_dev *d)
{
	u32 mtu = shake_default_mtu(d);

	if (d->dev->mtu == d->mtu && d->mtu != mtu && !dev_set_mtu(d->dev, mtu))
		d->mtu = mtu;
}
