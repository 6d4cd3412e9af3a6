# SPDX-License-Identifier: GPL-2.0
"""What tcp_star.c does with the judgement, its functions called on a simulated socket."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kernel import INCLUDE
from tests.unit.headers.cheaders import CHECKED, SANITIZERS, WARNINGS, compile_text
from tests.unit.headers.conftest import SANITIZED

U32_MAX = 2**32 - 1
INFINITE = 0x7FFFFFFF
PER_S = 2 * 1448  # B/s of a segment each 500 ms
UNLIMITED = 2**64 - 1
OPEN, CWR, RECOVERY, LOSS = 0, 2, 3, 4
START, CRUISE, JUDGE, SLOW, YIELD = range(1, 6)
SECOND = 10**6
SETTLED = 4  # samples, ABE_SETTLE

#: Numbers that a test sets or looks at, by where they are.
NUMBERS = {
    "ca->w.": "mode cwnd_reno cwnd_abe clear flat grown prior_mode asked held spurious",
    "ca->j.": "base_us least_us last_us low_us seen link excess fall test skip dip renew queue "
    "alone large empty learns over rest age back ticks half mark",
    "ca->abe.": "started samples sent_us mark_us last_us epoch_us bytes bw[0]",
    "ca->": "una p_seq round_end round_lost prior_cwnd prior_ssthresh",
    "sk.tp.": "tcp_mstamp first_tx_mstamp delivered_mstamp snd_una snd_nxt write_seq snd_cwnd "
    "snd_cwnd_clamp snd_ssthresh "
    "delivered lost packets_out retrans_out high_seq data_segs_out lsndtime srtt_us rtt_min_us "
    "mss_cache "
    "sacked_out bytes_acked syn_data undo_marker frto is_cwnd_limited rx_opt.tstamp_ok "
    "rx_opt.sack_ok rx_opt.saw_tstamp rx_opt.rcv_tsval ecn_flags",
    "sk.icsk.": "icsk_ca_state icsk_ca_initialized icsk_retransmits icsk_rto icsk_mtup.enabled",
    "sk.net.ipv4.": "sysctl_tcp_slow_start_after_idle",
    "sk.": "sk_pacing_rate sk_max_pacing_rate",
    "rs.": "acked_sacked delivered prior_delivered rtt_us losses is_retrans",
    "star_": "coexist pacing",
}
#: What is called: an expression that may have a number ``n``.
CALLS = {
    "init": "star_init(&sk), 0",
    "cwnd": "star_cwnd(&ca->w)",
    "cws_ssthresh": "star_cws_ssthresh(&ca->w, n)",
    "ssthresh": "star_ssthresh(&sk)",
    "undo_cwnd": "star_undo_cwnd(&sk)",
    "set_state": "star_set_state(&sk, (u8)n), 0",
    "pace": "star_pace(ca, n)",
    "check_aen": "star_check_aen(&sk), 0",
    "reduce": "star_reduce(&sk), 0",
    "reduce_queue": "star_reduce_queue(&sk), 0",
    "end_round": "star_end_round(&sk), 0",
    "round_ends": "star_round_ends(&sk, &rs)",
    "rests": "star_rests(&sk)",
    "shrink": "star_shrink(&sk, n)",
    "restart": "model_now = n * NSEC_PER_SEC, star_restart(&sk)",
    "set_window": "star_set_window(&sk, n), 0",
    "sent_us": "star_sent_us(&sk, &rs)",
    "rtt_there": "star_rtt_us(&sk, &rs, !star_judges()) - "
    "star_late_us(&sk, star_rtt_us(&sk, &rs, !star_judges()), !star_judges())",
    "cong_control": "tcp_star.cong_control(&sk, &rs), 0",
    "wipe": "memset(&sk, 0, sizeof(sk)), memset(&rs, 0, sizeof(rs)), 0",
}
CODE = """
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "tcp_star.c"

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

static struct sock sk;
static struct rate_sample rs;
static struct star *const ca = (struct star *)sk.icsk.icsk_ca_priv;
"""


def places() -> dict[str, str]:
    """Each number's place by its name: the last word; those of abe and rs begin so."""
    found = {}
    for place, names in NUMBERS.items():
        for name in names.split():
            last = name.rpartition(".")[2].removesuffix("[0]")
            prefix = {"rs.": "rs_", "ca->abe.": "abe_"}.get(place, "")
            found[prefix + last] = place + name
    return found


class Star:
    """A socket that star controls. Its numbers are attributes, what is called are methods."""

    def __init__(self, library: ctypes.CDLL, **numbers: int) -> None:
        self.__dict__["library"] = library
        library.call_wipe(0)
        for name, number in ({"coexist": 1, "pacing": 0} | numbers).items():
            setattr(self, name, number)

    def __setattr__(self, name: str, number: int) -> None:
        getattr(self.library, f"put_{name}")(ctypes.c_uint64(number))

    def __getattr__(self, name: str) -> Any:
        if name in CALLS:
            return lambda n=0: getattr(self.library, f"call_{name}")(n)
        return getattr(self.library, f"get_{name}")()


Made = Callable[..., Star]


@pytest.fixture(scope="module")
def star(root: Path, build: Path) -> Made:
    """Makes a socket; the module's functions are compiled as in the simulation."""
    lines = [CODE]
    for name, place in places().items():
        lines.append(f"u64 get_{name}(void) {{ return {place}; }}")
        lines.append(f"void put_{name}(u64 n) {{ {place} = n; }}")
    lines += [f"u32 call_{name}(u32 n) {{ return {what}; }}" for name, what in CALLS.items()]
    flags = [*WARNINGS, *(SANITIZERS if SANITIZED else CHECKED), *INCLUDE, f"-I{root}"]
    loaded = ctypes.CDLL(str(compile_text("star_calls", "\n".join(lines), build / "unit", flags)))
    for name in places():
        getattr(loaded, f"get_{name}").restype = ctypes.c_uint64
    for name in CALLS:
        getattr(loaded, f"call_{name}").restype = ctypes.c_uint32

    def made(**numbers: int) -> Star:
        begin = {"mode": YIELD, "cwnd_reno": 100, "cwnd_abe": 400, "link": 12}
        return Star(loaded, **begin | numbers)

    return made


