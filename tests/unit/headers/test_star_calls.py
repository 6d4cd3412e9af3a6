# SPDX-License-Identifier: GPL-2.0
"""What tcp_star.c does with the judgement, its functions called on a simulated socket."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

from tests.kernel import INCLUDE
from tests.unit.headers.cheaders import CHECKED, SANITIZERS, WARNINGS, gcc
from tests.unit.headers.conftest import SANITIZED

#: What is given and looked at: of the window, and of the judgement.
NUMBERS = [f"w.{name}" for name in ("mode", "cwnd_reno", "cwnd_abe", "clear")]
NUMBERS += [f"j.{name}" for name in "large alone lone test dip ratio link skip".split()]
U32_MAX = 2**32 - 1
OPEN, RECOVERY, LOSS = 0, 3, 4
START, CRUISE, SLOW, MARKED, YIELD, JUDGE = range(1, 7)

#: NAME(sk, number) for each function that is called here; the state goes in and comes out.
CODE = """
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "../../tcp_star.c"

u64 model_now;

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
}

void model_add_param(struct kernel_param *param)
{
}

struct state {
	u32 %(fields)s;
};

static struct sock sk;

/* A socket in this state, which judges. */
static void put(const struct state *t)
{
	struct star *s = inet_csk_ca(&sk);

	memset(&sk, 0, sizeof(sk));
	star_coexist = 1;
	%(put)s
}

static void get(struct state *t)
{
	const struct star *s = inet_csk_ca(&sk);

	%(get)s
}

void take_back(struct state *t, u32 cwnd)
{
	put(t);
	star_take_back(&sk, cwnd);
	get(t);
}

