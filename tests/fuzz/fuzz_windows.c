// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the algorithms' arithmetic, call by call, with numbers of any size. The
 * results are compared with exact arithmetic in 128 bits or with floating point, and the
 * states are kept from one call to the next.
 */
#include <math.h>

#include <apogee/abe.h>
#include <apogee/compound.h>
#include <apogee/hstcp_gentle.h>
#include <apogee/idle.h>
#include <apogee/star.h>

#include "input.h"

#define u128 unsigned __int128

static struct star_window star;
static struct judge_state judge;
static struct abe abe;
static struct compound_windows windows;
static struct compound_base base;
static struct gentle_path path;
static struct rtt_trend trend;
static u32 now;

static u32 exact_share(u32 cwnd, u32 rtt_us, u32 base_us)
{
	return rtt_us > base_us ? (u32)((u128)cwnd * base_us / rtt_us) : cwnd;
}

static void try_abe(struct input *in)
{
	u32 mss = 88 + next_to(in, 65395), rtt_us = next32(in), sent = now - next32(in);
	u32 late = next_bool(in) ? next32(in) : 0;
	u64 bytes = next_to(in, 1U << 31), before;
	u128 bdp;

	now += next_to(in, 1U << 24) - (next8(in) == 255 ? 5000 : 0);
	abe.recent ^= next8(in) > 250;
	before = abe_bw(&abe);
	abe_sent_slowly(&abe, now, sent);
	if (!next_to(in, 8)) {		/* the estimate stays, and so does its age */
		abe_skip(&abe, now, sent, late);
		expect(abe_bw(&abe) == before);
	}
	if (!abe_ack(&abe, now, sent, bytes, mss, rtt_us, 1 + next_to(in, 10000), next_bool(in),
		     late))
		expect(abe_bw(&abe) == before);
	expect(abe.samples <= ABE_SETTLE);
	before = next64(in);
	bdp = (u128)before * min(rtt_us, ABE_RTT_MAX_US) / APOGEE_USEC_PER_SEC / mss;
	if (before <= U64_MAX / ABE_RTT_MAX_US)
		expect(abe_window(before, rtt_us, mss) ==
		       (bdp < ABE_WINDOW_MAX ? bdp : ABE_WINDOW_MAX));
	expect(abe_rate(bytes, 1 + rtt_us / 2) == (u128)bytes * 1000000 / (1 + rtt_us / 2));
}

static void try_star(struct input *in)
{
	u32 what = next8(in), cwnd = star_cwnd(&star), rtt_us = next32(in), least_us = next32(in);
	u32 ssthresh = next_to(in, ABE_WINDOW_MAX), yield, mss = 88 + next_to(in, 65395);
	double rate;

	switch (what & 7) {
	case 0:
		star.cwnd_abe = next_to(in, ABE_WINDOW_MAX);
		break;
	case 1:
		star.mode = what >> 3 & 7;
		break;
	case 2:
		star_lwc(&star, next32(in), ssthresh, what & 8, &judge);
		break;
	case 3:
		star_watch(&star, what & 8, what & 16, what & 32);
		break;
	case 4:
		star_watch_start(&star);
		rate = 4 * (log2(max(star.cwnd_abe, 4U)) - 2);
		expect(fabs(star_scale(max(star.cwnd_abe, 4U)) - rate - 3.5) < 0.9);
		break;
	case 5:
		star_respond(&star, cwnd, next_to(in, cwnd), what & 8);
		break;
	case 6:
		yield = star_yield(cwnd, rtt_us, least_us, what & 8);
		expect(yield >= 2 && yield <= cwnd && yield >= exact_share(cwnd, rtt_us, least_us));
		expect(star_drain(cwnd, rtt_us, least_us, what & 8) <= yield);
		expect(star_mark_cwnd(cwnd) == max(2U, (u32)((u64)cwnd * 4 / 5)));
		yield = star_cws_ssthresh(&star, cwnd);
		star_cws_cwnd(cwnd, ssthresh, yield);
		break;
	case 7:
		rate = (double)cwnd * mss / max(rtt_us, 1U) * 1e6;
		if (rate < 3.6e16 && (u64)cwnd * mss <= U64_MAX / APOGEE_USEC_PER_SEC)
			expect(fabs((double)star_pacing_rate(cwnd, mss, rtt_us, 256) - rate) <=
			       1 + rate / 1e12);
		expect(star_first_rate(cwnd, mss, rtt_us) >= mss);
		expect(star_queue_stands(rtt_us, least_us) ==
		       (rtt_us > (u64)least_us + (least_us >> 4)));
		break;
	}
	expect(star.cwnd_reno >= 1 && star.cwnd_reno <= ABE_WINDOW_MAX);
	expect(star.clear <= STAR_WAIT_MOST && star.flat <= STAR_FLAT);
}