#: A path of 500 ms without a queue, whose estimate has settled; a sample began at 1 s.
KNOWN = {
    "base_us": 500_000, "least_us": 500_000, "last_us": 500_000, "abe_started": 1,
    "abe_samples": SETTLED, "abe_mark_us": SECOND, "abe_last_us": SECOND, "abe_epoch_us": SECOND,
    "mss_cache": 1448, "srtt_us": 500_000 << 3, "rtt_min_us": 500_000, "snd_una": 1000,
    "snd_cwnd_clamp": U32_MAX, "sk_max_pacing_rate": UNLIMITED,
}  # fmt: skip


@pytest.mark.parametrize(
    ("cwnd", "kept"), [(0, 1), (10, 10), (2**30, 2**30), (2**30 + 1, 2**30), (2**31 - 1, 2**30)]
)
def test_the_window_that_a_route_gives(star: Made, cwnd: int, kept: int) -> None:
    """A route's initcwnd has no limit; the sums of windows are proven for 2^30 segments."""
    t = star(snd_cwnd=cwnd, snd_ssthresh=INFINITE, icsk_ca_initialized=1, data_segs_out=1)
    t.init()
    assert (t.mode, t.cwnd_reno, t.cwnd_abe) == (START, kept, 0)


#: A SYN-ACK has come after 900 ms, which are worth 36 segments.
ANSWERED = {"bytes_acked": 1, "rtt_min_us": 900_000, "snd_ssthresh": INFINITE}


@pytest.mark.parametrize(
    ("cwnd", "clamp", "window"),
    [(10, U32_MAX, 36), (10, 20, 20), (9, U32_MAX, 9), (1, U32_MAX, 1), (11, U32_MAX, 11)],
)
def test_a_long_path_raises_only_the_stacks_own_window(
    star: Made, cwnd: int, clamp: int, window: int
) -> None:
    """One segment is what two lost SYNs have left, and others are a route's."""
    t = star(**ANSWERED, snd_cwnd=cwnd, snd_cwnd_clamp=clamp)
    t.init()
    assert t.snd_cwnd == window


def test_the_first_ack_takes_nothing_of_a_long_paths_window(star: Made) -> None:
    """There is no estimate yet: the next ACK sets what star holds for the window."""
    t = star(**ANSWERED, snd_cwnd=10, snd_cwnd_clamp=U32_MAX)
    t.init()
    assert t.cwnd() == t.snd_cwnd == 36


@pytest.mark.parametrize(
    ("handshake", "window"),
    [
        ({"bytes_acked": 0}, 10),  # the peer has opened the connection
        ({"bytes_acked": 501, "syn_data": 1, "data_segs_out": 1}, 36),  # Fast Open
        ({"bytes_acked": 1, "data_segs_out": 1}, 10),
        ({"bytes_acked": 1001, "data_segs_out": 10}, 10),
    ],
)
def test_only_an_active_open_begins_with_more(
    star: Made, handshake: dict[str, int], window: int
) -> None:
    """Whether the stack had an algorithm before: newer kernels call init() as at a handshake."""
    for had in (0, 1):
        t = star(**ANSWERED | handshake, icsk_ca_initialized=had, snd_cwnd=10, snd_cwnd_clamp=99)
        t.init()
        assert t.snd_cwnd == window


TEST = {"test": 2, "dip": 1}


def left(t: Star) -> tuple[int, int, int, int, int]:
    """State of the test and of the measurement of the RTT, estimated link loss, and rounds until
    losses are evaluated.
    """
    return t.test, t.dip, t.renew, t.link, t.skip


@pytest.mark.parametrize("mode", [CRUISE, YIELD])
def test_an_undo_ends_a_test(star: Made, mode: int) -> None:
    """Or a measurement of the path's RTT: the window is the one of before, not theirs."""
    for running in (TEST, {"renew": 3, "dip": 1}):
        t = star(mode=mode, link=50, **running)
        t.snd_cwnd = t.cwnd()
        t.ssthresh()
        assert t.undo_cwnd() == (500 if mode == CRUISE else 100)
        assert left(t) == (0, 0, 0, 50, 1)


def timeout(t: Star, ca_state: int) -> None:
    """In this state of the stack's, of 100 segments."""
    t.snd_cwnd, t.snd_una, t.snd_nxt, t.icsk_ca_state = t.cwnd(), 1000, 1100, ca_state
    t.ssthresh()
    t.snd_cwnd = 1
    t.set_state(LOSS)
    t.icsk_ca_state = LOSS


def test_what_a_smaller_mtu_marks_says_nothing(star: Made) -> None:
    """The stack goes to Loss without a question for ssthresh: the window stays, a test ends, and
    the losses so far are none of the next round.
    """
    t = star(mode=CRUISE, **TEST)
    t.snd_cwnd, t.snd_cwnd_clamp = t.cwnd(), U32_MAX
    t.delivered, t.lost, t.packets_out = 900, 120, 200
    t.icsk_ca_state = OPEN
    t.set_state(LOSS)
    assert (t.mode, t.cwnd(), t.round_end, t.round_lost) == (CRUISE, 500, 900, 120)
    assert left(t) == (0, 0, 0, 12, 1)


def test_the_verdict_on_a_timeout_ends_a_test(star: Made) -> None:
    """All data arrived: the window of before; or not: from the start, and what was yielded stays
    so. Until then no round ends, and all stays.
    """
    for count, before, mode in ((100, YIELD, YIELD), (50, YIELD, YIELD), (50, CRUISE, SLOW)):
        t = star(link=50, mode=before, snd_cwnd_clamp=U32_MAX, **TEST)
        timeout(t, OPEN)
        assert t.mode == JUDGE
        t.check_aen()
        assert (t.mode, *left(t)) == (JUDGE, 2, 1, 0, 50, 0)
        t.snd_una += count  # without SACK and timestamps
        t.check_aen()
        assert (t.mode, *left(t)) == (mode, 0, 0, 0, 50, 1)


