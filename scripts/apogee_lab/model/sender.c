// SPDX-License-Identifier: GPL-2.0
/*
 * The sender: what Linux 6.1 does around a congestion control, with SACK, timestamps, RACK,
 * tail loss probe, F-RTO and undo. It has data to send always, a chunk every so often, or
 * transfers. Here is what ACKs and timeouts do, as in tcp_input.c.
 *
 * Names and the order of operations at an ACK are the stack's, since modules depend on them.
 * The path does not reorder, so there is no detection of reordering.
 */
#include <err.h>

#include "estimates.h"
#include "events.h"
#include "output.h"
#include "path.h"
#include "sender.h"
#include "transfers.h"

#define RTO_INIT_US	1000000U
#define CONNECT_NS	(60 * NSEC_PER_SEC)	/* then the lab's tool has failed */
#define RTO_DOUBLED	7U	/* doublings until it exceeds the maximum */
#define DUP_THRESHOLD	3

enum rexmit {
	REXMIT_NONE,
	REXMIT_LOST,
	REXMIT_NEW,
};

static void set_ca_state(struct flow *f, u8 state)
{
	if (ops_of(f)->set_state)
		ops_of(f)->set_state(&f->sk, state);
	f->sk.icsk.icsk_ca_state = state;
}

/* --- loss detection --------------------------------------------------------------------- */

static void mark_lost(struct flow *f, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);

	if (s->flags & F_SACKED)
		return;
	f->snd.rtx_hint = min(f->snd.rtx_hint, seg);
	if (!(s->flags & F_LOST)) {
		s->flags |= F_LOST;
		tp->lost_out++;
		tp->lost++;
	} else if (s->flags & F_RETRANS) {
		s->flags &= ~F_RETRANS;
		tp->retrans_out--;
		tp->lost++;
	}
}

static void rack_advance(struct flow *f, u32 seg)
{
	const struct seg *s = seg_of(f, seg);
	u32 rtt = f->sk.tp.tcp_mstamp - s->sent_us;
	bool again = s->flags & (F_RETRANS | F_EVER);

	if (again && rtt < tcp_min_rtt(&f->sk.tp))
		return;
	f->snd.rack.advanced = true;
	f->snd.rack.rtt_us = rtt;
	if (sent_after(s->sent_us, f->snd.rack.mstamp, seg, f->snd.rack.seg)) {
		f->snd.rack.mstamp = s->sent_us;
		f->snd.rack.seg = seg;
	}
}

static u32 rack_reorder_us(const struct flow *f)
{
	const struct tcp_sock *tp = &f->sk.tp;

	if (f->sk.icsk.icsk_ca_state >= TCP_CA_Recovery || tp->sacked_out >= DUP_THRESHOLD)
		return 0;
	return min(tcp_min_rtt(tp) >> 2, tp->srtt_us >> 3);
}

static s64 rack_remaining_us(const struct flow *f, const struct seg *s, u32 reorder_us)
{
	return (s64)f->snd.rack.rtt_us + reorder_us -
	       (s64)(f->sk.tp.tcp_mstamp - s->sent_us);
}

/* Returns the time until the next check, in us, 0 for never. */
static u64 rack_detect_loss(struct flow *f)
{
	u32 seg, behind, reorder_us = rack_reorder_us(f);
	s64 timeout = 0;

	for (seg = f->snd.oldest; seg != NONE; seg = behind) {
		struct seg *s = seg_of(f, seg);
		s64 remaining;

		behind = s->behind;
		if (s->flags & F_LOST && !(s->flags & F_RETRANS))
			continue;
		if (!sent_after(f->snd.rack.mstamp, s->sent_us, f->snd.rack.seg, seg))
			break;
		remaining = rack_remaining_us(f, s, reorder_us);
		if (remaining <= 0) {
			mark_lost(f, seg);
			order_remove(f, seg);
		} else {
			timeout = max(timeout, remaining);
		}
	}
	return (u64)timeout;
}