static void try_aen(struct input *in)
{
	u8 bits = next8(in);
	struct star_aen_evidence a = { bits & 1, bits & 2, bits & 4, bits & 8, bits & 16,
				       bits & 32, bits & 64 };
	enum star_verdict verdict = star_aen_verdict(&a);

	expect(!a.sack_hole || verdict == STAR_AEN_LOSS);
	expect(verdict != STAR_AEN_SPURIOUS || (a.covers_probe && a.una_after_mark));
}

static void end_round(const struct judge_round *r, u32 what, u32 cwnd)
{
	u32 base_us = judge.base_us, next;

	if (judge_end_rtt(&judge, r))
		expect(judge.base_us > base_us && !judge.queue);
	else
		expect(judge.base_us == base_us);
	if (what & 4 && judge_test_due(&judge)) {
		next = judge_dip(&judge, cwnd);
		next = exact_share(judge.last_us, cwnd, cwnd - next);
		judge_begin_test(&judge, judge.last_us, next, 1 + what % 3);
		judge.dip = what >> 3;
	}
	expect(judge.standing <= JUDGE_STANDING && judge.renew <= JUDGE_RENEW_ROUNDS);
	expect(!(judge.renew && judge.test));
}

static void try_rtt(struct input *in)
{
	u32 what = next8(in), rtt_us = next32(in), cwnd = 2 + next_to(in, ABE_WINDOW_MAX - 2);
	u32 passed_us = next_to(in, 1U << (what & 64 ? 24 : 17)), rounds = next8(in) & 15, next;
	struct judge_round r = { .path = next32(in) };

	if (what & 16 && judge.base_us < S32_MAX)	/* as on a path that works */
		rtt_us = judge.base_us + judge.base_us / 8 * (rtt_us & 7);
	do {
		if (what & 1)
			judge_rtt(&judge, rtt_us, cwnd);
		expect(judge.base_us <= judge.least_us);
		expect(judge_is_empty(&judge, judge.base_us, r.path));
		r.rtt_us = rtt_us;
		r.now_us = now += passed_us;
		if (what & 2)
			end_round(&r, what, cwnd);
	} while (rounds--);
	next = judge_dip(&judge, cwnd);
	expect(next >= 2 && next <= cwnd);
	if (what > 250)
		judge_end_test(&judge);
}

static void try_round(struct input *in)
{
	struct judge_round r = {
		.delivered = next32(in), .lost = next32(in), .path = next32(in),
		.rtt_us = next32(in), .cwnd = 1 + next_to(in, ABE_WINDOW_MAX - 1),
	};
	u32 what = next8(in), prior = next_to(in, ABE_WINDOW_MAX), cwnd, rounds = next8(in) & 15;
	enum judge_answer answer;
	u8 link;

	if (what & 8) {	/* as on a path that works */
		r.path = 20 + r.path % 2000;
		r.delivered = r.path - (what & 64 ? r.path / 4 : 0);
		r.lost %= r.path / (what & 4 ? 2 : 20);
		r.cwnd = r.path;
		r.rtt_us = judge.base_us < S32_MAX ? judge.base_us : 100;
	}
	r.limited = what & 1;
	r.train = what > 250;
	judge_use(&judge, &r);
	expect(judge.empty >= judge.learns);
	if (what & 16 && what & 32)
		judge_silence(&judge);
	do {
		link = judge.link;
		answer = judge_end_losses(&judge, &r);
		cwnd = judge_cwnd(&judge, answer, &r, prior);
		expect(cwnd <= r.cwnd && (answer != JUDGE_STAY || cwnd == r.cwnd));
		expect(answer == JUDGE_STAY || judge.skip == 2);
		expect(judge.link <= link || judge.empty);
		expect(judge.link >= JUDGE_LINK_BEGIN && judge.link <= JUDGE_LINK_MOST);
	} while (rounds--);
}

