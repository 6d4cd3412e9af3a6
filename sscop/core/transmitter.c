// SPDX-License-Identifier: GPL-2.0
/*
 * SSCOP's transmitter: which SD or POLL goes out next, and what STAT and USTAT say
 * about those that did (Q.2110, sections 5.3 and 8.6; the paper, section 2).
 *
 * Every SD keeps the number of the last POLL before it. As a link keeps its order, a
 * STAT that answers a later POLL and names the SD as missing proves that it was lost;
 * one that answers an earlier POLL proves nothing.
 */
#include "internal.h"

/* POLLs are at least this part of a round-trip time apart: by octets or in idle time,
 * and by time alone. On a slow link they would else take a large part of its rate.
 */
#define SPACING_SENT 16
#define SPACING_TIMED 4
#define SPACING_WAIT 4
#define SPACING_OCTETS 960U	/* that the link takes meanwhile: a POLL is a fifteenth */
#define SPACING_TRIPS 5ULL	/* at most: a POLL and its STAT are a fifth of these octets */
#define REPEAT_AMONG 64U	/* once per POLL, others once per loss */
#define COPIES_MAX 4U		/* of an SD that was lost as often */

/* Repetitions become rare when no STAT comes: after what is normal, also where nine of ten
 * frames are lost, which is two round trips and this time, so much of the further silence
 * lies between two rounds of them.
 */
#define REPEAT_NORMAL_US (2 * SSCOP_KEEPALIVE_US)
#define REPEAT_PART 8

/* POLLs cost less, and where nine of ten frames are lost either way only one in a hundred
 * has an answer: those in idle time are this part of the silence apart, poll_time at most.
 */
#define SILENCE_PART 256

/* On a fast link, POLLs by octets are also SSCOP_CLOCK_ROUND_US apart, as each costs as much
 * computing as an SD, but for when this part of the window was sent.
 */
#define SPACING_WINDOW 8

#define KEEPALIVE_MAX_US 15000000U
#define PAUSE_US 1000000U	/* of the device below, at least */

static struct sscop_tx_slot *tx_slot_of(const struct sscop_tx *tx, u32 seq)
{
	return &tx->slots[seq & (tx->size - 1)];
}

/**
 * sscop_outstanding() - SDs sent and not yet passed by N(R)
 * @s: connection
 *
 * Return: their number, at most the window.
 */
u32 sscop_outstanding(const struct sscop *s)
{
	return sscop_distance(s->tx.acked, s->tx.next);
}

/* --- what STAT and USTAT say ---------------------------------------------------- */

/* What became of an SD. If copies were under way, it is not known which. */
static void tell_outcome(struct sscop *s, u32 seq, struct sscop_tx_slot *slot, bool lost)
{
	if (s->owner->outcome && !slot->repeated && !slot->pushed &&
	    !sscop_before(seq, s->tx.pushed_end))
		s->owner->outcome(s->context, slot->length, lost);
	slot->repeated = false;
}

/* SDs from @from to before @to have arrived: free them. */
static void acknowledge(struct sscop *s, u32 from, u32 to)
{
	for (; from != to; from = sscop_add(from, 1)) {
		struct sscop_tx_slot *slot = tx_slot_of(&s->tx, from);

		if (!slot->segment)
			continue;
		s->owner->free(s->context, slot->segment);
		slot->segment = NULL;
		s->tx.missing -= slot->missing;
		slot->missing = false;
		tell_outcome(s, from, slot, false);
	}
}

/* Whether copies take no place of what is new. */
static bool may_copy(const struct sscop *s)
{
	return !sscop_tx_is_clocked(s) || sscop_clock_is_loose(&s->clock);
}

/* Whether even many copies take no place of what is new. */
static bool may_copy_many(const struct sscop *s)
{
	return s->config.poll_idle && sscop_tx_is_clocked(s) && sscop_clock_is_roomy(&s->clock);
}

/* How often an SD that was lost is sent at once: that it is lost again is found a round trip later,
 * and of thousands under way TCP waits for the last.
 */
static u8 copies(const struct sscop *s, const struct sscop_tx_slot *slot)
{
	return may_copy_many(s) ? slot->lost : 1;
}