/* A connection that begins with this window. */
void begin(struct state *t, u32 cwnd)
{
	memset(&sk, 0, sizeof(sk));
	tcp_sk(&sk)->snd_cwnd = cwnd;
	tcp_sk(&sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	inet_csk(&sk)->icsk_ca_initialized = 1;
	tcp_sk(&sk)->data_segs_out = 1;
	star_init(&sk);
	get(t);
}

/* A loss event for which the stack asks, and which it undoes. */
u32 undo(struct state *t)
{
	u32 cwnd;

	put(t);
	tcp_sk(&sk)->snd_cwnd = star_cwnd(&((struct star *)inet_csk_ca(&sk))->w);
	star_ssthresh(&sk);
	cwnd = star_undo_cwnd(&sk);
	get(t);
	return cwnd;
}

/* A timeout in this state of the stack's, of 100 segments. */
void timeout(struct state *t, u32 ca_state)
{
	put(t);
	tcp_sk(&sk)->snd_cwnd = star_cwnd(&((struct star *)inet_csk_ca(&sk))->w);
	tcp_sk(&sk)->snd_cwnd_clamp = ~0U;
	tcp_sk(&sk)->snd_una = 1000;
	tcp_sk(&sk)->snd_nxt = 1100;
	inet_csk(&sk)->icsk_ca_state = ca_state;
	star_ssthresh(&sk);
	tcp_sk(&sk)->snd_cwnd = 1;
	star_set_state(&sk, TCP_CA_Loss);
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Loss;
	get(t);
}

/* Then an ACK of so many of them, without SACK and timestamps. */
void acked(struct state *t, u32 count)
{
	tcp_sk(&sk)->snd_una += count;
	star_check_aen(&sk);
	get(t);
}

/* The window of before that is remembered where the stack asks for ssthresh. */
u32 before_loss(const struct state *t, u32 cwnd, u32 judges)
{
	put(t);
	star_coexist = judges;
	tcp_sk(&sk)->snd_cwnd = cwnd;
	star_ssthresh(&sk);
	return ((struct star *)inet_csk_ca(&sk))->prior_cwnd;
}

/* A loss that comes with a queue, an RTT of 600 ms on a path of 500. */
u32 reduce_queue(struct state *t, u32 cwnd)
{
	struct star *s = inet_csk_ca(&sk);

	put(t);
	tcp_sk(&sk)->mss_cache = 1448;
	s->abe.bw[0] = 1250000;
	s->j.base_us = 500000;
	s->j.least_us = 600000;
	s->prior_cwnd = cwnd;
	star_reduce_queue(&sk);
	get(t);
	return star_cwnd(&s->w);
}

/* ssthresh after a loss with a queue shorter than the path, after the stack has set it. The
 * window was cwnd.
 */
u32 reduce_short_queue(struct state *t, u32 cwnd)
{
	struct star *s = inet_csk_ca(&sk);

	put(t);
	s->j.queue = 1;
	s->j.base_us = 500000;
	s->j.least_us = 510000;
	s->j.top = U8_MAX;
	s->prior_cwnd = cwnd;
	tcp_sk(&sk)->snd_ssthresh = star_cws_ssthresh(&s->w, cwnd);
	star_reduce(&sk);
	get(t);
	return tcp_sk(&sk)->snd_ssthresh;
}

/* The round ends in SLOW without a queue, all delivered, on a path of 100 segments: the ACK
 * has shown a loss or not.
 */
void end_slow_round(struct state *t, u32 held, u32 asked)
{
	struct star *s = inet_csk_ca(&sk);

	put(t);
	s->w.held = held;
	s->w.asked = asked;
	s->j.base_us = 500000;
	s->j.least_us = 500000;
	s->j.last_us = 500000;
	s->abe.bw[0] = 1448 * 2 * 100;
	tcp_sk(&sk)->mss_cache = 1448;
	tcp_sk(&sk)->srtt_us = 500000 << 3;
	tcp_sk(&sk)->rtt_min_us = 500000;
	tcp_sk(&sk)->delivered = 20;
	star_end_round(&sk);
	get(t);
}

/* The window after an ACK of a held window of 20 that ends the round, with so many losses. */
u32 held_ack(struct state *t, u32 losses)
{
	struct rate_sample rs = { .acked_sacked = 1, .delivered = 1, .losses = losses };
	struct star *s = inet_csk_ca(&sk);
	struct tcp_sock *tp = tcp_sk(&sk);

	rs.rtt_us = 500000;
	rs.prior_delivered = 1;
	put(t);
	s->w.held = 1;
	s->j.base_us = 500000;
	s->j.least_us = 500000;
	s->j.last_us = 500000;
	s->abe.started = true;
	s->abe.samples = ABE_SETTLE;
	s->abe.bw[0] = 1448 * 2 * 100;
	s->abe.mark_us = 1000000;
	s->abe.last_us = 1000000;
	s->abe.epoch_us = 1000000;
	tp->tcp_mstamp = 1000001;
	tp->mss_cache = 1448;
	tp->srtt_us = 500000 << 3;
	tp->rtt_min_us = 500000;
	tp->delivered = 20;
	tp->snd_una = 1000;
	tp->snd_ssthresh = 100;
	tp->snd_cwnd = 20;
	tp->snd_cwnd_clamp = ~0U;
	tp->retrans_out = 1;
	tp->rx_opt.sack_ok = 1;
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Recovery;
	sk.sk_max_pacing_rate = ULONG_MAX;
	tcp_star.cong_control(&sk, &rs);
	get(t);
	return tp->snd_cwnd;
}

/* Is a hold still one after a timeout of a retransmission, or after an idle time? */
bool still_held(struct state *t, bool idle)
{
	struct star *s = inet_csk_ca(&sk);

	put(t);
	s->w.held = 1;
	tcp_sk(&sk)->data_segs_out = 1;
	tcp_sk(&sk)->snd_cwnd = idle ? star_cwnd(&s->w) : 1;
	tcp_sk(&sk)->snd_cwnd_clamp = ~0U;
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Recovery;
	if (idle)
		star_shrink(&sk, 10);
	else
		star_set_state(&sk, TCP_CA_Loss);
	get(t);
	return s->w.held;
}

/* A second timeout in this mode; the mode before the first was another one. */
void second_timeout(struct state *t, u32 before)
{
	struct star *s = inet_csk_ca(&sk);

	put(t);
	s->w.prior_mode = before;
	s->prior_cwnd = 100;
	tcp_sk(&sk)->snd_cwnd = 1;
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Loss;
	star_set_state(&sk, TCP_CA_Loss);
	get(t);
}

/* The window after the ACK that ends AEN's wait: data was lost, and the stack asks for
 * ssthresh for another loss. The window before the timeout was cwnd.
 */
u32 verdict_and_loss(struct state *t, u32 before, u32 cwnd)
{
	struct rate_sample rs = { .acked_sacked = 50, .delivered = -1, .rtt_us = -1 };
	struct star *s = inet_csk_ca(&sk);
	struct tcp_sock *tp = tcp_sk(&sk);

	put(t);
	s->w.prior_mode = before;
	s->w.asked = 1;
	s->prior_cwnd = cwnd;
	s->una = 1000;
	s->p_seq = 1100;
	tp->snd_una = 1050;
	tp->mss_cache = 1448;
	tp->snd_cwnd = 2;
	tp->snd_cwnd_clamp = ~0U;
	tp->snd_ssthresh = 300;
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Recovery;
	tp->retrans_out = 1;
	tcp_star.cong_control(&sk, &rs);
	get(t);
	return tp->snd_cwnd;
}

/* The window that star_set_window() sets, 7 segments in flight, of at most so many. Of what
 * was sent before the timeout so many bytes are missing.
 */
u32 set_window(struct state *t, u32 ca_state, u32 frto, u32 stamps, u32 most, u32 missing,
		u32 undo_marker)
{
	put(t);
	tcp_sk(&sk)->snd_cwnd = 1;
	tcp_sk(&sk)->snd_cwnd_clamp = ~0U;
	tcp_sk(&sk)->packets_out = 7;
	tcp_sk(&sk)->frto = frto;
	tcp_sk(&sk)->high_seq = missing;
	tcp_sk(&sk)->undo_marker = undo_marker;
	tcp_sk(&sk)->rx_opt.tstamp_ok = stamps;
	inet_csk(&sk)->icsk_ca_state = ca_state;
	star_set_window(&sk, most);
	return tcp_sk(&sk)->snd_cwnd;
}

/* When the newest segment delivered was sent, after a sample that began with one of 5 us;
 * the newest one, a retransmission or not, is of 9.
 */
u32 sent_us(bool started, u32 samples, bool retrans)
{
	struct rate_sample rs = { .is_retrans = retrans };
	struct star *s = inet_csk_ca(&sk);

	memset(&sk, 0, sizeof(sk));
	s->abe.started = started;
	s->abe.samples = samples;
	s->abe.sent_us = 5;
	tcp_sk(&sk)->first_tx_mstamp = 9;
	return star_sent_us(&sk, &rs);
}

/* The window after an idle time. Returns how many segments are counted in the running
 * round, delivered and lost, or ~0 if the window does not fall.
 */
u32 shrink(struct state *t, u32 from, u32 to)
{
	const struct star *s = inet_csk_ca(&sk);
	bool falls;

	put(t);
	tcp_sk(&sk)->snd_cwnd = from;
	tcp_sk(&sk)->data_segs_out = 1;
	tcp_sk(&sk)->delivered = 70;
	tcp_sk(&sk)->lost = 20;
	falls = star_shrink(&sk, to);
	get(t);
	return falls ? 90 - s->round_end - s->round_lost : ~0U;
}

bool rests(const struct state *t, u32 ssthresh, u32 judges)
{
	put(t);
	star_coexist = judges;
	tcp_sk(&sk)->snd_ssthresh = ssthresh;
	return star_rests(&sk);
}

/* Does a round end early, of which so much has been delivered and lost? */
bool round_ends(const struct state *t, u32 delivered, u32 lost, u32 judges)
{
	struct rate_sample rs = { .delivered = 1, .prior_delivered = 999 };

	put(t);
	star_coexist = judges;
	((struct star *)inet_csk_ca(&sk))->round_end = 1000;
	tcp_sk(&sk)->delivered = 1000 + delivered;
	tcp_sk(&sk)->lost = lost;
	return star_round_ends(&sk, &rs);
}

struct after_ack {
	u32 cwnd;
	u32 ssthresh;
	u32 rate;
};

/* An ACK of one segment, so long after the running sample began, on a path of 500 ms; the
 * window is not what limits. Before it the window is cwnd, ssthresh 77 and the rate 7.
 */
void ack(struct state *t, u32 cwnd, u32 after_us, struct after_ack *got)
{
	struct star *s = inet_csk_ca(&sk);
	struct tcp_sock *tp = tcp_sk(&sk);
	struct rate_sample rs = { .acked_sacked = 1, .delivered = -1, .rtt_us = 500000 };

	put(t);
	star_pacing = 1;
	s->j.base_us = 500000;
	s->j.least_us = ~0U;
	s->j.last_us = ~0U;
	s->abe.started = true;
	s->abe.samples = ABE_SETTLE;
	s->abe.bw[0] = 1448 * 2 * 400;
	s->abe.mark_us = 1000000;
	s->abe.last_us = 1000000;
	s->abe.epoch_us = 1000000;
	tp->tcp_mstamp = 1000000 + after_us;
	tp->first_tx_mstamp = 500000 + after_us;
	tp->mss_cache = 1448;
	tp->srtt_us = 500000 << 3;
	tp->rtt_min_us = 500000;
	tp->snd_una = 1000;
	tp->snd_ssthresh = 77;
	tp->snd_cwnd = cwnd;
	tp->snd_cwnd_clamp = ~0U;
	sk.sk_pacing_rate = 7;
	sk.sk_max_pacing_rate = ULONG_MAX;
	tcp_star.cong_control(&sk, &rs);
	*got = (struct after_ack){ tp->snd_cwnd, tp->snd_ssthresh, (u32)sk.sk_pacing_rate };
	get(t);
}
"""


class State(ctypes.Structure):
    _fields_ = [(name[2:], ctypes.c_uint32) for name in NUMBERS]  # noqa: RUF012


@pytest.fixture(scope="module")
def star(root: Path, build: Path) -> Any:
    """The module's functions, compiled as in the simulation."""
    folder = build / "unit"
    folder.mkdir(parents=True, exist_ok=True)
    flags = [*WARNINGS, *(SANITIZERS if SANITIZED else CHECKED)]
    library = folder / "star_calls.so"
    text = CODE.replace("%(fields)s", ", ".join(name[2:] for name in NUMBERS))
    text = text.replace("%(put)s", " ".join(f"s->{name} = t->{name[2:]};" for name in NUMBERS))
    text = text.replace("%(get)s", " ".join(f"t->{name[2:]} = s->{name};" for name in NUMBERS))
    flags += ["-shared", "-fPIC", *INCLUDE]
    gcc(*flags, "-x", "c", "-", "-o", library, text=text.replace("../../", f"{root}/"))
    functions = ctypes.CDLL(str(library))
    for kind, name, state in re.findall(r"^(u32|bool|void) (\w+)\((.* state \*)?", CODE, re.M):
        function = getattr(functions, name)
        function.restype = {"u32": ctypes.c_uint32, "bool": ctypes.c_bool, "void": None}[kind]
        function.argtypes = [ctypes.POINTER(State)] if state else []
    return functions


def state(**fields: int) -> State:
    return State(**{"mode": YIELD, "cwnd_reno": 100, "cwnd_abe": 400, "link": 12} | fields)


@pytest.mark.parametrize("large", [0, 1])
@pytest.mark.parametrize(
    ("abe", "cwnd", "cruises"),
    [
        (400, 300, True),
        (400, 299, False),
        (400, 401, True),
        # a quarter is rounded down
        (403, 303, True),
        (403, 302, False),
        (3, 3, True),
        (3, 2, False),
        (0, 2, True),
        (2**30, 3 * 2**28, True),
        (2**30, 3 * 2**28 - 1, False),
    ],
)
def test_a_cut_that_is_taken_back(
    star: Any, abe: int, cwnd: int, cruises: bool, large: int
) -> None:
    """From three quarters of cwnd_abe on ABE's share counts again: the window is cwnd_abe and one,
    or what was asked for. Below it is that, and it is time to try whether there is more room.
    """
    t = state(cwnd_abe=abe, large=large)
    star.take_back(t, cwnd)
    assert (t.mode, t.clear) == (CRUISE if cruises else YIELD, 64)
    assert t.cwnd_reno == (max(cwnd - abe, 1) if cruises else cwnd)


@pytest.mark.parametrize("mode", [START, CRUISE, SLOW, MARKED])
def test_only_a_window_that_yields_takes_back(star: Any, mode: int) -> None:
    t = state(mode=mode)
    star.take_back(t, 399)
    assert (t.mode, t.cwnd_reno, t.clear) == (mode, 100, 0)


@pytest.mark.parametrize(
    ("cwnd", "kept"), [(0, 1), (10, 10), (2**30, 2**30), (2**30 + 1, 2**30), (2**31 - 1, 2**30)]
)
def test_the_window_that_a_route_gives(star: Any, cwnd: int, kept: int) -> None:
    """A route's initcwnd has no limit; the sums of windows are proven for 2^30 segments."""
    t = state()
    star.begin(t, cwnd)
    assert (t.mode, t.cwnd_reno, t.cwnd_abe) == (START, kept, 0)


TEST = {"test": 2, "dip": 1, "ratio": 100}


def left(t: State) -> tuple[int, int, int, int, int]:
    """State of the tests, estimated link loss, and rounds until losses are evaluated."""
    return t.test, t.dip, t.ratio, t.link, t.skip


@pytest.mark.parametrize("mode", [CRUISE, YIELD])
def test_an_undo_ends_a_test(star: Any, mode: int) -> None:
    """The window is the one of before, not the test's."""
    t = state(mode=mode, link=50, **TEST)
    assert star.undo(t) == (500 if mode == CRUISE else 100)
    assert left(t) == (0, 0, 0, 50, 1)


def test_the_verdict_on_a_timeout_ends_a_test(star: Any) -> None:
    """All data arrived: the window of before; or not: from the start, and what was yielded stays
    so. Until then no round ends, and all stays.
    """
    for count, before, mode in ((100, YIELD, YIELD), (50, YIELD, YIELD), (50, CRUISE, SLOW)):
        t = state(link=50, mode=before, **TEST)
        star.timeout(t, OPEN)
        assert t.mode == JUDGE
        star.acked(t, 0)
        assert (t.mode, *left(t)) == (JUDGE, 2, 1, 100, 50, 0)
        star.acked(t, count)
        assert (t.mode, *left(t)) == (mode, 0, 0, 0, 50, 1)


@pytest.mark.parametrize(("before", "mode"), [(YIELD, YIELD), (CRUISE, SLOW), (MARKED, SLOW)])
def test_a_timeout_with_nothing_to_judge_ends_a_test(star: Any, before: int, mode: int) -> None:
    """One in recovery for which the stack asks, a second one."""
    t = state(mode=before, link=50, **TEST)
    star.timeout(t, RECOVERY)
    assert (t.mode, t.cwnd_reno, *left(t)) == (mode, 10, 0, 0, 0, 50, 1)


@pytest.mark.parametrize(
    ("held", "asked", "mode", "cwnd"),
    [(1, 0, CRUISE, 101), (1, 1, SLOW, 20), (0, 0, SLOW, 20)],
)
def test_a_hold_ends_with_its_round(star: Any, held: int, asked: int, mode: int, cwnd: int) -> None:
    """After a loss, but for one of the same ACK; slow start after a timeout goes on."""
    t = state(mode=SLOW, cwnd_reno=20, cwnd_abe=100)
    star.end_slow_round(t, held, asked)
    assert (t.mode, t.cwnd_reno + (t.cwnd_abe if mode == CRUISE else 0)) == (mode, cwnd)


@pytest.mark.parametrize(("idle", "cwnd"), [(False, 20), (True, 10)])
def test_a_timeout_or_an_idle_time_makes_a_hold_slow_start(
    star: Any, idle: bool, cwnd: int
) -> None:
    """To ssthresh, not to the end of the round."""
    t = state(mode=SLOW, cwnd_reno=20, cwnd_abe=100)
    assert not star.still_held(t, idle)
    assert (t.mode, t.cwnd_reno) == (SLOW, cwnd)


@pytest.mark.parametrize(("losses", "cwnd"), [(0, 101), (1, 20)])
def test_the_end_of_a_hold_raises_no_window_with_a_loss(star: Any, losses: int, cwnd: int) -> None:
    """The next ACK does."""
    t = state(mode=SLOW, cwnd_reno=20, cwnd_abe=100)
    assert star.held_ack(t, losses) == cwnd
    assert t.mode == CRUISE


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [
        # yielded since the first one, which the stack does not ask for
        (YIELD, CRUISE, YIELD),
        (SLOW, YIELD, SLOW),
        (JUDGE, YIELD, YIELD),
        # a mark in between
        (MARKED, YIELD, YIELD),
        (JUDGE, CRUISE, SLOW),
    ],
)
def test_a_second_timeout_does_not_end_yield(star: Any, mode: int, before: int, after: int) -> None:
    t = state(mode=mode)
    star.second_timeout(t, before)
    assert (t.mode, t.cwnd_reno) == (after, 10)