@pytest.mark.parametrize(("before", "mode"), [(YIELD, YIELD), (CRUISE, SLOW)])
def test_a_timeout_with_nothing_to_judge_ends_a_test(star: Made, before: int, mode: int) -> None:
    """One in recovery for which the stack asks, a second one."""
    t = star(mode=before, link=50, snd_cwnd_clamp=U32_MAX, **TEST)
    timeout(t, RECOVERY)
    assert (t.mode, t.cwnd_reno, *left(t)) == (mode, 10, 0, 0, 0, 50, 1)


@pytest.mark.parametrize(
    ("held", "asked", "mode", "cwnd"),
    [(1, 0, CRUISE, 101), (1, 1, SLOW, 20), (0, 0, SLOW, 20)],
)
def test_a_hold_ends_with_its_round(
    star: Made, held: int, asked: int, mode: int, cwnd: int
) -> None:
    """After a loss, but for one of the same ACK; slow start after a timeout goes on. All was
    delivered, on a path of 100 segments.
    """
    slow = {"mode": SLOW, "cwnd_reno": 20, "cwnd_abe": 100, "abe_bw": 100 * PER_S, "delivered": 20}
    t = star(**KNOWN, **slow, held=held, asked=asked)
    t.end_round()
    assert (t.mode, t.cwnd_reno + (t.cwnd_abe if mode == CRUISE else 0)) == (mode, cwnd)


@pytest.mark.parametrize(("idle", "cwnd"), [(False, 20), (True, 10)])
def test_a_timeout_or_an_idle_time_makes_a_hold_slow_start(
    star: Made, idle: bool, cwnd: int
) -> None:
    """To ssthresh, not to the end of the round."""
    t = star(mode=SLOW, cwnd_reno=20, cwnd_abe=100, held=1, data_segs_out=1)
    t.snd_cwnd, t.snd_cwnd_clamp, t.icsk_ca_state = t.cwnd() if idle else 1, U32_MAX, RECOVERY
    if idle:
        t.shrink(10)
    else:
        t.set_state(LOSS)
    assert not t.held
    assert (t.mode, t.cwnd_reno) == (SLOW, cwnd)


@pytest.mark.parametrize(("losses", "cwnd"), [(0, 101), (1, 20)])
def test_the_end_of_a_hold_raises_no_window_with_a_loss(star: Made, losses: int, cwnd: int) -> None:
    """The next ACK does."""
    t = star(
        **KNOWN, mode=SLOW, cwnd_reno=20, cwnd_abe=100, held=1, abe_bw=100 * PER_S,
        rs_acked_sacked=1, rs_delivered=1, rs_losses=losses, rs_rtt_us=500_000,
        rs_prior_delivered=1, tcp_mstamp=SECOND + 1, delivered=20, snd_ssthresh=100, snd_cwnd=20,
        retrans_out=1, sack_ok=1, icsk_ca_state=RECOVERY,
    )  # fmt: skip
    t.cong_control()
    assert t.snd_cwnd == cwnd
    assert t.mode == CRUISE


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [
        # yielded since the first one, which the stack does not ask for
        (YIELD, CRUISE, YIELD),
        (SLOW, YIELD, SLOW),
        (JUDGE, YIELD, YIELD),
        (JUDGE, CRUISE, SLOW),
    ],
)
def test_a_second_timeout_does_not_end_yield(
    star: Made, mode: int, before: int, after: int
) -> None:
    t = star(mode=mode, prior_mode=before, prior_cwnd=100, snd_cwnd=1, icsk_ca_state=LOSS)
    t.set_state(LOSS)
    assert (t.mode, t.cwnd_reno) == (after, 10)


@pytest.mark.parametrize(("before", "after"), [(YIELD, YIELD), (CRUISE, SLOW)])
def test_the_verdict_answers_a_loss_of_the_same_ack(star: Made, before: int, after: int) -> None:
    """Slow start from the initial window, not the window of before the timeout: the ACK ends AEN's
    wait, data was lost, and the stack asks for ssthresh for another loss.
    """
    t = star(
        mode=JUDGE, prior_mode=before, asked=1, prior_cwnd=400, una=1000, p_seq=1100, snd_una=1050,
        mss_cache=1448, snd_cwnd=2, snd_cwnd_clamp=U32_MAX, snd_ssthresh=300,
        icsk_ca_state=RECOVERY, retrans_out=1, rs_acked_sacked=50, rs_delivered=-1, rs_rtt_us=-1,
    )  # fmt: skip
    t.cong_control()
    assert t.snd_cwnd == 10
    assert t.mode == after


@pytest.mark.parametrize(
    ("mode", "cwnd", "after", "window", "ssthresh"),
    [
        # no ACK has lifted the window to the estimate yet: slow start leads to it
        (CRUISE, 10, SLOW, 10, 400),
        (SLOW, 10, SLOW, 10, 400),
        # CWS: the estimate, and one segment that is reno's
        (CRUISE, 500, CRUISE, 401, 400),
        # a bit error beside others, or after a mark
        (YIELD, 10, YIELD, 10, 10),
    ],
)
def test_a_loss_without_a_queue(
    star: Made, mode: int, cwnd: int, after: int, window: int, ssthresh: int
) -> None:
    """The next ACK does not raise the window to the estimate."""
    t = star(mode=mode, base_us=500_000, least_us=510_000, prior_cwnd=cwnd, prior_ssthresh=400)
    t.reduce()
    assert (t.mode, t.cwnd(), t.snd_ssthresh) == (after, window, ssthresh)


@pytest.mark.parametrize("mode", [START, CRUISE, SLOW, YIELD])
def test_a_mark_is_congestion(star: Made, mode: int) -> None:
    """0.8 of the window, and what is tested with that of before ends. With ECN off it is a drop by
    the local queue.
    """
    fields = {"icsk_ca_state": CWR, "mode": mode, "prior_cwnd": 420, "flat": 3} | TEST
    t = star(**fields, ecn_flags=1, clear=5)
    t.reduce()
    assert (t.mode, t.cwnd(), t.snd_ssthresh, t.clear, t.held) == (YIELD, 336, 336, 0, 1)
    assert (t.test, t.dip) == (0, 0)
    t = star(**fields, ecn_flags=0)
    t.reduce()
    assert t.cwnd() != 336
    assert not t.held or t.mode == SLOW