static void mark_missing(struct sscop *s, u32 seq, struct sscop_tx_slot *slot)
{
	struct sscop_tx *tx = &s->tx;

	if (!tx->missing++ || sscop_before(seq, tx->missing_from))
		tx->missing_from = seq;
	slot->missing = true;
	slot->lost += slot->lost < COPIES_MAX;
	slot->due = copies(s, slot);
	sscop_clock_lost(&s->clock, slot->length);
	tell_outcome(s, seq, slot, true);
}

/* SDs from @from to before @to had not arrived when the POLL @ps was answered. */
static void stat_missing(struct sscop *s, u32 from, u32 to, u32 ps)
{
	for (; from != to; from = sscop_add(from, 1)) {
		struct sscop_tx_slot *slot = tx_slot_of(&s->tx, from);

		if (slot->segment && !slot->missing && sscop_before(slot->poll, ps))
			mark_missing(s, from, slot);
	}
}

/* SDs from @from to before @to had not arrived, at a time that is not known: this says
 * nothing of those that were sent more than once.
 */
static void ustat_missing(struct sscop *s, u32 from, u32 to)
{
	for (; from != to; from = sscop_add(from, 1)) {
		struct sscop_tx_slot *slot = tx_slot_of(&s->tx, from);

		if (slot->segment && !slot->missing && !slot->again)
			mark_missing(s, from, slot);
	}
}

/* Whether an SD from @from to before @to was already reported as received. */
static bool was_received(const struct sscop_tx *tx, u32 from, u32 to)
{
	for (; from != to; from = sscop_add(from, 1))
		if (!tx_slot_of(tx, from)->segment)
			return true;
	return false;
}

/* Whether N(R), N(MR) and the list lie within what was sent, before anything is done. */
static enum sscop_verdict check_report(const struct sscop *s,
				       const struct sscop_pdu *pdu)
{
	const struct sscop_tx *tx = &s->tx;
	u32 outstanding = sscop_outstanding(s);
	u32 last = pdu->seq;
	u32 i;

	if (sscop_before(pdu->seq, tx->acked))
		return SSCOP_STALE;
	if (sscop_distance(tx->acked, pdu->seq) > outstanding ||
	    sscop_distance(pdu->seq, pdu->mr) > SSCOP_WINDOW_MAX)
		return SSCOP_OUTSIDE;
	for (i = 0; i < pdu->elements; i++) {
		if (sscop_distance(tx->acked, pdu->list[i]) > outstanding ||
		    sscop_distance(tx->acked, pdu->list[i]) <
		    sscop_distance(tx->acked, last))
			return SSCOP_OUTSIDE;
		last = pdu->list[i];
	}
	return SSCOP_TAKEN;
}

/* Numbers wrap: one that was passed must not come to lie ahead. */
static u32 not_before(u32 seq, u32 acked)
{
	return sscop_before(seq, acked) ? acked : seq;
}

/* N(R) and N(MR) of a STAT or USTAT */
static void advance(struct sscop *s, const struct sscop_pdu *pdu)
{
	struct sscop_tx *tx = &s->tx;

	acknowledge(s, tx->acked, pdu->seq);
	tx->acked = pdu->seq;
	tx->again_end = not_before(tx->again_end, tx->acked);
	tx->ustat_end = not_before(tx->ustat_end, tx->acked);
	tx->pushed_end = not_before(tx->pushed_end, tx->acked);
	tx->repeat_from = not_before(tx->repeat_from, tx->acked);
	if (sscop_before(tx->limit, pdu->mr)) {
		tx->limit = pdu->mr;
		tx->closed = false;
	}
}

/* RFC 6298's smoothing of the time from POLL to STAT */
static void measure_rtt(struct sscop_tx *tx, u32 ps, u64 now)
{
	u32 rtt;

	if (!tx->timed_at || sscop_before(ps, tx->timed_poll))
		return;
	if (ps == tx->timed_poll) {
		rtt = clamp_t(u64, now - tx->timed_at, 1, SSCOP_NO_RESPONSE_US);
		tx->srtt = tx->srtt ? tx->srtt - tx->srtt / 8 + rtt / 8 : rtt;
	}
	tx->timed_at = 0;
}