static void identify_loss(struct flow *f, struct ack_state *a)
{
	u32 prior_retrans = f->sk.tp.retrans_out;
	u64 timeout;

	if (f->snd.rack.advanced) {
		f->snd.rack.advanced = false;
		timeout = rack_detect_loss(f);
		if (timeout) {
			set_xmit_timer(f, PENDING_REORDER, timeout + TIMEOUT_MIN_US);
			a->flags &= ~A_SET_TIMER;
		}
	}
	if (prior_retrans > f->sk.tp.retrans_out)
		a->flags |= A_LOST_RETRANS;
}

/* --- reduction and undo ----------------------------------------------------------------- */

static void init_undo(struct flow *f)
{
	f->snd.undo = f->snd.una;
	f->snd.undo_valid = true;
	f->sk.tp.undo_marker = f->sk.tp.snd_una;
	f->sk.tp.undo_retrans = f->sk.tp.retrans_out ? (int)f->sk.tp.retrans_out : -1;
}

static void init_cwnd_reduction(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	f->snd.high = f->snd.nxt;
	tp->high_seq = tp->snd_nxt;
	f->snd.tlp = false;
	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tcp_snd_cwnd(tp);
	tp->prr_delivered = 0;
	tp->prr_out = 0;
	tp->snd_ssthresh = ops_of(f)->ssthresh(&f->sk);
}

/* Proportional rate reduction, RFC 6937. */
static void cwnd_reduction(struct flow *f, u32 acked, u32 lost, bool advanced)
{
	struct tcp_sock *tp = &f->sk.tp;
	int delta = (int)tp->snd_ssthresh - (int)tcp_packets_in_flight(tp);
	int count;

	if (!acked || !tp->prior_cwnd)
		return;
	tp->prr_delivered += acked;
	if (delta < 0) {
		u64 dividend = (u64)tp->snd_ssthresh * tp->prr_delivered + tp->prior_cwnd - 1;

		count = (int)(dividend / tp->prior_cwnd) - (int)tp->prr_out;
	} else {
		count = max_t(int, tp->prr_delivered - tp->prr_out, acked);
		if (advanced && !lost)
			count++;
		count = min(delta, count);
	}
	count = max(count, tp->prr_out ? 0 : 1);
	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + (u32)count);
}

static void end_cwnd_reduction(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	if (ops_of(f)->cong_control)
		return;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH &&
	    (f->sk.icsk.icsk_ca_state == TCP_CA_CWR || f->snd.undo_valid)) {
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
		tp->snd_cwnd_stamp = tcp_jiffies32;
	}
	ca_event(f, CA_EVENT_COMPLETE_CWR);
}

static void enter_recovery(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	tp->prior_ssthresh = 0;
	init_undo(f);
	if (!tcp_in_cwnd_reduction(&f->sk)) {
		tp->prior_ssthresh = tcp_current_ssthresh(&f->sk);
		init_cwnd_reduction(f);
	}
	set_ca_state(f, TCP_CA_Recovery);
	f->total.recoveries++;
}

static bool any_retrans_done(struct flow *f)
{
	return f->sk.tp.retrans_out ||
	       (f->sk.tp.packets_out && seg_of(f, f->snd.una)->flags & F_EVER);
}

static void keep_open(struct flow *f)
{
	u8 state = tcp_left_out(&f->sk.tp) || any_retrans_done(f) ? TCP_CA_Disorder :
								    TCP_CA_Open;

	if (f->sk.icsk.icsk_ca_state == state)
		return;
	set_ca_state(f, state);
	f->snd.high = f->snd.nxt;
	f->sk.tp.high_seq = f->sk.tp.snd_nxt;
}

static void try_to_open(struct flow *f)
{
	if (!any_retrans_done(f))
		f->sk.tp.retrans_stamp = 0;
	if (f->sk.icsk.icsk_ca_state != TCP_CA_CWR)
		keep_open(f);
}

