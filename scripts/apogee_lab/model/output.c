// SPDX-License-Identifier: GPL-2.0
/* What leaves the sender, and when: the order of transmission, timers, pacing, bursts. */
#include "events.h"
#include "output.h"
#include "path.h"
#include "transfers.h"

/* --- order of transmission -------------------------------------------------------------- */

void order_remove(struct flow *f, u32 seg)
{
	struct seg *s = seg_of(f, seg);

	if (s->before == seg)
		return;
	if (s->before != NONE)
		seg_of(f, s->before)->behind = s->behind;
	else
		f->snd.oldest = s->behind;
	if (s->behind != NONE)
		seg_of(f, s->behind)->before = s->before;
	else
		f->snd.newest = s->before;
	/* Linked to itself: not in the order. */
	s->before = seg;
}

static void order_append(struct flow *f, u32 seg)
{
	struct seg *s = seg_of(f, seg);

	s->before = f->snd.newest;
	s->behind = NONE;
	if (f->snd.newest != NONE)
		seg_of(f, f->snd.newest)->behind = seg;
	else
		f->snd.oldest = seg;
	f->snd.newest = seg;
}

/* --- timers ----------------------------------------------------------------------------- */

void set_xmit_timer(struct flow *f, u8 what, u64 us)
{
	f->sk.icsk.icsk_pending = what;
	us = min_t(u64, us, RTO_MAX_US) * NSEC_PER_USEC;
	timer_set(f, TIMER_XMIT, world.kernel ? timer_tick(us) : model_now + us);
}

/* Time until the timeout, in us. */
static s64 rto_delta_us(struct flow *f)
{
	return (s64)(seg_of(f, f->snd.una)->sent_us + rto_us(f) - f->sk.tp.tcp_mstamp);
}

void rearm_rto(struct flow *f)
{
	u8 pending = f->sk.icsk.icsk_pending;
	s64 us = (s64)rto_us(f);

	if (!f->sk.tp.packets_out) {
		f->sk.icsk.icsk_pending = PENDING_NONE;
		timer_stop(f, TIMER_XMIT);
		return;
	}
	if (pending == PENDING_PROBE || pending == PENDING_REORDER)
		us = max_t(s64, rto_delta_us(f), 1);
	set_xmit_timer(f, PENDING_RTO, (u64)us);
}

bool schedule_loss_probe(struct flow *f, bool advancing)
{
	const struct tcp_sock *tp = &f->sk.tp;
	u8 state = f->sk.icsk.icsk_ca_state;
	u64 us;
	s64 delta;

	if (!tp->packets_out || (state != TCP_CA_Open && state != TCP_CA_CWR))
		return false;
	us = (tp->srtt_us >> 2) + (tp->packets_out == 1 ? RTO_MIN_US : TIMEOUT_MIN_US);
	delta = advancing ? (s64)rto_us(f) : rto_delta_us(f);
	if (delta > 0)
		us = min(us, (u64)delta);
	set_xmit_timer(f, PENDING_PROBE, us);
	return true;
}

/* --- sending ---------------------------------------------------------------------------- */

static bool pacing_check(struct flow *f)
{
	if (f->sk.sk_pacing_status != SK_PACING_NEEDED ||
	    f->sk.tp.tcp_wstamp_ns <= model_now)
		return false;
	if (f->timers[TIMER_PACE].at == NEVER)
		timer_set(f, TIMER_PACE, f->sk.tp.tcp_wstamp_ns);
	return true;
}

/* After so many segments were sent at once. */
static void pace(struct flow *f, u64 prior_wstamp, u32 segments)
{
	struct tcp_sock *tp = &f->sk.tp;
	u64 ns, rate = f->sk.sk_pacing_rate;

	if (f->sk.sk_pacing_status == SK_PACING_NONE || !rate || rate == ULONG_MAX ||
	    tp->data_segs_out < TCP_INIT_CWND)
		return;
	ns = (u64)segments * MODEL_MSS * NSEC_PER_SEC / rate;
	ns -= min(ns / 2, tp->tcp_wstamp_ns - prior_wstamp);
	tp->tcp_wstamp_ns += ns;
}