@pytest.mark.parametrize(
    ("fields", "judges", "mode", "window", "ssthresh"),
    [
        # the estimate has grown in one of the last three rounds: slow start goes on to it
        ({"flat": 0}, 1, START, 500, 400),
        ({"flat": 2}, 1, START, 500, 400),
        # it is what the path carries: CWS sets the window, of which one segment is reno's
        ({"flat": 3}, 1, CRUISE, 401, 400),
        ({"flat": 0}, 0, CRUISE, 401, 400),
        # no estimate: ssthresh is half, as Reno's; fig. 2 keeps a window that was below it
        ({"cwnd_abe": 0, "prior_ssthresh": INFINITE}, 1, CRUISE, 500, 250),
    ],
)
def test_a_bit_error_does_not_end_start_while_the_estimate_grows(
    star: Made, fields: dict[str, int], judges: int, mode: int, window: int, ssthresh: int
) -> None:
    """From a window of 500 on a path of 400. The losses of a START that ends are not evaluated for
    two rounds, as it was sent faster than the path carries.
    """
    begun = {"mode": START, "cwnd_abe": 400, "prior_cwnd": 500, "prior_ssthresh": 400}
    t = star(**begun | fields, coexist=judges)
    t.reduce()
    assert (t.mode, t.cwnd(), t.snd_ssthresh) == (mode, window, ssthresh)
    assert t.skip == (0 if mode == START else 2)


def test_a_loss_with_a_queue_ends_start(star: Made) -> None:
    """Of 600 segments at 750 ms 400 are not in the queue: three quarters are kept beside others."""
    t = star(mode=START, queue=1, base_us=500_000, least_us=750_000, prior_cwnd=600, flat=0)
    t.reduce()
    assert (t.mode, t.cwnd_reno, t.snd_ssthresh) == (YIELD, 450, 450)


#: A window of 100 segments before an idle time.
IDLE = {"snd_cwnd": 100, "data_segs_out": 1, "delivered": 70, "lost": 20}

#: START on a path of 400 segments, of which the estimate is at a seventh quarter of an octave: from
#: 384 to below 448.
BEGUN = {
    "mode": START, "cwnd_reno": 10, "snd_ssthresh": 400, "is_cwnd_limited": 1,
    "abe_bw": 400 * PER_S,
}  # fmt: skip


@pytest.mark.parametrize(
    ("abe", "flat", "limited", "mode", "after"),
    [
        (447, 1, 1, START, 2),
        (448, 1, 1, START, 0),
        (448, 2, 1, START, 0),
        # the third round in which it has not grown
        (447, 2, 1, CRUISE, 3),
        (100, 2, 1, CRUISE, 3),
        # what the application sends says nothing about the path, nor does no estimate
        (447, 2, 0, START, 2),
        (0, 2, 1, START, 2),
    ],
)
def test_start_ends_when_the_estimate_no_longer_grows(
    star: Made, abe: int, flat: int, limited: int, mode: int, after: int
) -> None:
    """By itself, without a loss: the window stays, ssthresh is the estimate, and the losses of two
    rounds do not count.
    """
    t = star(**KNOWN | BEGUN | {"snd_ssthresh": INFINITE}, cwnd_abe=400, snd_cwnd=410)
    t.end_round()
    assert (t.mode, t.flat) == (START, 0)
    t.cwnd_abe, t.flat, t.is_cwnd_limited = abe, flat, limited
    t.delivered += 400
    t.end_round()
    assert (t.mode, t.flat, t.cwnd()) == (mode, after, abe + 10)
    assert (t.snd_ssthresh, t.skip) == ((INFINITE, 0) if mode == START else (abe, 2))


def test_the_first_train_does_not_tell_whether_the_estimate_grows(star: Made) -> None:
    """If its ACKs came at once, the estimate is too high, and nothing would outgrow it."""
    unsettled = BEGUN | {"abe_samples": SETTLED - 1, "snd_ssthresh": INFINITE}
    t = star(**KNOWN | unsettled, cwnd_abe=4000, snd_cwnd=4010)
    t.end_round()
    assert (t.mode, t.flat, t.grown) == (START, 0, 0)


@pytest.mark.parametrize("abe", [0, 5])
def test_start_does_not_end_without_a_threshold(star: Made, abe: int) -> None:
    """Slow start beside an estimate that lifts the window would have no end but a loss.

    Requests that do not fill the window begin no estimate, and a first train that the application
    has spread sets no ssthresh.
    """
    t = star(**KNOWN | BEGUN | {"is_cwnd_limited": 0, "snd_ssthresh": INFINITE}, cwnd_abe=abe)
    for _ in range(6):
        t.delivered += 5
        t.end_round()
    assert t.mode == START or t.snd_ssthresh < INFINITE


@pytest.mark.parametrize(
    ("delivered", "lost", "mode", "window"),
    [
        # (205 + 6) / 1024 of 400 and two segments are 84.4
        (316, 84, START, 410),
        # 410 * 85 / 400 = 87 of the window
        (315, 85, YIELD, 323),
        (200, 200, YIELD, 205),
        (50, 350, YIELD, 52),
        # 410 * 99 / 100 = 405 leave five, but no more than twice what arrived remains
        (1, 99, YIELD, 2),
    ],
)
def test_far_too_many_losses_end_start(
    star: Made, delivered: int, lost: int, mode: int, window: int
) -> None:
    """In one round, although the estimate grows: what arrived of the window, 410, remains."""
    t = star(**KNOWN, **BEGUN, cwnd_abe=400, delivered=1000 + delivered, lost=lost, round_end=1000)
    t.end_round()
    assert (t.mode, t.cwnd()) == (mode, window)
    assert t.skip == (0 if mode == START else 2)


@pytest.mark.parametrize(
    ("written", "lost", "mode", "window"),
    [
        # 3, one in 64 of 200, and 12 in 1024
        (0, 8, YIELD, 308),
        (0, 7, START, 410),
        # more is to be sent
        (1448, 8, START, 410),
    ],
)
def test_losses_of_a_window_that_is_not_filled_end_start(
    star: Made, written: int, lost: int, mode: int, window: int
) -> None:
    """Three quarters are left: an application with chunks would lose some of each for good."""
    sent = {"delivered": 1200 - lost, "lost": lost, "round_end": 1000, "mss_cache": 1448}
    rare = {"is_cwnd_limited": 0, "write_seq": written, "prior_cwnd": 410}
    t = star(**KNOWN | BEGUN | sent | rare, cwnd_abe=400)
    t.end_round()
    assert (t.mode, t.cwnd()) == (mode, window)