@pytest.mark.parametrize(("before", "after"), [(YIELD, YIELD), (CRUISE, SLOW)])
def test_the_verdict_answers_a_loss_of_the_same_ack(star: Any, before: int, after: int) -> None:
    """Slow start from the initial window, not the window of before the timeout."""
    t = state(mode=JUDGE)
    assert star.verdict_and_loss(t, before, 400) == 10
    assert t.mode == after


@pytest.mark.parametrize(
    ("mode", "cwnd", "after", "ssthresh"),
    [
        # no ACK has lifted the window to the estimate yet: slow start leads to it
        (CRUISE, 10, SLOW, 400),
        (SLOW, 10, SLOW, 400),
        (CRUISE, 500, CRUISE, 500),
        (YIELD, 10, YIELD, 10),
        (MARKED, 10, MARKED, 10),
    ],
)
def test_a_loss_with_a_short_queue(
    star: Any, mode: int, cwnd: int, after: int, ssthresh: int
) -> None:
    """The window stays, and the next ACK does not raise it to the estimate."""
    t = state(mode=mode)
    assert star.reduce_short_queue(t, cwnd) == ssthresh
    assert (t.mode, t.cwnd_reno + (t.cwnd_abe if after == CRUISE else 0)) == (after, cwnd)


@pytest.mark.parametrize(
    ("mode", "dip", "judges", "cwnd", "before"),
    [
        (YIELD, 1, 1, 75, 100),
        (CRUISE, 1, 1, 375, 500),
        # a window that is above it for a moment
        (YIELD, 1, 1, 101, 101),
        (YIELD, 0, 1, 75, 75),
        (YIELD, 1, 0, 75, 75),
    ],
)
def test_a_loss_meets_the_window_without_a_dip(
    star: Any, mode: int, dip: int, judges: int, cwnd: int, before: int
) -> None:
    t = state(mode=mode, dip=dip)
    assert star.before_loss(t, cwnd, judges) == before


