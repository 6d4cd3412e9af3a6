# SPDX-License-Identifier: GPL-2.0
"""Packets that wait: datagrams for those before them, shake/order.c, and what an agent holds back,
shake/held.c, in user space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from tests.unit.devices import ROOT, DeviceHeaders, build
from tests.unit.headers.cheaders import Library

FOLDER = ROOT / "tests/fuzz"
NONE = 0xFFFFFFFF
ORDERED = 1 << 31
#: Packets that the kernel takes at once (net.core.netdev_max_backlog), less those of a poll of each
#: of four links.
AT_ONCE = 1000 - 4 * 64
#: 250 Hz
JIFFY_US = 4000
#: shake/held.c: packets of a leader, of all, those that any may have, those that leave in a turn.
MOST, MOST_OF_ALL, FEW, TURN = 1024, 16384, 16, 256


@cache
def library() -> Library:
    headers = DeviceHeaders([FOLDER / "waiting.h"])
    files = [
        FOLDER / "waiting.c",
        *(ROOT / f"shake/{name}.c" for name in ("order", "held", "release")),
    ]
    return build("shake_waiting", headers, [*files, "-Wno-unused-parameter"])


@pytest.fixture
def waiting() -> Iterator[Library]:
    library().waiting_begin()
    yield library()
    library().waiting_end()


def taken(one: Callable[[], int]) -> list[int]:
    found = []
    while (number := one()) != NONE:
        found.append(number)
    return found


def up(waiting: Library) -> list[int]:
    return [number & 0xFFFFFF for number in taken(waiting.waiting_up)]


def datagrams(waiting: Library, numbers: range, stream: int = 0) -> None:
    for number in numbers:
        waiting.waiting_datagram(ORDERED | stream << 24 | number)


def streams_that_wait(waiting: Library, packets: int, streams: int) -> None:
    for stream in range(streams):
        datagrams(waiting, range(1, 2), stream)
    assert len(up(waiting)) == streams
    for stream in range(streams):
        datagrams(waiting, range(3, packets + 3), stream)
    assert up(waiting) == []


# --- order.c --------------------------------------------------------------------------------------


def test_what_waited_goes_up_in_order(waiting: Library) -> None:
    streams_that_wait(waiting, 400, 1)
    datagrams(waiting, range(2, 3))
    assert up(waiting) == list(range(2, 403))


def test_more_than_the_kernel_takes_at_once_goes_up_in_portions(waiting: Library) -> None:
    """Of eight streams all that wait may go at the same moment: what comes next stays behind."""
    streams_that_wait(waiting, 400, 8)
    for stream in range(8):
        datagrams(waiting, range(2, 3), stream)
    first = up(waiting)
    assert 400 <= len(first) <= AT_ONCE
    datagrams(waiting, range(403, 404), 7)
    assert 403 not in up(waiting)
    total = len(first)
    for _ in range(10):
        waiting.waiting_advance(JIFFY_US)
        gone = up(waiting)
        assert len(gone) <= AT_ONCE
        total += len(gone)
    assert (total, waiting.waiting_count()) == (8 * 401 + 1, 0)


def test_each_stream_stays_in_order(waiting: Library) -> None:
    streams_that_wait(waiting, 400, 4)
    for stream in range(4):
        datagrams(waiting, range(2, 3), stream)
    for number in range(403, 500):
        for stream in range(4):
            datagrams(waiting, range(number, number + 1), stream)
        waiting.waiting_advance(JIFFY_US // 8)
    waiting.waiting_advance(10 * JIFFY_US)
    of_stream: dict[int, list[int]] = {}
    for number in taken(waiting.waiting_up):
        of_stream.setdefault(number >> 24 & 127, []).append(number & 0xFFFFFF)
    assert of_stream == {stream: list(range(2, 500)) for stream in range(4)}


def test_streams_that_give_up_at_once_do_so_in_portions(waiting: Library) -> None:
    streams_that_wait(waiting, 500, 10)
    gone = []
    for _ in range(100):
        waiting.waiting_advance(JIFFY_US)
        gone.append(len(up(waiting)))
    assert max(gone) <= AT_ONCE and sum(gone) == 5000


def test_another_sender_does_not_flood_the_stack(waiting: Library) -> None:
    streams_that_wait(waiting, 500, 10)
    for stream in range(10):
        datagrams(waiting, range(100_000, 100_001), stream)
    assert len(up(waiting)) <= AT_ONCE
    assert waiting.waiting_count() == 0


def test_few_wait_in_a_stream(waiting: Library) -> None:
    """To find a place takes as many steps as there are: backwards is the worst."""
    datagrams(waiting, range(1, 2))
    datagrams(waiting, range(4000, 2, -1))
    assert waiting.waiting_count() <= 512


def test_a_leader_leaves_datagrams_room_for_others(waiting: Library) -> None:
    """One has four fifths of what may wait at most, and each a few: 64."""
    streams = 8192 // 500 + 2
    for stream in range(streams):
        datagrams(waiting, range(1, 2), stream)
        datagrams(waiting, range(3, 503), stream)
    assert 6000 < waiting.waiting_count() <= 8192 * 4 // 5 + 1


@pytest.mark.parametrize(("others", "may"), [(8192, 64), (8000, 154)])
def test_who_comes_last_has_a_few(waiting: Library, others: int, may: int) -> None:
    waiting.waiting_elsewhere(others)
    datagrams(waiting, range(1, 2))
    datagrams(waiting, range(3, may + 2))
    assert waiting.waiting_count() == others + may - 1
    datagrams(waiting, range(1000, 1400))
    assert waiting.waiting_count() - others <= may
    waiting.waiting_elsewhere(-others)


# --- held.c ---------------------------------------------------------------------------------------


def test_an_agents_queue_leaves_in_turns(waiting: Library) -> None:
    """Others are given their turn, and the timer goes on."""
    for number in range(1000):
        waiting.waiting_hold(0, number, 7)
    for turn in range(4):
        wakes = waiting.waiting_wakes()
        waiting.waiting_let_go(0)
        left = taken(waiting.waiting_left)
        first = TURN * turn
        assert left == list(range(first, min(first + TURN, 1000)))
        assert waiting.waiting_wakes() - wakes == (turn < 3)


def test_the_first_that_waits_is_told(waiting: Library) -> None:
    """Then somebody has to look, whatever became of those that waited as it came."""
    assert waiting.waiting_hold(0, 1, 7)
    assert not waiting.waiting_hold(0, 2, 7)
    waiting.waiting_let_go(0)
    assert taken(waiting.waiting_left) == [1, 2]
    assert waiting.waiting_hold(0, 3, 7)


def test_nothing_leaves_while_all_paths_are_full(waiting: Library) -> None:
    waiting.waiting_hold(0, 1, 7)
    waiting.waiting_fill(True)
    waiting.waiting_let_go(0)
    assert taken(waiting.waiting_left) == []


def test_leaders_that_have_all_leave_a_few_to_each(waiting: Library) -> None:
    waiting.waiting_others(MOST_OF_ALL)
    for number in range(100):
        waiting.waiting_hold(1, number, 7)
    assert waiting.waiting_held() == MOST_OF_ALL + FEW


def test_a_leader_has_so_many_at_most(waiting: Library) -> None:
    for number in range(2 * MOST):
        waiting.waiting_hold(0, number, number)
    assert waiting.waiting_held() == MOST


def test_the_end_of_a_flow_follows_its_data(waiting: Library) -> None:
    """Whether packets of its flow wait, not of others."""
    assert not waiting.waiting_has(0, 7)
    waiting.waiting_hold(0, 1, 7)
    assert waiting.waiting_has(0, 7)
    assert not waiting.waiting_has(0, 8)
    assert not waiting.waiting_has(1, 7)
    waiting.waiting_let_go(0)
    assert not waiting.waiting_has(0, 7)