@pytest.mark.parametrize("abe", [0, 100])
def test_start_goes_on_after_idle_without_an_estimate(star: Made, abe: int) -> None:
    """Nothing is known that slow start should lead back to."""
    t = star(**IDLE | {"snd_ssthresh": INFINITE}, mode=START, cwnd_reno=100, cwnd_abe=abe)
    assert t.shrink(20)
    assert (t.mode, t.snd_ssthresh) == ((SLOW, 100) if abe else (START, INFINITE))


@pytest.mark.parametrize(
    ("queue_us", "fields", "clear"),
    [
        (0, {}, 7),
        (0, {"lost": 1}, 7),
        (20_000, {}, 6),
        (20_000, {"lost": 1}, 6),
        (100_000, {}, 6),
        (100_000, {"lost": 1}, 0),
        (100_000, {"delivered": 179}, 6),
        (100_000, {"delivered": 180}, 0),
        (0, {"excess": 31}, 7),
        (0, {"excess": 32}, 1),
        (0, {"clear": 64}, 64),
    ],
)
def test_what_is_no_congestion(
    star: Made, queue_us: int, fields: dict[str, int], clear: int
) -> None:
    """Five rounds without were counted; one with an empty queue counts twice. A loss is none,
    with a queue that does not stand, as it is less than a sixteenth of 500 ms; nor is one that
    does, without a loss, below 3/8 of the 480 segments that the path carries in 600 ms. An excess
    of a segment takes four rounds.
    """
    rtt_us = 500_000 + queue_us
    rtts = {"least_us": rtt_us, "last_us": rtt_us, "low_us": rtt_us, "srtt_us": rtt_us << 3}
    t = star(
        **KNOWN | rtts | {"clear": 5, "delivered": 99} | fields, is_cwnd_limited=1,
        abe_bw=400 * PER_S,
    )  # fmt: skip
    t.end_round()
    assert t.clear == clear


@pytest.mark.parametrize(
    ("fields", "after_us", "acked", "judges", "abe"),
    [
        # the first ACK counts as a segment per ms: as published that is 500 in 500 ms
        ({"abe_started": 0, "abe_samples": 0}, 0, 10, 1, 0),
        ({"abe_started": 0, "abe_samples": 0}, 0, 10, 0, 500),
        # another one 2 ms later: two segments in 3 ms
        ({"abe_samples": 0}, 2000, 1, 1, 333),
        # a sample of a sixteenth of 500 ms
        ({}, 31_250, 25, 1, 400),
    ],
)
def test_the_first_ack_lifts_nothing(
    star: Made, fields: dict[str, int], after_us: int, acked: int, judges: int, abe: int
) -> None:
    """It has no predecessor: what it counts as is no estimate."""
    t = star(
        **KNOWN | {"snd_una": 2000} | fields, mode=START, cwnd_reno=10, cwnd_abe=0,
        coexist=judges, tcp_mstamp=SECOND + after_us, abe_sent_us=500_000,
        first_tx_mstamp=500_000 + after_us, rs_acked_sacked=acked, rs_delivered=-1,
        rs_rtt_us=500_000, snd_ssthresh=INFINITE, snd_cwnd=10, is_cwnd_limited=1,
    )  # fmt: skip
    t.cong_control()
    assert t.cwnd_abe == abe
    assert t.snd_ssthresh == (abe if abe and judges else INFINITE)


def test_a_socket_begins_without_knowledge_of_the_path(star: Made) -> None:
    """But for the RTT of its SYN, at 5 s: 38 times 131072 us. The link may be one of 1e-6."""
    t = star(snd_cwnd=10, snd_ssthresh=INFINITE, rtt_min_us=500_000, tcp_mstamp=5 * SECOND)
    t.init()
    assert (t.base_us, t.least_us, t.last_us, t.low_us) == (500_000, U32_MAX, U32_MAX, U32_MAX)
    assert (t.seen, t.link, t.flat, t.grown) == (38, 12, 0, 0)


@pytest.mark.parametrize(
    ("judges", "saw", "took", "rtt", "back"),
    [
        # 40 ms longer by a timestamp of 50 ms, the least being 10 ms; an eighth of it is the mean
        (1, 1, 140_000, 140_000 - 39_936, 4992),
        (1, 1, 105_000, 100_000, 624),
        (1, 1, 0, 0, 8000),
        (1, 0, 140_000, 140_000, 0),
        (0, 1, 140_000, 140_000, 0),
    ],
)
def test_the_way_back_is_no_part_of_an_rtt(
    star: Made, judges: int, saw: int, took: int, rtt: int, back: int
) -> None:
    """But as published, or without a timestamp: then what was believed ends. Without an RTT nothing
    is known.
    """
    age = 10_000 // 256
    t = star(
        base_us=100_000, age=age, mark=age // 16, ticks=1, half=1, tcp_mstamp=SECOND,
        coexist=judges, saw_tstamp=saw, rcv_tsval=950, rs_rtt_us=took,
        back=0 if took and saw and judges else 500,
    )  # fmt: skip
    assert t.rtt_there() == rtt
    assert t.back == back // 16


@pytest.mark.parametrize(
    ("base", "judges", "took", "rtt"),
    [
        (17_883, 1, 17_000, 17_883),
        (17_883, 1, 18_000, 18_000),
        (17_883, 1, 0, 0),
        (17_883, 0, 17_000, 17_000),
        (U32_MAX, 1, 17_000, 17_000),
    ],
)
def test_a_retransmission_shows_no_shorter_path(
    star: Made, base: int, judges: int, took: int, rtt: int
) -> None:
    """Only its timestamp tells the RTT, in whole milliseconds: 17 may be 17.9."""
    t = star(
        base_us=base, tcp_mstamp=SECOND, rcv_tsval=990, coexist=judges, saw_tstamp=1,
        rs_rtt_us=took, rs_is_retrans=1,
    )  # fmt: skip
    assert t.rtt_there() == rtt


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
    star: Made, mode: int, dip: int, judges: int, cwnd: int, before: int
) -> None:
    t = star(mode=mode, dip=dip, coexist=judges, snd_cwnd=cwnd)
    t.ssthresh()
    assert t.prior_cwnd == before


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
def test_a_loss_with_a_queue(star: Made, cwnd: int, window: int, test: int) -> None:
    """The path takes 1.16 ms a segment, and 56 ms of 600 are seen: not 2.3, but the 59 of 51."""
    t = star(
        large=1, mss_cache=1448, abe_bw=1_250_000, base_us=500_000, least_us=600_000,
        prior_cwnd=cwnd,
    )  # fmt: skip
    t.reduce_queue()
    assert (t.cwnd(), t.test, t.mode) == (window, test, YIELD)


