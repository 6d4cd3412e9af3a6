// SPDX-License-Identifier: GPL-2.0
/*
 * SSCOP's connection: how both ends agree on one, find that the other began anew, and
 * what goes out next.
 *
 * Each end has a connection number, drawn at random when it begins. An end that begins
 * sends BGN(own number) until the peer answers BGAK(its number, the number it answers);
 * it takes the pair and sends it back in a BGAK of its own. If nothing sealed with the pair
 * comes in, it sends both, and takes whatever pair the next BGAK names: the peer may have
 * begun anew meanwhile, or the BGAK may have been an old one. So both ends may begin at
 * once, and one that restarted finds the other in the middle of its old connection:
 * there the BGN changes nothing yet. It is answered with a number on offer, and only who
 * sends that back, and so is alive and reads the answers, replaces the old connection.
 * Forged or late BGNs cost a bounded number of answers and no data.
 *
 * RS and ER begin the numbering of SDs anew within a connection: RS because the user asks
 * for it, ER because SSCOP_CONTRADICTIONS PDUs in a row contradicted what this end knows.
 * N(SQ) tells the numberings apart.
 */
#include "internal.h"

#define ASK_PART 4	/* of the time in which an answer must come, the first */

/* A link is slow if of so many frames no two came in within this time. */
#define SLOW_FRAMES 4U
#define SLOW_US 600000U
#define SLOW_ANSWERS 4U		/* BGAK, BGN, POLL, and what answers the peer's */
#define SLOW_MAX_US 5000000U

#define LATER_PART 32

/**
 * sscop_slots() - slots that a window needs
 * @window: SDs, 1 to SSCOP_WINDOW_MAX
 *
 * Return: the next power of two.
 */
u32 sscop_slots(u32 window)
{
	u32 size = 1;

	while (size < window)
		size *= 2;
	return size;
}

/**
 * sscop_init() - a connection that is not started
 * @s: written
 * @config: what the user set
 * @owner: functions of the owner
 * @context: their first argument
 * @tx_slots: sscop_slots(@config->window) slots, all zero
 * @rx_slots: as many, all NULL
 */
void sscop_init(struct sscop *s, const struct sscop_config *config,
		const struct sscop_owner *owner, void *context,
		struct sscop_tx_slot *tx_slots, void **rx_slots)
{
	memset(s, 0, sizeof(*s));
	s->config = *config;
	s->owner = owner;
	s->context = context;
	s->tx.slots = tx_slots;
	s->rx.slots = rx_slots;
	s->tx.size = sscop_slots(config->window);
	s->rx.size = s->tx.size;
}

/* --- states -------------------------------------------------------------------------- */

static u32 draw_number(struct sscop *s)
{
	u32 number = s->owner->random(s->context);

	return number ? number : 1;	/* 0 stands for "not known" */
}

/* us from one BGN or BGAK to the next at least, where frames come in slowly: as long as the others
 * take that these bring about. 0: they do not, or it is not known.
 */
static u32 slow_wait(const struct sscop *s)
{
	if (s->came < SLOW_FRAMES || s->apart < SLOW_US)
		return 0;
	return SLOW_ANSWERS * min(s->apart, SLOW_MAX_US / SLOW_ANSWERS);
}

static void set_retry(struct sscop *s, u64 now)
{
	s->retry_at = now;
	s->retry_wait = max(SSCOP_BEGIN_US, slow_wait(s));
	s->seek = false;
}

/* Twice as long as before, and later a little longer while nothing comes in: until the peer is
 * there, what a slow link holds must not grow.
 */
static void wait_longer(struct sscop *s)
{
	u32 wait = min(2 * s->retry_wait, SSCOP_BEGIN_MAX_US);

	if (!s->came && s->retry_wait >= SSCOP_BEGIN_MAX_US)
		wait = min(s->retry_wait + s->retry_wait / LATER_PART, SSCOP_BEGIN_LATER_US);
	s->retry_wait = max(wait, slow_wait(s));
}

