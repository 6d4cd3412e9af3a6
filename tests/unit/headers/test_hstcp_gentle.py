# SPDX-License-Identifier: GPL-2.0
"""Gentle HighSpeed TCP: which trends count, which mode follows, what the window does in it."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

import hstcp_table
from tests.unit.headers.cheaders import Library

U32_MAX = 2**32 - 1

windows = st.integers(2, 2000) | st.integers(1, 2**20) | st.integers(1, U32_MAX)
times = st.integers(0, 2_000_000) | st.integers(0, U32_MAX)
any_time = times | st.sampled_from([0, U32_MAX])
tables = st.sampled_from(["HSTCP_RFC3649", "HSTCP_PAPER"])
changes = st.integers(-(2**31) + 1, 2**31 - 1) | st.integers(-100_000, 100_000)
parts = st.integers(0, 1000) | st.just(0)
verdicts = st.sampled_from(["NONE", "RISING", "FALLING"])


def rules(apogee: Library, rise: int = 0, fall: int = 0, confirm: int = 1) -> Any:
    return apogee.new("gentle_rules", rise=rise, fall=fall, confirm=confirm)


@cache
def table_rows(table: str) -> list[hstcp_table.Row]:
    """A table as the script writes it."""
    rfc = table == "HSTCP_RFC3649"
    return hstcp_table.rows(hstcp_table.RFC3649 if rfc else hstcp_table.PAPER)


def table_b(table: str, window: int) -> Fraction:
    """The part given up, by the first row whose window is not below, or by the last."""
    rows = table_rows(table)
    held = next((row for row in rows if window <= row.window), rows[-1])
    return Fraction(held.decrease, 256)


# --- which trends count -----------------------------------------------------------------------


def relevant(
    apogee: Library, which: Any, verdict: str, change: int, queue: int, rtt_min: int
) -> str:
    names = {getattr(apogee, f"RTT_TREND_{name}"): name for name in ("NONE", "RISING", "FALLING")}
    value = getattr(apogee, f"RTT_TREND_{verdict}")
    return names[apogee.gentle_relevant(which, value, change, queue, rtt_min)]


@given(verdicts, parts, parts, changes, times, times)
def test_which_trends_count(
    apogee: Library, verdict: str, rise: int, fall: int, change: int, queue: int, rtt_min: int
) -> None:
    """No queue is as good as a fall; with one a rise counts, and a fall that is large."""
    if queue < Fraction(rise, 1000) * rtt_min:
        expected = "FALLING"
    elif verdict == "FALLING" and abs(change) < Fraction(fall, 1000) * rtt_min:
        expected = "NONE"
    else:
        expected = verdict
    found = relevant(apogee, rules(apogee, rise, fall), verdict, change, queue, rtt_min)
    assert found == expected


@given(st.integers(1, 1000), st.integers(1, 2_000_000))
def test_the_boundary_counts_and_a_microsecond_less_does_not(
    apogee: Library, part: int, unit_us: int
) -> None:
    """``part`` permille of an RTT of 1000 units; each direction has its own threshold."""
    rtt_min, edge = 1000 * unit_us, part * unit_us
    rise, fall = rules(apogee, rise=part, fall=1000), rules(apogee, rise=0, fall=part)
    assert relevant(apogee, rise, "RISING", 1, edge, rtt_min) == "RISING"
    assert relevant(apogee, rise, "RISING", 1, edge - 1, rtt_min) == "FALLING"
    assert relevant(apogee, fall, "FALLING", -edge, 0, rtt_min) == "FALLING"
    assert relevant(apogee, fall, "FALLING", 1 - edge, 0, rtt_min) == "NONE"
    assert relevant(apogee, fall, "RISING", 1, 0, rtt_min) == "RISING"


# --- the empty path ---------------------------------------------------------------------------

RENO = "GENTLE_RENO"


def learn(apogee: Library, path: Any, which: Any, mode: str, cwnd: int, low: int) -> Any:
    """``path`` after a window."""
    apogee.gentle_path_learn(path, which, getattr(apogee, mode), cwnd, low)
    return path


def path(apogee: Library, rtt_us: int, mark_cwnd: int = 0, mark_us: int = 0) -> Any:
    return apogee.new("gentle_path", rtt_us=rtt_us, mark_cwnd=mark_cwnd, mark_us=mark_us)


@given(parts, windows, times, windows, times, times)
def test_what_is_learnt_of_the_path(
    apogee: Library, rise: int, mark_cwnd: int, mark_us: int, cwnd: int, low: int, rtt: int
) -> None:
    """The smallest RTT; in Reno mode what does not follow a window that has grown by half of a
    rise and 12 segments; a change that the growth does not explain sets the mark again."""
    part = Fraction(rise, 2000)
    enough = max(math.floor(part * mark_cwnd), 12)
    edges = [mark_us + math.floor(part * mark_us / share) for share in (1, 8)]
    sizes = [size for size in (cwnd, mark_cwnd + enough, mark_cwnd + enough - 1) if size <= U32_MAX]
    lows = (low, U32_MAX, *(edge + more for edge in edges for more in (0, 1)))
    for size, least in itertools.product(sizes, lows):
        known = path(apogee, rtt, mark_cwnd, mark_us)
        found = learn(apogee, known, rules(apogee, rise), RENO, size, min(least, U32_MAX))
        if least >= U32_MAX:
            assert (found.rtt_us, found.mark_cwnd, found.mark_us) == (rtt, mark_cwnd, mark_us)
            continue
        moved = abs(least - mark_us) > part * mark_us
        grown = size - mark_cwnd >= enough
        longer = grown and 8 * abs(least - mark_us) <= part * mark_us
        assert found.rtt_us == (least if longer else min(rtt, least))
        kept = size >= mark_cwnd and not moved and not grown
        assert (found.mark_cwnd, found.mark_us) == ((mark_cwnd, mark_us) if kept else (size, least))


@given(windows, times, times, st.sampled_from(["GENTLE_SLOW_START", "GENTLE_HIGHSPEED"]))
@example(2, U32_MAX, 0, "GENTLE_SLOW_START")
def test_the_path_becomes_no_longer_but_in_reno_mode(
    apogee: Library, cwnd: int, low: int, rtt: int, mode: str
) -> None:
    """And the next time in Reno mode begins with a mark of its own, if the window has an RTT."""
    found = learn(apogee, path(apogee, rtt, 1, low), rules(apogee, 20), mode, cwnd, low)
    assert (found.rtt_us, found.mark_cwnd) == (min(rtt, low), 0)
    again = learn(apogee, found, rules(apogee, 20), RENO, cwnd, low)
    assert (again.rtt_us, again.mark_cwnd) == (min(rtt, low), 0 if low == U32_MAX else cwnd)


# --- modes ------------------------------------------------------------------------------------


def modes(apogee: Library, start: str, seen: Sequence[str], confirm: int = 1) -> list[str]:
    """The mode after each window: its first letter."""
    names = {apogee.GENTLE_SLOW_START: "S", apogee.GENTLE_HIGHSPEED: "H", apogee.GENTLE_RENO: "R"}
    mode = {name: value for value, name in names.items()}[start]
    agreed, which, found = ctypes.c_uint8(), rules(apogee, confirm=confirm), []
    for verdict in seen:
        value = getattr(apogee, f"RTT_TREND_{verdict}")
        mode = apogee.gentle_next_mode(which, mode, value, agreed)
        found.append(names[mode])
    return found


@given(
    st.sampled_from("SHR"),
    st.lists(st.tuples(verdicts, st.integers(1, 17)), max_size=12),
    st.integers(1, 4) | st.integers(1, 16),
)
def test_modes_follow_runs_of_verdicts(
    apogee: Library, start: str, runs: list[tuple[str, int]], confirm: int
) -> None:
    """The mode changes where the last ``confirm`` windows in it all asked for the other; slow
    start stays."""
    seen = [verdict for verdict, count in runs for _ in range(count)]
    mode, since, expected = start, 0, []
    for turn in range(1, len(seen) + 1):
        asks = {"H": "RISING", "R": "FALLING", "S": ""}[mode]
        last = seen[max(turn - confirm, since) : turn]
        if len(last) == confirm and set(last) == {asks}:
            mode, since = "R" if mode == "H" else "H", turn
        expected.append(mode)
    assert modes(apogee, start, seen, confirm) == expected


# --- growth in Reno mode ----------------------------------------------------------------------


@given(tables, windows)
def test_reno_mode_grows_by_one_segment_per_round_trip(
    apogee: Library, table: str, cwnd: int
) -> None:
    which = getattr(apogee, table)
    for share in (apogee.GENTLE_SHARE_PAPER, apogee.GENTLE_SHARE_HALVE):
        assert apogee.gentle_reno_credit(which, share, cwnd) == cwnd


@given(tables, windows)
def test_what_a_small_reduction_gains_is_taken_from_growth(
    apogee: Library, table: str, cwnd: int
) -> None:
    """3 b / (2 - b) segments per round trip, one segment for so many packets, rounded down."""
    b = table_b(table, cwnd)
    per_segment = cwnd / (3 * b / (2 - b))
    credit = apogee.gentle_reno_credit(getattr(apogee, table), apogee.GENTLE_SHARE_GROW, cwnd)
    assert credit == min(math.floor(per_segment), U32_MAX)
    assert cwnd <= credit <= U32_MAX


# --- windows after a loss ---------------------------------------------------------------------


@given(tables, windows | st.just(0), st.sampled_from(["PAPER", "HALVE", "GROW"]))
def test_a_loss_takes_b_of_the_window(apogee: Library, table: str, cwnd: int, share: str) -> None:
    """Half in Reno mode with share=1, b(w) in all other cases; rounded up, at least 2."""
    b = table_b(table, cwnd)
    highspeed = max(cwnd - math.floor(cwnd * b), 2)
    half = max(cwnd // 2, 2)
    expected = {
        "GENTLE_SLOW_START": highspeed,
        "GENTLE_HIGHSPEED": highspeed,
        "GENTLE_RENO": half if share == "HALVE" else highspeed,
    }
    for mode, after in expected.items():
        arguments = getattr(apogee, mode), cwnd, getattr(apogee, f"GENTLE_SHARE_{share}")
        assert apogee.gentle_reduced(getattr(apogee, table), *arguments) == after


# --- what the path holds ----------------------------------------------------------------------


@given(windows | st.just(0), any_time, any_time, any_time)
def test_capacity_is_rate_times_smallest_rtt(
    apogee: Library, packets: int, sent: int, rise: int, rtt_min: int
) -> None:
    found = apogee.gentle_capacity(packets, sent, rise, rtt_min)
    if sent + rise == 0:
        assert found == U32_MAX
    else:
        exact = Fraction(packets * rtt_min, sent + rise)
        assert found == min(max(math.floor(exact), 2), U32_MAX)