@pytest.mark.parametrize(
    ("cwnd", "window", "test"),
    [
        # of 1 two are left, which is not less
        (1, 2, 0),
        (2, 2, 0),
        # 333 are not in the queue, less the 67 that are, but three quarters; 349 are kept
        (400, 300, 3),
    ],
)
def test_a_loss_with_a_queue(star: Any, cwnd: int, window: int, test: int) -> None:
    """The path takes 1.16 ms a segment, and 56 ms of 600 are seen: not 2.3, but the 59 of 51."""
    t = state(large=1)
    assert star.reduce_queue(t, cwnd) == window
    assert (t.test, t.mode) == (test, YIELD)


@pytest.mark.parametrize("mode", [START, CRUISE, SLOW, MARKED, YIELD])
def test_an_idle_time_ends_a_test_and_the_round(star: Any, mode: int) -> None:
    """70 segments were delivered and 20 lost, of which none is counted in what is to come."""
    t = state(mode=mode, link=50, **TEST)
    assert star.shrink(t, 100, 20) == 0
    assert left(t) == (0, 0, 0, 50, 1)


@pytest.mark.parametrize("to", [100, 101])
def test_no_idle_time_leaves_a_test(star: Any, to: int) -> None:
    t = state(link=50, **TEST)
    assert star.shrink(t, 100, to) == U32_MAX
    assert left(t) == (2, 1, 100, 50, 0)