/* A frame came in before the connection is used. It may show that frames are lost, not slow. */
static void note_coming(struct sscop *s, u64 now)
{
	bool slow = slow_wait(s);

	if (s->came)
		s->apart = min_t(u64, s->apart, now - s->came_at);
	s->came_at = now;
	s->came += s->came < SLOW_FRAMES;
	if (slow && !slow_wait(s)) {
		s->retry_wait = min(s->retry_wait, SSCOP_BEGIN_MAX_US);
		s->retry_at = min(s->retry_at, now + s->retry_wait);
	}
}

/* Number SDs from 0 on under the present connection numbers and epoch. */
static void reset_data(struct sscop *s, u64 now)
{
	s->seal_out = sscop_seal(s->mine, s->theirs, s->epoch);
	s->seal_in = sscop_seal(s->theirs, s->mine, s->epoch);
	memset(s->contradictions, 0, sizeof(s->contradictions));
	s->heard_at = now;
	sscop_tx_reset(s, s->credit, now);
	sscop_rx_reset(s);
	sscop_classes_reset(s);
}

static bool is_connected(const struct sscop *s)
{
	return s->state == SSCOP_READY || s->state == SSCOP_RESYNCING;
}

/* Data under way may be lost for the reason that @cause counts. */
static void note_reset(struct sscop *s, u64 *cause)
{
	s->counts.resets++;
	(*cause)++;
	s->events |= SSCOP_EVENT_RESET;
}

/* Seek a connection. */
static void begin_connection(struct sscop *s, u64 now)
{
	if (is_connected(s))
		s->events |= SSCOP_EVENT_DOWN;
	sscop_tx_clear(s);
	sscop_rx_clear(s);
	sscop_classes_reset(s);
	s->classed = false;
	s->state = SSCOP_BEGINNING;
	s->mine = draw_number(s);
	s->theirs = 0;
	s->epoch = 0;
	s->came = 0;
	s->apart = U32_MAX;
	set_retry(s, now);
}

/* Take the connection (mine, theirs). */
static void adopt(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	s->mine = pdu->to;
	s->theirs = pdu->from;
	s->offer = draw_number(s);
	s->epoch = pdu->sq;
	s->credit = min(pdu->mr, SSCOP_WINDOW_MAX);
	s->classed = s->classes && pdu->classes;
	reset_data(s, now);
	set_retry(s, now);
	s->confirmed = false;
}

/* The peer uses the connection, too. */
static void ready(struct sscop *s)
{
	if (!is_connected(s))
		s->events |= SSCOP_EVENT_UP;
	s->state = SSCOP_READY;
}

static void resync(struct sscop *s, u8 type, u64 now)
{
	note_reset(s, type == SSCOP_RS ? &s->counts.reset_asked :
					 &s->counts.reset_error);
	s->state = SSCOP_RESYNCING;
	s->resync = type;
	s->epoch++;
	reset_data(s, now);
	set_retry(s, now);
}

/**
 * sscop_start() - seek a connection
 * @s: connection in SSCOP_IDLE
 * @now: us
 */
void sscop_start(struct sscop *s, u64 now)
{
	sscop_clock_init(&s->clock, now);
	begin_connection(s, now);
}

/**
 * sscop_resync() - begin the numbering anew, because the user asks for it (RS)
 * @s: connection
 * @now: us
 *
 * What is under way may be lost. Without an established connection nothing happens.
 */
void sscop_resync(struct sscop *s, u64 now)
{
	if (s->state == SSCOP_READY)
		resync(s, SSCOP_RS, now);
}

/**
 * sscop_resume() - time has passed in which the link was known to be down
 * @s: connection
 * @now: us
 */
void sscop_resume(struct sscop *s, u64 now)
{
	s->heard_at = now;
	s->tx.timed_at = 0;	/* its round trip would contain the pause */
	sscop_clock_restart(&s->clock);
	s->tx.poll_now = true;
	set_retry(s, now);
}

/**
 * sscop_events() - what happened since the last call
 * @s: connection
 *
 * Return: SSCOP_EVENT_*, or'ed.
 */
