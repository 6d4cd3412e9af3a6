// SPDX-License-Identifier: GPL-2.0
/*
 * What the machines report: a reset, a state that is the carrier's.
 */
#include <linux/etherdevice.h>

#include "above.h"
#include "events.h"

void sscop_drop_pieces(struct sscop_dev *d)
{
	__skb_queue_purge(&d->pieces);
	d->octets = 0;
	d->broken = false;
}

/* The carrier is there if the lower device's is, and the connection. */
static void update_carrier(struct sscop_dev *d)
{
	bool up = d->lower_up && (d->s.state == SSCOP_READY || d->s.state == SSCOP_RESYNCING);

	if (up == netif_carrier_ok(d->dev))
		return;
	if (up) {
		netif_carrier_on(d->dev);
		return;
	}
	netif_carrier_off(d->dev);
	sscop_above_purge(&d->above);	/* as the kernel empties a queueing discipline */
}

static const char *cause_of_reset(const struct sscop_counts *known,
				  const struct sscop_counts *counts)
{
	if (counts->reset_restart != known->reset_restart)
		return "begun anew by the peer";
	if (counts->reset_end != known->reset_end)
		return "ended by the peer";
	if (counts->reset_silence != known->reset_silence)
		return "given up: the peer is silent";
	if (counts->reset_asked != known->reset_asked)
		return "resynchronized on request";
	return "resynchronized after errors";
}

static void on_reset(struct sscop_dev *d)
{
	sscop_drop_pieces(d);
	d->cut = 0;	/* its last SD was not sent: the peer does not have this packet */
	d->packets_lost += d->freed;
	if (net_ratelimit())
		netdev_warn(d->dev, "connection %s; %u packets may be lost\n",
			    cause_of_reset(&d->known, &d->s.counts), d->freed);
	d->known = d->s.counts;
}

/* What the machines report, and the state of the lower device, is made known. */
void sscop_follow_events(struct sscop_dev *d)
{
	u32 events = sscop_events(&d->s);

	if (events & SSCOP_EVENT_RESET)
		on_reset(d);
	if (events & SSCOP_EVENT_REJECTED && net_ratelimit())
		netdev_warn(d->dev, "the peer speaks another version of the protocol\n");
	update_carrier(d);
}
