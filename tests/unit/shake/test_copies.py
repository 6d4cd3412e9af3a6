# SPDX-License-Identifier: GPL-2.0
"""Copies of what was sent, shake/copies.c, in user space: a device's bound, and what is told when
there is no memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from tests.unit.devices import ROOT, DeviceHeaders, build
from tests.unit.headers.cheaders import Library

FOLDER = ROOT / "tests/fuzz"
#: Paths of one leader; each of the others has one.
HERS, PATHS = 8, 40
#: shake/core/shake_repair.h and shake/copies.c: of a path, of all, those that any leader may have.
KEPT, MOST_OF_ALL, FEW = 2048, 16384, 16
FAST = 1_250_000  # octets a second


@cache
def library() -> Library:
    files = [FOLDER / "copying.c", ROOT / "shake/copies.c"]
    headers = DeviceHeaders([FOLDER / "copying.h"])
    return build("shake_copying", headers, [*files, "-Wno-unused-parameter"])


@pytest.fixture
def copying() -> Iterator[Library]:
    library().copying_begin()
    yield library()
    library().copying_refuse(False)
    library().copying_end()


def send(copying: Library, path: int, count: int) -> int:
    """How many are kept."""
    return sum(copying.copying_send(path) for _ in range(count))


def test_what_arrives_is_forgotten(copying: Library) -> None:
    assert send(copying, 3, 100) == copying.copying_count() == 100
    copying.copying_arrived(3)
    assert (copying.copying_count(), copying.copying_refused()) == (0, 0)


def test_a_copy_that_there_is_no_memory_for_is_told(copying: Library) -> None:
    copying.copying_refuse(True)
    assert send(copying, 0, 10) == 0
    assert copying.copying_refused() == 10
    copying.copying_refuse(False)
    assert send(copying, 0, 10) == 10
    copying.copying_arrived(0)
    assert copying.copying_count() == 0


def test_a_table_that_there_is_no_memory_for_is_told_and_made_later(copying: Library) -> None:
    copying.copying_end()
    copying.copying_refuse(True)
    copying.copying_begin()
    assert send(copying, 0, 5) == 0 and copying.copying_work()
    assert send(copying, 0, 5) == 0
    assert copying.copying_refused() == 10
    copying.copying_refuse(False)
    assert copying.copying_work() and not copying.copying_work()
    assert send(copying, 0, 5) == 5
    assert copying.copying_refused() == 10


@pytest.mark.parametrize("rate", [FAST - 1, FAST])
def test_a_fast_path_without_a_queue_is_not_copied_for_ever(copying: Library, rate: int) -> None:
    copying.copying_speed(0, rate)
    for _ in range(4):
        assert send(copying, 0, 1024) == 1024
        copying.copying_arrived(0)
    assert send(copying, 0, 10) == (0 if rate == FAST else 10)


def test_no_leader_takes_what_others_need(copying: Library) -> None:
    """One has at most four fifths; what it has told of comes back to whoever needs it."""
    for path in range(HERS):
        send(copying, path, KEPT + 1)
    first = copying.copying_count()
    assert first == MOST_OF_ALL * 4 // 5 + 1
    second = send(copying, HERS, KEPT)
    assert second == KEPT
    for path in range(HERS):
        copying.copying_arrived(path)
    assert copying.copying_count() == second
    assert sum(send(copying, path, KEPT) for path in range(HERS)) > first * 3 // 4


def test_all_leaders_of_a_device_share_what_there_is(copying: Library) -> None:
    """Who comes last has a few. Who had too many keeps none until all are told of."""
    for path in range(HERS):
        send(copying, path, KEPT + 1)
    kept = [send(copying, path, KEPT) for path in range(HERS, PATHS)]
    assert min(kept) == kept[-1] == FEW
    assert copying.copying_count() <= MOST_OF_ALL + FEW * len(kept)
    refused = copying.copying_refused()
    assert send(copying, 0, 10) == send(copying, PATHS - 1, 10) == 0
    assert copying.copying_refused() == refused + 20
    for path in range(PATHS):
        copying.copying_arrived(path)
    assert copying.copying_count() == 0
    assert send(copying, PATHS - 1, 2 * FEW) == 2 * FEW


def test_a_probe_follows_each_flight(copying: Library) -> None:
    """It is armed once for what leaves within 10 ms, which moves it; anew behind a pause in which
    all arrived, so that no probe was sent that would have forgotten the time."""
    assert copying.copying_tail(3, 0) == 1
    assert [copying.copying_tail(3, 9_999) for _ in range(5)] == [1] * 5
    assert copying.copying_tail(3, 10_000) == 2
    assert copying.copying_tail(3, 1) == 2
    assert copying.copying_tail(3, 1_000_000) == 3