/* The echo is older than the first retransmission: the original arrived. */
static bool packet_delayed(const struct flow *f)
{
	const struct tcp_sock *tp = &f->sk.tp;

	return tp->retrans_stamp && before(tp->rx_opt.rcv_tsecr, tp->retrans_stamp);
}

static bool may_undo(const struct flow *f)
{
	return f->snd.undo_valid && (!f->sk.tp.undo_retrans || packet_delayed(f));
}

static void undo_cwnd_reduction(struct flow *f, bool unmark)
{
	struct tcp_sock *tp = &f->sk.tp;

	for (u32 seg = f->snd.una; unmark && seg < f->snd.nxt; seg++)
		seg_of(f, seg)->flags &= ~F_LOST;
	if (unmark) {
		tp->lost_out = 0;
		f->snd.rtx_hint = f->snd.una;
	}
	if (tp->prior_ssthresh) {
		tcp_snd_cwnd_set(tp, ops_of(f)->undo_cwnd(&f->sk));
		tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
	}
	tp->snd_cwnd_stamp = tcp_jiffies32;
	f->snd.undo_valid = false;
	tp->undo_marker = 0;
	f->snd.rack.advanced = true;
	f->total.undos++;
}

static void undo_recovery(struct flow *f)
{
	if (may_undo(f))
		undo_cwnd_reduction(f, false);
	set_ca_state(f, TCP_CA_Open);
}

static bool undo_dsack(struct flow *f)
{
	if (!f->snd.undo_valid || f->sk.tp.undo_retrans)
		return false;
	undo_cwnd_reduction(f, false);
	return true;
}

static bool undo_loss(struct flow *f, bool frto)
{
	if (!frto && !may_undo(f))
		return false;
	undo_cwnd_reduction(f, true);
	f->sk.icsk.icsk_retransmits = 0;
	set_ca_state(f, TCP_CA_Open);
	return true;
}

/* Returns true if the ACK needs no further processing. */
static bool undo_partial(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	if (!f->snd.undo_valid || !packet_delayed(f))
		return false;
	if (tp->retrans_out)
		return true;
	if (!any_retrans_done(f))
		tp->retrans_stamp = 0;
	undo_cwnd_reduction(f, true);
	keep_open(f);
	return false;
}

/* --- timeouts --------------------------------------------------------------------------- */

static void timeout_mark_lost(struct flow *f)
{
	for (u32 seg = f->snd.una; seg < f->snd.nxt; seg++)
		if (seg == f->snd.una || rack_remaining_us(f, seg_of(f, seg), 0) <= 0)
			mark_lost(f, seg);
}

static void enter_loss(struct flow *f)
{
	struct inet_connection_sock *icsk = &f->sk.icsk;
	bool new_recovery = icsk->icsk_ca_state < TCP_CA_Recovery;
	struct tcp_sock *tp = &f->sk.tp;

	timeout_mark_lost(f);
	if (icsk->icsk_ca_state <= TCP_CA_Disorder || f->snd.high <= f->snd.una ||
	    (icsk->icsk_ca_state == TCP_CA_Loss && !icsk->icsk_retransmits)) {
		tp->prior_ssthresh = tcp_current_ssthresh(&f->sk);
		tp->prior_cwnd = tcp_snd_cwnd(tp);
		tp->snd_ssthresh = ops_of(f)->ssthresh(&f->sk);
		ca_event(f, CA_EVENT_LOSS);
		init_undo(f);
	}
	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	tp->snd_cwnd_cnt = 0;
	tp->snd_cwnd_stamp = tcp_jiffies32;
	set_ca_state(f, TCP_CA_Loss);
	f->snd.high = f->snd.nxt;
	tp->high_seq = tp->snd_nxt;
	f->snd.tlp = false;
	tp->frto = new_recovery || icsk->icsk_retransmits;
	f->total.timeouts++;
}

