# SPDX-License-Identifier: GPL-2.0
"""The round trip that TCP sees of several paths, shake_trip.h."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

MS, WRAP, SEGMENT = 1000, 2**32, 1000


class Flow:
    """A flow that sends a segment each ms; numbers and times wrap soon."""

    def __init__(self, apogee: Library, trip: int) -> None:
        self.apogee, self.trip = apogee, trip
        self.state, self.now, self.high = apogee.new("shake_trip"), WRAP - 300 * MS, WRAP - 5001
        self.sent_at = {}
        apogee.shake_trip_begin(self.state, self.high + 1)
        self.send(1)

    def send(self, octets: int = SEGMENT) -> int:
        self.high = (self.high + octets) % WRAP
        self.sent_at[self.high] = self.now
        self.apogee.shake_trip_sent(self.state, self.high, self.trip // 16, self.now % WRAP)
        return self.high

    def rest(self, ack: int) -> int:
        return int(self.apogee.shake_trip_rest(self.state, ack, self.trip, self.now % WRAP))


def trip_of(apogee: Library, *paths: tuple[int, int]) -> float:
    """Of paths with their round trips in ms, and what they carry; in ms."""
    reaches = apogee.new("shake_reaches")
    for path, (trip, rate) in zip(reaches.path, paths, strict=False):
        path.trip, path.rate = trip * MS, rate
    return float(apogee.shake_trip_of(reaches)) / MS


@pytest.mark.parametrize(
    ("near", "far", "trip"),
    [(40, 600, 320), (40, 40, 0), (40, 44, 0), (40, 45, 42.5), (100, 4000, 1000)],
)
def test_there_by_the_farthest_and_back_by_the_nearest(
    apogee: Library, near: int, far: int, trip: float
) -> None:
    for one, two in ((0, 0), (10**5, 0), (0, 10**5), (10**5, 10**5), (1, 2**35)):
        assert trip_of(apogee, (near, one), (far, two)) == trip
        assert trip_of(apogee, (far, two), (near, one)) == trip


@pytest.mark.parametrize(("far", "trip"), [(4, 50), (5, 320)])
def test_a_far_path_that_carries_a_quarter_counts(apogee: Library, far: int, trip: float) -> None:
    """Of the others those up to three quarters: here of 40 and 60 ms."""
    assert trip_of(apogee, (600, far * 300), (40, 1800), (60, 2400)) == trip


def test_without_any_path(apogee: Library) -> None:
    assert trip_of(apogee) == trip_of(apogee, (500, 9)) == 0


def test_a_handshake_waits(apogee: Library) -> None:
    flow = Flow(apogee, 320 * MS)
    flow.now += 40 * MS
    assert flow.rest(flow.high) == 280 * MS
    flow.now += 280 * MS
    assert flow.rest(flow.high) == 0


def test_acks_come_a_trip_later_than_their_data_left(apogee: Library) -> None:
    """But for the time between two records."""
    flow = Flow(apogee, 320 * MS)
    for _ in range(2000):
        flow.now += MS
        flow.send()
        acked = flow.high - 40 * SEGMENT
        if acked % WRAP in flow.sent_at:
            waits = flow.now + flow.rest(acked % WRAP) - flow.sent_at[acked % WRAP]
            assert 300 * MS <= waits <= 320 * MS
    assert flow.rest((flow.high - 400 * SEGMENT) % WRAP) == 0  # a far one's


def test_old_numbers_do_not_wait(apogee: Library) -> None:
    """Nor does a window that opens, or a second connection for the first one's."""
    flow = Flow(apogee, 320 * MS)
    first = flow.high
    flow.now += 400 * MS
    flow.send()
    assert flow.rest(first) == 0
    apogee.shake_trip_begin(flow.state, flow.high)
    assert flow.rest(flow.high) == 0


def test_what_is_sent_again_counts_from_then_on(apogee: Library) -> None:
    """Timestamps tell TCP of its round trip: without this BBR saw the near path's."""
    flow = Flow(apogee, 320 * MS)
    number = flow.send()
    for later in (1000, 5000):  # long after the first ones
        flow.now += later * MS
        for segment in (0, 2, 1):
            end = (number + segment * SEGMENT) % WRAP
            apogee.shake_trip_again(flow.state, end, flow.trip, flow.now % WRAP)
        flow.now += 40 * MS
        assert {flow.rest((number + n * SEGMENT) % WRAP) for n in range(4)} == {280 * MS}
        assert flow.rest((number - 1) % WRAP) == 0
        number = (number + 9 * SEGMENT) % WRAP


def test_what_left_since_counts_beside_what_was_sent_again(apogee: Library) -> None:
    flow = Flow(apogee, 320 * MS)
    apogee.shake_trip_again(flow.state, flow.high, flow.trip, flow.now % WRAP)
    flow.now += 280 * MS
    new = flow.send()
    flow.now += 20 * MS
    assert (flow.rest(new), flow.rest((new - 1) % WRAP)) == (300 * MS, 20 * MS)


@given(
    st.lists(st.tuples(st.integers(0, WRAP - 1), st.integers(0, WRAP - 1), st.booleans())),
    st.integers(0, WRAP - 1),
    st.integers(0, 1000 * MS),
    st.integers(0, WRAP - 1),
)
def test_nothing_waits_longer_than_a_trip(
    apogee: Library, sent: list[tuple[int, int, bool]], ack: int, trip: int, now: int
) -> None:
    state = apogee.new("shake_trip")
    for end, at, again in sent:
        if again:
            apogee.shake_trip_again(state, end, trip, at)
        else:
            apogee.shake_trip_sent(state, end, trip // 16, at)
    assert 0 <= apogee.shake_trip_rest(state, ack, trip, now) <= trip
