// SPDX-License-Identifier: GPL-2.0
/*
 * How long SDs are.
 */
#include "below.h"
#include "piece.h"

/* The most octets of payload in an SD that the device below takes. */
u32 sscop_piece_limit(const struct sscop_dev *d)
{
	u32 mtu = max(sscop_mtu_below(d), SSCOP_LOWER_MTU_MIN);

	return min(mtu - SSCOP_SHORT_HEADER, SSCOP_PAYLOAD_MAX);
}

/* Octets per SD of a packet of @packet octets, by the losses known to @losses. */
u32 sscop_piece(const struct sscop_dev *d, struct sscop_segment *losses, u32 packet)
{
	u32 limit = sscop_piece_limit(d);

	if (d->settings.segment)
		return min(d->settings.segment, limit);
	return sscop_segment_choose(losses, packet, sscop_front(d) + SSCOP_HEADER, limit);
}

/* Octets of payload in an SD of a full packet. To ask changes nothing. */
u32 sscop_segment_now_locked(const struct sscop_dev *d)
{
	struct sscop_segment losses = d->auto_segment;

	losses.cut = 0;	/* the next packet may be a trial of another length */
	return sscop_piece(d, &losses, d->dev->mtu);
}

/* The same, without the lock. */
u32 sscop_segment_now(struct sscop_dev *d)
{
	u32 piece;

	spin_lock_bh(&d->lock);
	piece = sscop_segment_now_locked(d);
	spin_unlock_bh(&d->lock);
	return piece;
}
