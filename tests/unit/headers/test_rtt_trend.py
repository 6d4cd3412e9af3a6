# SPDX-License-Identifier: GPL-2.0
"""The test of the RTT's trend against scipy: verdicts, false alarms, and the fitted change.

Times t and RTTs d are in us; T is the test's statistic, without a unit.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

import student_table
from tests.unit.headers.cheaders import Library

NONE, RISING, FALLING = range(3)
# enum rtt_trend_level in its order: the chance of a false alarm on one side.
LEVELS = [0.1, 0.05, 0.01, 0.001]
FIVE_PERCENT = 1
SAMPLES_MAX = 2**20
SPAN_MAX = 2**31
RTT_MAX = 10_000_000


def feed(apogee: Library, t: Sequence[int], d: Sequence[int]) -> Any:
    """A window of these samples."""
    window, sample = apogee.new("rtt_trend"), apogee.rtt_trend_sample
    for now, rtt in zip(t, d, strict=True):
        sample(window, now, rtt)
    return window


def statistic(t: Sequence[int], d: Sequence[int]) -> float:
    """T of the correlation of t and d, by scipy; 0 where either is constant."""
    # From the first sample on, so that a double holds the differences exactly.
    t0, d0 = np.array(t, float) - t[0], np.array(d, float) - d[0]
    if not t0.any() or not d0.any():
        return 0.0
    r = stats.linregress(t0, d0).rvalue
    return math.inf * r if abs(r) >= 1 else r * math.sqrt((len(t) - 2) / (1 - r * r))


def margin(n: int, critical: float) -> float:
    """How near to the critical value the verdict may differ, in T, as rtt_trend.h states it."""
    table = 0.003 if n - 2 > student_table.LAST else 0
    return (0.001 + table) * critical + n * 2**-19


def check(apogee: Library, t: Sequence[int], d: Sequence[int]) -> Any:
    """All verdicts on one series are scipy's, except within the margin. Returns the window."""
    n, exact = len(t), statistic(t, d)
    window = feed(apogee, t, d)
    assert window.n == n
    for index, level in enumerate(LEVELS):
        verdict = apogee.rtt_trend_verdict(window, index)
        if n < 8:
            assert verdict == NONE
            continue
        critical = stats.t.ppf(1 - level, n - 2)
        if abs(abs(exact) - critical) > margin(n, critical):
            expected = NONE if abs(exact) < critical else RISING if exact > 0 else FALLING
            assert verdict == expected, f"T = {exact}, critical {critical}"
        else:
            assert verdict in (NONE, RISING if exact > 0 else FALLING)
    return window


# Sizes of every order of magnitude, ends included.
def sizes(largest: int) -> st.SearchStrategy[int]:
    powers = st.floats(0, math.log2(largest)).map(lambda x: min(int(2**x), largest))
    return powers | st.sampled_from([0, 1, largest])