u32 sscop_events(struct sscop *s)
{
	u32 events = s->events;

	s->events = 0;
	return events;
}

/* --- link control: what comes in ----------------------------------------------------- */

/* Answer a control PDU, if another one was not answered just before. */
static enum sscop_verdict answer(struct sscop *s, u8 type, u32 from, u32 to, u8 sq,
				 u64 now)
{
	if (s->answer || (s->answered_at && now - s->answered_at < SSCOP_ANSWER_US))
		return SSCOP_FLOOD;
	s->answered_at = now;
	s->answer = type;
	s->answer_from = from;
	s->answer_to = to;
	s->answer_sq = sq;
	return SSCOP_TAKEN;
}

/* the number under which this end can be reached by a peer that begins */
static u32 on_offer(const struct sscop *s)
{
	return is_connected(s) ? s->offer : s->mine;
}

static bool is_ours(const struct sscop *s, const struct sscop_pdu *pdu)
{
	return s->state != SSCOP_BEGINNING && pdu->from == s->theirs &&
	       pdu->to == s->mine;
}

/* Let the peer answer, if it was not asked just now. */
static void ask(struct sscop *s, u64 now)
{
	s->tx.poll_now |= now - s->tx.polled_at >= slow_wait(s);
}

static enum sscop_verdict on_bgn(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	/* The answer begins as well as another BGN. */
	if (s->state == SSCOP_BEGINNING && slow_wait(s))
		s->retry_at = max(s->retry_at, now + s->retry_wait);
	if (pdu->version != SSCOP_VERSION)
		return answer(s, SSCOP_BGREJ, on_offer(s), pdu->from, 0, now);
	if (s->state != SSCOP_BEGINNING && pdu->from == s->theirs)
		return answer(s, SSCOP_BGAK, s->mine, s->theirs, s->epoch, now);
	return answer(s, SSCOP_BGAK, on_offer(s), pdu->from, 0, now);
}

static enum sscop_verdict on_bgak(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	if (is_ours(s, pdu)) {
		/* The peer has not seen yet that this end uses the connection. */
		ask(s, now);
		return SSCOP_TAKEN;
	}
	if (pdu->to != on_offer(s) || !pdu->from)
		return SSCOP_STRANGER;
	if (!is_connected(s)) {
		/* Until the peer is seen to use the connection, another may come up,
		 * or the same again: its POLLs must go on.
		 */
		u32 poll = s->state == SSCOP_CONFIRMING ? s->tx.poll : 0;

		adopt(s, pdu, now);
		sscop_tx_renumber(s, poll);
		s->state = SSCOP_CONFIRMING;
		return SSCOP_TAKEN;
	}
	/* The peer began anew, and has taken the number that it was offered. */
	note_reset(s, &s->counts.reset_restart);
	adopt(s, pdu, now);
	s->counts.began++;
	ready(s);
	return SSCOP_TAKEN;
}

static enum sscop_verdict on_end(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	enum sscop_verdict verdict;

	if (!is_ours(s, pdu))
		return SSCOP_STRANGER;
	verdict = answer(s, SSCOP_ENDAK, s->mine, s->theirs, s->epoch, now);
	if (is_connected(s))
		note_reset(s, &s->counts.reset_end);
	begin_connection(s, now);
	return verdict;
}

/* RS or ER: the peer begins the numbering anew. */
static enum sscop_verdict on_resync(struct sscop *s, const struct sscop_pdu *pdu,
				    u64 now)
{
	bool asked = pdu->type == SSCOP_RS;

	if (!is_ours(s, pdu))
		return SSCOP_STRANGER;
	if (pdu->sq != s->epoch && pdu->sq != (u8)(s->epoch + 1))
		return SSCOP_STALE;
	if (pdu->sq != s->epoch) {
		if (is_connected(s))
			note_reset(s, asked ? &s->counts.reset_asked :
					      &s->counts.reset_error);
		s->epoch = pdu->sq;
		reset_data(s, now);
	}
	if (is_connected(s))
		ready(s);
	return answer(s, asked ? SSCOP_RSAK : SSCOP_ERAK, s->mine, s->theirs, s->epoch,
		      now);
}

