// SPDX-License-Identifier: GPL-2.0
/*
 * SSCOP's receiver: SDs into their order, and what STAT and USTAT tell the peer
 * (Q.2110, sections 5.3 and 8.6; the paper, section 2).
 */
#include "internal.h"

#define REPORT_PARTS 2U

static void **rx_slot_of(const struct sscop_rx *rx, u32 seq)
{
	return &rx->slots[seq & (rx->size - 1)];
}

/* SDs from @from to before @to were skipped. What does not fit is left to the STATs. */
static void note_gap(struct sscop_rx *rx, u32 from, u32 to)
{
	if (rx->gaps == SSCOP_GAPS)
		return;
	rx->gap[rx->gaps][0] = from;
	rx->gap[rx->gaps][1] = to;
	rx->gaps++;
}

/**
 * sscop_rx_sd() - an SD came in
 * @s: connection
 * @pdu: the SD
 * @segment: what the owner keeps of it; not NULL
 *
 * Return: SSCOP_TAKEN if @segment is now the connection's, or why it is not.
 */
enum sscop_verdict sscop_rx_sd(struct sscop *s, const struct sscop_pdu *pdu,
			       void *segment)
{
	struct sscop_rx *rx = &s->rx;
	u32 ahead = sscop_distance(rx->next, pdu->seq);

	if (sscop_before(pdu->seq, rx->next))
		return SSCOP_DUPLICATE;
	if (ahead >= rx->window)
		return SSCOP_OUTSIDE;
	if (*rx_slot_of(rx, pdu->seq))
		return SSCOP_DUPLICATE;

	*rx_slot_of(rx, pdu->seq) = segment;
	if (ahead >= sscop_distance(rx->next, rx->high)) {
		if (pdu->seq != rx->high && s->config.ustat)
			note_gap(rx, rx->high, pdu->seq);
		rx->high = sscop_add(pdu->seq, 1);
	}
	s->counts.sd_received++;
	return SSCOP_TAKEN;
}

/**
 * sscop_deliver() - the next segment in order
 * @s: connection
 *
 * Return: the segment, again the owner's, or NULL if it has not arrived.
 */
void *sscop_deliver(struct sscop *s)
{
	struct sscop_rx *rx = &s->rx;
	void **slot = rx_slot_of(rx, rx->next);
	void *segment = *slot;

	if (segment) {
		*slot = NULL;
		rx->next = sscop_add(rx->next, 1);
	}
	return segment;
}

/**
 * sscop_rx_poll() - a POLL came in
 * @s: connection
 * @pdu: the POLL
 *
 * Only the newest POLL is answered: a STAT for an older one would tell nothing more.
 *
 * Return: SSCOP_TAKEN, or why nothing was done.
 */
enum sscop_verdict sscop_rx_poll(struct sscop *s, const struct sscop_pdu *pdu)
{
	struct sscop_rx *rx = &s->rx;

	if (!sscop_before(rx->poll, pdu->ps))
		return SSCOP_STALE;
	if (!sscop_before(pdu->seq, rx->next) &&
	    sscop_distance(rx->next, pdu->seq) > rx->window)
		return SSCOP_OUTSIDE;
	rx->poll = pdu->ps;
	rx->stat_due = true;
	rx->stat_from = rx->next;
	if (sscop_before(rx->high, pdu->seq))
		rx->high = pdu->seq;	/* those before it were sent, and lost */
	return SSCOP_TAKEN;
}

/* --- reports ------------------------------------------------------------------------- */

/* Where the run of received (or missing) SDs ends that begins at @seq, VR(H) at most. */
static u32 run_end(const struct sscop_rx *rx, u32 seq, bool received)
{
	while (seq != rx->high && !!*rx_slot_of(rx, seq) == received)
		seq = sscop_add(seq, 1);
	return seq;
}