static void transmit(struct flow *f, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);
	struct packet packet = { .seg = seg, .tsval = now_ms(), .flow = f->number,
				 .payload = s->payload };

	tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, model_now);
	if (!tcp_packets_in_flight(tp))
		ca_event(f, CA_EVENT_TX_START);
	tp->lsndtime = tcp_jiffies32;
	tp->data_segs_out++;

	s->sent_us = now_us();
	if (!tp->packets_out) {
		tp->first_tx_mstamp = s->sent_us;
		tp->delivered_mstamp = s->sent_us;
	}
	s->first_tx_us = tp->first_tx_mstamp;
	s->delivered_us = tp->delivered_mstamp;
	s->delivered = tp->delivered;
	s->app_limited = tp->app_limited;
	path_send(f, packet);
}

/* There is a segment to send that was not sent, and the window has room for it. */
bool has_new(const struct flow *f)
{
	return f->snd.nxt < f->snd.edge && f->snd.nxt < f->snd.supplied;
}

/* RFC 2861: the window was not used for a timeout's time. */
static void application_limited(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 used = max_t(u32, tp->snd_cwnd_used, TCP_INIT_CWND);

	if (f->sk.icsk.icsk_ca_state == TCP_CA_Open && used < tcp_snd_cwnd(tp)) {
		tp->snd_ssthresh = tcp_current_ssthresh(&f->sk);
		tcp_snd_cwnd_set(tp, (tcp_snd_cwnd(tp) + used) >> 1);
	}
	tp->snd_cwnd_used = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
}

/* After an idle time, before more is sent: half the window per timeout. */
void restart_after_idle(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;
	s32 idle = (s32)(tcp_jiffies32 - tp->lsndtime), rto = (s32)f->sk.icsk.icsk_rto;
	u32 least = min_t(u32, TCP_INIT_CWND, tcp_snd_cwnd(tp)), cwnd = tcp_snd_cwnd(tp);

	if (tp->packets_out || ops_of(f)->cong_control || idle <= rto)
		return;
	ca_event(f, CA_EVENT_CWND_RESTART);
	tp->snd_ssthresh = tcp_current_ssthresh(&f->sk);
	for (; (idle -= rto) > 0 && cwnd > least; cwnd >>= 1)
		;
	tcp_snd_cwnd_set(tp, max(cwnd, least));
	tp->snd_cwnd_stamp = tcp_jiffies32;
	tp->snd_cwnd_used = 0;
}

static void cwnd_validate(struct flow *f, bool limited)
{
	struct tcp_sock *tp = &f->sk.tp;

	if (!before(tp->snd_una, tp->cwnd_usage_seq) || limited ||
	    (!tp->is_cwnd_limited && tp->packets_out > tp->max_packets_out)) {
		tp->is_cwnd_limited = limited;
		tp->max_packets_out = tp->packets_out;
		tp->cwnd_usage_seq = tp->snd_nxt;
	}
	if (tcp_is_cwnd_limited(&f->sk)) {
		tp->snd_cwnd_used = 0;
		tp->snd_cwnd_stamp = tcp_jiffies32;
	} else {
		tp->snd_cwnd_used = max(tp->snd_cwnd_used, tp->packets_out);
		if ((s32)(tcp_jiffies32 - tp->snd_cwnd_stamp) >= (s32)f->sk.icsk.icsk_rto &&
		    !ops_of(f)->cong_control)
			application_limited(f);
	}
}

static void send_new(struct flow *f, u32 segments)
{
	struct tcp_sock *tp = &f->sk.tp;
	bool first = !tp->packets_out;
	u64 prior_wstamp = tp->tcp_wstamp_ns;

	for (u32 i = 0; i < segments; i++) {
		u32 seg = f->snd.nxt++;

		seg_of(f, seg)->payload = transfers_payload(f, seg);
		transmit(f, seg);
		seg_of(f, seg)->flags = 0;
		order_append(f, seg);
		tp->snd_nxt = sequence(f->snd.nxt);
		tp->packets_out++;
	}
	pace(f, prior_wstamp, segments);
	if (first || f->sk.icsk.icsk_pending == PENDING_PROBE)
		rearm_rto(f);
}

/* Segments that leave as one packet for segmentation: tcp_tso_segs(). */
static u32 tso_segments(struct flow *f)
{
	u32 least = ops_of(f)->min_tso_segs ? ops_of(f)->min_tso_segs(&f->sk) : 2;
	u64 bytes = f->sk.sk_pacing_rate >> f->sk.sk_pacing_shift;
	u32 shift = tcp_min_rtt(&f->sk.tp) >> 9;

	if (shift < 32)
		bytes += f->sk.sk_gso_max_size >> shift;
	bytes = min_t(u64, bytes, f->sk.sk_gso_max_size);
	return max_t(u32, bytes / MODEL_MSS, least);
}