static void retransmit_timeout(struct flow *f)
{
	struct inet_connection_sock *icsk = &f->sk.icsk;
	struct seg *head = seg_of(f, f->snd.una);

	enter_loss(f);
	icsk->icsk_retransmits++;
	/* The copy sent as loss probe. */
	if (head->flags & F_RETRANS) {
		head->flags &= ~F_RETRANS;
		f->sk.tp.retrans_out--;
	}
	retransmit(f, f->snd.una);
	icsk->icsk_rto = min(icsk->icsk_rto * 2, jiffies_of(RTO_MAX_US));
	set_xmit_timer(f, PENDING_RTO, rto_us(f));
}

static void loss_probe(struct flow *f)
{
	bool sent = false;

	if (!f->snd.tlp) {
		f->snd.tlp_retrans = false;
		if (!f->snd.stopped && has_new(f)) {
			sent = write_xmit(f, true);
		} else {
			retransmit(f, f->snd.nxt - 1);
			f->snd.tlp_retrans = true;
			sent = true;
		}
	}
	if (sent) {
		f->snd.tlp = true;
		f->snd.tlp_high = f->snd.nxt;
		f->sk.icsk.icsk_pending = PENDING_NONE;
	}
	rearm_rto(f);
}

static void reorder_timeout(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 prior = tcp_packets_in_flight(tp), lost = tp->lost;

	rack_detect_loss(f);
	if (prior != tcp_packets_in_flight(tp)) {
		if (f->sk.icsk.icsk_ca_state != TCP_CA_Recovery) {
			enter_recovery(f);
			if (!ops_of(f)->cong_control)
				cwnd_reduction(f, 1, tp->lost - lost, false);
		}
		xmit_retransmit_queue(f);
	}
	if (f->sk.icsk.icsk_pending != PENDING_RTO)
		rearm_rto(f);
}

/* The lab's tool gives up after two SYNs and takes a new socket, for up to a minute; from the
 * fourth on each sends one more (guest/flow/sender.c).
 */
static void next_socket(struct flow *f)
{
	if (f->syns != max(f->sockets, 3U) - 1)
		return;
	if (model_now >= f->start + CONNECT_NS)
		errx(1, "flow %u: no connection after %llu s", f->number,
		     (unsigned long long)(CONNECT_NS / NSEC_PER_SEC));
	f->sockets++;
	f->syns = 0;
}

static void send_syn(struct flow *f)
{
	struct packet syn = { .tsval = now_ms(), .flow = f->number, .handshake = SYN_FRAME };

	if (world.kernel)
		next_socket(f);
	if (!f->syns)
		f->syn_at = model_now;
	path_send(f, syn);
	set_xmit_timer(f, PENDING_RTO, (u64)RTO_INIT_US << min(f->syns, RTO_DOUBLED));
	f->syns++;
}

void sender_timer(struct flow *f)
{
	u8 pending = f->sk.icsk.icsk_pending;

	refresh_clock(f);
	if (!f->snd.established) {
		send_syn(f);
		return;
	}
	f->sk.icsk.icsk_pending = PENDING_NONE;
	if (!f->sk.tp.packets_out)
		return;
	if (pending == PENDING_PROBE)
		loss_probe(f);
	else if (pending == PENDING_REORDER)
		reorder_timeout(f);
	else
		retransmit_timeout(f);
}

/* --- ACKs ------------------------------------------------------------------------------- */

static void count_dsack(struct flow *f, struct ack_state *a)
{
	struct tcp_sock *tp = &f->sk.tp;

	tp->dsack_dups++;
	a->flags |= A_DSACK;
	if (f->snd.undo_valid && tp->undo_retrans > 0)
		tp->undo_retrans--;
}

static void sack(struct flow *f, struct ack_state *a, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);

	if (s->flags & F_SACKED)
		return;
	rack_advance(f, seg);
	if (!(s->flags & (F_RETRANS | F_EVER))) {
		if (seg < f->snd.high)
			a->flags |= A_ORIG;
		if (!a->first_sacked_us)
			a->first_sacked_us = s->sent_us;
		a->last_sacked_us = s->sent_us;
	}
	if (s->flags & F_LOST) {
		tp->lost_out--;
		if (s->flags & F_RETRANS)
			tp->retrans_out--;
		s->flags &= ~(F_LOST | F_RETRANS);
	}
	s->flags |= F_SACKED;
	a->flags |= A_SACKED;
	tp->sacked_out++;
	tp->delivered++;
	rate_delivered(f, a, seg);
	order_remove(f, seg);
}

