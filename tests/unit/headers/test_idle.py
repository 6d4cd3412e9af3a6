# SPDX-License-Identifier: GPL-2.0
"""What is left of a window after idle (RFC 5681 4.1), and what marks and first windows make."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.ack_trains import Estimator
from tests.unit.headers.cheaders import Library

LARGEST = 2**30
u32 = st.integers(0, 2**32 - 1)


windows = st.integers(0, 100) | st.integers(0, LARGEST)
times = st.integers(0, 40) | u32


@given(windows, windows, times, times)
def test_idle_halves_once_per_timeout(
    apogee: Library, cwnd: int, restart: int, idle: int, rto: int
) -> None:
    """Not before the timeout has passed, to the restart window, and never more; without a timeout
    each unit of time counts."""
    halvings = min(-(-idle // max(rto, 1)) - 1, 40) if idle else 0
    wanted = max(cwnd >> max(halvings, 0), min(restart, cwnd))
    assert apogee.idle_cwnd(cwnd, restart, idle, rto) == wanted


@given(st.integers(2, LARGEST))
def test_a_mark_takes_a_fifth_and_a_segment_at_least(apogee: Library, cwnd: int) -> None:
    assert apogee.star_mark_cwnd(cwnd) == max(cwnd * 4 // 5, 2)
    assert cwnd == 2 or apogee.star_mark_cwnd(cwnd) < cwnd


def test_the_first_rate_makes_packets_of_two_segments(apogee: Library) -> None:
    """The stack hands out what leaves in 1024 us: two segments, but on short paths."""
    for cwnd, rtt_us in ((10, 100_000), (20, 500_000), (45, 10_000_000)):
        rate = apogee.star_first_rate(cwnd, 1448, rtt_us)
        assert rate == pytest.approx(2 * 1448 / 1024e-6, rel=1e-6)
        assert rate >> 10 < 3 * 1448
    assert apogee.star_first_rate(10, 1448, 1_000) == pytest.approx(2 * 10 * 1448 / 1e-3, rel=1e-6)


@pytest.mark.parametrize("jitter_us", [20_000, 60_000, 150_000])
def test_late_acks_are_no_bandwidth(apogee: Library, jitter_us: int) -> None:
    """Each ACK of a steady train is late by up to so much, at random; none overtakes another. What
    begins late is corrected, but for a tick of a millisecond. Else the estimate follows the sender,
    to 10/8 of the rate.
    """
    rtt_us, gap_us, mss = 600_000, 1158, 1448
    least, rate = rtt_us // 16, mss * 10**6 // gap_us
    found = {}
    for known in (True, False):
        rng = random.Random(jitter_us)
        train, at = Estimator(apogee, mss=mss, rtt_min_us=rtt_us), 0
        for number in range(8 * rtt_us // gap_us):
            due = rtt_us + number * gap_us
            at = max(at, due + rng.randrange(jitter_us))
            sent_us = number * gap_us * 8 // 10
            train.ack(at, mss, sent_us=sent_us, late_us=(at - due) * known)
        found[known] = train.bw
    assert found[True] <= rate * (least + gap_us) / (least - 1128)
    assert found[False] >= 1.1 * rate


@pytest.mark.parametrize("stall_us", [20_000, 100_000, 400_000])
def test_acks_that_come_at_once_are_no_bandwidth(apogee: Library, stall_us: int) -> None:
    """A sender at 17/16 of the rate; ACKs are held for a while and let go in one instant."""
    rtt_us, gap_us, mss = 500_000, 1158, 1448
    train = Estimator(apogee, mss=mss, rtt_min_us=rtt_us)
    rate = mss * 10**6 // gap_us
    stalled = 4 * rtt_us
    for number in range(8 * rtt_us // gap_us):
        due = rtt_us + number * gap_us
        held = stalled <= due < stalled + stall_us
        at = stalled + stall_us if held else due
        train.ack(at, mss, sent_us=number * gap_us * 16 // 17)
    assert train.bw <= rate * 18 / 16
