# SPDX-License-Identifier: GPL-2.0
"""Compound TCP and Compound TCP+: powers, Diff, both windows, beside the paper's equations."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
ONE = 256  # a segment
PLAIN, TWO_THIRDS, HALF_LESS, HOLD = 0, 2, 3, 4

segments = st.integers(1, 100) | st.integers(1, 2**20) | st.integers(1, 2**31 - 1)
fixed = st.integers(0, 100 * ONE) | st.integers(0, 2**20 * ONE) | st.integers(0, 2**40)
times = st.integers(1, 1000) | st.integers(1, 10_000_000) | st.integers(1, U32_MAX)
permille = st.integers(1, 1000)


def rules(apogee: Library, **given_: Any) -> Any:
    """The paper's, with no excess."""
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


@given(segments, permille, permille)
def test_the_increase(apogee: Library, swnd: int, alpha: int, k: int) -> None:
    exact = max(alpha / 1000 * swnd ** (k / 1000) - 1, 0)
    assert apogee.compound_increase(swnd, alpha, k) / ONE == pytest.approx(
        exact, rel=1e-6, abs=1e-2
    )


@given(st.integers(0, U32_MAX), times | st.just(0), times | st.just(0))
def test_diff_is_equation_1_rounded_down(apogee: Library, swnd: int, base: int, rtt: int) -> None:
    exact = Fraction(swnd * (rtt - base), rtt) if rtt > base else Fraction(0)
    assert apogee.compound_diff(swnd, base, rtt) == math.floor(exact * ONE)


@given(st.integers(1, 65535))
def test_gamma_itself_is_crowded(apogee: Library, gamma: int) -> None:
    which = rules(apogee, gamma=gamma)
    assert apogee.compound_crowded(which, gamma * ONE)
    assert not apogee.compound_crowded(which, gamma * ONE - 1)


# --- windows by round trip --------------------------------------------------------------------