static void read_log(struct flow *f, struct ack_state *a)
{
	while (f->snd.arrivals != a->ack.arrivals) {
		u32 entry = f->rcv.log[ring4(f->snd.arrivals++)];

		if (entry & LOG_AGAIN && f->snd.arrivals == a->ack.arrivals)
			count_dsack(f, a);
		else if (entry & LOG_AGAIN)
			continue;
		else if (entry >= a->ack.next)
			sack(f, a, entry);
	}
}

static void clean_one(struct flow *f, struct ack_state *a, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);

	if (s->flags & (F_RETRANS | F_EVER)) {
		if (s->flags & F_RETRANS)
			tp->retrans_out--;
		a->flags |= A_RETRANS;
	} else if (!(s->flags & F_SACKED)) {
		a->last_acked_us = s->sent_us;
		if (!a->first_acked_us)
			a->first_acked_us = s->sent_us;
		if (seg < f->snd.high)
			a->flags |= A_ORIG;
	}
	if (s->flags & F_SACKED) {
		tp->sacked_out--;
	} else {
		tp->delivered++;
		/* An ACK of the original says nothing about its retransmission. */
		if (!(s->flags & F_EVER) || !before(a->ack.tsecr, s->sent_us / USEC_PER_MSEC))
			rack_advance(f, seg);
	}
	if (s->flags & F_LOST)
		tp->lost_out--;
	tp->packets_out--;
	a->acked++;
	rate_delivered(f, a, seg);
	order_remove(f, seg);
}

static void clean_queue(struct flow *f, struct ack_state *a)
{
	struct tcp_sock *tp = &f->sk.tp;
	bool update;

	for (u32 seg = a->prior_una; seg < a->ack.next; seg++)
		clean_one(f, a, seg);
	update = ack_update_rtt(f, a);
	if (a->acked)
		a->flags |= A_SET_TIMER;
	else if (tp->packets_out && update && a->first_sacked_us &&
		 a->first_sacked_us < seg_of(f, f->snd.una)->sent_us)
		a->flags |= A_SET_TIMER;
	if (ops_of(f)->pkts_acked) {
		struct ack_sample sample = {
			.pkts_acked = a->acked,
			.rtt_us = (s32)a->rs.rtt_us,
			.in_flight = MODEL_MSS * (tp->delivered - a->rs.prior_delivered),
		};

		ops_of(f)->pkts_acked(&f->sk, &sample);
	}
}

static enum rexmit process_loss(struct flow *f, const struct ack_state *a)
{
	bool recovered = f->snd.una >= f->snd.high;
	struct tcp_sock *tp = &f->sk.tp;

	if (a->flags & A_UNA && undo_loss(f, false))
		return REXMIT_NONE;
	if (tp->frto) {
		if (a->flags & A_ORIG && undo_loss(f, true))
			return REXMIT_NONE;
		if (f->snd.nxt > f->snd.high) {
			if (a->flags & A_SACKED)
				tp->frto = false;
		} else if (a->flags & A_UNA && !recovered) {
			f->snd.high = f->snd.nxt;
			tp->high_seq = tp->snd_nxt;
			if (!f->snd.stopped && has_new(f))
				return REXMIT_NEW;
			tp->frto = false;
		}
	}
	if (recovered) {
		undo_recovery(f);
		return REXMIT_NONE;
	}
	return REXMIT_LOST;
}

/* Process an ACK with loss or out of the ordinary: the stack's tcp_fastretrans_alert(). */
static enum rexmit fastretrans_alert(struct flow *f, struct ack_state *a)
{
	struct inet_connection_sock *icsk = &f->sk.icsk;
	enum rexmit rexmit = REXMIT_NONE;