static void try_hstcp(struct input *in)
{
	enum hstcp_response response = next_bool(in) ? HSTCP_PAPER : HSTCP_RFC3649;
	u32 cwnd = next32(in), share = next8(in) % 3, restart = next32(in), i = 0;
	const struct hstcp_row *rows = response == HSTCP_PAPER ? hstcp_paper : hstcp_rfc3649;
	u32 last = (response == HSTCP_PAPER ? ARRAY_SIZE(hstcp_paper) :
					      ARRAY_SIZE(hstcp_rfc3649)) - 1;
	u32 idle = next32(in), rto = next32(in), after = idle_cwnd(cwnd, restart, idle, rto);
	double low = response == HSTCP_PAPER ? 31 : 38, x, b, credit;

	while (i < last && rows[i].cwnd < cwnd)
		i++;
	expect(hstcp_row(response, cwnd) == &rows[i]);
	expect(hstcp_increase(response, cwnd) == rows[i].increase);
	x = log(clamp_t(u32, cwnd, low, 83000) / low) / log(83000 / low);
	b = 0.5 - 0.4 * x;
	if (cwnd <= 83000)
		expect(fabs(rows[i].decrease / 256.0 - b) < 1.0 / 16);
	if (cwnd > 1)
		expect(hstcp_ssthresh(response, cwnd) <= cwnd);
	credit = (double)cwnd * (512 - rows[i].decrease) / (3 * rows[i].decrease);
	if (share == GENTLE_SHARE_GROW)
		expect(fabs(gentle_reno_credit(response, share, cwnd) -
			    fmin(credit, U32_MAX)) <= 1);
	else
		expect(gentle_reno_credit(response, share, cwnd) == cwnd);
	gentle_reduced(response, next_bool(in) ? GENTLE_RENO : GENTLE_HIGHSPEED, cwnd, share);
	rto = max(rto, 1U);
	i = idle ? (idle - 1) / rto : 0;
	expect(after == max(i < 32 ? cwnd >> i : 0, min(restart, cwnd)));
}

static void try_gentle(struct input *in)
{
	struct gentle_rules rules = { .rise = next_to(in, 1000), .fall = next_to(in, 1000),
				      .confirm = 1 + (next8(in) & 1) };
	u32 packets = next32(in), sent = next32(in), rise = next32(in), rtt_us = next32(in);
	u64 passed = (u64)sent + rise;
	enum gentle_mode mode = next8(in) % 3;
	enum rtt_trend_verdict trend;
	static u8 agreed;
	u128 fits;

	if (passed) {
		fits = (u128)packets * rtt_us / passed;
		fits = fits < 2 ? 2 : fits > U32_MAX ? U32_MAX : fits;
		expect(gentle_capacity(packets, sent, rise, rtt_us) == fits);
	} else {
		expect(gentle_capacity(packets, sent, rise, rtt_us) == U32_MAX);
	}
	gentle_path_learn(&path, &rules, mode, next32(in), next32(in));
	trend = gentle_relevant(&rules, next8(in) % 3, (s32)(next32(in) >> 2) - (1 << 29),
				next32(in), rtt_us);
	mode = gentle_next_mode(&rules, mode, trend, &agreed);
	expect(mode <= GENTLE_RENO && agreed < rules.confirm);
}

static void try_trend(struct input *in)
{
	double t[64], d[64], mt = 0, md = 0, tt = 0, dd = 0, td = 0, t2, line, critical;
	u32 count = next8(in) % 64, at = now, i, rtt_us = next_to(in, 10000000);
	u8 grow = next8(in), level = grow >> 6;
	enum rtt_trend_verdict verdict;
	s32 change;

	trend = (struct rtt_trend){};
	for (i = 0; i < count; i++) {
		at += next_to(in, grow & 32 ? 1U << 24 : 2000);
		rtt_us = grow & 16 ? min(10000000U, rtt_us + (next8(in) << (grow & 7))) :
				     next_to(in, 10000000);
		rtt_trend_sample(&trend, at, rtt_us);
		t[i] = at - now;
		d[i] = rtt_us;
		mt += t[i] / count;
		md += d[i] / count;
	}
	verdict = rtt_trend_verdict(&trend, level);
	change = rtt_trend_change_us(&trend, at);
	for (i = 0; i < count; i++) {
		tt += (t[i] - mt) * (t[i] - mt);
		dd += (d[i] - md) * (d[i] - md);
		td += (t[i] - mt) * (d[i] - md);
	}
	expect(count >= RTT_TREND_SAMPLES_MIN || verdict == RTT_TREND_NONE);
	if (count < RTT_TREND_SAMPLES_MIN || tt < 1 || dd < 1)
		return;
	line = td / tt * (t[count - 1] - t[0]);
	expect(fabs(change - line) <= 2 + 0.001 * (fabs(line) + sqrt(dd / tt) * t[count - 1]));
	t2 = td * td * (count - 2) / fmax(tt * dd - td * td, tt * dd / 1e9);
	critical = rtt_trend_critical_t2(level, count - 2) / 65536.0;
	if (t2 > critical * 1.02)
		expect(verdict == (td > 0 ? RTT_TREND_RISING : RTT_TREND_FALLING));
	if (t2 < critical * 0.98)
		expect(verdict == RTT_TREND_NONE);
}

