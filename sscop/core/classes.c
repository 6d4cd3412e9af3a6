// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that do not wait for the repair of others; see classes.h: the transmitter.
 */
#include "internal.h"

#define GAP_US 10000U		/* between copies: not all are to be hit by one burst */
#define ALONE_US 30000U		/* behind a bounded packet without another */
#define LATE_US 50000U		/* later than it should be a copy is not sent */
#define COPIES_MAX 6U
#define SHARE_ONE 65536U
#define SHARE_MISSED (SHARE_ONE / 1024)	/* of unassured packets at most, in the mean */
#define RECENT 64U		/* UDs, about */
#define KNOWN_MAX 1024U
#define PRIOR 4U		/* UDs' worth of evidence that one in eight is lost */

#define AHEAD 3000U		/* octets of UDs that go before SDs that wait */
#define LEAD_US 30000U		/* UDs are ahead of the link's clock by so much at most */

/* Without a UDSTAT a bounded packet is sent again after one and a half round trips and this */
#define UNTOLD_US 30000U
#define UNKNOWN_RTT_US 500000U
#define BACKOFF 3U		/* times that this is doubled */
#define WAIT_SLACK_MS 20U	/* that the receiver waits longer than the sender sends */

static struct sscop_class_packet *packet_of(struct sscop_class_tx *tx, u16 number)
{
	return &tx->packets[number % SSCOP_CLASS_SLOTS];
}

/* --- the transmitter ------------------------------------------------------------------- */

/* A packet is not sent again. */
static void settle(struct sscop *s, struct sscop_class_tx *tx, struct sscop_class_packet *packet)
{
	s->owner->free(s->context, packet->segment);
	packet->segment = NULL;
	while (tx->first != tx->next && !packet_of(tx, tx->first)->segment)
		tx->first = sscop_packet_after(tx->first);
}

/* share of UDs that are lost: in the mean of many, or more if it was of late */
static u32 share_lost(const struct sscop_class_losses *l)
{
	u32 mean = (8 * l->lost + PRIOR) * (SHARE_ONE / 8) / (l->known + PRIOR);

	return min(max(mean, l->recent / 2), SHARE_ONE);
}

/**
 * sscop_class_copies() - how often an unassured packet is sent
 * @losses: what became of others
 *
 * Return: the least number with which one in a thousand is lost, up to COPIES_MAX.
 */
u32 sscop_class_copies(const struct sscop_class_losses *losses)
{
	u32 share = share_lost(losses), copies = 1;
	u64 missed = share;

	for (; missed > SHARE_MISSED && copies < COPIES_MAX; copies++)
		missed = missed * share / SHARE_ONE;
	return copies;
}

static void count_fate(struct sscop_class_losses *l, bool lost)
{
	l->recent -= l->recent / RECENT;
	l->recent += lost ? SHARE_ONE / RECENT : 0;
	l->known++;
	l->lost += lost;
	if (l->known < KNOWN_MAX)
		return;
	l->known /= 2;
	l->lost /= 2;
}

/* Whether a packet may be sent again; its slot may be another's. */
static bool is_kept(struct sscop_class_tx *tx, u16 number)
{
	return sscop_packets_between(tx->first, number) <
	       sscop_packets_between(tx->first, tx->next) && packet_of(tx, number)->segment;
}

/* Of a UD nothing more will be known. */
static void close_frame(struct sscop *s, u32 class, struct sscop_class_frame *frame, bool lost)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;
	struct sscop_class_packet *packet = packet_of(tx, frame->packet);

	frame->open = false;
	if (!is_kept(tx, frame->packet))
		return;
	packet->under_way--;
	if (!lost || class != SSCOP_BOUNDED || packet->under_way)
		return;
	packet->alone = false;
	packet->due = 0;
}