/* The list of the STAT's next part: runs from stat_from on, as many as fit. */
static void fill_list(struct sscop_rx *rx, struct sscop_pdu *pdu)
{
	u32 seq = rx->stat_from;

	if (sscop_before(seq, rx->next))
		seq = rx->next;
	seq = run_end(rx, seq, true);	/* a part begins with a missing run */
	while (seq != rx->high && pdu->elements + 3 <= SSCOP_LIST_MAX) {
		pdu->list[pdu->elements++] = seq;
		seq = run_end(rx, seq, false);
		pdu->list[pdu->elements++] = seq;
		if (seq == rx->high)
			break;
		rx->stat_from = seq;
		seq = run_end(rx, seq, true);
	}
	/* An odd last element ends the received run before it. */
	if (pdu->elements && seq != pdu->list[pdu->elements - 1])
		pdu->list[pdu->elements++] = seq;
	rx->stat_from = seq;
	rx->stat_due = seq != rx->high;
}

static u32 write_stat(struct sscop *s, u8 *octets)
{
	struct sscop_rx *rx = &s->rx;
	struct sscop_pdu pdu = {
		.type = SSCOP_STAT,
		.seq = rx->next,
		.mr = sscop_add(rx->next, rx->window),
		.ps = rx->poll,
	};

	fill_list(rx, &pdu);
	s->counts.stat_sent++;
	return sscop_encode(octets, &pdu, s->seal_out);
}

static u32 write_ustat(struct sscop *s, u8 *octets)
{
	struct sscop_rx *rx = &s->rx;
	struct sscop_pdu pdu = {
		.type = SSCOP_USTAT,
		.seq = rx->next,
		.mr = sscop_add(rx->next, rx->window),
	};
	u32 i;

	for (i = 0; i < rx->gaps; i++) {
		/* All of a gap has arrived, or its beginning has. */
		u32 from = sscop_before(rx->gap[i][0], rx->next) ? rx->next : rx->gap[i][0];

		if (!sscop_before(from, rx->gap[i][1]))
			continue;
		pdu.list[pdu.elements++] = from;
		pdu.list[pdu.elements++] = rx->gap[i][1];
	}
	rx->gaps = 0;
	if (!pdu.elements)
		return 0;
	s->counts.ustat_sent++;
	return sscop_encode(octets, &pdu, s->seal_out);
}

/**
 * sscop_rx_report() - write the STAT or USTAT that is due
 * @s: connection
 * @octets: room for SSCOP_CONTROL_MAX octets
 * @sds: there are SDs that could be sent instead
 *
 * On a way back that is much slower than the way there, STATs would leave no room for SDs:
 * each lets SDs of REPORT_PARTS times its octets go first. Of what was to be reported
 * meanwhile, only the newest is.
 *
 * Return: octets written; 0: none is due.
 */
u32 sscop_rx_report(struct sscop *s, u8 *octets, bool sds)
{
	struct sscop_rx *rx = &s->rx;
	u32 length = 0;

	if (sds && rx->debt)
		return 0;
	if (rx->gaps)
		length = write_ustat(s, octets);
	if (!length && rx->stat_due)
		length = write_stat(s, octets);
	if (length) {
		rx->debt = REPORT_PARTS * length;
		sscop_clock_sent(&s->clock, length);
	}
	return length;
}

/* --- begin and end ------------------------------------------------------------------- */

/**
 * sscop_rx_clear() - free all segments that were not delivered
 * @s: connection
 */
void sscop_rx_clear(struct sscop *s)
{
	struct sscop_rx *rx = &s->rx;
	u32 seq;

	for (seq = rx->next; seq != rx->high; seq = sscop_add(seq, 1)) {
		void **slot = rx_slot_of(rx, seq);

		if (*slot)
			s->owner->free(s->context, *slot);
		*slot = NULL;
	}
	rx->high = rx->next;
}

/**
 * sscop_rx_reset() - begin anew: the next SD expected is 0
 * @s: connection
 */
void sscop_rx_reset(struct sscop *s)
{
	struct sscop_rx *rx = &s->rx;
	void **slots = rx->slots;
	u32 size = rx->size;

	sscop_rx_clear(s);
	memset(rx, 0, sizeof(*rx));
	rx->slots = slots;
	rx->size = size;
	rx->window = s->config.window;
}