static void try_compound(struct input *in)
{
	struct compound_rules rules = {
		.gamma = next_to(in, 10000), .alpha = next_to(in, 10000), .beta = next_to(in, 1000),
		.k = next_to(in, 1000), .zeta = next_to(in, 1000), .excess = next_to(in, 1000),
		.rule = next8(in) % 5, .letter = next_bool(in),
	};
	u32 swnd = compound_sent(&windows), rtt_us = 1 + next_to(in, U32_MAX - 1);
	u64 diff = compound_diff(swnd, base.rtt_us, rtt_us), less;
	double power = pow(swnd, rules.k / 1000.0) * 256;

	if (rtt_us > base.rtt_us)
		expect(diff == (u64)((u128)swnd * (rtt_us - base.rtt_us) * 256 / rtt_us));
	expect(fabs((double)compound_power(swnd, rules.k) - power) <= 1 + power / 1e6);
	windows.dwnd = compound_delay_window(&rules, windows.dwnd, swnd, diff, next_bool(in));
	if (compound_held(&rules, windows.dwnd, diff)) {
		less = compound_loss_window(&rules, windows.cwnd, diff);
		expect(less <= windows.cwnd);
		windows.cwnd = less;
	}
	windows.dwnd = min_t(u64, windows.dwnd, (u64)S32_MAX << 6);
	swnd = compound_fitted(&rules, swnd, diff);
	expect(swnd >= 2);
	swnd = 1 + next_to(in, S32_MAX / 4);
	less = compound_sent(&windows);
	switch (next8(in) & 3) {
	case 0:
		compound_follow(&windows, swnd);
		expect(compound_sent(&windows) == swnd);
		break;
	case 1:
		compound_loss(&windows, rules.beta);
		expect(compound_sent(&windows) <= max_t(u64, less, 2));
		break;
	case 2:
		compound_loss_once(&windows, swnd, rules.beta);
		expect(compound_sent(&windows) <= less);
		break;
	}
}

static void try_dip(struct input *in)
{
	u32 rtt_us = 1 + next_to(in, 10000000), longest = 1 + next_to(in, 100000), start, cwnd;
	u64 clock = next64(in);
	bool begins;

	now += next_to(in, longest);
	cwnd = next_to(in, S32_MAX);
	if (base.rounds) {
		expect(compound_dip_window(&base, cwnd) <= cwnd);
		compound_dip_round(&base, rtt_us, now);
		return;
	}
	compound_base_update(&base, rtt_us, now);
	start = compound_period_start_ms(clock, compound_phase_ms(clock), longest);
	expect((u32)clock - start < longest);
	begins = compound_period_begins(&base, start);
	if (compound_dip_due(&base, rtt_us, now, compound_period_ms(&base, longest), begins))
		expect(compound_dip_begin(&base, cwnd, rtt_us) <= cwnd);
}

static void begin(void)
{
	star = (struct star_window){ .cwnd_reno = 10, .mode = STAR_START };
	judge = (struct judge_state){};
	judge_init(&judge, U32_MAX, 1000, 0);
	abe = (struct abe){};
	windows = (struct compound_windows){ .cwnd = 10 * COMPOUND_SEGMENT };
	base = (struct compound_base){};
	path = (struct gentle_path){ .rtt_us = U32_MAX };
	now = 1000;
}

int fuzz(const u8 *octets, size_t length)
{
	static void (*const tries[])(struct input *in) = {
		try_abe, try_star, try_aen, try_rtt, try_round, try_hstcp, try_gentle, try_trend,
		try_compound, try_dip,
	};
	struct input in = { octets, length };

	begin();
	while (in.length)
		tries[next8(&in) % ARRAY_SIZE(tries)](&in);
	return 0;
}