/* Whether to wait for more room in the window: tcp_tso_should_defer(). */
static bool defers(struct flow *f, u32 segments)
{
	const struct tcp_sock *tp = &f->sk.tp;
	u32 window = f->snd.edge - f->snd.nxt, room = tcp_snd_cwnd(tp) - tcp_packets_in_flight(tp);
	u64 srtt_ns = (u64)tp->srtt_us * NSEC_PER_USEC / 8;
	s64 late;

	if (f->sk.icsk.icsk_ca_state >= TCP_CA_Recovery || segments == 1 ||
	    (s64)(tp->tcp_clock_cache - tp->tcp_wstamp_ns - NSEC_PER_MSEC) > 0)
		return false;
	if (min(window, room) >= segments || !tp->packets_out ||
	    min(window, room) >= min(f->snd.edge - f->snd.una, tcp_snd_cwnd(tp)) / 3)
		return false;
	late = (s64)(seg_of(f, f->snd.una)->sent_us * NSEC_PER_USEC + srtt_ns -
		     tp->tcp_clock_cache);
	return late <= (s64)min_t(u64, srtt_ns / 2, NSEC_PER_MSEC);
}

/* How many new segments may be sent at once. */
static u32 new_quota(struct flow *f, bool probe)
{
	const struct tcp_sock *tp = &f->sk.tp;
	u32 flying = tcp_packets_in_flight(tp), cwnd = tcp_snd_cwnd(tp), quota;

	if (!has_new(f) || (flying >= cwnd && !probe))
		return 0;
	if (!world.kernel || probe)
		return 1;
	quota = min(cwnd - flying, max(cwnd >> 1, 1U));
	quota = min(quota, tso_segments(f));
	quota = min(quota, f->snd.edge - f->snd.nxt);
	return min(quota, f->snd.supplied - f->snd.nxt);
}

/* Send what the windows allow, or one segment as a probe; returns the number. */
u32 write_xmit(struct flow *f, bool probe)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 sent = 0, quota;
	bool deferred = false;

	while (!f->snd.stopped && !pacing_check(f)) {
		quota = new_quota(f, probe);
		deferred = quota && world.kernel && !probe && defers(f, tso_segments(f));
		if (!quota || deferred)
			break;
		send_new(f, quota);
		sent += quota;
		if (probe)
			break;
	}
	if (deferred || tcp_packets_in_flight(tp) >= tcp_snd_cwnd(tp))
		cwnd_validate(f, true);
	else if (sent)
		cwnd_validate(f, false);
	if (!sent)
		return 0;
	if (tcp_in_cwnd_reduction(&f->sk))
		tp->prr_out += sent;
	if (!probe)
		schedule_loss_probe(f, false);
	return sent;
}

void retransmit(struct flow *f, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);
	u64 prior_wstamp = tp->tcp_wstamp_ns;

	transmit(f, seg);
	pace(f, prior_wstamp, 1);
	order_remove(f, seg);
	order_append(f, seg);
	if (!tp->retrans_stamp)
		tp->retrans_stamp = now_ms();
	s->flags |= F_RETRANS | F_EVER;
	tp->retrans_out++;
	tp->undo_retrans = max(tp->undo_retrans, 0) + 1;
	f->total.retransmits++;
}

void xmit_retransmit_queue(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;
	bool rearm = false;
	u32 seg;

	if (!tp->packets_out)
		return;
	f->snd.rtx_hint = max(f->snd.rtx_hint, f->snd.una);
	for (seg = f->snd.rtx_hint; seg < f->snd.nxt; seg++) {
		u8 flags = seg_of(f, seg)->flags;

		if (tp->retrans_out >= tp->lost_out || pacing_check(f) ||
		    tcp_packets_in_flight(tp) >= tcp_snd_cwnd(tp))
			break;
		if (!(flags & F_LOST) || flags & (F_SACKED | F_RETRANS))
			continue;
		retransmit(f, seg);
		if (tcp_in_cwnd_reduction(&f->sk))
			tp->prr_out++;
		if (seg == f->snd.una && f->sk.icsk.icsk_pending != PENDING_REORDER)
			rearm = true;
	}
	/* All before is in flight again, or marked later: then mark_lost() goes back. */
	f->snd.rtx_hint = seg;
	if (rearm)
		set_xmit_timer(f, PENDING_RTO, rto_us(f));
}
