# SPDX-License-Identifier: GPL-2.0
"""TCP-STAR's windows: LWC against a segment by segment reference, CWS by hand (figs. 1 and 2)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

LARGEST = 2**30
INFINITE = 0x7FFFFFFF

shares = st.integers(1, 2000)
lifts = st.integers(0, 2000)
thresholds = st.integers(2, 3000) | st.sampled_from([2, INFINITE])


# enum star_mode, but for the two in which the window is not star's
modes = st.sampled_from(["STAR_START", "STAR_CRUISE", "STAR_SLOW", "STAR_YIELD"])


@dataclass
class Reference:
    """LWC as fig. 1 and star.h put it, one segment at a time and in fractions.

    Slow start adds one per segment, congestion avoidance 1 / cwnd_reno, a queue
    makes that 1 / cwnd. Windows are whole segments, so a divisor changes when a
    whole segment has been gained.
    """

    reno: Fraction
    abe: int

    @property
    def cwnd(self) -> int:
        return min(max(math.floor(self.reno) + self.abe, 2), LARGEST)

    def segment(self, ssthresh: int, published: bool, queue: bool) -> None:
        compared = math.floor(self.reno) if published else self.cwnd
        if compared < ssthresh:
            self.reno += 1
        else:
            divisor = self.cwnd if queue and not published else math.floor(self.reno)
            self.reno += Fraction(1, divisor)
        self.reno = min(self.reno, Fraction(LARGEST))


def window(apogee: Library, reno: int, abe: int, mode: str = "STAR_CRUISE") -> Any:
    return apogee.new("star_window", cwnd_reno=reno, cwnd_abe=abe, mode=getattr(apogee, mode))


def yielding(apogee: Library, reno: int, abe: int, **fields: int) -> Any:
    given_ = {"cwnd_reno": reno, "cwnd_abe": abe, "mode": apogee.STAR_YIELD}
    return apogee.new("star_window", **given_ | fields)


def lwc(
    apogee: Library,
    w: Any,
    acked: int,
    ssthresh: int,
    *,
    published: bool = False,
    queue: bool = False,
    empty: bool = False,
) -> int:
    """One ACK; the window after it."""
    j = apogee.new("judge_state", queue=queue, learns=empty)
    apogee.star_lwc(w, acked, ssthresh, published, j)
    return apogee.star_cwnd(w)


# LWC, figure 1


@given(shares, lifts, thresholds, st.lists(st.integers(1, 60), max_size=60), *[st.booleans()] * 2)
def test_lwc_follows_the_exact_model(
    apogee: Library,
    reno: int,
    abe: int,
    ssthresh: int,
    acks: list[int],
    published: bool,
    queue: bool,
) -> None:
    """Any ACKs under one set of conditions: equal, segment for segment."""
    w, reference = window(apogee, reno, abe), Reference(Fraction(reno), abe)
    for acked in acks:
        cwnd = lwc(apogee, w, acked, ssthresh, published=published, queue=queue)
        for _ in range(acked):
            reference.segment(ssthresh, published, queue)
        assert (w.cwnd_reno, cwnd) == (math.floor(reference.reno), reference.cwnd)


@given(
    shares,
    st.lists(st.tuples(st.integers(1, 60), lifts, thresholds, st.booleans()), max_size=60),
    st.booleans(),
)
def test_lwc_follows_the_exact_model_as_conditions_change(
    apogee: Library, reno: int, acks: list[tuple[int, int, int, bool]], published: bool
) -> None:
    """ABE's share, ssthresh and the queue change from ACK to ACK: never a segment ahead.

    What has been gained of the next segment may count less under another divisor,
    so the code may lag by a segment for each change, but it must not leap.
    """
    w, reference = window(apogee, reno, 0), Reference(Fraction(reno), 0)
    for turn, (acked, abe, ssthresh, queue) in enumerate(acks, start=1):
        w.cwnd_abe = reference.abe = abe
        before = w.cwnd_reno
        reference.reno = before + reference.reno % 1
        cwnd = lwc(apogee, w, acked, ssthresh, published=published, queue=queue)
        for _ in range(acked):
            reference.segment(ssthresh, published, queue)
        gained = w.cwnd_reno - before
        assert gained <= math.floor(reference.reno) - before + 1, f"ACK {turn}"
        assert gained >= math.floor(reference.reno) - before - 1, f"ACK {turn}"
        assert cwnd == min(max(w.cwnd_reno + abe, 2), LARGEST)


@given(
    shares,
    lifts,
    thresholds,
    st.integers(1, 400),
    st.booleans(),
    st.sampled_from(["STAR_CRUISE", "STAR_SLOW"]),
)
def test_one_stretch_ack_is_many_small_ones(
    apogee: Library,
    reno: int,
    abe: int,
    ssthresh: int,
    acked: int,
    queue: bool,
    mode: str,
) -> None:
    """Through the end of slow start and the release of ABE's share, too."""
    one, many = (window(apogee, reno, abe, mode) for _ in range(2))
    lwc(apogee, one, acked, ssthresh, queue=queue)
    for _ in range(acked):
        lwc(apogee, many, 1, ssthresh, queue=queue)
    assert (one.cwnd_reno, one.cwnd_cnt, one.mode) == (many.cwnd_reno, many.cwnd_cnt, many.mode)