/* A UDSTAT tells of a UD. */
static void tell_frame(struct sscop *s, u32 class, struct sscop_class_frame *frame, bool lost)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;
	struct sscop_class_packet *packet = packet_of(tx, frame->packet);
	bool kept = is_kept(tx, frame->packet);

	if (!frame->pushed)
		count_fate(&s->classes[class].losses, lost);
	if (lost)
		sscop_clock_lost(&s->clock, frame->length);
	close_frame(s, class, frame, lost);
	if (kept && !lost)
		settle(s, tx, packet);
}

/**
 * sscop_class_told() - a UDSTAT came in
 * @s: connection
 * @pdu: the UDSTAT
 *
 * Return: SSCOP_TAKEN, or why nothing was done.
 */
enum sscop_verdict sscop_class_told(struct sscop *s, const struct sscop_pdu *pdu)
{
	struct sscop_class_tx *tx = &s->classes[pdu->class].tx;
	u32 age = sscop_distance(pdu->seq, tx->serial);
	u32 seq = tx->told, end = sscop_add(pdu->seq, 1);

	if (!age || age > SSCOP_CLASS_SLOTS || !sscop_before(seq, end))
		return SSCOP_STALE;
	if (sscop_distance(seq, tx->serial) > SSCOP_CLASS_SLOTS)
		seq = sscop_add(tx->serial, SSCOP_SEQ_MASK + 1 - SSCOP_CLASS_SLOTS);
	for (; seq != end; seq = sscop_add(seq, 1)) {
		struct sscop_class_frame *frame = &tx->frames[seq % SSCOP_CLASS_SLOTS];

		age = sscop_distance(seq, pdu->seq);
		if (!frame->open)
			continue;
		if (age < SSCOP_UDSTAT_BITS)
			tell_frame(s, pdu->class, frame, !(pdu->received >> age & 1));
		else
			close_frame(s, pdu->class, frame, true);
	}
	tx->told = end;
	return SSCOP_TAKEN;
}

/* us after which a bounded packet is sent again if no UDSTAT comes */
static u64 untold_us(const struct sscop *s, const struct sscop_class_packet *packet)
{
	u64 srtt = s->tx.srtt ? s->tx.srtt : UNKNOWN_RTT_US;

	return (srtt + srtt / 2 + UNTOLD_US) << min_t(u32, packet->sent / 2, BACKOFF);
}

/* us after which a packet is sent again that was just sent */
static u64 again_us(const struct sscop *s, const struct sscop_class_packet *packet)
{
	return packet->sent < packet->copies ? GAP_US : untold_us(s, packet);
}

/* A UD with a packet is sent. */
static void send_frame(struct sscop *s, u32 class, u16 number, u64 now)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;
	struct sscop_class_packet *packet = packet_of(tx, number);
	struct sscop_class_frame *frame = &tx->frames[tx->serial % SSCOP_CLASS_SLOTS];
	u32 length = sscop_ud_header(packet->length) + packet->length;

	if (frame->open)
		close_frame(s, class, frame, true);
	*frame = (struct sscop_class_frame){
		.length = length,
		.packet = number,
		.open = true,
		.pushed = sscop_tx_is_clocked(s) && sscop_clock_is_pushing(&s->clock),
	};
	tx->serial = sscop_add(tx->serial, 1);
	packet->sent += packet->sent < U8_MAX;
	packet->under_way++;
	packet->due = now + again_us(s, packet);
	s->class_debt += length;
	s->tx.bytes_since += length;	/* POLLs tell when UDs have left the link, too */
	s->rx.debt -= min(s->rx.debt, length);
	sscop_clock_sent(&s->clock, length);
	sscop_clock_paced(&s->clock, length, now);
	if (class == SSCOP_UNASSURED && packet->sent >= packet->copies)
		packet->end = now;	/* the owner has yet to make the frame of it */
}