/* Whether a STAT lists nothing that one for the same POLL has not. */
static bool was_told(const struct sscop_tx *tx, const struct sscop_pdu *pdu)
{
	return pdu->ps == tx->stat_poll &&
	       (!pdu->elements || sscop_before(pdu->list[0], tx->stat_end) ||
		!sscop_before(tx->stat_end, pdu->list[pdu->elements - 1]));
}

/* Octets of the frames from @from to before @to sent before a POLL of which nothing is known. What
 * USTATs leave out has come, but for what was sent again.
 */
static u64 untold(const struct sscop_tx *tx, u32 from, u32 to, u32 ps)
{
	u64 octets = 0;

	for (; from != to; from = sscop_add(from, 1)) {
		const struct sscop_tx_slot *slot = tx_slot_of(tx, from);

		if (slot->segment && !slot->missing && sscop_before(slot->poll, ps) &&
		    (slot->again || !sscop_before(from, tx->ustat_end)))
			octets += slot->length + SSCOP_FRAME;
	}
	return octets;
}

/* Octets that a further STAT for the same POLL tells of. */
static u64 newly_told(const struct sscop_tx *tx, const struct sscop_pdu *pdu)
{
	u64 octets = untold(tx, tx->acked, pdu->seq, pdu->ps);

	if (pdu->elements)
		octets += untold(tx, pdu->list[0], pdu->list[pdu->elements - 1], pdu->ps);
	return octets;
}

/* us between POLLs at least: part of a round trip and, if it is longer than it could be
 * because frames wait, POLLs or STATs among them, part of what they wait. They take a small
 * part of the link's rate, as far as that is known: of a sender of little it is not, but a
 * round trip takes as long as a POLL and its STAT. @sent: octets that may be counted as waited for.
 */
static u32 spacing_behind(const struct sscop *s, u32 sent)
{
	u32 srtt = s->tx.srtt, base = sscop_clock_base(&s->clock), wait = 0;
	u64 takes = sscop_clock_takes(&s->clock, SPACING_OCTETS - min(sent, SPACING_OCTETS));

	if (srtt)
		takes = min_t(u64, takes, SPACING_TRIPS * srtt);
	if (base && srtt > base)
		wait = (srtt - base) / SPACING_WAIT;
	return max3(srtt / SPACING_SENT, wait, (u32)min(takes, sscop_keepalive(s)));
}

/**
 * sscop_tx_stat() - a STAT came in
 * @s: connection
 * @pdu: the STAT
 * @now: us
 *
 * Return: SSCOP_TAKEN, or why nothing was done.
 */
enum sscop_verdict sscop_tx_stat(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	enum sscop_verdict verdict;
	bool further;
	u64 rest = 0;
	u32 i;

	if (sscop_before(pdu->ps, tx->poll_acked))
		return SSCOP_STALE;
	if (sscop_before(tx->poll, pdu->ps))
		return SSCOP_UNASKED;
	verdict = check_report(s, pdu);
	/* The receiver never goes back: not behind N(R), nor behind the lists. */
	if (verdict == SSCOP_STALE && pdu->ps != tx->poll_acked)
		return SSCOP_OUTSIDE;
	if (verdict != SSCOP_TAKEN)
		return verdict;
	if (was_told(tx, pdu))
		return SSCOP_STALE;
	for (i = 0; i + 1 < pdu->elements; i += 2)
		if (was_received(tx, pdu->list[i], pdu->list[i + 1]))
			return SSCOP_OUTSIDE;

	further = pdu->ps == tx->stat_poll;
	if (further)
		rest = s->clock.heard.untold - min(newly_told(tx, pdu), s->clock.heard.untold);
	measure_rtt(tx, pdu->ps, now);
	/* POLLs are by round trips, or all are forgotten before their STATs come. */
	tx->srtt = max(tx->srtt, sscop_clock_least(&s->clock, pdu->ps, tx->poll, now));
	tx->poll_acked = pdu->ps;
	tx->stat_poll = pdu->ps;
	tx->stat_end = pdu->elements ? pdu->list[pdu->elements - 1] : pdu->seq;
	tx->paused = false;
	advance(s, pdu);
	for (i = 0; i + 1 < pdu->elements; i += 2) {
		stat_missing(s, pdu->list[i], pdu->list[i + 1], pdu->ps);
		if (i + 2 < pdu->elements)
			acknowledge(s, pdu->list[i + 1], pdu->list[i + 2]);
	}
	if (!further)
		rest = untold(tx, tx->acked, tx->next, pdu->ps);
	sscop_clock_heard(&s->clock, pdu->ps, rest, now);
	tx->spacing = spacing_behind(s, 0);
	return SSCOP_TAKEN;
}