@pytest.mark.parametrize(
    ("cwnd", "ssthresh", "fields", "judges", "does"),
    [
        # a sixteenth of 400 is 25
        (375, 300, {}, 1, True),
        (374, 300, {}, 1, False),
        (375, 375, {}, 1, True),
        (375, 376, {}, 1, False),
        (500, 501, {}, 1, False),
        # of 415 as well
        (390, 2, {"cwnd_abe": 415}, 1, True),
        (389, 2, {"cwnd_abe": 415}, 1, False),
        (375, 300, {"clear": 23}, 1, True),
        (375, 300, {"clear": 24}, 1, False),
        (375, 300, {"alone": 0}, 1, False),
        (375, 300, {"mode": CRUISE}, 1, False),
        (375, 300, {}, 0, False),
    ],
)
def test_only_a_window_that_fills_the_path_rests(
    star: Any, cwnd: int, ssthresh: int, fields: dict[str, int], judges: int, does: bool
) -> None:
    """Alone, once it has come back to ssthresh."""
    t = state(**{"cwnd_reno": cwnd, "alone": 1} | fields)
    assert star.rests(t, ssthresh, judges) == does


@pytest.mark.parametrize(
    ("delivered", "lost", "fields", "judges", "ends"),
    [
        (31, 32, {}, 1, True),
        (32, 32, {}, 1, False),
        (0, 31, {}, 1, False),
        (0, 500, {}, 1, True),
        (0, 500, {"skip": 1}, 1, False),
        (0, 500, {"lone": 3}, 1, True),
        (0, 500, {"lone": 4}, 1, False),
        (0, 500, {"mode": JUDGE}, 1, False),
        (0, 500, {}, 0, False),
    ],
)
def test_a_round_of_which_more_than_half_is_lost(
    star: Any, delivered: int, lost: int, fields: dict[str, int], judges: int, ends: bool
) -> None:
    """From 32 losses on, beside others, and only where rounds are judged."""
    assert star.round_ends(state(**fields), delivered, lost, judges) == ends