static enum sscop_verdict on_control(struct sscop *s, const struct sscop_pdu *pdu,
				     u64 now)
{
	switch (pdu->type) {
	case SSCOP_BGN:
		return on_bgn(s, pdu, now);
	case SSCOP_BGAK:
		return on_bgak(s, pdu, now);
	case SSCOP_BGREJ:
		if (s->state != SSCOP_BEGINNING || pdu->to != s->mine)
			return SSCOP_STRANGER;
		s->events |= SSCOP_EVENT_REJECTED;
		s->retry_wait = SSCOP_BEGIN_MAX_US;
		return SSCOP_TAKEN;
	case SSCOP_END:
		return on_end(s, pdu, now);
	case SSCOP_RS:
	case SSCOP_ER:
		return on_resync(s, pdu, now);
	case SSCOP_RSAK:
	case SSCOP_ERAK:
		if (s->state != SSCOP_RESYNCING || !is_ours(s, pdu) ||
		    pdu->sq != s->epoch)
			return SSCOP_STRANGER;
		ready(s);
		return SSCOP_TAKEN;
	default: /* ENDAK: this end does not wait for it */
		return SSCOP_STRANGER;
	}
}

/* --- what comes in -------------------------------------------------------------------- */

static enum sscop_verdict on_sealed(struct sscop *s, const struct sscop_pdu *pdu,
				    void *segment, u64 now)
{
	switch (pdu->type) {
	case SSCOP_SD:
		return sscop_rx_sd(s, pdu, segment);
	case SSCOP_POLL:
		return sscop_rx_poll(s, pdu);
	case SSCOP_STAT:
		return sscop_tx_stat(s, pdu, now);
	default:
		return sscop_tx_ustat(s, pdu);
	}
}

static void count_received(struct sscop_counts *counts, u8 type)
{
	switch (type) {
	case SSCOP_SD: /* counted once each, by the receiver */
		break;
	case SSCOP_POLL:
		counts->poll_received++;
		break;
	case SSCOP_STAT:
		counts->stat_received++;
		break;
	case SSCOP_USTAT:
		counts->ustat_received++;
		break;
	case SSCOP_UD: /* counted once each, by the receiver */
		break;
	case SSCOP_UDSTAT:
		counts->udstat_received++;
		break;
	default:
		counts->control_received++;
	}
}

/* The connection is confirmed when the peer answers a POLL of it. Other PDUs may be late
 * ones of a peer that began anew since. SDs that are dropped here are sent again.
 */
static enum sscop_verdict confirm_connection(struct sscop *s, const struct sscop_pdu *pdu, u64 now)
{
	enum sscop_verdict verdict;

	if (pdu->type == SSCOP_POLL) {
		ask(s, now);	/* the peer is there */
		return sscop_rx_poll(s, pdu);
	}
	if (pdu->type != SSCOP_STAT)
		return SSCOP_BAD_STATE;
	verdict = sscop_tx_stat(s, pdu, now);
	if (verdict == SSCOP_TAKEN) {
		sscop_clock_slow(&s->clock, s->apart);
		s->counts.began++;
		s->heard_at = now;
		ready(s);
	}
	return verdict;
}

static enum sscop_verdict on_class(struct sscop *s, const struct sscop_pdu *pdu,
				   void *segment, u64 now)
{
	if (!s->classed)
		return SSCOP_BAD_STATE;
	return pdu->type == SSCOP_UD ? sscop_class_ud(s, pdu, segment, now) :
				       sscop_class_told(s, pdu);
}