/**
 * sscop_tx_ustat() - a USTAT came in
 * @s: connection
 * @pdu: the USTAT
 *
 * Return: SSCOP_TAKEN, or why nothing was done.
 */
enum sscop_verdict sscop_tx_ustat(struct sscop *s, const struct sscop_pdu *pdu)
{
	enum sscop_verdict verdict = check_report(s, pdu);
	u32 i;

	if (verdict != SSCOP_TAKEN)
		return verdict;
	advance(s, pdu);
	if (pdu->elements)
		s->tx.ustat_end = not_before(pdu->list[pdu->elements - 1], s->tx.ustat_end);
	for (i = 0; i + 1 < pdu->elements; i += 2)
		ustat_missing(s, pdu->list[i], pdu->list[i + 1]);
	return SSCOP_TAKEN;
}

/* --- what to send ------------------------------------------------------------------ */

/* An SD is sent. */
static void count_sent(struct sscop *s, struct sscop_tx_slot *slot, u64 now)
{
	struct sscop_clock *clock = &s->clock;

	slot->pushed = sscop_tx_is_clocked(s) && sscop_clock_is_pushing(clock);
	s->rx.debt -= min_t(u32, s->rx.debt, slot->length);
	s->class_debt -= min_t(u32, s->class_debt, slot->length);
	s->counts.sd_bytes += slot->length;
	sscop_clock_sent(clock, slot->length);
	sscop_clock_paced(clock, slot->length, now);
}

/* It is one that the rules for POLLs count. */
static void count_for_poll(struct sscop *s, u32 length)
{
	s->tx.bytes_since += length;
	s->tx.sds_since++;
}

static void send_again(struct sscop *s, u32 seq, struct sscop_output *output, u64 now)
{
	struct sscop_tx_slot *slot = tx_slot_of(&s->tx, seq);

	slot->poll = s->tx.poll;
	slot->again += slot->again < U8_MAX;
	if (!sscop_before(seq, s->tx.again_end))
		s->tx.again_end = sscop_add(seq, 1);
	output->segment = slot->segment;
	output->length = slot->length;
	output->seq = seq;
	s->counts.sd_again++;
	count_sent(s, slot, now);
}

/**
 * sscop_tx_resend() - the earliest SD that was reported missing
 * @s: connection
 * @output: written
 * @now: us
 *
 * Return: whether there is one.
 */
bool sscop_tx_resend(struct sscop *s, struct sscop_output *output, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	struct sscop_tx_slot *slot;
	u32 seq;

	if (!tx->missing)
		return false;
	seq = tx->missing_from;
	if (sscop_before(seq, tx->acked))
		seq = tx->acked;
	while (!tx_slot_of(tx, seq)->missing)
		seq = sscop_add(seq, 1);
	tx->missing_from = seq;
	slot = tx_slot_of(tx, seq);
	slot->repeated |= slot->due > 1;
	slot->missing = --slot->due;
	tx->missing -= !slot->missing;
	send_again(s, seq, output, now);
	count_for_poll(s, output->length);
	return true;
}

/**
 * sscop_tx_repeat() - an SD worth repeating while there is nothing else to send
 * @s: connection
 * @output: written
 * @now: us
 *
 * Those that were lost before and are not known to have arrived hold up all behind them.
 * On a link that loses much, a copy in idle time saves the round trip that finding
 * another loss takes. One per POLL and SD of the earliest REPEAT_AMONG and, where the device
 * below is the bottleneck, one per loss of the others, more and more rarely while nothing comes
 * back. They do not count for poll_bytes and poll_sds: POLLs and repetitions would call for each
 * other. In a queue beyond the device below, copies would take the place of what is new: none are
 * sent if there may be one.
 *
 * Return: whether there is one.
 */
