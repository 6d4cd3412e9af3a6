# SPDX-License-Identifier: GPL-2.0
"""How long packets may be by a SHAKE path, shake_plpmtu.h (RFC 8899). Numbers are by hand, of a
path of IPv4: 56 octets around, BASE 1200, so that 1144 are taken to pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

BASE, AROUND, MOST = 1200, 56, 1444
SECOND, NEVER, NOTHING_KNOWN = 1_000_000, 2**64 - 1, 2**32 - 1
RTT = 40_000


class Path:
    """An end of a path, on which packets of up to ``limit`` octets pass."""

    def __init__(self, apogee: Library, limit: int, most: int = MOST, base: int = BASE) -> None:
        self.apogee, self.limit, self.now = apogee, limit, 10 * SECOND
        self.p = apogee.new("shake_plpmtu")
        self.base, self.counter = base, 0
        self.silent = False
        self.loses: Callable[[], bool] = lambda: False
        self.probed: list[int] = []
        self.route(most)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.p, name)

    def route(self, most: int) -> None:
        self.apogee.shake_plpmtu_route(self.p, self.base, AROUND, most, self.now)

    def due(self) -> int:
        return int(self.apogee.shake_plpmtu_due(self.p, RTT))

    def bound(self) -> int:
        return int(self.apogee.shake_plpmtu_bound(self.p, self.now))

    def probe(self) -> None:
        """What is due happens, and a round trip passes if a probe leaves."""
        self.now = max(self.now, self.due())
        size = self.apogee.shake_plpmtu_next(self.p, RTT, self.now)
        if not size:
            return
        self.probed.append(size)
        self.counter = (self.counter + 2) % 2**32
        small = (self.counter + 1) % 2**32
        self.apogee.shake_plpmtu_asked(self.p, self.counter, small, self.now)
        self.now += RTT
        if self.silent:
            return
        if size <= self.limit and not self.loses():
            self.apogee.shake_plpmtu_came(self.p, self.counter, self.now)
        self.apogee.shake_plpmtu_came(self.p, small, self.now)

    def search(self) -> None:
        for _ in range(400):
            if self.p.done:
                return
            self.probe()
        raise AssertionError("the search does not end")


def searched(apogee: Library, limit: int, **how: int) -> Path:
    path = Path(apogee, limit, **how)
    path.search()
    return path


def test_one_probe_if_all_passes(apogee: Library) -> None:
    path = searched(apogee, MOST)
    assert (path.probed, path.sure, path.bound(), path.due()) == ([1444], 1444, 1444, NEVER)


def test_pppoe(apogee: Library) -> None:
    """1492 outside: the longest usual one below the route's. Six octets more are not searched."""
    path = searched(apogee, 1436)
    assert path.probed == [1444] * 3 + [1436]
    assert (path.sure, path.bound()) == (1436, 1436)


def test_an_unusual_limit(apogee: Library) -> None:
    """1404 outside. Of the usual ones 1480 to 1280 are left, inside 1424 to 1224: 1364 is in the
    middle, then 1324 of four, 1344, and between that and 1363 the middle."""
    path = searched(apogee, 1348)
    assert path.probed == [
        *[1444] * 3, *[1436] * 3, *[1364] * 3, 1324, 1344, *[1354] * 3, *[1349] * 3,
    ]  # fmt: skip
    assert path.sure == 1344