@given(fixed, segments, fixed, st.integers(1, 65535), st.integers(1, 10_000), st.booleans())
def test_the_delay_window(
    apogee: Library, dwnd: int, swnd: int, diff: int, gamma: int, zeta: int, may_grow: bool
) -> None:
    """It grows by the increase below gamma, and shrinks by zeta Diff from there, not below 0."""
    which = rules(apogee, gamma=gamma, zeta=zeta)
    found = apogee.compound_delay_window(which, dwnd, swnd, diff, may_grow)
    if diff < gamma * ONE:
        assert found == dwnd + (apogee.compound_increase(swnd, 125, 750) if may_grow else 0)
    else:
        assert found == max(dwnd - zeta * diff // 1000, 0)


@pytest.mark.parametrize("rule", [PLAIN, TWO_THIRDS, HALF_LESS, HOLD])
@pytest.mark.parametrize("letter", [False, True])
@pytest.mark.parametrize(
    ("dwnd", "diff"), [(0, 0), (0, 30 * ONE - 1), (0, 30 * ONE), (1, 99 * ONE)]
)
def test_when_the_loss_window_is_held(
    apogee: Library, rule: int, letter: bool, dwnd: int, diff: int
) -> None:
    """Never by Compound TCP; else with dwnd = 0, and Diff >= gamma unless letter is set."""
    held = apogee.compound_held(rules(apogee, rule=rule, letter=letter), dwnd, diff)
    assert held == (rule != PLAIN and dwnd == 0 and (letter or diff == 30 * ONE))


def by_rule(rule: int, cwnd: Fraction) -> Fraction:
    """Equations 2 to 4, of a window in segments."""
    if rule == TWO_THIRDS:
        return Fraction(math.ceil(cwnd * 2 / 3))
    return cwnd - Fraction(1, 2) if rule == HALF_LESS else cwnd


@given(
    st.sampled_from([TWO_THIRDS, HALF_LESS, HOLD]),
    st.integers(2 * ONE + 1, 2**20 * ONE) | fixed,
    fixed,
    st.integers(1, 65535),
    st.integers(0, 1000),
)
def test_what_exceeds_gamma_is_taken_as_well(
    apogee: Library, rule: int, cwnd: int, diff: int, gamma: int, excess: int
) -> None:
    """By the rule, less a part of Diff - gamma, not below 2: the product is rounded down. A window
    of two and less stays."""
    which = rules(apogee, rule=rule, gamma=gamma, excess=excess)
    found = apogee.compound_loss_window(which, cwnd, diff)
    over = math.floor(max(diff - gamma * ONE, 0) * Fraction(excess, 1000))
    exact = by_rule(rule, Fraction(cwnd, ONE)) * ONE - over
    assert found == (max(exact, 2 * ONE) if cwnd > 2 * ONE else cwnd)


@given(st.just(0) | segments, st.integers(0, 2 * ONE), st.integers(1, 65535))
def test_the_window_that_leaves_gamma(apogee: Library, swnd: int, part: int, gamma: int) -> None:
    """swnd - Diff + gamma, rounded down; more than the whole window waits: all of it."""
    diff = swnd * part
    found = apogee.compound_fitted(rules(apogee, gamma=gamma), swnd, diff)
    exact = math.floor(max(swnd - Fraction(diff, ONE), 0) + gamma)
    assert found == min(max(exact, 2), 2**31 - 1)


# --- both windows and the stack's -------------------------------------------------------------


@given(fixed, fixed)
def test_what_is_sent_is_the_sum_rounded_up(apogee: Library, cwnd: int, dwnd: int) -> None:
    found = apogee.compound_sent(windows(apogee, cwnd, dwnd))
    assert found == min(math.ceil(Fraction(cwnd + dwnd, ONE)), 2**31 - 1)


@given(st.integers(ONE, 2**38), st.integers(0, 2**38 - ONE), segments)
@example(cwnd=2**38, dwnd=2**38 - ONE, swnd=1)
def test_the_windows_follow_the_stack(apogee: Library, cwnd: int, dwnd: int, swnd: int) -> None:
    """Growth is cwnd's; what is taken, dwnd gives first; fractions stay; up to the largest swnd."""
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


@pytest.mark.parametrize(
    ("now", "flight", "beta", "after"),
    # Lowered from 160: half of it is less than 87, but not less than 50; 1/8 leaves 140.
    [((87, 0), 160, 500, (80, 0)), ((50, 0), 160, 500, (50, 0)), ((87, 0), 160, 125, (87, 0))]
    # Not lowered at all: as any loss. What has grown beside goes first.
    + [((160, 0), 160, 500, (80, 0)), ((85, 4), 160, 500, (80, 0)), ((70, 20), 160, 500, (70, 10))],
)
def test_a_flight_is_answered_once(
    apogee: Library, now: tuple[int, int], flight: int, beta: int, after: tuple[int, int]
) -> None:
    both = windows(apogee, now[0] * ONE, now[1] * ONE)
    apogee.compound_loss_once(both, flight, beta)
    assert (both.cwnd / ONE, both.dwnd / ONE) == after


@given(
    st.integers(2 * ONE, 2**38),
    st.integers(0, 2**38),
    st.integers(1, 2**31 - 1),
    st.integers(1, 999),
)
def test_a_flight_is_answered_by_its_own_loss(
    apogee: Library, cwnd: int, dwnd: int, flight: int, beta: int
) -> None:
    both, alone = windows(apogee, cwnd, dwnd), windows(apogee, flight * ONE)
    sent = apogee.compound_sent(both)
    apogee.compound_loss(alone, beta)
    apogee.compound_loss_once(both, flight, beta)
    assert apogee.compound_sent(both) == min(sent, apogee.compound_sent(alone))
    assert both.cwnd <= cwnd


# --- round after round ------------------------------------------------------------------------


# --- baseRTT, and dips to learn it ------------------------------------------------------------

rtts = st.integers(1, 1000) | st.integers(1, 10_000_000)  # 1 us to 10 s
clocks = st.integers(0, U32_MAX)


def known(apogee: Library, rtt: int = 0, **more: int) -> Any:
    """struct compound_base, with baseRTT."""
    return apogee.new("compound_base", rtt_us=rtt, **more)


def edges(rtt: int, part: Fraction) -> tuple[int, int]:
    """What is a part of an RTT and no more, and a microsecond longer."""
    edge = max(math.floor(rtt * part), 1)
    return edge, edge + 1


def near(rtt: int, base: int) -> bool:
    return Fraction(rtt, base) <= Fraction(9, 8)


@given(st.integers(1, U32_MAX), st.integers(1, U32_MAX))
def test_near_is_an_eighth(apogee: Library, base: int, rtt: int) -> None:
    for one in (rtt, *(min(base * 9 // 8 + more, U32_MAX) for more in (0, 1))):
        assert apogee.compound_base_near(known(apogee, base), one) == near(one, base)


@given(times, st.lists(times, min_size=1))
def test_base_rtt_is_the_smallest(apogee: Library, first: int, later: list[int]) -> None:
    base = known(apogee)
    for rtt in (first, *later):
        apogee.compound_base_update(base, rtt, 0)
    assert base.rtt_us == min(first, *later)


@given(rtts, rtts, clocks)
def test_seeing_base_rtt_forgets_the_dips(apogee: Library, rtt: int, before: int, now: int) -> None:
    base = known(apogee, before, seen_ms=now ^ 1, least_us=7, unseen=3)
    apogee.compound_base_update(base, rtt, now)
    assert base.rtt_us == min(rtt, before)
    seen = near(rtt, base.rtt_us)
    assert (base.seen_ms == now, base.least_us, base.unseen) == (
        seen,
        *((0, 0) if seen else (7, 3)),
    )


@pytest.mark.parametrize("doubled", range(4))
@pytest.mark.parametrize("longest", [1000, 20_000, 600_000, 7, 1])
def test_periods(apogee: Library, longest: int, doubled: int) -> None:
    """An eighth at first, the longest after three times; a millisecond at least."""
    found = apogee.compound_period_ms(known(apogee, doubled=doubled), longest)
    assert found == max(math.floor(longest * Fraction(2**doubled, 8)), 1)


@given(st.integers(0, U64_MAX))
def test_phases(apogee: Library, address: int) -> None:
    assert apogee.compound_phase_ms(address) == address * 0x9E3779B97F4A7C15 % 2**64 >> 32


@pytest.mark.parametrize("step", [1, 2, 0x100, 0x10000, 0x1000000])
def test_phases_of_like_addresses_are_spread(apogee: Library, step: int) -> None:
    """A vendor's 400 next addresses in eighths of 20 s: 50 in each, within five standard
    deviations (6.6) of what chance would do."""
    found = [apogee.compound_phase_ms(0x0200_5E10_0000 + step * n) % 20_000 for n in range(400)]
    eighths = [sum(each * 8 // 20_000 == n for each in found) for n in range(8)]
    assert max(abs(count - 50) for count in eighths) < 33


@given(st.integers(0, 2**42), st.integers(0, U32_MAX), st.integers(1, 600_000))
def test_a_period_is_as_long_as_it_is_wherever_it_begins(
    apogee: Library, now: int, phase: int, length: int
) -> None:
    """A begin is at a multiple when shifted, not ahead, and less than a length ago."""
    start = apogee.compound_period_start_ms(now, phase, length)
    since = (now - start) % 2**32
    assert since < length
    assert (now - since + phase) % length == 0


@given(clocks, clocks | st.sampled_from([0, 1, 2**31 - 1, 2**31, U32_MAX]))
def test_a_period_begins_modulo_2_32(apogee: Library, before: int, ahead: int) -> None:
    """Later by less than half of the circle is a new one, earlier is none; and it begins once."""
    base, later = known(apogee, period_ms=before), (before + ahead) % 2**32
    assert apogee.compound_period_begins(base, later) == (0 < ahead < 2**31)
    assert base.period_ms == later
    assert not apogee.compound_period_begins(base, later)


@given(
    st.integers(0, 2**42),
    st.sampled_from([1, 7, 313, 2500]),
    st.lists(st.tuples(st.integers(1, 4000), st.booleans()), max_size=50),
)
def test_periods_begin_at_their_multiples(
    apogee: Library, clock: int, first: int, steps: list[tuple[int, bool]]
) -> None:
    """A doubled period began before and is none; the next multiple of it is the next one."""
    length, newest = first, clock // first * first
    base = known(apogee, period_ms=newest % 2**32)
    for step, double in steps:
        clock += step
        if double and length < 8 * first:
            length *= 2
        start = clock // length * length
        assert apogee.compound_period_begins(base, start % 2**32) == (start > newest)
        newest = start


PERIOD = 2500


def due(
    base: Any, apogee: Library, rtt: int, now: int, begins: bool = False, length: int = PERIOD
) -> bool:
    return apogee.compound_dip_due(base, rtt, now & U32_MAX, length, begins)


@given(
    rtts, rtts, clocks, st.integers(0, 2**31), st.integers(1, 600_000), st.booleans(),
    st.booleans(), st.integers(0, 3),
)  # fmt: skip
def test_due(
    apogee: Library, rtt: int, mean: int, seen: int, since: int, length: int, begins: bool,
    sure: bool, doubled: int,
) -> None:  # fmt: skip
    """As a period begins from three tenths of it after baseRTT was last seen; where the RTT falls
    by 5 % below its moving mean, while it learns at once. Left out where rounding could decide.
    """
    edge = math.ceil(length * Fraction(3, 10))
    for waited in (since, edge, edge - 1):
        base = known(apogee, 1, seen_ms=seen, mean_us=mean, sure=sure, doubled=doubled)
        found = due(base, apogee, rtt, seen + waited, begins, length)
        exact = Fraction(3, 4) * mean + Fraction(1, 4) * rtt
        assert abs(base.mean_us - exact) < 1
        if abs(rtt - exact * Fraction(19, 20)) > 1:
            falls = rtt < exact * Fraction(19, 20)
            missed = waited >= length * Fraction(3, 10)
            learns = not sure and doubled < 3
            assert found == ((missed and begins) or ((missed or learns) and falls))


def test_the_first_rtt_is_its_own_mean(apogee: Library) -> None:
    base = known(apogee, 100_000)
    assert not due(base, apogee, 200_000, 10_000)
    assert base.mean_us == 200_000


@given(st.integers(0, 2**31 - 1) | st.integers(0, 50), st.just(0) | rtts, rtts, st.integers(1, 5))
def test_the_bounds_of_a_dip(
    apogee: Library, swnd: int, base_rtt: int, rtt: int, left: int
) -> None:
    """Half, then a quarter of what fills the path; 10 at least, as far as the window allows."""
    base = known(apogee, base_rtt)
    assert apogee.compound_dip_begin(base, swnd, rtt) == min(swnd, max(swnd // 2, 10))
    assert (base.rounds, base.before_us) == (5, rtt)
    base.rounds = left
    part = Fraction(1, 2)
    if left <= 2:
        part = min(part, Fraction(base_rtt, max(rtt, base_rtt)) / 4)
    assert apogee.compound_dip_window(base, swnd) == min(swnd, max(math.floor(swnd * part), 10))


@given(
    rtts,
    rtts,
    rtts,
    st.just(0) | rtts,
    st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(0, 3), st.booleans()),
    clocks,
)
def test_a_round_trip_of_a_dip(
    apogee: Library,
    base_rtt: int,
    before: int,
    seen: int,
    least: int,
    state: tuple[int, int, int, bool],
    now: int,
) -> None:
    """The dip is deep, for two round trips, as soon as the RTT has fallen by an eighth, and given
    up after the third if it has not; half the window is enough where baseRTT is sure and near.

    A baseRTT far below the known one, less than 8/9, is not sure, and the period is the shortest
    again; the last round trip of a whole dip decides that. A dip that ends doubles the period.
    After four that have not seen baseRTT it is the least RTT since.
    """
    rounds, unseen, doubled, sure = state
    for rtt in (seen, *edges(base_rtt, Fraction(9, 8)), *edges(base_rtt, Fraction(8, 9)),
                *edges(before, Fraction(7, 8))):  # fmt: skip
        base = known(apogee, base_rtt, before_us=before, least_us=least, mean_us=1, seen_ms=now ^ 1,
                     rounds=rounds, unseen=unseen, doubled=doubled, sure=sure)  # fmt: skip
        over = apogee.compound_dip_round(base, rtt, now)
        teaches, path = rtt < Fraction(8, 9) * base_rtt, min(base_rtt, rtt)
        found = near(rtt, path)
        is_sure = found if rounds == 1 else sure and not teaches
        since, count = (0, 0) if found else (min(least or rtt, rtt), unseen)
        left = rounds - 1
        if left >= 2:
            fallen = rtt <= Fraction(7, 8) * before
            left = 0 if is_sure and found else 2 if fallen else left if left > 2 else 0
        times = 0 if teaches else doubled
        if not left:
            times = min(times + 1, 3)
            count += bool(since)
            if count == 4:
                path, since, count, is_sure = since, 0, 0, False
        assert (over, base.rounds) == (not left, left)
        assert (base.rtt_us, base.least_us, base.unseen) == (path, since, count)
        assert (base.sure, base.doubled) == (is_sure, times)
        assert base.seen_ms == (now if found or over else now ^ 1)
        assert base.mean_us == (0 if over else 1)


@pytest.mark.parametrize("rounds", range(6))
def test_the_end_of_a_dip(apogee: Library, rounds: int) -> None:
    """Also one that a loss cuts short: what it has learnt is kept, and it counts for nothing."""
    base = known(
        apogee, 7, mean_us=9, before_us=8, least_us=6, seen_ms=5, rounds=rounds, unseen=2, doubled=1
    )
    apogee.compound_dip_end(base, U32_MAX)
    assert (base.rounds, base.seen_ms, base.mean_us) == (0, U32_MAX, 0)
    assert (base.rtt_us, base.least_us, base.unseen, base.doubled) == (7, 6, 2, 1)