@st.composite
def series(draw: st.DrawFn, least: int = 1, most: int = 100) -> tuple[list[int], list[int]]:
    """Samples in order of time, from 0: noise on a slope of any size, and at most one outlier."""
    n = draw(st.integers(least, most))
    span, noise, change = draw(sizes(SPAN_MAX - 1)), draw(sizes(RTT_MAX)), draw(sizes(RTT_MAX))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    batch = draw(st.sampled_from([1, 1, 3, n]))
    t = np.sort(rng.integers(0, span + 1, n))[np.arange(n) // batch * batch]
    slope = draw(st.sampled_from([-1, 0, 1])) * change * t / max(span, 1)
    d = draw(sizes(RTT_MAX)) + slope + rng.normal(0, noise / 3, n)
    if draw(st.booleans()):
        d[draw(st.integers(0, n - 1))] = draw(st.sampled_from([0, RTT_MAX]))
    return (t - t[0]).tolist(), np.clip(np.rint(d), 0, RTT_MAX).astype(int).tolist()


def test_the_table_is_what_the_script_writes(root: Path) -> None:
    committed = (root / "include/apogee/rtt_trend_table.h").read_text(encoding="utf-8")
    assert committed == student_table.header()


@pytest.mark.parametrize("index", range(4))
def test_critical_values_are_students(apogee: Library, index: int) -> None:
    """scipy's, to the last digit of the table; where 1 / df is interpolated, within 0.3 %.

    At the level of 5 % within 0.04 %: the window's usual one.
    """
    df = np.unique(np.concatenate([np.arange(6, 500), np.geomspace(500, SAMPLES_MAX, 50)]))
    for one in df.astype(int).tolist():
        exact = stats.t.ppf(1 - LEVELS[index], one)
        t2 = apogee.rtt_trend_critical_t2(index, one)
        if one <= student_table.LAST:
            assert abs(t2 - exact**2 * 65536) <= 0.501
        else:
            tolerance = 0.0004 if index == FIVE_PERCENT else 0.003
            assert math.sqrt(t2 / 65536) == pytest.approx(exact, rel=tolerance)
        r2 = apogee.rtt_trend_critical_r2(index, one) / 2**40
        assert r2 == pytest.approx(t2 / (t2 + 65536 * one), rel=1e-6)


@given(sizes(2**62), sizes(2**62), st.floats(0, 1))
def test_r2(apogee: Library, sxx: int, syy: int, r: float) -> None:
    """Sxy^2 / (Sxx Syy) with 30 bits of r, at any size."""
    assume(sxx and syy)
    sxy = min(int(r * math.isqrt(sxx * syy)), math.isqrt(sxx * syy))
    exact = Fraction(sxy * sxy, sxx * syy)
    got = Fraction(apogee.rtt_trend_r2(sxx, syy, sxy), 2**40)
    assert abs(got - exact) <= 2**-28 * math.sqrt(exact) + 2**-39


@given(
    st.lists(
        st.tuples(st.integers(-(2**21), 2**21), st.integers(-(2**21), 2**21)),
        min_size=1,
        max_size=50,
    )
)
def test_sum_about_the_means(apogee: Library, pairs: list[tuple[int, int]]) -> None:
    """Exact but for the fraction."""
    n, x, y = len(pairs), sum(x for x, _ in pairs), sum(y for _, y in pairs)
    xy = sum(x * y for x, y in pairs)
    exact = xy - Fraction(x * y, n)
    assert abs(apogee.rtt_trend_about_means(xy, x, y, n) - exact) < 1


def test_fits_into_a_socket(apogee: Library) -> None:
    """104 bytes are all a module has; the test takes little more than half."""
    assert ctypes.sizeof(apogee.new("rtt_trend")) == 56


@given(series())
@example(([0] * 8, [5] * 8))
def test_agrees_with_scipy(apogee: Library, made: tuple[list[int], list[int]]) -> None:
    check(apogee, *made)


@pytest.mark.repeats
@given(series(least=500, most=2000))
@example(([2 * at for at in range(2000)], [RTT_MAX] + [0] * 1999))
def test_agrees_with_scipy_on_long_windows(
    apogee: Library, made: tuple[list[int], list[int]]
) -> None:
    check(apogee, *made)


@pytest.fixture(scope="module")
def recorded() -> np.ndarray:
    """RTTs of a path of 70 ms behind a queue that the lab has recorded, in us, every 10 ms."""
    text = Path(__file__).with_name("queue_delays.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return 70_000 + np.array(" ".join(lines).split(), dtype=np.int64)


@pytest.mark.parametrize("size", [8, 12, 50, 300])
def test_agrees_with_scipy_on_a_recorded_queue(
    apogee: Library, recorded: np.ndarray, size: int
) -> None:
    for first in range(0, len(recorded) - size, 37):
        d = [int(rtt) for rtt in recorded[first : first + size]]
        check(apogee, [10_000 * i for i in range(size)], d)


@given(series(least=2))
def test_change_is_the_fitted_lines(apogee: Library, made: tuple[list[int], list[int]]) -> None:
    """Slope times span: within 1 us, and what the units of the sums cost."""
    t, d = made
    n, change = len(t), apogee.rtt_trend_change_us(feed(apogee, t, d), t[-1])
    if not t[-1]:
        assert change == 0
        return
    sxx = n * sum(x * x for x in t) - sum(t) ** 2
    sxy = n * sum(x * (y - d[0]) for x, y in zip(t, d, strict=True))
    sxy -= sum(t) * sum(y - d[0] for y in d)
    exact = Fraction(sxy * t[-1], sxx)
    largest = max(abs(y - d[0]) for y in d)
    assert abs(change - exact) <= 1 + math.sqrt(n) * 2**-18 * (largest + abs(exact))


@given(series(least=8), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_the_clocks_zero_does_not_matter(
    apogee: Library, made: tuple[list[int], list[int]], start: int, level: int
) -> None:
    """A clock that wraps round at 2^32 us within the window: the same answers."""
    t, d = made
    window = feed(apogee, t, d)
    moved = feed(apogee, [(start + now) % 2**32 for now in t], d)
    verdict = apogee.rtt_trend_verdict(window, level)
    assert apogee.rtt_trend_verdict(moved, level) == verdict
    change = apogee.rtt_trend_change_us(window, t[-1])
    assert apogee.rtt_trend_change_us(moved, (start + t[-1]) % 2**32) == change


def white_noise(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> np.ndarray:
    """RTTs in us of windows without a trend, a row each."""
    if kind == "normal":
        return rng.normal(100_000, 1_000, shape)
    if kind == "queue":
        return 40_000 + rng.exponential(500, shape)
    return 1_000 + rng.integers(0, 3, shape)


@pytest.mark.repeats
@pytest.mark.parametrize("kind", ["normal", "queue", "coarse"])
@pytest.mark.parametrize(("n", "windows"), [(8, 12_000), (30, 8_000), (200, 4_000)])
def test_false_alarms_are_as_many_as_the_level_says(
    apogee: Library, kind: str, n: int, windows: int
) -> None:
    """White noise, in each direction: 10, 5, 1 and 0.1 % of the windows, within 1 % of all."""
    rng = np.random.default_rng(n)
    # ACKs at random over 100 ms.
    t = np.sort(rng.integers(0, 100_000, (windows, n)), axis=1).tolist()
    d = np.rint(white_noise(rng, kind, (windows, n))).astype(int).tolist()
    made = [feed(apogee, *one) for one in zip(t, d, strict=True)]
    for index, level in enumerate(LEVELS):
        verdicts = np.array([apogee.rtt_trend_verdict(window, index) for window in made])
        for direction in (RISING, FALLING):
            share = np.mean(verdicts == direction)
            assert abs(share - level) < (0.01 if level > 0.01 else 0.004)


@pytest.mark.repeats
@pytest.mark.parametrize(("n", "change", "noise"), [(100, 2_000, 1_000), (1_000, 600, 1_000)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_slope_is_found_within_one_window(
    apogee: Library, n: int, change: int, noise: int, sign: int
) -> None:
    """T is about sqrt(n / 12) change / noise: 5.8 and 5.5, four sigma from the critical 1.65.

    And the fitted change is the true one, with an error of noise sqrt(12 / n).
    """
    rng, windows = np.random.default_rng(7), 500
    t = np.arange(n) * 100_000 // (n - 1)
    found, changes = 0, []
    for _ in range(windows):
        d = 50_000 + sign * change * t / 100_000 + rng.normal(0, noise, n)
        window = feed(apogee, t.tolist(), np.rint(d).astype(int).tolist())
        verdict = apogee.rtt_trend_verdict(window, FIVE_PERCENT)
        found += verdict == (RISING if sign > 0 else FALLING)
        changes.append(apogee.rtt_trend_change_us(window, 100_000))
    assert found >= 0.998 * windows
    error = noise * math.sqrt(12 / n)
    assert np.mean(changes) == pytest.approx(sign * change, abs=5 * error / math.sqrt(windows))
    assert np.std(changes) == pytest.approx(error, rel=0.15)


@pytest.mark.parametrize("level", range(4))
def test_too_little_decides_nothing(apogee: Library, level: int) -> None:
    """No sample, one to seven on a line, a constant RTT, a clock that stands still."""
    line = list(range(0, 80_000, 10_000))
    for n in range(8):
        assert apogee.rtt_trend_verdict(feed(apogee, line[:n], line[:n]), level) == NONE
    assert apogee.rtt_trend_verdict(feed(apogee, line, line), level) == RISING
    assert apogee.rtt_trend_verdict(feed(apogee, line, line[::-1]), level) == FALLING
    for t, d in ((line * 10, [4_321] * 80), ([99] * 80, line * 10), ([99] * 80, [7] * 80)):
        window = feed(apogee, sorted(t), d)
        assert apogee.rtt_trend_verdict(window, level) == NONE
        assert apogee.rtt_trend_change_us(window, max(t)) == 0
    assert apogee.rtt_trend_change_us(apogee.new("rtt_trend"), 12_345) == 0
    two = feed(apogee, [10, 20], [700, 650])
    assert apogee.rtt_trend_change_us(two, 20) == -50


def test_samples_out_of_range(apogee: Library) -> None:
    """Before the first or 2^31 us after it: dropped; an RTT above 10 s: counts as 10 s."""
    line = list(range(1_000, 9_000, 1_000))
    window = feed(apogee, line, line)
    before = bytes(window)
    for late in (999, 1_000 + SPAN_MAX, 2**32 - 1):
        apogee.rtt_trend_sample(window, late, 5)
        assert bytes(window) == before
    apogee.rtt_trend_sample(window, 999 + SPAN_MAX, 5)
    assert window.n == 9
    high = feed(apogee, line, [5, RTT_MAX + 1, 2**32 - 1, 6, 7, 8, 9, 10])
    same = feed(apogee, line, [5, RTT_MAX, RTT_MAX, 6, 7, 8, 9, 10])
    assert bytes(high) == bytes(same)


@given(sizes(2**32 - 1), st.integers(0, 20))
def test_units_are_rounded_to_the_nearest(apogee: Library, us: int, shift: int) -> None:
    assert apogee.rtt_trend_units(us, shift) == math.floor(Fraction(us * 256, 2**shift) + 0.5)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_change_asked_for_after_the_last_sample(apogee: Library, sign: int) -> None:
    """It goes on along the line for 2^21 time units, 8192 us here, and never wraps round."""
    low, high = 1 - sign, 1 + sign
    steep, steepest = ([x, *[low * x] * 3, *[high * x] * 4] for x in (8_000, RTT_MAX // 2))
    window = feed(apogee, [0] * 4 + [1] * 4, steep)
    for late, us in ((1, 1), (3, 3), (8_192, 8_192), (16_384, 8_192), (2**32 - 1, 8_192)):
        change = apogee.rtt_trend_change_us(window, late)
        assert change == pytest.approx(sign * 14_000 * us, rel=1e-4)
    window = feed(apogee, [0] * 4 + [1] * 4, steepest)
    assert apogee.rtt_trend_change_us(window, 1) == pytest.approx(sign * 0.875 * RTT_MAX, rel=1e-4)
    assert apogee.rtt_trend_change_us(window, 8_192) == sign * (2**31 - 1)


@pytest.mark.repeats
@pytest.mark.parametrize("shape", ["far", "falling", "swinging"])
def test_the_longest_window_at_its_extremes(apogee: Library, shape: str) -> None:
    """2^20 samples over 2^31 us and 10 s: no sum above 2^62, and scipy's verdict."""
    t = np.arange(SAMPLES_MAX) * (SPAN_MAX // SAMPLES_MAX)
    if shape == "far":
        t = np.where(t > 0, SPAN_MAX - 1, 0)
        d = np.where(t > 0, RTT_MAX, 0)
    elif shape == "falling":
        d = RTT_MAX - np.arange(SAMPLES_MAX) * 9
    else:
        d = np.arange(SAMPLES_MAX) % 2 * RTT_MAX
        d[0] = RTT_MAX // 2
    window = check(apogee, t.tolist(), d.tolist())
    for total in ("sum_t", "sum_d", "sum_tt", "sum_td", "sum_dd"):
        assert abs(getattr(window, total)) <= 2**62
    before = bytes(window)
    apogee.rtt_trend_sample(window, int(t[-1]), 0)
    assert bytes(window) == before
    change = stats.linregress(t, d).slope * t[-1]
    assert apogee.rtt_trend_change_us(window, int(t[-1])) == pytest.approx(change, abs=20)