def test_credit_of_a_queue_is_not_spent_when_it_has_gone(apogee: Library) -> None:
    """400 of 401 segments towards the next one stay less than one segment."""
    w = window(apogee, 1, 400)
    assert lwc(apogee, w, 400, 2, queue=True) == 401
    assert lwc(apogee, w, 1, 2, queue=False) <= 403


def test_credit_is_not_spent_when_the_estimate_falls(apogee: Library) -> None:
    w = window(apogee, 1, 400)
    lwc(apogee, w, 400, 2, queue=True)
    w.cwnd_abe = 10
    assert lwc(apogee, w, 1, 2, queue=True) <= 13


@pytest.mark.parametrize("acked", [2**14, 32895, 32896, 2**20, 2**24, 2**31, 2**32 - 1])
@pytest.mark.parametrize("reno", [1, 2**30 - 3, 2**30])
@pytest.mark.parametrize("queue", [False, True])
def test_huge_stretch_acks_are_quick_and_bounded(
    apogee: Library, acked: int, reno: int, queue: bool
) -> None:
    """Many segments in one ACK: n (n + 1) / 2 segments add n, and 32896 and more add 256."""
    w = window(apogee, reno, 0)
    began = time.process_time()
    cwnd = lwc(apogee, w, acked, 2, queue=queue)
    assert time.process_time() - began < 0.25
    assert cwnd <= LARGEST
    if reno == 1 and not queue:
        n = cwnd - 1
        assert n * (n + 1) // 2 <= acked
        assert n == 256 or acked < (n + 1) * (n + 2) // 2


@given(
    st.integers(1, LARGEST),
    st.integers(0, LARGEST),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    *[st.booleans()] * 2,
    modes,
    st.integers(0, 64),
)
def test_bounds_hold_everywhere(
    apogee: Library,
    reno: int,
    abe: int,
    acked: int,
    ssthresh: int,
    published: bool,
    queue: bool,
    mode: str,
    clear: int,
) -> None:
    """2 <= cwnd <= 2^30, 1 <= cwnd_reno <= 2^30, and an ACK takes nothing away."""
    w = yielding(apogee, reno, abe, mode=getattr(apogee, mode), clear=clear)
    before = apogee.star_cwnd(w)
    acked %= 2**22
    after = lwc(apogee, w, acked, ssthresh, published=published, queue=queue)
    assert 2 <= before <= after <= LARGEST
    assert 1 <= w.cwnd_reno <= LARGEST
    # Once ABE's share counts again cwnd_reno is 1 at least.
    assert after <= max(before, abe + 1) + acked


# ABE's share held back


