// SPDX-License-Identifier: GPL-2.0
/* What an ACK tells: round trip times, and samples of the rate of delivery. */
#include "estimates.h"

#define MIN_RTT_WINDOW	(300 * HZ)

/* --- round trip times ------------------------------------------------------------------- */

/* The minimum of 300 s, tracked as the minima of up to three parts (lib/minmax.c). */
void update_min_rtt(struct flow *f, u32 rtt)
{
	struct min_rtt *m = f->snd.min_rtt;
	u32 age, now = tcp_jiffies32;

	if (!m[0].value || rtt <= m[0].value || now - m[2].stamp > MIN_RTT_WINDOW) {
		for (int i = 0; i < 3; i++) {
			m[i].stamp = now;
			m[i].value = rtt;
		}
	} else {
		for (int i = rtt <= m[1].value ? 1 : 2; i < 3 && rtt <= m[2].value; i++) {
			m[i].stamp = now;
			m[i].value = rtt;
		}
		age = now - m[0].stamp;
		if (age > MIN_RTT_WINDOW) {
			m[0] = m[1];
			m[1] = m[2];
			m[2].stamp = now;
			m[2].value = rtt;
			if (now - m[0].stamp > MIN_RTT_WINDOW) {
				m[0] = m[1];
				m[1] = m[2];
			}
		} else if (m[1].stamp == m[0].stamp && age > MIN_RTT_WINDOW / 4) {
			m[1].stamp = now;
			m[1].value = rtt;
			m[2] = m[1];
		} else if (m[2].stamp == m[1].stamp && age > MIN_RTT_WINDOW / 2) {
			m[2].stamp = now;
			m[2].value = rtt;
		}
	}
	f->sk.tp.rtt_min_us = m[0].value;
}

/* RFC 6298, with the stack's lower bound of 200 ms for the variance. */
void estimate_rtt(struct flow *f, u32 rtt)
{
	struct tcp_sock *tp = &f->sk.tp;
	s64 m = rtt;

	if (!tp->srtt_us) {
		tp->srtt_us = rtt << 3;
		tp->mdev_us = rtt << 1;
		tp->rttvar_us = max(tp->mdev_us, RTO_MIN_US);
		tp->mdev_max_us = tp->rttvar_us;
		tp->rtt_seq = tp->snd_nxt;
	} else {
		m -= tp->srtt_us >> 3;
		tp->srtt_us = (u32)((s64)tp->srtt_us + m);
		if (m < 0) {
			m = -m - (tp->mdev_us >> 2);
			if (m > 0)
				m >>= 3;
		} else {
			m -= tp->mdev_us >> 2;
		}
		tp->mdev_us = (u32)((s64)tp->mdev_us + m);
		if (tp->mdev_us > tp->mdev_max_us) {
			tp->mdev_max_us = tp->mdev_us;
			tp->rttvar_us = max(tp->rttvar_us, tp->mdev_max_us);
		}
		if (after(tp->snd_una, tp->rtt_seq)) {
			if (tp->mdev_max_us < tp->rttvar_us)
				tp->rttvar_us -= (tp->rttvar_us - tp->mdev_max_us) >> 2;
			tp->rtt_seq = tp->snd_nxt;
			tp->mdev_max_us = RTO_MIN_US;
		}
	}
	f->sk.icsk.icsk_rto = min(jiffies_of((tp->srtt_us >> 3) + tp->rttvar_us),
				  jiffies_of(RTO_MAX_US));
}

/* Returns true if there was a sample. */
bool ack_update_rtt(struct flow *f, struct ack_state *a)
{
	u64 now = f->sk.tp.tcp_mstamp;
	long seq_rtt = -1, ca_rtt = -1;

	if (a->first_acked_us && !(a->flags & A_RETRANS)) {
		seq_rtt = (long)(now - a->first_acked_us);
		ca_rtt = (long)(now - a->last_acked_us);
	}
	if (a->first_sacked_us) {
		if (seq_rtt < 0)
			seq_rtt = (long)(now - a->first_sacked_us);
		ca_rtt = (long)(now - a->last_sacked_us);
	}
	if (seq_rtt < 0 && a->acked) {
		seq_rtt = (long)(now_ms() - f->sk.tp.rx_opt.rcv_tsecr) * 1000;
		seq_rtt = max(seq_rtt, 1000L);
		ca_rtt = seq_rtt;
	}
	a->rs.rtt_us = ca_rtt;
	if (seq_rtt < 0)
		return false;
	update_min_rtt(f, max_t(u32, ca_rtt, 1));
	estimate_rtt(f, seq_rtt);
	f->last_rtt_us = ca_rtt;
	f->total.rtt_sum_us += ca_rtt;
	f->total.rtt_samples++;
	return true;
}

/* --- rate samples ----------------------------------------------------------------------- */

void rate_delivered(struct flow *f, struct ack_state *a, u32 seg)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct seg *s = seg_of(f, seg);
	struct rate_sample *rs = &a->rs;

	if (!s->delivered_us)
		return;
	if (!rs->prior_delivered ||
	    sent_after(s->sent_us, tp->first_tx_mstamp, sequence(seg + 1), rs->last_end_seq)) {
		rs->prior_delivered = s->delivered;
		rs->prior_mstamp = s->delivered_us;
		rs->is_app_limited = s->app_limited;
		rs->is_retrans = s->flags & (F_RETRANS | F_EVER);
		rs->last_end_seq = sequence(seg + 1);
		tp->first_tx_mstamp = s->sent_us;
		rs->interval_us = (long)(s->sent_us - s->first_tx_us);
	}
	if (s->flags & F_SACKED)
		s->delivered_us = 0;
}

void rate_generate(struct flow *f, struct ack_state *a, u32 delivered, u32 lost)
{
	struct tcp_sock *tp = &f->sk.tp;
	struct rate_sample *rs = &a->rs;
	u32 ack_us;

	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (delivered)
		tp->delivered_mstamp = tp->tcp_mstamp;
	rs->acked_sacked = delivered;
	rs->losses = (int)lost;
	if (!rs->prior_mstamp) {
		rs->delivered = -1;
		rs->interval_us = -1;
		return;
	}
	rs->delivered = (s32)(tp->delivered - rs->prior_delivered);
	ack_us = tcp_stamp_us_delta(tp->tcp_mstamp, rs->prior_mstamp);
	rs->interval_us = max_t(long, rs->interval_us, ack_us);
	if (rs->interval_us < (long)tcp_min_rtt(tp))
		rs->interval_us = -1;
}