bool sscop_tx_repeat(struct sscop *s, struct sscop_output *output, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	u32 seq = not_before(tx->repeat_from, tx->acked);
	bool many = may_copy_many(s);

	if (!sscop_before(tx->acked, tx->again_end) || !tx->may_repeat ||
	    !may_copy(s))
		return false;
	for (; sscop_before(seq, tx->again_end); seq = sscop_add(seq, 1)) {
		struct sscop_tx_slot *slot = tx_slot_of(tx, seq);
		bool early = sscop_distance(tx->acked, seq) < REPEAT_AMONG;

		tx->repeat_from = sscop_add(seq, 1);
		if (slot->segment && slot->again && slot->poll != tx->poll &&
		    (early || (many && !slot->repeated))) {
			slot->repeated = true;
			tx->repeated = true;
			send_again(s, seq, output, now);
			s->counts.sd_repeated++;
			return true;
		}
	}
	return false;
}

/**
 * sscop_tx_withhold() - the link is quiet: note if the silence keeps back what would be repeated
 * @s: connection
 */
void sscop_tx_withhold(struct sscop *s)
{
	struct sscop_tx *tx = &s->tx;

	if (!tx->may_repeat && sscop_before(tx->acked, tx->again_end) && may_copy(s))
		tx->withheld = true;
}

/**
 * sscop_tx_may_send() - whether the window allows a new SD
 * @s: connection
 *
 * Return: whether VT(S) is before VT(MS) and there is a slot for it.
 */
bool sscop_tx_may_send(struct sscop *s)
{
	struct sscop_tx *tx = &s->tx;

	if (sscop_before(tx->next, tx->limit) &&
	    sscop_outstanding(s) < s->config.window) {
		tx->closed = false;
		return true;
	}
	sscop_tx_close(s);
	return false;
}

/**
 * sscop_tx_close() - a new SD has to wait until others are acknowledged
 * @s: connection
 */
void sscop_tx_close(struct sscop *s)
{
	s->counts.window_closed += !s->tx.closed;
	s->tx.closed = true;
}

/**
 * sscop_sent() - the new SD that sscop_next() asked for is on its way
 * @s: connection
 * @segment: the PDU, now the connection's
 * @length: its octets
 * @now: us
 */
void sscop_sent(struct sscop *s, void *segment, u32 length, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	struct sscop_tx_slot *slot = tx_slot_of(tx, tx->next);

	if (tx->acked == tx->next)
		tx->polled_at = now;	/* poll_time runs from the first SD on */
	slot->segment = segment;
	slot->length = length;
	slot->poll = tx->poll;
	slot->again = 0;
	slot->lost = 0;
	slot->missing = false;
	slot->repeated = false;
	tx->next = sscop_add(tx->next, 1);
	s->counts.sd_sent++;
	count_sent(s, slot, now);
	count_for_poll(s, length);
}

/**
 * sscop_tx_refused() - the link below has dropped a frame
 * @s: connection
 *
 * Too much was sent. Which of those under way were dropped is not known.
 */
void sscop_tx_refused(struct sscop *s)
{
	s->tx.pushed_end = s->tx.next;
	sscop_clock_refused(&s->clock);
}

/* --- the clock -------------------------------------------------------------------------- */

/**
 * sscop_tx_is_clocked() - whether what is sent follows the link's clock
 * @s: connection
 *
 * Without POLLs by octets there is none.
 *
 * Return: whether.
 */
bool sscop_tx_is_clocked(const struct sscop *s)
{
	return s->config.clock && s->config.poll_bytes;
}

/**
 * sscop_tx_is_full() - whether as much is under way as may be
 * @s: connection
 *
 * Return: whether.
 */
bool sscop_tx_is_full(const struct sscop *s)
{
	return sscop_tx_is_clocked(s) && sscop_clock_is_full(&s->clock);
}

/**
 * sscop_tx_due() - when the next SD may be sent, if it is not full
 * @s: connection
 *
 * Return: us; 0: now.
 */
u64 sscop_tx_due(const struct sscop *s)
{
	return sscop_tx_is_clocked(s) ? sscop_clock_due(&s->clock) : 0;
}

/**
 * sscop_tx_resumes() - the device below has room
 * @s: connection
 * @now: us
 *
 * If it had none for seconds, and for longer than a round trip takes, it paused. Twice before a
 * STAT comes this is no pause: the link has become slow. Nor is it one while no round trip is
 * known: a frame may take as long.
 */
