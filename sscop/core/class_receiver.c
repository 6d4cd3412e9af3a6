// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that do not wait for the repair of others; see classes.h: the receiver.
 */
#include "internal.h"

#define SOON_US 5000U		/* from a UD to its UDSTAT at least, if it may be sent again: */
#define SOON_OCTETS 560U	/* as long as the link takes for these, */
#define SOON_TRIPS 4U		/* but for such a part of a round trip; */
#define LATER_US 100000U	/* if not, */
#define REPORT_UDS 32U		/* or after so many */

/* us from a UD to its UDSTAT */
static u64 report_us(const struct sscop *s, u32 class)
{
	u64 takes = sscop_clock_takes(&s->clock, SOON_OCTETS);

	if (class == SSCOP_UNASSURED)
		return LATER_US;
	/* The rate of who sends little is not known. */
	return max_t(u64, min_t(u64, takes, s->tx.srtt / SOON_TRIPS), SOON_US);
}

/* Return: SSCOP_TAKEN, or why it is dropped. */
static enum sscop_verdict note_frame(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	struct sscop_class_rx *rx = &s->classes[pdu->class].rx;
	u32 age = sscop_distance(pdu->seq, rx->newest);

	if (sscop_before(rx->newest, pdu->seq)) {
		u32 further = sscop_distance(rx->newest, pdu->seq);

		rx->seen = further < SSCOP_UDSTAT_BITS ? rx->seen << further : 0;
		rx->newest = pdu->seq;
		age = 0;
	}
	if (age >= SSCOP_UDSTAT_BITS)
		return SSCOP_STALE;
	if (rx->seen >> age & 1)
		return SSCOP_DUPLICATE;
	rx->seen |= 1ULL << age;
	if (!rx->fresh++)
		rx->report_at = now + report_us(s, pdu->class);
	if (rx->fresh >= REPORT_UDS)
		rx->report_at = min(rx->report_at, now);
	return SSCOP_TAKEN;
}

/* The packet that is due next is passed on, or skipped. */
static void pass(struct sscop *s, u32 class)
{
	struct sscop_class_rx *rx = &s->classes[class].rx;
	void **slot = &rx->held[rx->next % SSCOP_CLASS_SLOTS];

	rx->next = sscop_packet_after(rx->next);
	if (!*slot) {
		s->counts.classes[class].missed++;
		return;
	}
	rx->ready[rx->ready_to++ % ARRAY_SIZE(rx->ready)] = *slot;
	*slot = NULL;
	rx->waiting--;
}

/* Those before this one will not come any more. */
static void pass_up_to(struct sscop *s, u32 class, u16 number)
{
	struct sscop_class_rx *rx = &s->classes[class].rx;
	u16 count = sscop_packets_between(rx->next, number);

	if (count > U16_MAX / 2)
		return;
	while (rx->waiting && rx->next != number)
		pass(s, class);
	s->counts.classes[class].missed += sscop_packets_between(rx->next, number);
	rx->next = number;
}

static void pass_in_order(struct sscop *s, u32 class)
{
	struct sscop_class_rx *rx = &s->classes[class].rx;

	while (rx->held[rx->next % SSCOP_CLASS_SLOTS])
		pass(s, class);
}

/**
 * sscop_class_ud() - a UD came in
 * @s: connection
 * @pdu: the UD
 * @segment: what the owner keeps of it; not NULL
 * @now: us
 *
 * Return: SSCOP_TAKEN if @segment is now the connection's, or why it is not.
 */
enum sscop_verdict sscop_class_ud(struct sscop *s, const struct sscop_pdu *pdu, void *segment,
				  u64 now)
{
	struct sscop_class_rx *rx = &s->classes[pdu->class].rx;
	u32 slot = pdu->packet % SSCOP_CLASS_SLOTS;
	enum sscop_verdict verdict;

	if (rx->ready_to - rx->ready_from >= SSCOP_CLASS_SLOTS)
		return SSCOP_FLOOD;	/* the owner does not take them */
	verdict = note_frame(s, pdu, now);
	if (verdict != SSCOP_TAKEN)
		return verdict;
	pass_up_to(s, pdu->class, (u16)(pdu->packet - pdu->back));
	if (sscop_packets_between(rx->next, pdu->packet) >= SSCOP_CLASS_SLOTS || rx->held[slot])
		return SSCOP_DUPLICATE;
	rx->held[slot] = segment;
	rx->until[slot] = now + 1000 * (u64)pdu->wait;
	rx->waiting++;
	s->counts.classes[pdu->class].received++;
	pass_in_order(s, pdu->class);
	return SSCOP_TAKEN;
}

/* The first packet that waits for others; @rx->next if there is none. */
static u16 first_waiting(const struct sscop_class_rx *rx)
{
	u16 number = rx->next;

	if (!rx->waiting)
		return number;
	while (!rx->held[number % SSCOP_CLASS_SLOTS])
		number = sscop_packet_after(number);
	return number;
}

/* us: for how long packets wait for others */
static u64 wait_end(const struct sscop_class_rx *rx)
{
	return rx->waiting ? rx->until[first_waiting(rx) % SSCOP_CLASS_SLOTS] : U64_MAX;
}

/**
 * sscop_class_held() - when a packet no longer waits for an earlier one
 * @s: connection
 *
 * Return: us, when sscop_deliver_datagram() is to be called; U64_MAX: never.
 */
u64 sscop_class_held(const struct sscop *s)
{
	if (!s->classed)
		return U64_MAX;
	return min(wait_end(&s->classes[SSCOP_UNASSURED].rx),
		   wait_end(&s->classes[SSCOP_BOUNDED].rx));
}

/**
 * sscop_deliver_datagram() - the next packet of a class
 * @s: connection
 * @now: us
 *
 * Return: the segment, again the owner's, or NULL if there is none.
 */
void *sscop_deliver_datagram(struct sscop *s, u64 now)
{
	u32 class;

	if (!s->classed)
		return NULL;
	for (class = 0; class < SSCOP_CLASSES; class++) {
		struct sscop_class_rx *rx = &s->classes[class].rx;

		if (rx->ready_from == rx->ready_to && now >= wait_end(rx)) {
			pass_up_to(s, class, first_waiting(rx));
			pass_in_order(s, class);
		}
		if (rx->ready_from != rx->ready_to)
			return rx->ready[rx->ready_from++ % ARRAY_SIZE(rx->ready)];
	}
	return NULL;
}

/**
 * sscop_class_report() - write the UDSTAT that is due
 * @s: connection
 * @octets: room for SSCOP_CONTROL_MAX octets
 * @now: us
 *
 * Return: octets written; 0: none is due.
 */
u32 sscop_class_report(struct sscop *s, u8 *octets, u64 now)
{
	u32 class, length;

	for (class = 0; s->classed && class < SSCOP_CLASSES; class++) {
		struct sscop_class_rx *rx = &s->classes[class].rx;
		struct sscop_pdu pdu = {
			.type = SSCOP_UDSTAT,
			.class = class,
			.seq = rx->newest,
			.received = rx->seen,
		};

		if (!rx->fresh || now < rx->report_at)
			continue;
		rx->fresh = 0;
		length = sscop_encode(octets, &pdu, s->seal_out);
		sscop_clock_sent(&s->clock, length);
		return length;
	}
	return 0;
}
