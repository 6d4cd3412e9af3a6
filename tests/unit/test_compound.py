# SPDX-License-Identifier: GPL-2.0
"""Compound TCP and Compound TCP+: powers, Diff, both windows, beside the paper's equations."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .cheaders import Library

U32_MAX = 2**32 - 1
ONE = 256  # a segment
PLAIN, TWO_THIRDS, HALF_LESS, HOLD = 0, 2, 3, 4

segments = st.integers(1, 100) | st.integers(1, 2**20) | st.integers(1, 2**31 - 1)
fixed = st.integers(0, 100 * ONE) | st.integers(0, 2**20 * ONE) | st.integers(0, 2**40)
times = st.integers(1, 1000) | st.integers(1, 10_000_000) | st.integers(1, U32_MAX)
permille = st.integers(1, 1000)


def rules(apogee: Library, **given_: Any) -> Any:
    paper = {"gamma": 30, "alpha": 125, "beta": 500, "k": 750, "zeta": 1000, "rule": HALF_LESS}
    return apogee.new("compound_rules", **{**paper, **given_})


def windows(apogee: Library, cwnd: int, dwnd: int = 0) -> Any:
    return apogee.new("compound_windows", cwnd=cwnd, dwnd=dwnd)


# --- swnd^k -----------------------------------------------------------------------------------


def test_the_roots_of_two(apogee: Library) -> None:
    """Exponent 23 makes the result's unit that of the table."""
    with localcontext() as context:
        context.prec = 60
        for i in range(1, 25):
            root = Decimal(2) ** (Decimal(1) / 2**i)
            assert apogee.compound_exp2((23 << 24) + (1 << (24 - i))) == int(root * 2**31)


@given(segments | st.integers(1, U32_MAX))
def test_the_logarithm(apogee: Library, x: int) -> None:
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(x).ln() / Decimal(2).ln() * 2**24
    assert exact - 2 < apogee.compound_log2(x) <= exact


@given(segments | st.integers(1, U32_MAX), permille)
def test_a_power_is_within_its_bound(apogee: Library, swnd: int, k: int) -> None:
    """Never above, and below by no more than 2^-22 of it and the rounding."""
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(swnd) ** (Decimal(k) / 1000) * ONE
    assert exact * (1 - Decimal(2) ** -22) - 1 < apogee.compound_power(swnd, k) <= exact


@given(segments)
def test_three_quarters_in_integers(apogee: Library, swnd: int) -> None:
    """r = 256 swnd^(3/4) means r^4 = 256^4 swnd^3."""
    found = apogee.compound_power(swnd, 750)
    assert found**4 <= ONE**4 * swnd**3 < ((found + 1) * (1 + Fraction(1, 2**22))) ** 4


@pytest.mark.parametrize(
    ("swnd", "k", "power"),
    [(0, 750, 0), (1, 750, 1), (16, 750, 8), (256, 750, 64), (2**20, 750, 2**15)]
    + [(2**31, 1000, 2**31), (16, 250, 2), (16, 500, 4), (2**20, 500, 1024)],
)
def test_powers_that_are_exact(apogee: Library, swnd: int, k: int, power: int) -> None:
    assert apogee.compound_power(swnd, k) == power * ONE


# --- the delay window's increase, Diff --------------------------------------------------------


@pytest.mark.parametrize("swnd", range(17))
def test_the_smallest_windows_have_no_increase(apogee: Library, swnd: int) -> None:
    """alpha swnd^(3/4) is 1 at 16 segments."""
    assert apogee.compound_increase(swnd, 125, 750) == 0


@pytest.mark.parametrize(
    ("swnd", "alpha", "k", "increase"),
    # 81^(3/4) = 27, 625^(3/4) = 125, 10^4 -> 1000, 10^6 -> 31622.78, 2^20 -> 32768
    [(81, 125, 750, 2.375), (625, 125, 750, 14.625), (10_000, 125, 750, 124)]
    + [(1_000_000, 125, 750, 3951.847), (2**20, 125, 750, 4095), (17, 125, 750, 0.046534)]
    + [(10_000, 1000, 500, 99), (10_000, 1000, 1000, 9999), (10_000, 1, 750, 0)],
)
def test_the_increase_by_hand(
    apogee: Library, swnd: int, alpha: int, k: int, increase: float
) -> None:
    found = apogee.compound_increase(swnd, alpha, k) / ONE
    assert found == pytest.approx(increase, rel=1e-6, abs=1 / ONE)