@pytest.mark.parametrize(("renew", "rest", "dip"), [(3, 0, 1), (1, 0, 1), (0, 0, 1), (0, 1, 0)])
def test_a_loss_leaves_the_dip_of_a_measurement(
    star: Made, renew: int, rest: int, dip: int
) -> None:
    """There is no test while the path's RTT is measured, of all rounds with a smaller window; else
    a test makes one for itself, unless the last one is too near.
    """
    t = star(
        cwnd_reno=40, large=1, mss_cache=1448, abe_bw=40 * PER_S, base_us=500_000,
        least_us=560_000, prior_cwnd=40, renew=renew, rest=rest, dip=renew > 0,
    )  # fmt: skip
    t.reduce_queue()
    assert (t.renew, t.dip, t.mode) == (renew, dip, YIELD)


@pytest.mark.parametrize("mode", [START, CRUISE, SLOW, YIELD])
def test_an_idle_time_ends_a_test_and_the_round(star: Made, mode: int) -> None:
    """70 segments were delivered and 20 lost, of which none is counted in what is to come."""
    t = star(**IDLE, mode=mode, link=50, **TEST)
    assert t.shrink(20)
    assert t.round_end + t.round_lost == 90
    assert left(t) == (0, 0, 0, 50, 1)


def test_a_timeout_or_an_idle_time_is_between_two_overloads(star: Made) -> None:
    """Half of a round is lost before, and half of a round after it: not two in a row."""
    t = star(**KNOWN | IDLE, mode=CRUISE, alone=1, over=1)
    assert t.shrink(20)
    assert t.over == 0
    t = star(mode=CRUISE, snd_cwnd_clamp=U32_MAX, over=1)
    timeout(t, LOSS)
    assert (t.mode, t.over) == (SLOW, 0)


@pytest.mark.parametrize(
    ("idle_s", "changed", "cwnd"),
    [
        (299, {}, 100),
        (301, {}, 50),
        (601, {}, 25),
        (3000, {}, 10),
        # 71 minutes and 35 s are 2^32 us
        (4400, {}, 10),
        (301, {"sysctl_tcp_slow_start_after_idle": 0}, 100),
        # What leaves as a burst is valid for a timeout, here of a second.
        (2, {"pacing": 0}, 50),
        (2, {"coexist": 0}, 50),
        (2, {"cwnd_abe": 0}, 50),
    ],
)
def test_a_paced_window_is_valid_for_five_minutes(
    star: Made, idle_s: int, changed: dict[str, int], cwnd: int
) -> None:
    """RFC 7661 4.4: then it is halved, for each five minutes, down to the initial window."""
    now = 10_000
    known = {"mode": YIELD, "pacing": 1, "cwnd_abe": 100, "icsk_rto": 250}
    asks = {"sysctl_tcp_slow_start_after_idle": 1, "snd_cwnd_clamp": U32_MAX}
    seen = {"tcp_mstamp": now * SECOND, "delivered_mstamp": (now - idle_s) * SECOND}
    t = star(**IDLE | KNOWN | known | asks | seen | changed, lsndtime=(now - idle_s) * 250)
    assert t.restart(now) == (cwnd < 100)
    assert t.snd_cwnd == cwnd


@pytest.mark.parametrize("to", [100, 101])
def test_no_idle_time_leaves_a_test(star: Made, to: int) -> None:
    t = star(**IDLE, link=50, **TEST)
    assert not t.shrink(to)
    assert left(t) == (2, 1, 0, 50, 0)


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
        # while a segment is in excess of the link's losses, at any size
        (2, 300, {"alone": 0, "excess": 31}, 1, False),
        (2, 300, {"alone": 0, "excess": 32}, 1, True),
        (2, 300, {"mode": CRUISE, "excess": 32}, 1, False),
        (2, 300, {"excess": 32}, 0, False),
        (375, 300, {"mode": CRUISE}, 1, False),
        (375, 300, {}, 0, False),
    ],
)
def test_only_a_window_that_fills_the_path_rests(
    star: Made, cwnd: int, ssthresh: int, fields: dict[str, int], judges: int, does: bool
) -> None:
    """Alone, once it has come back to ssthresh; or while losses are in excess."""
    t = star(**{"cwnd_reno": cwnd, "alone": 1} | fields, snd_ssthresh=ssthresh, coexist=judges)
    assert t.rests() == does


@pytest.mark.parametrize(
    ("delivered", "lost", "fields", "judges", "ends"),
    [
        (31, 32, {}, 1, True),
        (32, 32, {}, 1, False),
        (0, 31, {}, 1, False),
        (0, 500, {}, 1, True),
        # alone it may be a burst of bit errors, but for the second such round
        (0, 500, {"alone": 1}, 1, False),
        (0, 500, {"alone": 1, "over": 1}, 1, True),
        # with an empty queue, too, whatever others there seem to be
        (0, 500, {"empty": 1}, 1, False),
        (0, 500, {"empty": 1, "over": 1}, 1, True),
        (31, 32, {"over": 1}, 1, True),
        # and with a quarter of the window, the second with half of it: a burst in two rounds is
        # none of two, and one that a round begins with does not show what arrives
        (0, 499, {"cwnd_reno": 1000, "alone": 1, "over": 1}, 1, False),
        (0, 500, {"cwnd_reno": 1000, "alone": 1, "over": 1}, 1, True),
        (249, 251, {"cwnd_reno": 1000, "empty": 1, "over": 1}, 1, True),
        (248, 251, {"cwnd_reno": 1000, "empty": 1, "over": 1}, 1, False),
        (0, 250, {"cwnd_reno": 1000}, 1, False),
        (0, 251, {"cwnd_reno": 1000}, 1, True),
        (0, 500, {"skip": 1}, 1, False),
        (0, 500, {"mode": JUDGE}, 1, False),
        (0, 500, {}, 0, False),
    ],
)
def test_a_round_of_which_more_than_half_is_lost(
    star: Made, delivered: int, lost: int, fields: dict[str, int], judges: int, ends: bool
) -> None:
    """From 32 losses on, and only where rounds are judged."""
    t = star(**fields, round_end=1000, delivered=1000 + delivered, lost=lost, coexist=judges)
    t.rs_delivered, t.rs_prior_delivered = 1, 999
    assert t.round_ends() == ends