static enum sscop_verdict data_transfer(struct sscop *s, const struct sscop_pdu *pdu,
					void *segment, u64 now)
{
	enum sscop_verdict verdict;
	u32 *contradictions;

	if (s->state == SSCOP_BEGINNING)
		return SSCOP_BAD_STATE;
	if (s->state == SSCOP_CONFIRMING)
		return confirm_connection(s, pdu, now);
	/* Its seal shows that the peer uses this numbering. */
	ready(s);
	if (pdu->type == SSCOP_UD || pdu->type == SSCOP_UDSTAT)
		return on_class(s, pdu, segment, now);
	contradictions = &s->contradictions[pdu->type == SSCOP_STAT ||
					    pdu->type == SSCOP_USTAT];

	verdict = on_sealed(s, pdu, segment, now);
	if (verdict == SSCOP_OUTSIDE || verdict == SSCOP_UNASKED)
		(*contradictions)++;
	else if (verdict == SSCOP_TAKEN)
		*contradictions = 0;
	if (verdict == SSCOP_TAKEN && pdu->type == SSCOP_STAT)
		s->heard_at = now;
	if (*contradictions >= SSCOP_CONTRADICTIONS)
		resync(s, SSCOP_ER, now);
	return verdict;
}

/* All others name the connection, or have its seal. */
static bool is_of_another_link(const struct sscop *s, const struct sscop_pdu *pdu)
{
	return (pdu->type == SSCOP_BGN || pdu->type == SSCOP_BGAK) &&
	       pdu->link_id != s->config.link_id;
}

/**
 * sscop_receive() - a PDU came in
 * @s: connection
 * @pdu: what sscop_decode() made of it with @s->seal_in
 * @segment: of an SD or UD, what is to be delivered; not NULL
 * @now: us
 *
 * Return: SSCOP_TAKEN, or why the PDU was dropped. @segment is the connection's only if
 * an SD or UD was taken.
 */
enum sscop_verdict sscop_receive(struct sscop *s, const struct sscop_pdu *pdu,
				 void *segment, u64 now)
{
	enum sscop_verdict verdict = SSCOP_BAD_STATE;

	if (is_of_another_link(s, pdu)) {
		s->counts.dropped[SSCOP_STRANGER]++;
		return SSCOP_STRANGER;
	}
	if (s->state == SSCOP_BEGINNING || s->state == SSCOP_CONFIRMING)
		note_coming(s, now);
	if (s->state != SSCOP_IDLE) {
		switch (pdu->type) {
		case SSCOP_SD:
		case SSCOP_POLL:
		case SSCOP_STAT:
		case SSCOP_USTAT:
		case SSCOP_UD:
		case SSCOP_UDSTAT:
			verdict = data_transfer(s, pdu, segment, now);
			break;
		default:
			verdict = on_control(s, pdu, now);
		}
	}
	if (verdict == SSCOP_TAKEN)
		count_received(&s->counts, pdu->type);
	else
		s->counts.dropped[verdict]++;
	return verdict;
}

/* --- what goes out -------------------------------------------------------------------- */

static enum sscop_action control(struct sscop *s, struct sscop_output *output, u8 type,
				 u32 from, u32 to, u8 sq)
{
	bool begins = type == SSCOP_BGN || type == SSCOP_BGAK;
	struct sscop_pdu pdu = {
		.type = type,
		.seq = s->config.window & SSCOP_SEQ_MASK,
		.version = SSCOP_VERSION,
		.from = from,
		.to = to,
		.sq = sq,
		.classes = s->classes && begins,
		.link_id = begins ? s->config.link_id : 0,
	};

	output->length = sscop_encode(output->octets, &pdu, 0);
	sscop_clock_sent(&s->clock, output->length);
	s->counts.control_sent++;
	return SSCOP_CONTROL;
}

/* what the state repeats until it is answered */
static u8 repeated(const struct sscop *s)
{
	switch (s->state) {
	case SSCOP_BEGINNING:
		return SSCOP_BGN;
	case SSCOP_CONFIRMING:
		return SSCOP_BGAK;
	case SSCOP_RESYNCING:
		return s->resync;
	default:
		return 0;
	}
}

/* Whether BGAK was sent, and the POLL behind it was not: only that gets an answer. Where a frame
 * takes longer than the next BGAK waits, no POLL would ever be sent.
 */
static bool awaits_poll(const struct sscop *s)
{
	return s->state == SSCOP_CONFIRMING && s->tx.poll_now && s->confirmed;
}

