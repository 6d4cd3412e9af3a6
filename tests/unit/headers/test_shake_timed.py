# SPDX-License-Identifier: GPL-2.0
"""How long TCP's data takes behind an agent, shake_timed.h. Times are by hand, as RFC 6298."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

MS, MOST = 1000, 2_000_000


class Flow:
    """A flow whose segments have 1000 octets, and wrap soon."""

    def __init__(self, apogee: Library) -> None:
        self.apogee, self.now, self.high = apogee, 1, 2**32 - 5000
        self.timed, self.times = apogee.new("shake_timed"), apogee.new("shake_times")

    def send(self, *, again: bool = False) -> int:
        if not again:
            self.high = (self.high + 1000) % 2**32
        self.apogee.shake_timed_sent(self.timed, self.high, again, self.now)
        return self.high

    def acked(self, number: int) -> None:
        self.apogee.shake_timed_acked(self.timed, number, self.times, self.now)

    def trip(self, us: int) -> None:
        number = self.send()
        self.now += us
        self.acked(number)

    def longest(self) -> int:
        return int(self.apogee.shake_timed_longest(self.times))


def test_as_rfc_6298_has_it(apogee: Library) -> None:
    flow = Flow(apogee)
    assert flow.longest() == 0
    flow.trip(300 * MS)
    assert (flow.times.mean, flow.times.spread, flow.longest()) == (300_000, 150_000, 900_000)
    flow.trip(700 * MS)
    assert (flow.times.mean, flow.times.spread) == (350_000, 212_500)


def test_data_that_waits_for_copies_now_and_then(apogee: Library) -> None:
    """One trip in eight is twice as long: the longest has room for it, and not for three."""
    flow, least, most = Flow(apogee), MOST, 0
    for number in range(200):
        flow.trip((600 if number % 8 == 7 else 300) * MS)
        if number > 100:
            least, most = min(least, flow.longest()), max(most, flow.longest())
    assert least > 350_000 and 600_000 < most < 900_000


def test_one_segment_at_once_and_its_own_ack(apogee: Library) -> None:
    flow = Flow(apogee)
    first = flow.send()
    flow.now += 10 * MS
    flow.send()
    flow.now += 10 * MS
    flow.acked((first - 1) % 2**32)
    assert flow.longest() == 0
    flow.acked(first)
    assert flow.times.mean == 20 * MS
    flow.acked(flow.high)  # of which nobody has noted when it left
    assert flow.times.mean == 20 * MS


def test_not_while_anything_is_sent_again(apogee: Library) -> None:
    flow = Flow(apogee)
    number = flow.send()
    flow.send(again=True)
    flow.now += 5000 * MS
    flow.acked(number)
    assert flow.longest() == 0
    flow.trip(10 * MS)
    assert flow.times.mean == 10 * MS


@given(st.lists(st.integers(0, 2**34), min_size=1, max_size=50))
def test_any_times(apogee: Library, times: list[int]) -> None:
    flow = Flow(apogee)
    for us in times:
        flow.trip(us)
        assert 0 < flow.times.mean <= MOST and flow.times.spread <= MOST