def rate(cwnd: int, gain: int) -> int:
    """Windows per 500 ms, in 1/256."""
    return cwnd * PER_S * gain // 256


@pytest.mark.parametrize(
    ("mode", "reno", "cwnd", "after_us", "window", "ssthresh", "pace"),
    [
        # neither a sample, of a sixteenth of 500 ms, nor another window
        (YIELD, 100, 100, 31_249, 100, 77, 7),
        (START, 10, 410, 31_249, 410, 77, 7),
        # a sample
        (YIELD, 100, 100, 31_250, 100, 77, rate(100, 272)),
        (START, 10, 410, 31_250, 410, 400, rate(410, 272)),
        (CRUISE, 10, 410, 31_250, 410, 77, rate(410, 272)),
        # another window
        (YIELD, 100, 101, 31_249, 100, 77, rate(100, 272)),
        (START, 10, 411, 31_249, 410, 77, rate(410, 272)),
    ],
)
def test_the_rate_follows_the_estimate_and_the_window(
    star: Made,
    mode: int,
    reno: int,
    cwnd: int,
    after_us: int,
    window: int,
    ssthresh: int,
    pace: int,
) -> None:
    """And ssthresh in START the estimate; else all stays as it was. The window does not limit."""
    t = star(
        **KNOWN | {"least_us": U32_MAX, "last_us": U32_MAX}, mode=mode, cwnd_reno=reno, pacing=1,
        abe_bw=400 * PER_S, rs_acked_sacked=1, rs_delivered=-1, rs_rtt_us=500_000,
        tcp_mstamp=SECOND + after_us, first_tx_mstamp=500_000 + after_us, snd_ssthresh=77,
        snd_cwnd=cwnd, sk_pacing_rate=7,
    )  # fmt: skip
    t.cong_control()
    assert (t.snd_cwnd, t.snd_ssthresh, t.sk_pacing_rate) == (window, ssthresh, pace)


@pytest.mark.parametrize(
    ("mode", "fields", "judges", "gain"),
    [
        # two windows per RTT, until there is an estimate: then 5/4, with a queue as well, unless
        # the application does not fill the window
        (START, {"cwnd_abe": 0}, 1, 512),
        (START, {}, 1, 320),
        (START, {"queue": 1}, 1, 320),
        (START, {"unlimited": 1}, 1, 272),
        # two again while the queue is empty and the estimate has grown by a quarter since the round
        # began: 64 to 79 segments are 20, 80 are 21
        (START, {"cwnd_abe": 80, "grown": 20, "learns": 1}, 1, 512),
        (START, {"cwnd_abe": 79, "grown": 20, "learns": 1}, 1, 320),
        (START, {"cwnd_abe": 80, "grown": 20}, 1, 320),
        (START, {"cwnd_abe": 80, "learns": 1}, 1, 320),
        (START, {}, 0, 512),
        (START, {"queue": 1}, 0, 272),
        (SLOW, {}, 1, 512),
        (SLOW, {"queue": 1}, 1, 272),
        (CRUISE, {}, 1, 272),
        (YIELD, {}, 1, 272),
    ],
)
def test_how_fast_a_window_is_sent(
    star: Made, mode: int, fields: dict[str, int], judges: int, gain: int
) -> None:
    limited = not fields.get("unlimited")
    numbers = {name: number for name, number in fields.items() if name != "unlimited"}
    assert star(mode=mode, coexist=judges, **numbers).pace(limited) == gain


@pytest.mark.parametrize(
    ("fields", "window"),
    [
        ({}, 100),
        # to measure the path's RTT: less than the path carries, of several flows by a quarter
        ({"dip": 1, "renew": 3, "alone": 1}, 99),
        ({"dip": 1, "renew": 3}, 75),
        ({"dip": 1, "renew": 3, "coexist": 0}, 100),
        # a test
        ({"dip": 1, "test": 2}, 75),
    ],
)
def test_a_dip_lowers_what_is_sent_only(star: Made, fields: dict[str, int], window: int) -> None:
    """The window itself stays."""
    t = star(**KNOWN | {"coexist": 1} | fields)
    t.set_window(U32_MAX)
    assert (t.snd_cwnd, t.cwnd()) == (window, 100)


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
    star: Made, ca_state: int, frto: int, stamps: int, most: int, missing: int, undo: int, cwnd: int
) -> None:
    """RFC 5682: neither a retransmission nor a larger window. With timestamps AEN knows; once all
    is acknowledged F-RTO has ended, although the stack keeps its flag."""
    t = star(
        mode=SLOW, cwnd_reno=10, snd_cwnd=1, snd_cwnd_clamp=U32_MAX, packets_out=7, frto=frto,
        high_seq=missing, undo_marker=undo, tstamp_ok=stamps, icsk_ca_state=ca_state,
    )  # fmt: skip
    t.set_window(most)
    assert t.snd_cwnd == cwnd


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
    star: Made, started: bool, samples: int, retrans: bool, us: int
) -> None:
    """The sample began with a segment of 5 us, the newest one is of 9."""
    t = star(abe_started=started, abe_samples=samples, abe_sent_us=5, first_tx_mstamp=9)
    t.rs_is_retrans = retrans
    assert t.sent_us() == us