/* The control PDU that is due, an answer first. */
static enum sscop_action next_control(struct sscop *s, u64 now,
				      struct sscop_output *output)
{
	u8 type = s->answer;

	if (type) {
		s->answer = 0;
		return control(s, output, type, s->answer_from, s->answer_to,
			       s->answer_sq);
	}
	if (s->seek) {
		s->seek = false;
		return control(s, output, SSCOP_BGN, s->mine, 0, 0);
	}
	type = repeated(s);
	if (!type || now < s->retry_at || awaits_poll(s))
		return SSCOP_NOTHING;
	/* The peer may no longer know the number that is confirmed: ask for another. */
	s->seek = type == SSCOP_BGAK && s->confirmed;
	s->confirmed = type == SSCOP_BGAK;
	s->retry_at = now + s->retry_wait;
	wait_longer(s);
	/* The POLL behind it lets the peer show that it uses the connection. */
	s->tx.poll_now = type == SSCOP_BGAK;
	return control(s, output, type, s->mine, s->theirs, s->epoch);
}

/* What the clock lets be sent of SDs. @more: a new one could be. */
static enum sscop_action next_sd(struct sscop *s, u64 now, enum sscop_room room, bool more,
				 struct sscop_output *output)
{
	struct sscop_tx *tx = &s->tx;
	bool some = more || tx->missing;

	if (some && sscop_tx_is_full(s)) {
		sscop_clock_waits(&s->clock, SSCOP_CLOCK_FULL, now);
		return SSCOP_NOTHING;
	}
	if (some && now < sscop_tx_due(s)) {
		sscop_clock_waits(&s->clock, SSCOP_CLOCK_TICK, now);
		return SSCOP_NOTHING;
	}
	if (sscop_tx_resend(s, output, now))
		return SSCOP_RESEND;
	if (more) {
		output->seq = tx->next;
		return SSCOP_NEW;
	}
	if (room == SSCOP_QUIET && s->config.poll_idle && sscop_tx_repeat(s, output, now))
		return SSCOP_RESEND;
	if (!tx->closed && !s->soon)
		sscop_clock_idle(&s->clock, tx->acked == tx->next);
	return SSCOP_NOTHING;
}

/* Whether a POLL goes before a report. Reports may fill a way that is slow, and without an answer
 * to a POLL the peer is taken for lost.
 */
static bool must_ask(const struct sscop *s, u64 now, bool idle)
{
	return now - s->heard_at >= SSCOP_NO_RESPONSE_US / ASK_PART &&
	       now - s->tx.polled_at >= sscop_keepalive(s) &&
	       s->state != SSCOP_RESYNCING && sscop_tx_poll_due(s, now, idle);
}

/* What is to be sent if there is room. @more: a new segment could be cut. */
static enum sscop_action next_action(struct sscop *s, u64 now, enum sscop_room room, bool more,
				     struct sscop_output *output)
{
	enum sscop_action action = next_control(s, now, output);
	bool ready = s->state == SSCOP_READY, idle;

	if (action != SSCOP_NOTHING || s->state == SSCOP_BEGINNING)
		return action;
	more = more && ready && sscop_tx_may_send(s);
	idle = !more && !s->tx.missing;
	output->length = ready ? sscop_class_report(s, output->octets, now) : 0;
	s->counts.udstat_sent += output->length > 0;
	if (!output->length && !must_ask(s, now, idle))
		output->length = sscop_rx_report(s, output->octets,
						 ready && !idle && !sscop_tx_is_full(s) &&
						 now >= sscop_tx_due(s));
	if (output->length)
		return SSCOP_CONTROL;

	if (idle && room == SSCOP_QUIET)
		sscop_tx_withhold(s);
	if (s->state != SSCOP_RESYNCING && sscop_tx_poll_due(s, now, idle)) {
		output->length = sscop_tx_poll(s, output->octets, now);
		return SSCOP_CONTROL;
	}
	if (ready && sscop_class_next(s, now, !idle, output))
		return SSCOP_DATAGRAM;
	return ready ? next_sd(s, now, room, more, output) : SSCOP_NOTHING;
}

