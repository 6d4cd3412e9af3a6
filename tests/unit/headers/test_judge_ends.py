# SPDX-License-Identifier: GPL-2.0
"""star's judgement of RTT and losses, judge.h: each belief ends, from any state.

The bounds are derived from judge.h's constants. A path is still: its RTT is the same in all rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.judge_states import (
    BOUNDS,
    CLOCK,
    LINK,
    MOST,
    a_round,
    is_empty,
    judge,
    renew_after,
    states,
    u32,
    way_back,
)

SKIP, TEST, RENEW, REST = (BOUNDS[name] for name in ("skip", "test", "renew", "rest"))
#: What the receiver's clock shows at 0.
TICKS = 2**32 - 7
rtts = st.integers(1000, 2**22)
windows = st.integers(2, 2000)


def still_way_back(apogee: Library, j: Any, now: int, rtt: int) -> int:
    """What an ACK's way back is longer, on a way of no time."""
    return way_back(apogee, j, now, (now // 1000 + TICKS) % 2**32, max(rtt - j.base_us, 0))


def rounds(
    apogee: Library, j: Any, rtt: int, sent: int, lost: int = 0, *, now: int = 0, **fields: Any
) -> Iterator[int]:
    """What tcp_star.c does at an ACK and at the end of each round; yields what time it is then, in
    us. The way back is still.
    """
    for passed in range(rtt, 2**32, rtt):
        clock = (now + passed) % 2**32
        apogee.judge_rtt(j, rtt - still_way_back(apogee, j, clock, rtt), sent)
        r = a_round(apogee, sent, lost, rtt_us=rtt, now_us=clock, **fields)
        apogee.judge_end_rtt(j, r)
        apogee.judge_use(j, r)
        stays = apogee.judge_end_losses(j, r) == apogee.JUDGE_STAY
        if stays and apogee.judge_test_due(j):
            apogee.judge_begin_test(j, j.last_us, j.last_us // 4, 2)
            j.dip = j.test > 0 and not j.alone
        yield passed


def after(apogee: Library, j: Any, count: int, *args: int, **fields: Any) -> None:
    """So many rounds pass."""
    going = rounds(apogee, j, *args, **fields)
    for _ in range(count):
        next(going)


@given(states, windows, st.integers(0, 2000))
def test_the_link_s_losses_are_forgotten(
    apogee: Library, state: dict[str, int], sent: int, path: int
) -> None:
    """From any to the least with one segment that arrives for each 1024th, 84, once what was cut
    for or lost in a silence is over; after three rounds of 128 segments: 48, 24, 12.
    """
    j = judge(apogee, **state)
    after(apogee, j, SKIP + (3 if sent >= 128 else MOST - LINK), 50_000, sent, path=path)
    assert j.link == LINK


@given(states, st.integers(0, MOST))
def test_the_link_s_losses_become_fewer(apogee: Library, state: dict[str, int], rate: int) -> None:
    """What is too much is a ninth after each round of 1024 segments: 84, 9, 1, 0."""
    j = judge(apogee, **state)
    after(apogee, j, SKIP + 3, 50_000, 1024, rate)
    assert j.link <= max(LINK, rate)


@given(states, st.integers(1000, 500_000), windows, st.integers(0, 2000))
def test_what_is_counted_ends(
    apogee: Library, state: dict[str, int], rtt: int, sent: int, path: int
) -> None:
    """Silences, reductions, overloads, tests and measurements: after as many rounds as are counted,
    and those of what goes first. No other begins in less than ten seconds with an empty queue.
    """
    j = judge(apogee, **state | {"base_us": rtt, "seen": 0})
    going = rounds(apogee, j, rtt, sent, path=path)
    for count in range(1, RENEW + TEST + REST + 1):
        next(going)
        assert not j.queue and not j.standing
        assert not (j.skip and count >= SKIP)
        assert not (j.over and count > SKIP)
        assert not (j.renew and count >= RENEW)
        assert not ((j.test or j.dip) and count >= RENEW + TEST)
    assert not j.rest


@given(states, windows, st.integers(0, 2000))
def test_an_excess_of_losses_ends(
    apogee: Library, state: dict[str, int], sent: int, path: int
) -> None:
    """The least share that is no excess is 26/1024: one of 255 in each round of two segments, 13
    in one of 16 segments.
    """
    j = judge(apogee, **state)
    fall = 26 * sent // 32
    after(apogee, j, SKIP + math.ceil(255 / fall), 50_000, sent, path=path)
    assert j.excess == 0


@given(u32, rtts, st.integers(2, 300))
def test_the_smoothed_minimum_follows(apogee: Library, low: int, rtt: int, sent: int) -> None:
    """Each ACK takes a quarter of a window's part, an eighth at most, of what it is too low by,
    rounded up: in four windows all of it, as the logarithm of 4.2 s, the most, in eighths of 1 us
    is 13.2, and the last ones take as many ACKs as a quarter of a window has.
    """
    j = judge(apogee, base_us=rtt, low_us=low)
    for _ in range(4 * max(sent, 32) + 4):
        apogee.judge_rtt(j, rtt, sent)
    assert j.low_us == rtt


# --- the path's RTT ---------------------------------------------------------------------------


@given(states, st.integers(100_000, 2**22), windows, st.integers(0, 2000), u32)
def test_the_path_s_rtt_is_found(
    apogee: Library, state: dict[str, int], rtt: int, sent: int, path: int, now: int
) -> None:
    """From any state: ten seconds or sixteen rounds, a round that ends then, and a measurement; or
    what is believed is right within a packet. What it is too long by may be on the way back.
    """
    j = judge(apogee, **state)
    waits = 1 + SKIP + RENEW + TEST + REST
    measures = (renew_after(rtt) + 2) * CLOCK // rtt + 2 + RENEW
    after(apogee, j, waits + measures, rtt, sent, path=path, now=now)
    there = rtt - still_way_back(apogee, j, now, rtt)
    assert there >= j.base_us
    # timestamps may be too old by two ticks
    assert is_empty(max(there - 2000, 0), j.base_us, rtt // max(path, 1) // 2)


@pytest.mark.parametrize("short_us", [2200, 3000, 4200])
def test_a_path_s_rtt_that_is_little_too_short_is_found(apogee: Library, short_us: int) -> None:
    """By one to two packets of 2.14 ms the queue seems empty, yet not to the smoothed RTT: a link
    that loses much would not be learned for good.
    """
    j = apogee.new("judge_state")
    apogee.judge_init(j, 100_000 - short_us, 0, TICKS)
    for at in range(100_000, 11_100_000, 100_000):
        apogee.judge_rtt(j, 100_000 - still_way_back(apogee, j, at, 100_000), 50)
        r = a_round(apogee, 50, 3, path=50, rtt_us=107_000, now_us=at)
        apogee.judge_end_rtt(j, r)
        apogee.judge_use(j, r)
        apogee.judge_end_losses(j, r)
    assert j.base_us == 100_000


@given(states, rtts, windows)
def test_a_longer_way_back_is_forgotten(
    apogee: Library, state: dict[str, int], rtt: int, sent: int
) -> None:
    """Each ACK takes a thirty-second, rounded up to 16 us: 1.05 s, the most, in 244 ACKs to 32
    units, and in 32 to none.
    """
    j = judge(apogee, **state | {"base_us": rtt})
    after(apogee, j, 244 + 32, rtt, sent)
    assert apogee.judge_back_us(j) == 0


@given(
    st.integers(20_000, 1_000_000),
    st.integers(120, 1000),
    windows,
    st.integers(0, 200),
    st.integers(0, 2000),
    u32,
)
def test_a_longer_path_is_found_in_ten_seconds_or_sixteen_rounds(
    apogee: Library, base: int, percent: int, sent: int, lost: int, path: int, now: int
) -> None:
    """And a clock's unit, the round in which they end, and three that measure; whatever is lost.
    From an eighth on, and two ticks that timestamps may be too old by, it is no empty queue.
    """
    rtt = base * percent // 100 + 2200
    j = judge(apogee, base_us=base, last_us=base, low_us=base, seen=now // CLOCK % 2**8)
    still_way_back(apogee, j, now, base)
    lost = sent * lost // 1000
    for passed in rounds(apogee, j, rtt, sent, lost, path=path, now=now):
        if rtt - 2000 <= j.base_us <= rtt:
            break
        assert passed < (renew_after(rtt) + 2) * CLOCK + (1 + RENEW) * rtt