	if (icsk->icsk_ca_state == TCP_CA_Open) {
		f->sk.tp.retrans_stamp = 0;
	} else if (f->snd.una >= f->snd.high) {
		if (icsk->icsk_ca_state == TCP_CA_CWR && f->snd.una != f->snd.high) {
			end_cwnd_reduction(f);
			set_ca_state(f, TCP_CA_Open);
		} else if (icsk->icsk_ca_state == TCP_CA_Recovery) {
			undo_recovery(f);
			end_cwnd_reduction(f);
		}
	}

	if (icsk->icsk_ca_state == TCP_CA_Recovery) {
		if (a->flags & A_UNA && undo_partial(f))
			return rexmit;
		if (undo_dsack(f))
			try_to_open(f);
		identify_loss(f, a);
		if (icsk->icsk_ca_state != TCP_CA_Recovery) {
			if (!f->sk.tp.lost_out)
				return rexmit;
			enter_recovery(f);
		}
		return REXMIT_LOST;
	}
	if (icsk->icsk_ca_state == TCP_CA_Loss) {
		rexmit = process_loss(f, a);
		identify_loss(f, a);
		if (icsk->icsk_ca_state != TCP_CA_Open && !(a->flags & A_LOST_RETRANS))
			return rexmit;
	}
	if (icsk->icsk_ca_state <= TCP_CA_Disorder)
		undo_dsack(f);
	identify_loss(f, a);
	if (!f->sk.tp.lost_out) {
		try_to_open(f);
		return rexmit;
	}
	enter_recovery(f);
	return REXMIT_LOST;
}

static void process_tlp_ack(struct flow *f, const struct ack_state *a)
{
	if (a->ack.next < f->snd.tlp_high)
		return;
	if (!f->snd.tlp_retrans || a->flags & A_DSACK) {
		f->snd.tlp = false;
	} else if (a->ack.next > f->snd.tlp_high) {
		init_cwnd_reduction(f);
		set_ca_state(f, TCP_CA_CWR);
		end_cwnd_reduction(f);
		keep_open(f);
	}
}

static void update_pacing_rate(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 percent = tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2 ? 200 : 120;
	u64 rate = (u64)tp->mss_cache * max(tcp_snd_cwnd(tp), tp->packets_out) *
		   (8 * USEC_PER_SEC / 100) * percent;

	f->sk.sk_pacing_rate = min(rate / max(tp->srtt_us, 1U), f->sk.sk_max_pacing_rate);
}

static void cong_control(struct flow *f, const struct ack_state *a)
{
	if (ops_of(f)->cong_control) {
		ops_of(f)->cong_control(&f->sk, &a->rs);
		return;
	}
	if (tcp_in_cwnd_reduction(&f->sk)) {
		cwnd_reduction(f, a->rs.acked_sacked, a->rs.losses, a->flags & A_UNA);
	} else if (a->acked) {
		ops_of(f)->cong_avoid(&f->sk, f->sk.tp.snd_una, a->rs.acked_sacked);
		f->sk.tp.snd_cwnd_stamp = tcp_jiffies32;
	}
	update_pacing_rate(f);
}

static void xmit_recovery(struct flow *f, enum rexmit rexmit)
{
	if (rexmit == REXMIT_NONE)
		return;
	if (rexmit == REXMIT_NEW) {
		write_xmit(f, false);
		if (f->snd.nxt > f->snd.high)
			return;
		f->sk.tp.frto = false;
	}
	xmit_retransmit_queue(f);
}