/**
 * sscop_next() - what to send next
 * @s: connection
 * @now: us
 * @room: what the link below takes
 * @more: a new segment could be cut
 * @output: written
 *
 * The caller sends what it is told, and asks again until it is SSCOP_NOTHING. After
 * SSCOP_NEW it makes an SD with sscop_encode_sd(), N(S) = @output->seq and @s->seal_out,
 * and calls sscop_sent() before anything else; after SSCOP_DATAGRAM with a new packet it calls
 * sscop_datagram_sent(). Nothing is made before there is room: it
 * would be old when it is sent.
 *
 * Return: an enum sscop_action.
 */
enum sscop_action sscop_next(struct sscop *s, u64 now, enum sscop_room room, bool more,
			     struct sscop_output *output)
{
	if (s->state == SSCOP_IDLE)
		return SSCOP_NOTHING;
	if (s->state != SSCOP_BEGINNING && now - s->heard_at >= SSCOP_NO_RESPONSE_US) {
		if (is_connected(s))
			note_reset(s, &s->counts.reset_silence);
		begin_connection(s, now);
	}
	if (room == SSCOP_FULL) {
		if (s->state == SSCOP_READY && ((more && !s->tx.closed) || s->tx.missing))
			sscop_clock_waits(&s->clock, SSCOP_CLOCK_ROOM, now);
		return SSCOP_NOTHING;
	}
	sscop_tx_resumes(s, now);
	return next_action(s, now, room, more, output);
}

/**
 * sscop_waits() - whether something is to be sent at once if the link below takes it
 * @s: connection
 * @more: a new segment could be cut
 *
 * Return: whether; POLLs aside.
 */
bool sscop_waits(const struct sscop *s, bool more)
{
	if (s->state != SSCOP_READY)
		return false;
	return s->rx.stat_due || s->rx.gaps || s->tx.missing || (more && !s->tx.closed) ||
	       sscop_class_wants(s);
}

/* us: when SDs that wait go on */
static u64 sd_at(const struct sscop *s, bool more)
{
	bool some = (more && !s->tx.closed) || s->tx.missing;

	return s->state == SSCOP_READY && some && !sscop_tx_is_full(s) ? sscop_tx_due(s) : U64_MAX;
}

/**
 * sscop_deadline() - when to call sscop_next() again if nothing happens before
 * @s: connection for which sscop_next() has just returned SSCOP_NOTHING
 * @room: what the link below took; if it gets more room, this happens
 * @more: a new segment could be cut
 *
 * Return: us; U64_MAX: never.
 */
u64 sscop_deadline(const struct sscop *s, enum sscop_room room, bool more)
{
	u64 at = U64_MAX;
	bool idle;

	if (s->state == SSCOP_IDLE)
		return at;
	if (repeated(s) && room != SSCOP_FULL)
		at = s->retry_at;
	if (s->state == SSCOP_BEGINNING)
		return at;
	at = min3(at, s->heard_at + SSCOP_NO_RESPONSE_US, sscop_class_held(s));
	if (s->state == SSCOP_RESYNCING || room == SSCOP_FULL)
		return at;
	idle = (!more || s->tx.closed) && !s->tx.missing;
	at = min(at, sscop_class_deadline(s, !idle));
	return min3(at, sd_at(s, more), sscop_tx_deadline(s, idle));
}

/**
 * sscop_stop() - release the connection
 * @s: connection
 * @output: written
 *
 * Frees all segments. Afterwards @s is in SSCOP_IDLE and may be started again.
 *
 * Return: whether there is an END to send.
 */
bool sscop_stop(struct sscop *s, struct sscop_output *output)
{
	bool told = s->state > SSCOP_BEGINNING;

	if (told)
		control(s, output, SSCOP_END, s->mine, s->theirs, s->epoch);
	if (s->state != SSCOP_IDLE) {
		sscop_tx_clear(s);
		sscop_rx_clear(s);
		sscop_classes_reset(s);
	}
	s->state = SSCOP_IDLE;
	s->classed = false;
	s->answer = 0;
	return told;
}