def rate(cwnd: int, gain: int) -> int:
    """Windows per 500 ms, in 1/256."""
    return cwnd * 1448 * 2 * gain // 256


@pytest.mark.parametrize(
    ("mode", "reno", "cwnd", "after_us", "window", "ssthresh", "pace"),
    [
        # neither a sample, of a sixteenth of 500 ms, nor another window
        (YIELD, 100, 100, 31_249, 100, 77, 7),
        (START, 10, 410, 31_249, 410, 77, 7),
        # a sample
        (YIELD, 100, 100, 31_250, 100, 77, rate(100, 272)),
        (START, 10, 410, 31_250, 410, 400, rate(410, 512)),
        (CRUISE, 10, 410, 31_250, 410, 77, rate(410, 272)),
        # another window
        (YIELD, 100, 101, 31_249, 100, 77, rate(100, 272)),
        (START, 10, 411, 31_249, 410, 77, rate(410, 512)),
    ],
)
def test_the_rate_follows_the_estimate_and_the_window(
    star: Any, mode: int, reno: int, cwnd: int, after_us: int, window: int, ssthresh: int, pace: int
) -> None:
    """And ssthresh in START the estimate; else all stays as it was."""
    t, got = state(mode=mode, cwnd_reno=reno), (ctypes.c_uint32 * 3)()
    star.ack(t, cwnd, after_us, got)
    assert tuple(got) == (window, ssthresh, pace)


