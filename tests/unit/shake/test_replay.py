# SPDX-License-Identifier: GPL-2.0
"""The replay window against a set of all counters received."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.shake.wire_core import library

WINDOW = 8128
LIMIT = 1 << 62
STEPS = st.one_of(
    st.integers(-70, 70),
    st.integers(-9000, 9000),
    st.sampled_from([WINDOW - 1, -WINDOW, 1 - WINDOW, 8192, 8191, 8193, 64, -64, 1 << 31, 1 << 40]),
)


@pytest.fixture(scope="module")
def c() -> Library:
    return library()


@given(st.data())
def test_each_counter_is_taken_once(c: Library, data: st.DataObject) -> None:
    r = c.new("shake_replay")
    newest, seen = 0, {0}
    for step in data.draw(st.lists(STEPS, max_size=60)):
        counter = min(max(newest + step, 0), LIMIT + 1)
        fresh = counter not in seen and newest - counter < WINDOW and counter < LIMIT
        assert c.shake_replay_check(r, counter) == fresh, counter
        if fresh:
            c.shake_replay_update(r, counter)
            seen.add(counter)
            newest = max(newest, counter)
            assert not c.shake_replay_check(r, counter)
        assert r.newest == newest


def test_all_of_a_window_in_reverse(c: Library) -> None:
    """What lies behind a jump was not seen, whatever bits the ring held before."""
    r = c.new("shake_replay")
    for counter in range(1, 20000):
        c.shake_replay_update(r, counter)
    top = 20000 + WINDOW + 70
    c.shake_replay_update(r, top)
    for counter in range(top - 1, top - WINDOW, -1):
        assert c.shake_replay_check(r, counter), counter
        c.shake_replay_update(r, counter)
        assert not c.shake_replay_check(r, counter)
    assert not c.shake_replay_check(r, top - WINDOW)


@given(st.data())
def test_what_was_seen_behind_a_counter(c: Library, data: st.DataObject) -> None:
    """Bit i tells of the counter - 64 + i; what is not known counts as seen."""
    r = c.new("shake_replay")
    start = data.draw(st.integers(1, 1 << 40))
    r.newest = start - 1
    steps = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=200))
    seen, counter = set(), start - 1
    for step in steps:
        counter += step
        c.shake_replay_update(r, counter)
        seen.add(counter)
    at = data.draw(st.sampled_from(sorted(seen)))
    bits = c.shake_replay_behind(r, at)
    known = r.newest - at + 64 < WINDOW
    for i in range(64):
        number = at - 64 + i
        if not known or number <= 0:
            assert bits >> i & 1
        elif number >= start:
            assert (bits >> i & 1) == (number in seen), number


def test_nothing_is_told_of_a_counter_that_was_not_received(c: Library) -> None:
    r = c.new("shake_replay")
    for counter in (1, 2, 4):
        c.shake_replay_update(r, counter)
    assert c.shake_replay_behind(r, 5) == c.shake_replay_behind(r, 0) == (1 << 64) - 1
    assert c.shake_replay_behind(r, 4) >> 60 == 0b0111


def test_0_and_the_last_counters_are_never_taken(c: Library) -> None:
    r = c.new("shake_replay")
    assert not c.shake_replay_check(r, 0)
    assert c.shake_replay_check(r, 1)
    assert c.shake_replay_check(r, LIMIT - 1)
    assert not c.shake_replay_check(r, LIMIT)
    assert not c.shake_replay_check(r, (1 << 64) - 1)


@given(st.integers(0, LIMIT - (1 << 32)), st.integers(-(1 << 31) + 1, (1 << 31) - 1))
def test_the_counter_of_32_bits(c: Library, newest: int, step: int) -> None:
    """Right if it is less than 2^31 from the newest."""
    counter = newest + step
    if counter < 0:
        return
    r = c.new("shake_replay", newest=newest)
    assert c.shake_replay_full(r, counter & 0xFFFFFFFF) == counter


@given(st.integers(0, 1 << 33), st.integers(0, 0xFFFFFFFF))
def test_a_counter_has_its_low_bits_and_is_near(c: Library, newest: int, low: int) -> None:
    r = c.new("shake_replay", newest=newest)
    full = c.shake_replay_full(r, low)
    assert full & 0xFFFFFFFF == low
    near = [n for n in (full - (1 << 32), full + (1 << 32)) if n >= 0]
    assert all(abs(full - newest) <= abs(n - newest) for n in near)


def test_no_counter_is_below_0(c: Library) -> None:
    r = c.new("shake_replay", newest=5)
    assert c.shake_replay_full(r, 0) == 0
    assert c.shake_replay_full(r, 0xFFFFFFFF) == 0xFFFFFFFF