@given(segments, permille, permille)
def test_the_increase(apogee: Library, swnd: int, alpha: int, k: int) -> None:
    exact = max(alpha / 1000 * swnd ** (k / 1000) - 1, 0)
    assert apogee.compound_increase(swnd, alpha, k) / ONE == pytest.approx(
        exact, rel=1e-6, abs=1e-2
    )


@given(st.integers(0, U32_MAX), st.integers(0, U32_MAX), st.integers(0, U32_MAX))
def test_diff_is_equation_1_rounded_down(apogee: Library, swnd: int, base: int, rtt: int) -> None:
    exact = Fraction(swnd * (rtt - base), rtt) if rtt > base else Fraction(0)
    assert apogee.compound_diff(swnd, base, rtt) == math.floor(exact * ONE)


@given(st.integers(1, 2**20), st.integers(1, 10_000_000), st.integers(1, 10_000_000))
def test_diff_as_the_paper_writes_it(apogee: Library, swnd: int, base: int, more: int) -> None:
    rtt = base + more
    exact = (swnd / base - swnd / rtt) * base
    assert apogee.compound_diff(swnd, base, rtt) / ONE == pytest.approx(exact, abs=1 / ONE + 1e-6)


@pytest.mark.parametrize(
    ("swnd", "base", "rtt", "diff"),
    [(100, 120_000, 120_000, 0), (100, 120_000, 119_999, 0), (100, 120_000, 240_000, 50)]
    + [(2**20, 1, 10_000_000, 2**20 - 0.1048576), (1, 120_000, 160_000, 0.25)]
    # 100 Gbit/s and 2 s: 17.3 million segments
    + [(17_265_193, 1_000_000, 2_000_000, 8_632_596.5), (100, 0, 0, 0)],
)
def test_diff_by_hand(apogee: Library, swnd: int, base: int, rtt: int, diff: float) -> None:
    assert apogee.compound_diff(swnd, base, rtt) == math.floor(diff * ONE)


@given(st.integers(1, 65535))
def test_gamma_itself_is_crowded(apogee: Library, gamma: int) -> None:
    which = rules(apogee, gamma=gamma)
    assert apogee.compound_crowded(which, gamma * ONE)
    assert not apogee.compound_crowded(which, gamma * ONE - 1)


@given(times, st.lists(times, min_size=1))
def test_base_rtt_is_the_smallest(apogee: Library, first: int, later: list[int]) -> None:
    base = apogee.new("compound_base")
    for rtt in (first, *later):
        apogee.compound_base_update(base, rtt)
    assert base.rtt_us == min(first, *later)


# --- windows by round trip --------------------------------------------------------------------