static void acknowledge(struct flow *f, struct ack_state *a)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 delivered = tp->delivered, lost = tp->lost;
	enum rexmit rexmit = REXMIT_NONE;

	tp->write_seq = tp->snd_nxt + (f->snd.supplied > f->snd.nxt ? 8 * MODEL_MSS : 0);
	tp->chrono_type = f->snd.nxt >= f->snd.edge ? TCP_CHRONO_RWND_LIMITED : TCP_CHRONO_BUSY;
	a->prior_una = f->snd.una;
	a->rs.prior_in_flight = tcp_packets_in_flight(tp);
	if (a->ack.next > f->snd.una) {
		a->flags |= A_UNA;
		f->sk.icsk.icsk_retransmits = 0;
		f->snd.una = a->ack.next;
		tp->snd_una = sequence(f->snd.una);
	}
	read_log(f, a);
	clean_queue(f, a);
	if (f->snd.tlp)
		process_tlp_ack(f, a);
	if (!a->acked || a->flags & (A_SACKED | A_DSACK) ||
	    f->sk.icsk.icsk_ca_state != TCP_CA_Open)
		rexmit = fastretrans_alert(f, a);
	if (a->flags & A_SET_TIMER && !schedule_loss_probe(f, true))
		rearm_rto(f);
	rate_generate(f, a, tp->delivered - delivered, tp->lost - lost);
	cong_control(f, a);
	xmit_recovery(f, rexmit);
}

/* In us; of a SYN that was repeated the timestamps tell, in ms. */
static u32 syn_rtt(const struct flow *f)
{
	const struct tcp_sock *tp = &f->sk.tp;

	if (f->syns == 1)
		return (u32)(tp->tcp_mstamp - f->syn_at / NSEC_PER_USEC);
	return max(now_ms() - tp->rx_opt.rcv_tsecr, 1U) * USEC_PER_MSEC;
}

static void establish(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	f->snd.established = true;
	timer_stop(f, TIMER_XMIT);
	f->sk.icsk.icsk_pending = PENDING_NONE;
	tp->delivered = 1;
	tp->bytes_acked = 1;
	tp->delivered_mstamp = tp->tcp_mstamp;
	tp->app_limited = 1;
	update_min_rtt(f, syn_rtt(f));
	estimate_rtt(f, tp->rtt_min_us);
	f->sk.sk_state = TCP_ESTABLISHED;
	update_pacing_rate(f);
	if (ops_of(f)->init)
		ops_of(f)->init(&f->sk);
	f->sk.icsk.icsk_ca_initialized = 1;
	if (transfers_of(f))
		sender_transfer(f);
}

void sender_pace(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	refresh_clock(f);
	if (tp->lost_out > tp->retrans_out && tcp_snd_cwnd(tp) > tcp_packets_in_flight(tp))
		xmit_retransmit_queue(f);
	write_xmit(f, false);
}

/* The application writes: what was sent since the last write was limited by it. */
void sender_supply(struct flow *f, u32 segments)
{
	struct tcp_sock *tp = &f->sk.tp;
	u32 flying = tcp_packets_in_flight(tp);

	refresh_clock(f);
	if (f->snd.established && f->snd.nxt >= f->snd.supplied && flying < tcp_snd_cwnd(tp) &&
	    tp->lost_out <= tp->retrans_out)
		tp->app_limited = tp->delivered + flying ? tp->delivered + flying : 1;
	f->snd.supplied += segments;
	if (!f->snd.established)
		return;
	restart_after_idle(f);
	write_xmit(f, false);
}

void sender_transfer(struct flow *f)
{
	u32 segments = transfers_next();

	if (segments)
		sender_supply(f, segments);
}

void sender_ack(struct flow *f, struct ack ack)
{
	struct ack_state a = { .ack = ack, .rs.rtt_us = -1 };
	struct tcp_sock *tp = &f->sk.tp;

	refresh_clock(f);
	tp->rx_opt.rcv_tsecr = ack.tsecr;
	tp->rx_opt.rcv_tsval = ack.tsval;
	f->snd.edge = max(f->snd.edge, ack.edge);
	if (ack.syn) {
		if (f->snd.established || ack.tsecr < (u32)(f->syn_at / NSEC_PER_MSEC))
			return; /* or of a socket that was given up */
		establish(f);
		path_send(f, (struct packet){ .flow = f->number, .handshake = THIRD_FRAME });
	} else if (tp->packets_out) {
		acknowledge(f, &a);
	} else {
		f->snd.arrivals = ack.arrivals;
	}
	tp->snd_wnd = sequence(f->snd.edge) - tp->snd_una;
	write_xmit(f, false);
}