def test_each_loss_takes_a_round_trip_and_a_half(apogee: Library) -> None:
    path = searched(apogee, 1436)
    assert path.now - 10 * SECOND == 3 * (RTT + RTT // 2) + RTT


@given(limit=st.integers(512, 2000), most=st.integers(600, 2000))
def test_any_limit(apogee: Library, limit: int, most: int) -> None:
    path = searched(apogee, limit, most=most)
    assert path.sure <= max(min(limit, most), 512)
    assert min(limit, most) - path.sure < 8
    assert len(path.probed) < 60


@given(limit=st.integers(1280, 9000))
def test_long_frames(apogee: Library, limit: int) -> None:
    path = searched(apogee, limit, most=8944)
    assert 0 <= min(limit, 8944) - path.sure < 8


def test_base_of_ipv6(apogee: Library) -> None:
    path = Path(apogee, 9999, base=1280)
    assert path.sure == 1224


@pytest.mark.parametrize(("limit", "least"), [(1000, 993), (600, 593), (300, 512)])
def test_base_does_not_pass(apogee: Library, limit: int, least: int) -> None:
    """Below 512 nothing is asked: then that is said, though it is not true."""
    path = searched(apogee, limit)
    assert least <= path.sure <= max(limit, 512)


def test_a_lost_probe_is_not_believed(apogee: Library) -> None:
    lost = iter([True, True, False])
    path = Path(apogee, MOST)
    path.loses = lambda: next(lost)
    path.search()
    assert (path.probed, path.sure) == ([1444] * 3, 1444)


def test_a_silent_path_says_nothing(apogee: Library) -> None:
    """PROBE_TIMER, then twice as long, up to 64 s; the size is as open as it was."""
    path = Path(apogee, MOST)
    path.silent = True
    at = []
    for _ in range(40):
        before = len(path.probed)
        path.probe()
        if len(path.probed) > before:
            at.append(path.now - RTT)
    gaps = [round((b - a) / SECOND) for a, b in zip(at, at[1:], strict=False)]
    assert gaps[:8] == [2, 3, 5, 9, 17, 33, 65, 65]
    assert (set(path.probed), path.bound()) == ({1444}, 1444)
    path.silent = False
    path.search()
    assert path.sure == 1444


def test_raised_after_ten_minutes(apogee: Library) -> None:
    path = searched(apogee, 1436)
    done = path.now
    assert path.due() == done + 600 * SECOND
    path.limit = MOST
    path.probe()
    assert path.sure == MOST and path.due() == NEVER


def test_what_does_not_pass_ten_minutes_later(apogee: Library) -> None:
    path = searched(apogee, 1436)
    path.probed.clear()
    path.probe()
    path.search()
    assert (path.probed, path.sure) == ([1444] * 3, 1436)


def test_a_path_that_comes_back_is_asked_for_what_it_took(apogee: Library) -> None:
    path = searched(apogee, 1436)
    due = path.due()
    apogee.shake_plpmtu_doubt(path.p, path.now)
    assert (path.sure, path.bound()) == (1436, 1436)
    path.probed.clear()
    path.search()
    assert (path.probed, path.sure, path.bound()) == ([1436], 1436, 1436)
    assert due < path.due() < due + SECOND


def test_a_path_that_became_narrow(apogee: Library) -> None:
    path = searched(apogee, MOST)
    path.limit = 1344
    apogee.shake_plpmtu_doubt(path.p, path.now)
    assert apogee.shake_plpmtu_takes(path.p, MOST)
    path.probe()
    path.probe()
    assert not apogee.shake_plpmtu_takes(path.p, MOST)
    path.search()
    assert 0 <= 1344 - path.sure < 8
    assert path.probed[:5] == [1444] * 4 + [1436]


def test_base_no_longer_passes(apogee: Library) -> None:
    path = searched(apogee, 1140)
    path.limit = 700
    apogee.shake_plpmtu_doubt(path.p, path.now)
    path.search()
    assert 0 <= 700 - path.sure < 8


def test_a_silent_path_is_asked_when_it_comes_back(apogee: Library) -> None:
    path = Path(apogee, MOST)
    path.silent = True
    for _ in range(20):
        path.probe()
    path.silent = False
    before = path.now
    path.p.asked = False
    apogee.shake_plpmtu_doubt(path.p, path.now)
    path.search()
    assert path.now - before < SECOND


def test_senders_are_told_late(apogee: Library) -> None:
    """Of less than what may pass, two seconds after the search began, and of nothing before a size
    has proved too long."""
    path = Path(apogee, 1244)
    path.now += 3 * SECOND
    assert path.bound() == 1444
    begun = path.since
    path.now = begun
    while path.refuted == 0:
        path.probe()
    assert path.bound() == 1443
    path.now = begun + 2 * SECOND
    assert path.bound() == path.sure == 1144


def test_a_new_path_takes_its_share_until_a_probe_is_lost(apogee: Library) -> None:
    path = Path(apogee, 1244)
    assert apogee.shake_plpmtu_takes(path.p, MOST)
    path.probe()
    path.probe()
    assert path.lost == 1
    assert not apogee.shake_plpmtu_takes(path.p, 1145)
    path.search()
    assert apogee.shake_plpmtu_takes(path.p, path.sure)
    path.probe()
    assert path.probed[-1] == MOST and path.bound() == path.sure
    assert not apogee.shake_plpmtu_takes(path.p, path.sure + 1)


def test_what_may_not_pass_may_be_cut(apogee: Library) -> None:
    """Until it is known how long packets may be, at first and in doubt."""
    path = Path(apogee, 1244)
    cuts = [length for length in (1144, 1145, MOST) if apogee.shake_plpmtu_cuts(path.p, length)]
    assert cuts == [1145, MOST]
    path.search()
    assert not apogee.shake_plpmtu_cuts(path.p, MOST)
    apogee.shake_plpmtu_doubt(path.p, path.now)
    assert apogee.shake_plpmtu_cuts(path.p, path.sure)
    assert not apogee.shake_plpmtu_cuts(path.p, 1144)


def test_a_later_search_goes_on_beside_data(apogee: Library) -> None:
    """What passed is the limit until more is proven (RFC 8899, 5.3.3): no longer packet is cut."""
    path = Path(apogee, 1244)
    while not path.proven:
        path.probe()
    assert not path.done and not apogee.shake_plpmtu_is_known(path.p)
    assert apogee.shake_plpmtu_cuts(path.p, path.sure + 1)
    path.search()
    for most in (MOST, MOST + 56):
        path.route(most)
        path.probe()
        while not path.done:
            assert path.bound() == path.sure and apogee.shake_plpmtu_is_known(path.p)
            sizes = path.sure, path.sure + 1, MOST
            assert not any(apogee.shake_plpmtu_cuts(path.p, size) for size in sizes)
            path.probe()


def test_a_later_search_that_is_doubted_is_a_first_one(apogee: Library) -> None:
    path = searched(apogee, 1344)
    path.limit = 1244
    apogee.shake_plpmtu_doubt(path.p, path.now)
    assert not apogee.shake_plpmtu_cuts(path.p, path.sure + 1)
    while path.sure > path.limit:
        path.probe()
    assert not path.done and apogee.shake_plpmtu_cuts(path.p, path.sure + 1)


def test_nothing_is_known_without_a_route(apogee: Library) -> None:
    path = Path(apogee, MOST, most=0)
    assert (path.due(), path.bound()) == (NEVER, NOTHING_KNOWN)
    assert apogee.shake_plpmtu_takes(path.p, 9000)
    assert apogee.shake_plpmtu_cuts(path.p, 100)


def test_the_route_takes_less_or_more(apogee: Library) -> None:
    path = searched(apogee, MOST)
    path.route(1400)
    assert (path.sure, path.bound()) == (1400, 1400)
    path.search()
    path.route(MOST)
    assert (path.sure, path.bound()) == (1400, 1400)
    path.search()
    assert path.sure == MOST
    path.route(MOST)
    assert path.done


def sent(path: Path, counter: int, length: int = MOST) -> None:
    path.apogee.shake_plpmtu_sent(path.p, counter, length)


def acked(path: Path, echo: int, seen: int) -> bool:
    return bool(path.apogee.shake_plpmtu_acked(path.p, echo, seen, path.now))


def test_a_black_hole_is_noticed(apogee: Library) -> None:
    """Ten long packets in a row do not come, while short ones do."""
    path = searched(apogee, MOST)
    for counter in range(2**32 - 10, 2**32 + 8, 2):
        sent(path, counter % 2**32)
        assert not acked(path, (counter + 1) % 2**32, 0)
    sent(path, 8)
    assert acked(path, 9, 0)


def test_it_is_noticed_soon_where_little_is_sent(apogee: Library) -> None:
    """Two, if no other came for half a second."""
    path = searched(apogee, MOST)
    path.now += SECOND // 2
    sent(path, 1)
    assert not acked(path, 2, 0)
    sent(path, 3)
    assert not acked(path, 4, 0)
    path.now += 1
    sent(path, 5)
    assert acked(path, 6, 0)


@pytest.mark.parametrize(("echo", "seen"), [(7, 0), (8, 1 << 63), (71, 1)])
def test_one_that_comes_is_enough(apogee: Library, echo: int, seen: int) -> None:
    path = searched(apogee, MOST)
    for counter in range(100, 900, 100):
        sent(path, counter)
        acked(path, counter + 1, 0)
    assert path.misses == 8
    sent(path, 7)
    assert not acked(path, echo, seen)
    assert path.misses == 0


def test_what_is_not_known_is_no_loss(apogee: Library) -> None:
    """More than 64 packets before the newest; or an ACK of one before."""
    path = searched(apogee, MOST)
    sent(path, 7)
    assert not acked(path, 6, 0)
    assert not acked(path, 72, 0)
    assert path.misses == 0


def test_short_packets_say_nothing(apogee: Library) -> None:
    path = searched(apogee, MOST)
    sent(path, 7, 1144)
    assert not path.sampled