def test_slow_start_after_a_timeout_counts_cwnd_reno_alone(apogee: Library) -> None:
    """From the initial window of 10 to ssthresh = 400 without the lift of 400; then with it."""
    w = window(apogee, 10, 400, "STAR_SLOW")
    assert apogee.star_cwnd(w) == 10
    for expected in (20, 40, 80, 160, 320):
        assert lwc(apogee, w, expected // 2, 400) == expected
        assert apogee.star_holds(w)
    assert lwc(apogee, w, 80, 400) == 401
    assert not apogee.star_holds(w)
    assert lwc(apogee, w, 1, 400) == 402
    assert (w.cwnd_reno, w.cwnd_abe) == (2, 400)


@given(shares, lifts, st.integers(2, 3000), st.integers(1, 3000), st.booleans())
def test_release_after_a_timeout(
    apogee: Library, reno: int, abe: int, ssthresh: int, acked: int, published: bool
) -> None:
    """ABE's share stays out below ssthresh and comes back inside the window above.

    The sum stays unless it is below cwnd_abe + 1: cwnd_reno is 1 at least.
    """
    w = window(apogee, reno, abe, "STAR_SLOW")
    for _ in range(5):
        before = apogee.star_cwnd(w)
        after = lwc(apogee, w, acked, ssthresh, published=published)
        if apogee.star_holds(w):
            assert after == max(w.cwnd_reno, 2)
            assert w.cwnd_reno < ssthresh
        else:
            assert w.cwnd_reno + abe >= ssthresh
            assert after <= max(before, abe + 1) + acked


@given(lifts, shares, st.integers(1, 60))
def test_the_answer_to_a_mark_lasts(apogee: Library, abe: int, reno: int, acked: int) -> None:
    """As published, with ECN: 0.8 of the window, ABE's share held back, ssthresh there.

    No ACK adds more than 1 / cwnd_reno per segment, until cwnd_reno alone is more
    than cwnd_abe; then the shares are split again and the sum stays. Without an estimate there is
    nothing to split: the first one must not lift the window.
    """
    w = window(apogee, reno, abe)
    cwnd = apogee.star_mark_cwnd(reno + abe)
    assert cwnd == max((reno + abe) * 4 // 5, 2)
    w.mode = apogee.STAR_YIELD
    apogee.star_set_cwnd(w, cwnd)
    assert apogee.star_cwnd(w) == cwnd
    held = Reference(Fraction(cwnd), 0)
    for _ in range(40):
        before = apogee.star_cwnd(w)
        was_above = w.cwnd_reno > abe > 0
        after = lwc(apogee, w, acked, cwnd, published=True)
        if was_above:
            assert not apogee.star_holds(w)
            assert before <= after <= before + acked
            break
        for _ in range(acked):
            held.segment(cwnd, True, False)
        assert apogee.star_holds(w)
        assert after == held.cwnd


# star_set_cwnd


@given(shares, lifts, st.integers(2, LARGEST), modes)
def test_set_cwnd_splits_the_sum(
    apogee: Library, reno: int, abe: int, cwnd: int, mode: str
) -> None:
    """cwnd_reno + cwnd_abe = cwnd where cwnd_reno can stay at 1, else cwnd_abe + 1."""
    w = window(apogee, reno, abe, mode)
    w.cwnd_cnt = reno - 1
    apogee.star_set_cwnd(w, cwnd)
    assert w.cwnd_cnt == 0
    assert w.cwnd_reno >= 1
    counted = 0 if apogee.star_holds(w) else abe
    assert apogee.star_cwnd(w) == min(max(cwnd, counted + 1), LARGEST)
    assert (w.cwnd_abe, w.mode) == (abe, getattr(apogee, mode))


# the response to a loss


@given(shares, lifts, st.integers(2, LARGEST), st.integers(2, LARGEST), modes)
def test_a_loss_never_raises_the_window(
    apogee: Library, reno: int, abe: int, cwnd: int, to: int, mode: str
) -> None:
    """Neither at once nor later: the share that is held back returns as slow start passes it."""
    for one in (cwnd, max(abe, 2), max(abe + 1, 2)):
        w = window(apogee, reno, abe, mode)
        apogee.star_respond(w, one, min(to, one), False)
        holds = mode == "STAR_CRUISE" and one <= abe
        assert w.mode == getattr(apogee, "STAR_SLOW" if holds else mode)
        if mode != "STAR_START":
            assert apogee.star_cwnd(w) <= one
        if holds:
            assert apogee.star_cwnd(w) == min(to, one)


def test_as_published_a_loss_holds_nothing_back(apogee: Library) -> None:
    w = window(apogee, 10, 99, "STAR_CRUISE")
    apogee.star_respond(w, 10, 10, True)
    assert (w.mode, apogee.star_cwnd(w)) == (apogee.STAR_CRUISE, 100)


# CWS, figure 2


@given(st.integers(1, 999) | st.integers(1, LARGEST), thresholds, st.just(0) | lifts, st.booleans())
def test_cws_is_figure_2(apogee: Library, cwnd: int, ssthresh: int, abe: int, there: bool) -> None:
    """ssthresh = cwnd_abe, without an estimate half as Reno, two segments at least; cwnd keeps its
    value below ssthresh, else it is the new one, though that may be more."""
    ssthresh = cwnd if there else ssthresh
    after = max(abe or cwnd // 2, 2)
    assert apogee.star_cws_ssthresh(window(apogee, max(cwnd - abe, 1), abe), cwnd) == after
    assert apogee.star_cws_cwnd(cwnd, ssthresh, after) == (cwnd if cwnd < ssthresh else after)


# pacing


@given(
    st.integers(2, LARGEST),
    st.integers(88, 65483),
    st.integers(0, 2**32 - 1),
    st.sampled_from([272, 320, 512]),
)
def test_pacing_rate(apogee: Library, cwnd: int, mss: int, rtt_min: int, gain: int) -> None:
    """cwnd * MSS / RTT_min * gain / 256, to 2 B/s; no overflow where it is beyond any path."""
    exact = Fraction(cwnd * mss * 10**6, max(rtt_min, 1)) * gain / 256
    rate = apogee.star_pacing_rate(cwnd, mss, rtt_min, gain)
    assert rate <= exact
    assert exact - rate < 3 or rate > 10**9 or cwnd * mss > 2**40


# congestion, and yielding to it


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_queue_stands_a_sixteenth_above(apogee: Library, rtt: int, rtt_min: int) -> None:
    edge = rtt_min + rtt_min // 16
    for one in (rtt, min(edge, 2**32 - 1), min(edge + 1, 2**32 - 1)):
        assert apogee.star_queue_stands(one, rtt_min) == (one > edge)


def own_share(cwnd: int, rtt: int, rtt_min: int) -> int:
    """cwnd * RTT_min / RTT: what is under way and not in the queue."""
    return math.floor(Fraction(cwnd * rtt_min, rtt)) if rtt > rtt_min else cwnd


def least(cwnd: int, alone: bool) -> int:
    """Reno's half, or three quarters beside others, rounded up, and two."""
    return max(cwnd // 2 if alone else math.ceil(cwnd * Fraction(3, 4)), 2)


cwnds = st.integers(0, LARGEST) | st.integers(0, 50) | st.integers(0, 5000)
times = st.integers(0, 2**32 - 1) | st.integers(400_000, 2_000_000)


@given(cwnds, times, times, st.booleans())
def test_yield_leaves_the_queue_and_keeps_the_share(
    apogee: Library, cwnd: int, rtt: int, rtt_min: int, alone: bool
) -> None:
    """The share and a few segments; never above cwnd, below Reno's half, three quarters or 2."""
    share = own_share(cwnd, rtt, rtt_min)
    few = max(share // 32, min(share // 8, 16))
    wanted = max(min(share + few, cwnd), least(cwnd, alone))
    assert apogee.star_yield(cwnd, rtt, rtt_min, alone) == wanted
    assert wanted <= max(cwnd, 2)


@given(cwnds, times, times, st.booleans())
def test_the_queue_drains_first(
    apogee: Library, cwnd: int, rtt: int, rtt_min: int, alone: bool
) -> None:
    """As far below the share as the window was above; to three quarters of it, and as above."""
    share = own_share(cwnd, rtt, rtt_min)
    begin = apogee.star_drain(cwnd, rtt, rtt_min, alone)
    lowest = share - share // 4
    assert begin == max(share - (cwnd - share), lowest, least(cwnd, alone))
    assert begin <= apogee.star_yield(cwnd, rtt, rtt_min, alone)


# YIELD: how it ends, and how the window grows until then


def waited(clear: int, tries: int, times: int, cwnd: int, abe: int) -> bool:
    """The rounds have passed, 8 or twice as many for each try that failed, 64 at most, or such a
    part of them as the window is of ABE's share, two at least.
    """
    rounds = 8 * 2**tries * times
    part = clear >= 2 * times and clear * abe >= rounds * cwnd
    return clear >= min(rounds, 64) or part


clears = st.integers(0, 64)
failed = st.integers(0, 3)
hundreds = st.integers(1, 8).map(lambda n: 100 * n)


@given(shares | hundreds, lifts | hundreds, clears, failed, st.sampled_from([1, 2]))
def test_rounds_until_a_try_in_whole_numbers(
    apogee: Library, cwnd: int, abe: int, clear: int, tries: int, times: int
) -> None:
    w = yielding(apogee, cwnd, abe, clear=clear, tries=tries)
    assert apogee.star_waited(w, times) == waited(clear, tries, times, max(cwnd, 2), abe)


def test_a_try_that_failed_is_not_made_again_soon(apogee: Library) -> None:
    """The three last ones count: 8, 16, 32 and 64 rounds."""
    w, rounds = yielding(apogee, 100, 100), []
    for _ in range(5):
        rounds.append(min(n for n in range(65) if waited(n, w.tries, 1, 100, 100)))
        apogee.star_try_failed(w)
    assert rounds == [8, 16, 32, 64, 64]


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=200),
    clears,
    failed,
    st.integers(1, 800),
    modes,
)
def test_rounds_without_congestion_are_counted(
    apogee: Library,
    rounds: list[tuple[bool, bool, bool]],
    clear: int,
    tries: int,
    cwnd: int,
    mode: str,
) -> None:
    """One each, two where the queue is seen to be empty, to 64; a queue takes them all away, an
    excess of losses four of them. In YIELD a try ends by that, and the next one is twice as late.
    """
    w = yielding(apogee, cwnd, 400, mode=getattr(apogee, mode), clear=clear, tries=tries)
    now = apogee.star_cwnd(w)
    for queue, losses, empty in rounds:
        tried = mode == "STAR_YIELD" and waited(clear, tries, 1, now, 400)
        apogee.star_watch(w, queue, losses, empty)
        more = min(clear + 1 + empty, 64)
        clear = 0 if queue else max(clear - 4, 0) if losses else more
        if tried and not waited(clear, tries, 1, now, 400):
            tries = min(tries + 1, 3)
        assert (w.clear, w.tries) == (clear, tries)


@pytest.mark.parametrize(
    ("reno", "clear", "holds"),
    [
        # 12 rounds, and more than ABE's share of 413
        (414, 11, True),
        (414, 12, False),
        (413, 12, True),
        (413, 64, True),
        (5000, 11, True),
        (5000, 64, False),
    ],
)
def test_the_answer_to_congestion_lasts(
    apogee: Library, reno: int, clear: int, holds: bool
) -> None:
    """ABE's share comes back when the window has, and not by the clock; the sum stays. Then one
    try that failed is forgotten.
    """
    for tries in range(4):
        w = yielding(apogee, reno, 413, clear=clear, tries=tries)
        assert lwc(apogee, w, 0, 300) == reno
        assert apogee.star_holds(w) == holds
        assert w.cwnd_reno == (reno if holds else reno - 413)
        assert w.tries == (tries if holds else max(tries - 1, 0))


@pytest.mark.parametrize(
    ("held", "empty", "growth"), [(0, False, 12), (1, False, 1), (1, True, 50)]
)
def test_after_a_mark_a_queue_is_not_probed(
    apogee: Library, held: int, empty: bool, growth: int
) -> None:
    """A window of 100 of 400 after 64 rounds: an eighth, one, with an empty queue half."""
    w = yielding(apogee, 100, 400, clear=64, held=held)
    assert apogee.star_yield_growth(w, 100, empty) == growth
    assert apogee.star_yield_divisor(w, empty) == 100 // growth


@given(shares, lifts, clears, failed)
def test_as_published_the_window_ends_the_answer(
    apogee: Library, reno: int, abe: int, clear: int, tries: int
) -> None:
    """Rounds are not judged then, whatever is left of them from coexist=1."""
    w = yielding(apogee, reno, abe, clear=clear, tries=tries)
    assert lwc(apogee, w, 0, 2, published=True) == max(reno, 2)
    assert apogee.star_holds(w) == (not reno > abe > 0)


@given(
    shares | st.integers(1, LARGEST),
    lifts | st.integers(0, LARGEST),
    clears,
    failed,
    st.booleans(),
    st.sampled_from([(False, False), (False, True), (True, False)]),
)
def test_growth_beside_others(
    apogee: Library,
    reno: int,
    abe: int,
    clear: int,
    tries: int,
    alone: bool,
    seen: tuple[bool, bool],
) -> None:
    """Reno's segment a round until a try; then an eighth of the window, or half of it after 24
    rounds without congestion and with an empty queue, two at least, and no more than a quarter of
    what is missing, and one. Alone, twice as late, a sixteenth and one, however much is missing. So
    many ACKs as the divisor says make a segment, and one less makes none.
    """
    queue, empty = seen
    w = yielding(apogee, reno, abe, clear=clear, tries=tries, alone=alone)
    cwnd, divisor = max(reno, 2), apogee.star_yield_divisor(w, empty)
    per_round = 1
    if alone and waited(clear, tries, 2, cwnd, abe):
        per_round = cwnd // 16 + 1
    elif cwnd < abe and waited(clear, tries, 1, cwnd, abe):
        part = 2 if empty and clear >= 24 else 8
        per_round = min(max(cwnd // part, 2), (abe - cwnd) // 4 + 1)
    assert divisor == math.floor(Fraction(cwnd, per_round))
    assert min(2 if empty else 8, cwnd // 2) <= divisor <= cwnd
    if clear < 12 or reno <= abe:  # else YIELD ends
        for acked, gained in ((divisor - 1, 0), (divisor, 1)):
            w.cwnd_reno, w.cwnd_cnt = reno, 0
            lwc(apogee, w, acked, 1, queue=queue, empty=empty)
            assert w.cwnd_reno == min(reno + gained, LARGEST)


# START: whether the estimate still grows


def scale(n: int) -> tuple[int, int]:
    """The power of two that is not above it, and how many of its quarters are there."""
    power = max(n.bit_length() - 1, 2)
    return (power, 4 * n // 2**power)


def test_a_growth_by_a_quarter_has_another_scale(apogee: Library) -> None:
    """Numbers keep their order, and only those of one quarter of an octave are equal: what is a
    quarter larger, and another number, is more. All small ones, and beside each edge up to 2^30.
    """
    edges = {quarters << power for power in range(1, 29) for quarters in (4, 5, 6, 7)}
    near = {edge + beside for edge in edges for beside in (-1, 0, 1)}
    numbers = sorted({*range(512), *near, LARGEST})
    assert all(scale(max(n + math.ceil(n / 4), n + 1)) > scale(n) for n in numbers)
    for one, other in pairwise(numbers):
        more = apogee.star_scale(other) - apogee.star_scale(one)
        assert more == (scale(other) > scale(one)), (one, other)


@given(st.lists(st.integers(0, 2000) | st.integers(0, LARGEST), max_size=30))
def test_rounds_in_which_the_estimate_has_not_grown(apogee: Library, estimates: list[int]) -> None:
    """To three. An estimate that falls and comes back has not grown."""
    w, grown, flat = window(apogee, 10, 0, "STAR_START"), 0, 0
    for abe in estimates:
        w.cwnd_abe = abe
        apogee.star_watch_start(w)
        flat = 0 if scale(abe) > scale(grown) else min(flat + 1, 3)
        grown = max(grown, abe)
        assert (w.flat, w.mode, w.cwnd_reno) == (flat, apogee.STAR_START, 10)