/* The loss of a bounded packet shows when another follows. If none does, a copy is sent. */
static void expect_another(struct sscop *s, struct sscop_class_tx *tx, u16 number, u64 now)
{
	struct sscop_class_packet *packet = packet_of(tx, number);
	struct sscop_class_packet *before = packet_of(tx, (u16)(number - 1));

	if (is_kept(tx, (u16)(number - 1)) && before->alone) {
		before->alone = false;
		before->copies = before->sent;
		before->due = now + untold_us(s, before);
	}
	packet->alone = true;
	packet->due = now + ALONE_US;
}

/**
 * sscop_datagram_sent() - the new packet that sscop_next() asked for is on its way
 * @s: connection
 * @class: its class
 * @segment: the packet, now the connection's
 * @length: its octets
 * @now: us
 */
void sscop_datagram_sent(struct sscop *s, u32 class, void *segment, u32 length, u64 now)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;
	u16 number = tx->next;
	struct sscop_class_packet *packet = packet_of(tx, number);
	u32 copies = sscop_class_copies(&s->classes[class].losses);

	*packet = (struct sscop_class_packet){
		.segment = segment,
		.length = length,
		.copies = class == SSCOP_BOUNDED ? 1 : copies,
		.end = now + (class == SSCOP_BOUNDED ? s->config.persist :
			      (copies - 1) * GAP_US + LATE_US),
	};
	s->counts.classes[class].sent++;
	tx->next = sscop_packet_after(tx->next);
	send_frame(s, class, number, now);
	if (class == SSCOP_BOUNDED && copies > 1)
		expect_another(s, tx, number, now);
}

/* A bounded packet is sent again, twice: all behind it wait, and to find that it was lost again
 * takes a round trip.
 */
static void begin_again(struct sscop_class_packet *packet)
{
	packet->copies = min_t(u32, packet->sent + 2, U8_MAX);
}

/* The oldest packet that is to be sent again now; others are given up. Return: whether there is
 * one.
 */
static bool find_due(struct sscop *s, u32 class, u64 now, u16 *number)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;
	u16 at;

	for (at = tx->first; at != tx->next; at = sscop_packet_after(at)) {
		struct sscop_class_packet *packet = packet_of(tx, at);

		if (!packet->segment)
			continue;
		if (now >= packet->end) {
			s->counts.classes[class].given_up += class == SSCOP_BOUNDED;
			settle(s, tx, packet);
		} else if (now >= packet->due) {
			*number = at;
			return true;
		}
	}
	return false;
}

static bool has_slot(const struct sscop_class_tx *tx)
{
	return sscop_packets_between(tx->first, tx->next) < SSCOP_CLASS_SLOTS;
}

/* ms for which packets before this one may still be sent */
static u16 wait_of(struct sscop_class_tx *tx, u16 number, u64 now)
{
	u64 end = 0;
	u16 at;

	for (at = tx->first; at != number; at = sscop_packet_after(at))
		if (packet_of(tx, at)->segment)
			end = max(end, packet_of(tx, at)->end);
	return end > now ? min_t(u64, div_u64(end - now, 1000) + WAIT_SLACK_MS, U16_MAX) : 0;
}

static void write_output(struct sscop *s, u32 class, u16 number, u64 now,
			 struct sscop_output *output)
{
	struct sscop_class_tx *tx = &s->classes[class].tx;

	output->segment = number == tx->next ? NULL : packet_of(tx, number)->segment;
	output->length = number == tx->next ? 0 : packet_of(tx, number)->length;
	output->ud = (struct sscop_pdu){
		.type = SSCOP_UD,
		.class = class,
		.seq = tx->serial,
		.packet = number,
		.back = sscop_packets_between(tx->first, number),
		.wait = wait_of(tx, number, now),
	};
}

/* us: when the link's clock lets a UD be sent; 0: now */
static u64 clock_at(const struct sscop *s)
{
	u64 due = sscop_tx_due(s);

	return due > LEAD_US ? due - LEAD_US : 0;
}

/**
 * sscop_class_next() - the next UD
 * @s: connection in SSCOP_READY
 * @now: us
 * @sds: SDs wait
 * @output: written
 *
 * UDs go before SDs, and take half of the link at most while these wait.
 *
 * Return: whether there is one.
 */