@given(fixed, segments, fixed, st.integers(1, 65535), st.integers(1, 10_000), st.booleans())
def test_the_delay_window(
    apogee: Library, dwnd: int, swnd: int, diff: int, gamma: int, zeta: int, may_grow: bool
) -> None:
    """It grows by the increase below gamma, and gives way by zeta Diff from there, not below 0."""
    which = rules(apogee, gamma=gamma, zeta=zeta)
    found = apogee.compound_delay_window(which, dwnd, swnd, diff, may_grow)
    if diff < gamma * ONE:
        assert found == dwnd + (apogee.compound_increase(swnd, 125, 750) if may_grow else 0)
    else:
        assert found == max(dwnd - zeta * diff // 1000, 0)


@pytest.mark.parametrize(
    ("dwnd", "diff", "zeta", "left"),
    [(100, 30, 1000, 70), (100, 30, 500, 85), (30, 30, 1000, 0), (29, 30, 1000, 0), (0, 40, 1, 0)],
)
def test_giving_way_by_hand(apogee: Library, dwnd: int, diff: int, zeta: int, left: int) -> None:
    which = rules(apogee, zeta=zeta)
    found = apogee.compound_delay_window(which, dwnd * ONE, 200, diff * ONE, True)
    assert found == left * ONE


@pytest.mark.parametrize("rule", [PLAIN, TWO_THIRDS, HALF_LESS, HOLD])
@pytest.mark.parametrize("letter", [False, True])
@pytest.mark.parametrize(
    ("dwnd", "diff"), [(0, 0), (0, 30 * ONE - 1), (0, 30 * ONE), (1, 99 * ONE)]
)
def test_when_the_loss_window_is_held(
    apogee: Library, rule: int, letter: bool, dwnd: int, diff: int
) -> None:
    """Never by Compound TCP; else with dwnd = 0, and Diff >= gamma unless to the letter."""
    held = apogee.compound_held(rules(apogee, rule=rule, letter=letter), dwnd, diff)
    assert held == (rule != PLAIN and dwnd == 0 and (letter or diff == 30 * ONE))


def test_a_small_flow_shrinks_for_ever_by_the_letter_only(apogee: Library) -> None:
    """16 segments on an empty path: no increase, so dwnd stays 0."""
    for letter, left in ((True, 2 * ONE), (False, 16 * ONE)):
        which = rules(apogee, letter=letter)
        cwnd, dwnd = 16 * ONE, 0
        for _ in range(100):
            dwnd = apogee.compound_delay_window(which, dwnd, cwnd // ONE, 0, True)
            if apogee.compound_held(which, dwnd, 0):
                cwnd = apogee.compound_loss_window(HALF_LESS, cwnd)
        assert (cwnd, dwnd) == (left, 0)


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [(TWO_THIRDS, 30, 20), (TWO_THIRDS, 31, 21), (TWO_THIRDS, 32, 22), (TWO_THIRDS, 9.5, 7)]
    + [(TWO_THIRDS, 4, 3), (TWO_THIRDS, 3, 2), (TWO_THIRDS, 2.5, 2), (TWO_THIRDS, 2, 2)]
    + [(HALF_LESS, 10, 9.5), (HALF_LESS, 9.5, 9), (HALF_LESS, 2.5, 2), (HALF_LESS, 2.25, 2)]
    + [(HALF_LESS, 2, 2), (HOLD, 10, 10), (HOLD, 2.5, 2.5), (HOLD, 1, 1)]
    + [(TWO_THIRDS, 1, 1), (HALF_LESS, 1.5, 1.5), (TWO_THIRDS, 2**20, 699_051)],
)
def test_the_rules_by_hand(apogee: Library, rule: int, before: float, after: float) -> None:
    assert apogee.compound_loss_window(rule, int(before * ONE)) == after * ONE


@given(st.sampled_from([TWO_THIRDS, HALF_LESS, HOLD]), fixed)
def test_no_rule_raises_the_window_or_leads_below_two(
    apogee: Library, rule: int, cwnd: int
) -> None:
    found = apogee.compound_loss_window(rule, cwnd)
    assert min(cwnd, 2 * ONE) <= found <= cwnd


def test_rule_3_takes_a_segment_every_other_round_trip(apogee: Library) -> None:
    """The ceiling is of what is sent."""
    cwnd, sent = 10 * ONE, []
    for _ in range(6):
        cwnd = apogee.compound_loss_window(HALF_LESS, cwnd)
        sent.append(apogee.compound_sent(windows(apogee, cwnd)))
    assert sent == [10, 9, 9, 8, 8, 7]


# --- both windows and the stack's -------------------------------------------------------------


@given(fixed, fixed)
def test_what_is_sent_is_the_sum_rounded_up(apogee: Library, cwnd: int, dwnd: int) -> None:
    found = apogee.compound_sent(windows(apogee, cwnd, dwnd))
    assert found == min(math.ceil(Fraction(cwnd + dwnd, ONE)), 2**31 - 1)


@given(st.integers(ONE, 2**38), st.integers(0, 2**38), segments)
def test_the_windows_follow_the_stack(apogee: Library, cwnd: int, dwnd: int, swnd: int) -> None:
    """Growth is cwnd's; what is taken, dwnd gives first; fractions stay."""
    both = windows(apogee, cwnd, dwnd)
    sent = apogee.compound_sent(both)
    apogee.compound_follow(both, swnd)
    assert apogee.compound_sent(both) == swnd
    change = (swnd - sent) * ONE
    from_dwnd = max(change, -dwnd) if change < 0 else 0
    assert (both.cwnd, both.dwnd) == (cwnd + change - from_dwnd, dwnd + from_dwnd)


@pytest.mark.parametrize(
    ("cwnd", "dwnd", "beta", "after"),
    [(20, 20, 500, (10, 10)), (20, 0, 500, (10, 0)), (21, 0, 500, (10, 0)), (21, 20, 500, (10, 10))]
    # 40 (1 - 1/8) = 35; 40 (1 - 3/4) = 10, which is no more than half of cwnd
    + [(20, 20, 125, (10, 25)), (20, 20, 750, (10, 0)), (20.5, 0, 500, (10, 0))]
    + [(3, 0, 500, (2, 0)), (1, 0, 500, (2, 0)), (2, 9, 500, (2, 3)), (9, 2.75, 1, (4, 7))]
    + [(100, 2**20, 500, (50, 524_288))],
)
def test_a_loss_by_hand(
    apogee: Library, cwnd: float, dwnd: float, beta: int, after: tuple[int, int]
) -> None:
    both = windows(apogee, int(cwnd * ONE), int(dwnd * ONE))
    apogee.compound_loss(both, beta)
    assert (both.cwnd / ONE, both.dwnd / ONE) == after


@given(st.integers(4 * ONE, 2**40), fixed, st.integers(1, 999))
def test_a_loss(apogee: Library, cwnd: int, dwnd: int, beta: int) -> None:
    """cwnd / 2 and (swnd (1 - beta) - cwnd / 2)+, within the rounding down to segments."""
    both = windows(apogee, cwnd, dwnd)
    apogee.compound_loss(both, beta)
    assert both.cwnd == cwnd // (2 * ONE) * ONE
    exact = max((cwnd + dwnd) * (1000 - beta) / 1000 - cwnd / 2, 0)
    assert both.dwnd == pytest.approx(exact, rel=1e-9, abs=ONE)


# --- round after round ------------------------------------------------------------------------


class Paper:
    """The paper's equations in floating point: one flow, a path that holds ``holds`` packets."""

    def __init__(self, holds: float, rule: int, cwnd: float) -> None:
        self.holds, self.rule, self.cwnd, self.dwnd = holds, rule, cwnd, 0.0

    def round(self) -> None:
        swnd = self.cwnd + self.dwnd
        diff = max(swnd - self.holds, 0)  # RTT = baseRTT swnd / holds
        if diff < 30:
            self.dwnd += max(swnd**0.75 / 8 - 1, 0)
        else:
            self.dwnd = max(self.dwnd - diff, 0)
        if self.rule == PLAIN or self.dwnd > 0 or diff < 30:
            self.cwnd += 1
        elif self.rule == TWO_THIRDS:
            self.cwnd = max(math.ceil(self.cwnd * 2 / 3), 2)
        elif self.rule == HALF_LESS:
            self.cwnd = max(self.cwnd - 0.5, 2)


@pytest.mark.parametrize("rule", [PLAIN, TWO_THIRDS, HALF_LESS, HOLD])
@pytest.mark.parametrize(("holds", "start"), [(200, 40), (200, 400), (6000, 100), (5, 90)])
def test_round_trips_beside_the_paper(apogee: Library, rule: int, holds: int, start: int) -> None:
    """Thirty round trips, in which rounding has not yet led to another decision."""
    paper = Paper(holds, rule, start)
    which, both = rules(apogee, rule=rule), windows(apogee, start * ONE)
    base = 1_000_000
    for _ in range(30):
        exact = (both.cwnd + both.dwnd) / ONE
        rtt = max(base, round(base * exact / holds))
        # Diff of the window with its fraction, as the paper has it.
        diff = math.floor(exact * (rtt - base) / rtt * ONE)
        swnd = apogee.compound_sent(both)
        assert abs(apogee.compound_diff(swnd, base, rtt) - diff) <= ONE
        both.dwnd = apogee.compound_delay_window(which, both.dwnd, swnd, diff, True)
        if apogee.compound_held(which, both.dwnd, diff):
            both.cwnd = apogee.compound_loss_window(rule, both.cwnd)
        else:
            both.cwnd += ONE
        paper.round()
        assert both.cwnd / ONE == pytest.approx(paper.cwnd, abs=1.01)
        assert both.dwnd / ONE == pytest.approx(paper.dwnd, rel=0.01, abs=2)