#: An ACK on a path of 100 ms, half a second after the last one.
LATE = {
    "mode": CRUISE, "cwnd_reno": 100, "cwnd_abe": 100, "snd_cwnd": 200, "snd_cwnd_clamp": U32_MAX,
    "mss_cache": 1000, "srtt_us": 8 * SECOND // 10, "rtt_min_us": SECOND // 10,
    "base_us": SECOND // 10, "tcp_mstamp": SECOND, "abe_started": 1, "abe_last_us": SECOND // 2,
    "rs_acked_sacked": 1, "rs_delivered": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("sent_us", "fields", "silent"),
    [
        (SECOND // 2 - 1, {}, True),  # it was on its way
        (SECOND // 2, {}, False),
        (SECOND - SECOND // 10, {}, False),
        # what was on its way is lost
        (SECOND - SECOND // 10, {"icsk_ca_state": RECOVERY}, True),
        (SECOND - SECOND // 10, {"icsk_ca_state": LOSS}, True),
        # half of 100 ms, and a part of the path that a pause is noticed in
        (SECOND // 2 - 1, {"tcp_mstamp": SECOND // 2 + 50_001}, True),
        (SECOND // 2 - 1, {"tcp_mstamp": SECOND // 2 + 50_000}, False),
        (SECOND // 2 - 1, {"mode": YIELD, "cwnd_reno": 16}, True),
        (SECOND // 2 - 1, {"mode": YIELD, "cwnd_reno": 15}, False),
        (SECOND // 2 - 1, {"large": 0}, False),
        (SECOND // 2 - 1, {"rs_acked_sacked": 0}, False),
    ],
)
def test_a_pause_of_the_application_is_no_outage(
    star: Made, sent_us: int, fields: dict[str, int], silent: bool
) -> None:
    """An outage of the link is: the losses of two rounds say nothing, of a flow with a large part
    of the path.
    """
    t = star(**LATE | {"large": 1} | fields, first_tx_mstamp=sent_us, round_end=1)
    t.cong_control()
    assert t.skip == (2 if silent else 0)


#: The same after a timeout in recovery, which has marked all 200 segments as lost.
MARKED_LOST = LATE | {
    "mode": YIELD, "cwnd_reno": 200, "icsk_ca_state": LOSS, "icsk_retransmits": 1, "sack_ok": 1,
    "alone": 0, "lost": 200, "delivered": 1001, "round_end": 1000, "rs_prior_delivered": 900,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "spurious"),
    [
        ({}, 1),
        ({"mode": CRUISE}, 1),
        ({"mode": SLOW}, 1),
        # sent again, and for the first time after an answer to that
        ({"rs_is_retrans": 1}, 0),
        ({"icsk_retransmits": 0}, 0),
        # the stack knows nothing of what arrives
        ({"rs_delivered": U32_MAX}, 0),
        # no silence: the timeout is of one segment, whose retransmission was lost
        ({"tcp_mstamp": SECOND // 2 + 50_000}, 0),
        ({"icsk_ca_state": RECOVERY}, 0),
        # AEN judges; what a start has sent may be lost
        ({"mode": JUDGE}, 0),
        ({"mode": START}, 0),
    ],
)
def test_what_shows_that_a_timeout_in_recovery_was_spurious(
    star: Made, fields: dict[str, int], spurious: int
) -> None:
    """The first ACK after it is for data that was not sent again."""
    t = star(**MARKED_LOST | fields)
    t.cong_control()
    assert t.spurious == spurious


@pytest.mark.parametrize(("real", "least", "most"), [(0, 200, 210), (1, 2, 20)])
def test_what_a_spurious_timeout_marks_is_not_lost(
    star: Made, real: int, least: int, most: int
) -> None:
    """The window stays, as an ACK may be for the original of what was sent again, until new data
    has arrived; then a round begins. What a real timeout marks is lost.
    """
    t = star(**MARKED_LOST)
    t.rs_is_retrans = real
    t.cong_control()
    t.abe_last_us = t.tcp_mstamp
    for _ in range(5):
        t.delivered += 1
        t.lost += 10
        t.rs_is_retrans, t.rs_prior_delivered = 1, t.delivered - 1
        t.cong_control()
    assert least <= t.cwnd() <= most
    if not real:
        assert t.spurious
        t.rs_is_retrans = 0
        t.cong_control()
        assert (t.spurious, t.skip, t.round_end, t.round_lost) == (0, 1, t.delivered, t.lost)
        assert least <= t.cwnd() <= most


@pytest.mark.parametrize(
    ("fields", "clear", "window"),
    [
        ({"renew": 1}, 1, 100),
        ({"renew": 1, "clear": 20}, 21, 100),
        ({"test": 1, "last_us": 600_000, "fall": 64}, 12, 401),
        ({"test": 1, "last_us": 600_000, "fall": 64, "clear": 64}, 64, 401),
        ({"test": 1, "last_us": 600_000, "fall": 64, "mode": CRUISE}, 1, 500),
    ],
)
def test_a_longer_path_is_no_congestion(
    star: Made, fields: dict[str, int], clear: int, window: int
) -> None:
    """A measurement or a test ends: 600 ms instead of 500 are no queue. After a test, which a large
    flow makes, what yielded to one fills the path.
    """
    t = star(**KNOWN | {"least_us": 600_000, "srtt_us": 600_000 << 3} | fields, dip=1, delivered=99)
    t.end_round()
    assert (t.base_us, t.queue, t.clear, t.cwnd()) == (600_000, 0, clear, window)


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        ({"enabled": 1}, 1000),
        ({"enabled": 0}, 1400),  # segments may be small, windows count them
        ({"enabled": 1, "sacked_out": 3}, 1400),  # no matter what has moved the ACK number
        ({"enabled": 1, "snd_una": 8000}, 1400),  # a hole is filled
    ],
)
def test_segments_from_before_a_larger_mtu_count_as_what_they_were(
    star: Made, fields: dict[str, int], counted: int
) -> None:
    """An MTU probe of 1400 octets has arrived, and now a segment of 1000 from before."""
    numbers = LATE | {"mss_cache": 1400, "abe_samples": SETTLED, "una": 5000, "snd_una": 6000}
    t = star(**numbers | fields, abe_mark_us=SECOND - 1)
    t.cong_control()
    assert t.abe_bytes == counted