void sscop_tx_resumes(struct sscop *s, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	u64 us = sscop_clock_resumes(&s->clock, now);

	if (us < PAUSE_US || us < 2ULL * tx->srtt || !tx->srtt || tx->paused)
		return;
	tx->paused = true;
	tx->timed_at = 0;
	sscop_clock_paused(&s->clock);
}

/* --- POLL ------------------------------------------------------------------------------ */

/* Whether a POLL may be answered with news: there is an SD that is not acknowledged, or
 * the window is closed, or UDs have filled what may be under way.
 */
static bool news_expected(const struct sscop *s)
{
	return s->tx.acked != s->tx.next || s->tx.closed || (s->classed && sscop_tx_is_full(s));
}

/* us between POLLs at least */
static u32 spacing(const struct sscop *s)
{
	return sscop_tx_is_clocked(s) ? s->tx.spacing : s->tx.srtt / SPACING_SENT;
}

/* us between POLLs that nothing comes back for: a part of the silence */
static u64 silence_wait(const struct sscop *s)
{
	u64 polled_at = s->tx.polled_at;

	return polled_at > s->heard_at ? (polled_at - s->heard_at) / SILENCE_PART : 0;
}

/* us from the last POLL to one in idle time */
static u64 idle_wait(const struct sscop *s)
{
	const struct sscop_tx *tx = &s->tx;
	u64 wait = max(s->config.poll_idle, spacing(s));

	if (!tx->sds_since && tx->withheld)
		wait = max(wait, silence_wait(s));
	return wait;
}

/**
 * sscop_keepalive() - how long an idle link is not polled
 * @s: connection
 *
 * Return: us; more on a slow link, which keep-alives would fill.
 */
u64 sscop_keepalive(const struct sscop *s)
{
	return clamp_t(u64, 4ULL * s->tx.srtt, SSCOP_KEEPALIVE_US, KEEPALIVE_MAX_US);
}

/* us: when the next POLL is due if nothing more is sent */
static u64 poll_at(const struct sscop *s, bool idle)
{
	const struct sscop_tx *tx = &s->tx;
	u64 wait = max(s->config.poll_time, tx->srtt / SPACING_TIMED);

	/* SDs keep the link busy: those that follow, or those under way, unless they wait for a
	 * window.
	 */
	if (sscop_tx_is_clocked(s) && !tx->closed)
		wait = max_t(u64, wait, idle ? min_t(u64, sscop_clock_wait(&s->clock), spacing(s)) :
					       spacing(s));
	if (!news_expected(s))
		wait = sscop_keepalive(s);
	else if (sscop_tx_is_full(s))
		/* Its STAT lets more be sent; it, or the POLL, may be lost. */
		wait = min_t(u64, wait, tx->sds_since ?
				   max(SSCOP_CLOCK_ROUND_US, spacing_behind(s, tx->bytes_since)) :
				   max3(2ULL * tx->srtt + SSCOP_CLOCK_ROUND_US, silence_wait(s),
					(u64)spacing(s)));
	else if (idle && s->config.poll_idle &&
		 (tx->sds_since || tx->repeated || tx->withheld))
		/* Once behind the last SD: if the STAT is lost, poll_time helps. */
		wait = min(wait, idle_wait(s));
	return tx->polled_at + wait;
}

/* us: when a POLL by octets is due at the earliest */
static u64 spaced_at(const struct sscop *s)
{
	const struct sscop_tx *tx = &s->tx;
	u32 wait = spacing(s);

	if (tx->sds_since < min(s->config.window, s->credit) / SPACING_WINDOW)
		wait = max(wait, SSCOP_CLOCK_ROUND_US);
	/* What goes out at once takes the link as long. */
	if (sscop_tx_is_clocked(s) && sscop_clock_takes(&s->clock, tx->bytes_since) >= wait)
		return 0;
	return tx->polled_at + wait;
}

/**
 * sscop_tx_poll_due() - whether a POLL is to be sent now
 * @s: connection
 * @now: us
 * @idle: there is nothing else to send
 *
 * Return: whether one of the rules of struct sscop_config asks for it.
 */