bool sscop_class_next(struct sscop *s, u64 now, bool sds, struct sscop_output *output)
{
	u16 number;
	u32 class;

	if (!s->classed || (sds && s->class_debt >= AHEAD) || now < clock_at(s))
		return false;
	if (!sds)
		s->class_debt = 0;
	for (class = 0; class < SSCOP_CLASSES; class++) {
		struct sscop_class_tx *tx = &s->classes[class].tx;

		if (find_due(s, class, now, &number)) {
			write_output(s, class, number, now, output);
			s->counts.classes[class].again++;
			if (packet_of(tx, number)->sent >= packet_of(tx, number)->copies)
				begin_again(packet_of(tx, number));
			send_frame(s, class, number, now);
			return true;
		}
		if (tx->offered && has_slot(tx)) {
			write_output(s, class, tx->next, now, output);
			return true;
		}
	}
	return false;
}

/**
 * sscop_class_wants() - whether a UD could be sent at once
 * @s: connection
 *
 * Return: whether there is a new packet, repeats aside.
 */
bool sscop_class_wants(const struct sscop *s)
{
	return s->classed && (s->classes[SSCOP_UNASSURED].tx.offered ||
			      s->classes[SSCOP_BOUNDED].tx.offered);
}

/* us: when a packet is sent again, or makes room for a new one; 0: there is one that may be sent */
static u64 tx_deadline(struct sscop_class_tx *tx)
{
	u64 at = U64_MAX;
	u16 number;

	for (number = tx->first; number != tx->next; number = sscop_packet_after(number)) {
		const struct sscop_class_packet *packet = packet_of(tx, number);

		if (packet->segment && packet->due < packet->end)
			at = min(at, packet->due);
	}
	if (tx->offered)
		at = has_slot(tx) ? 0 : min(at, packet_of(tx, tx->first)->end);
	return at;
}

/**
 * sscop_class_deadline() - when a UD or UDSTAT is due
 * @s: connection for which sscop_class_next() has just found none
 * @sds: SDs wait
 *
 * Return: us; U64_MAX: never.
 */
u64 sscop_class_deadline(const struct sscop *s, bool sds)
{
	u64 at = U64_MAX;
	u32 class;

	if (!s->classed || s->state != SSCOP_READY)
		return at;
	for (class = 0; class < SSCOP_CLASSES; class++) {
		struct sscop_class *c = &s->classes[class];

		if (c->rx.fresh)
			at = min(at, c->rx.report_at);
		if (!sds || s->class_debt < AHEAD)
			at = min(at, max(tx_deadline(&c->tx), clock_at(s)));
	}
	return at;
}

/* --- begin and end ------------------------------------------------------------------- */

static void free_segment(struct sscop *s, void **segment)
{
	if (*segment)
		s->owner->free(s->context, *segment);
	*segment = NULL;
}

/**
 * sscop_classes_reset() - begin anew with nothing sent and nothing received
 * @s: connection
 *
 * What is known of losses is kept.
 */
void sscop_classes_reset(struct sscop *s)
{
	u32 class, i;

	for (class = 0; s->classes && class < SSCOP_CLASSES; class++) {
		struct sscop_class_tx *tx = &s->classes[class].tx;
		struct sscop_class_rx *rx = &s->classes[class].rx;

		for (i = 0; i < SSCOP_CLASS_SLOTS; i++) {
			free_segment(s, &tx->packets[i].segment);
			free_segment(s, &rx->held[i]);
		}
		for (; rx->ready_from != rx->ready_to; rx->ready_from++)
			free_segment(s, &rx->ready[rx->ready_from % ARRAY_SIZE(rx->ready)]);
		memset(tx, 0, sizeof(*tx));
		memset(rx, 0, sizeof(*rx));
		rx->newest = SSCOP_SEQ_MASK;
	}
	s->class_debt = 0;
}