@pytest.mark.parametrize(
    ("ca_state", "frto", "stamps", "most", "missing", "undo", "cwnd"),
    [
        (LOSS, 1, 0, U32_MAX, 1, 1, 8),
        (LOSS, 1, 0, U32_MAX, 0, 1, 10),
        (LOSS, 0, 0, U32_MAX, 1, 1, 10),
        (LOSS, 1, 1, U32_MAX, 1, 1, 10),
        (OPEN, 1, 0, U32_MAX, 1, 1, 10),
        (LOSS, 1, 0, 6, 1, 1, 6),
        (OPEN, 0, 0, 9, 1, 1, 9),
        # a smaller MTU: Loss without a timeout
        (LOSS, 1, 0, U32_MAX, 1, 0, 10),
    ],
)
def test_while_f_rto_finds_out_one_new_segment_is_sent(
    star: Any, ca_state: int, frto: int, stamps: int, most: int, missing: int, undo: int, cwnd: int
) -> None:
    """RFC 5682: neither a retransmission nor a larger window. With timestamps AEN knows; once all
    is acknowledged F-RTO has ended, although the stack keeps its flag."""
    t = state(mode=SLOW, cwnd_reno=10)
    assert star.set_window(t, ca_state, frto, stamps, most, missing, undo) == cwnd


@pytest.mark.parametrize(
    ("started", "samples", "retrans", "us"),
    [
        (True, 0, True, 5),
        (True, 0, False, 9),
        (False, 0, True, 9),
        (True, 1, True, 9),
    ],
)
def test_a_retransmission_does_not_stretch_the_first_train(
    star: Any, started: bool, samples: int, retrans: bool, us: int
) -> None:
    assert star.sent_us(started, samples, retrans) == us