bool sscop_tx_poll_due(const struct sscop *s, u64 now, bool idle)
{
	const struct sscop_config *config = &s->config;
	const struct sscop_tx *tx = &s->tx;

	if (tx->poll_now || now >= poll_at(s, idle))
		return true;
	if (config->poll_sds && tx->sds_since >= config->poll_sds)
		return true;
	return config->poll_bytes && tx->bytes_since >= config->poll_bytes &&
	       now >= spaced_at(s);
}

/**
 * sscop_tx_deadline() - when a POLL will be due
 * @s: connection
 * @idle: there is nothing else to send
 *
 * Return: us.
 */
u64 sscop_tx_deadline(const struct sscop *s, bool idle)
{
	const struct sscop_tx *tx = &s->tx;
	u64 at = poll_at(s, idle);

	if (tx->poll_now || (s->config.poll_sds && tx->sds_since >= s->config.poll_sds))
		return 0;
	if (s->config.poll_bytes && tx->bytes_since >= s->config.poll_bytes)
		at = min(at, spaced_at(s));
	return at;
}

/* Whether SDs may be repeated behind a POLL that is sent now. */
static bool may_repeat(const struct sscop *s, u64 now)
{
	u64 normal = REPEAT_NORMAL_US + 2ULL * s->tx.srtt;
	u64 silence = now - s->heard_at;

	return silence <= normal ||
	       now - s->tx.repeat_at >= (silence - normal) / REPEAT_PART;
}

/**
 * sscop_tx_poll() - write the next POLL
 * @s: connection
 * @octets: room for SSCOP_CONTROL_MAX octets
 * @now: us
 *
 * Return: octets written.
 */
u32 sscop_tx_poll(struct sscop *s, u8 *octets, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	struct sscop_pdu pdu = { .type = SSCOP_POLL, .seq = tx->next };
	u32 length;

	tx->poll = sscop_add(tx->poll, 1);
	pdu.ps = tx->poll;
	if (!tx->timed_at) {
		tx->timed_poll = tx->poll;
		tx->timed_at = now;
	}
	tx->polled_at = now;
	tx->bytes_since = 0;
	tx->sds_since = 0;
	tx->repeated = false;
	tx->withheld = false;
	tx->repeat_from = tx->acked;
	tx->may_repeat = may_repeat(s, now);
	if (tx->may_repeat)
		tx->repeat_at = now;
	tx->poll_now = false;
	s->counts.poll_sent++;
	length = sscop_encode(octets, &pdu, s->seal_out);
	sscop_clock_sent(&s->clock, length);
	sscop_clock_asked(&s->clock, tx->poll, now);
	return length;
}

/* --- begin and end ------------------------------------------------------------------- */

/**
 * sscop_tx_clear() - free all SDs that are kept
 * @s: connection
 */
void sscop_tx_clear(struct sscop *s)
{
	struct sscop_tx *tx = &s->tx;
	u32 seq;

	for (seq = tx->acked; seq != tx->next; seq = sscop_add(seq, 1)) {
		struct sscop_tx_slot *slot = tx_slot_of(tx, seq);

		if (slot->segment)
			s->owner->free(s->context, slot->segment);
		slot->segment = NULL;
		slot->missing = false;
	}
	tx->acked = tx->next;
}

/**
 * sscop_tx_reset() - begin anew with N(S) = 0
 * @s: connection
 * @limit: the peer's N(MR)
 * @now: us
 */
void sscop_tx_reset(struct sscop *s, u32 limit, u64 now)
{
	struct sscop_tx *tx = &s->tx;
	struct sscop_tx_slot *slots = tx->slots;
	u32 size = tx->size;

	sscop_tx_clear(s);
	memset(tx, 0, sizeof(*tx));
	sscop_clock_restart(&s->clock);
	tx->slots = slots;
	tx->size = size;
	tx->limit = limit;
	tx->spacing = spacing_behind(s, 0);
	sscop_tx_renumber(s, 0);	/* a STAT for 0 is refused */
	tx->polled_at = now;
	tx->poll_now = true;
}

/**
 * sscop_tx_renumber() - let POLLs go on behind a number
 * @s: connection that was just reset
 * @poll: number of the last POLL; 0: none
 */
void sscop_tx_renumber(struct sscop *s, u32 poll)
{
	s->tx.poll = poll;
	s->tx.poll_acked = sscop_add(poll, 1);
	s->tx.stat_poll = poll;
}