/* Verify each counter of the scoreboard against the segments. */
void sender_check(struct flow *f)
{
	u32 sacked = 0, lost = 0, retrans = 0, ordered = 0, waiting = 0;
	const struct tcp_sock *tp = &f->sk.tp;
	u64 last_us = 0;

	for (u32 seg = f->snd.una; seg < f->snd.nxt; seg++) {
		u8 flags = seg_of(f, seg)->flags;

		sacked += !!(flags & F_SACKED);
		lost += !!(flags & F_LOST);
		retrans += !!(flags & F_RETRANS);
		waiting += flags & F_LOST &&
			   (!(flags & F_RETRANS) || seg_of(f, seg)->before == seg);
	}
	for (u32 seg = f->snd.oldest; seg != NONE; seg = seg_of(f, seg)->behind) {
		if (seg_of(f, seg)->sent_us < last_us || seg_of(f, seg)->flags & F_SACKED)
			errx(1, "segment %u is out of the order of sending", seg);
		last_us = seg_of(f, seg)->sent_us;
		ordered++;
	}
	if (tp->packets_out != f->snd.nxt - f->snd.una || tp->sacked_out != sacked ||
	    tp->lost_out != lost || tp->retrans_out != retrans)
		errx(1, "flow %u: out %u, sacked %u of %u, lost %u of %u, again %u of %u",
		     f->number, tp->packets_out, tp->sacked_out, sacked, tp->lost_out, lost,
		     tp->retrans_out, retrans);
	/* After a timeout lost segments that are not yet retransmitted stay in the order. A loss
	 * probe's copy that is called lost is taken out and still under way, and what an undo no
	 * longer calls lost does not come back to it, as in the kernel.
	 */
	if (ordered + sacked > tp->packets_out ||
	    (ordered + sacked + waiting < tp->packets_out && !f->total.undos))
		errx(1, "flow %u: %u segments in the order of sending", f->number, ordered);
	if (f->snd.una > f->rcv.next || f->snd.nxt > f->snd.edge)
		errx(1, "flow %u: beyond what the receiver has or takes", f->number);
}

void sender_start(struct flow *f)
{
	struct tcp_sock *tp = &f->sk.tp;

	tp->snd_una = sequence(0);
	tp->snd_nxt = sequence(0);
	tp->snd_cwnd = TCP_INIT_CWND;
	tp->snd_cwnd_clamp = U32_MAX;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->rtt_min_us = U32_MAX;
	tp->mss_cache = MODEL_MSS;
	tp->rx_opt.saw_tstamp = true;
	tp->rx_opt.tstamp_ok = true;
	tp->rx_opt.sack_ok = true;
	f->sk.net.ipv4.sysctl_tcp_slow_start_after_idle = 1;
	f->sk.net.ipv4.sysctl_tcp_pacing_ss_ratio = 200;
	f->sk.net.ipv4.sysctl_tcp_pacing_ca_ratio = 120;
	f->sk.net.ipv4.sysctl_tcp_tso_rtt_log = 9;
	f->sk.net.ipv4.sysctl_tcp_min_tso_segs = 2;
	f->sk.sk_max_pacing_rate = ULONG_MAX;
	f->sk.sk_pacing_rate = ULONG_MAX;
	f->sk.sk_pacing_shift = 10;
	f->sk.sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
	f->sk.icsk.icsk_rto = jiffies_of(RTO_INIT_US);
	f->snd.supplied = transfers_of(f) ? 0 : world.chunk ? world.chunk : U32_MAX;
	f->snd.oldest = NONE;
	f->snd.newest = NONE;
	f->start = model_now;
	f->sockets = 1;
	send_syn(f);
}
