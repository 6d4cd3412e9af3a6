# SPDX-License-Identifier: GPL-2.0
"""Copies that SHAKE's leader keeps, shake_repair.h: by hand, and against a slow model."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library

WAITS, DONE, SENT, LAST = range(4)
KEPT, PRICE, GIVEN, SAVED, TIME = 2048, 4, 64, 1024, 600_000_000
SRTT, LEAST = 300_000, 240_000
FAST = 1_250_000  # 10 Mbit/s
BEGUN = 4096
ALL = (1 << 64) - 1
U32 = 2**32


def unseen(*behind: int) -> int:
    """What a pseudo-ACK tells if the packets so far behind its echo were not received."""
    return ALL & ~sum(1 << (64 - b) for b in behind)


class Path:
    """A path's copies, after a loss that made it keep them."""

    def __init__(self, apogee: Library, *, looked: bool = True) -> None:
        self.apogee = apogee
        self.state = apogee.new("shake_repair")
        self.now = 10**6
        if looked:
            apogee.shake_repair_look(self.state, unseen(40), self.now)

    def begun(self) -> Path:
        """It has carried packets before."""
        self.state.head = self.state.tail = BEGUN
        return self

    def keep(self, counter: int, rate: int = FAST, most: int = KEPT) -> int | None:
        """Its place."""
        place = ctypes.c_uint32(0)
        kept = self.apogee.shake_repair_keep(
            self.state, counter % U32, rate, most, self.now, ctypes.byref(place)
        )
        return place.value if kept else None

    def judge(self, place: int, echo: int, seen: int = ALL, srtt: int = SRTT) -> int:
        return int(
            self.apogee.shake_repair_judge(
                self.state, place, echo % U32, seen, srtt, LEAST, self.now
            )
        )

    def close(self, place: int) -> None:
        self.apogee.shake_repair_close(self.state, place)

    def open(self) -> list[int]:
        """Places of open copies, as a pseudo-ACK finds them."""
        number = ctypes.c_uint32(self.state.tail)
        found = []
        while self.apogee.shake_repair_next(self.state, ctypes.byref(number)):
            found.append(number.value % KEPT)
            number.value += 1
        return found


@pytest.fixture
def path(apogee: Library) -> Path:
    return Path(apogee)


def fill(path: Path, count: int, first: int = 1) -> list[int]:
    places = [path.keep(first + n) for n in range(count)]
    assert None not in places
    return places  # type: ignore[return-value]


def test_a_fast_path_keeps_nothing_before_a_loss(apogee: Library) -> None:
    path = Path(apogee, looked=False).begun()
    assert path.keep(1) is None
    apogee.shake_repair_look(path.state, ALL, path.now)
    assert path.keep(2) is None


def test_the_first_packets_of_a_fast_path_are_kept(apogee: Library) -> None:
    """One that is lost would end a flow's slow start."""
    path = Path(apogee, looked=False)
    for counter in range(BEGUN):
        place = path.keep(counter)
        assert place is not None
        apogee.shake_repair_close(path.state, place)
    assert path.keep(BEGUN) is None


@pytest.mark.parametrize("rate", [0, 1, FAST - 1])
def test_slow_paths_keep_all(apogee: Library, rate: int) -> None:
    """Below 10 Mbit/s, and while the rate is unknown."""
    path = Path(apogee, looked=False).begun()
    assert path.keep(1, rate) is not None
    assert path.keep(2, FAST) is None


def test_a_packet_just_behind_the_newest_is_no_loss(apogee: Library) -> None:
    """It may come yet; further back none does, as far as is known."""
    path = Path(apogee, looked=False).begun()
    seen = ALL & ~sum(1 << (64 - b) for b in range(1, 33))
    apogee.shake_repair_look(path.state, seen, path.now)
    assert path.keep(1) is None
    apogee.shake_repair_look(path.state, unseen(33), path.now)
    assert path.keep(2) is not None


@pytest.mark.parametrize("count", [1, 32, 33, 63, 64, 65])
def test_a_session_that_lost_nothing_keeps_nothing(apogee: Library, count: int) -> None:
    """Its numbers begin with 1: that 0 was not received is no loss."""
    received = apogee.new("shake_replay")
    for counter in range(1, count + 1):
        apogee.shake_replay_update(received, counter)
    path = Path(apogee, looked=False).begun()
    seen = apogee.shake_replay_behind(received, count)
    assert seen % (1 << 64) == ALL
    apogee.shake_repair_look(path.state, seen, path.now)
    assert path.keep(count + 1) is None


def test_copies_are_kept_for_ten_minutes_after_a_loss(path: Path) -> None:
    path.begun()
    path.now += TIME - 1
    assert path.keep(1) is not None
    path.now += 1
    assert path.keep(2) is None


@given(
    st.integers(0, U32 - 1),
    st.integers(-2, 66),
    st.booleans(),
    st.tuples(st.integers(0, 8), st.integers(0, 31), st.integers(0, 2)),
    st.tuples(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 70)),
    st.integers(0, 3 * 10**6),
)
def test_what_an_ack_tells_of_a_packet(
    apogee: Library,
    counter: int,
    behind: int,
    there: bool,
    state: tuple[int, int, int],
    times: tuple[int, int, int],
    waited: int,
) -> None:
    """What is ahead of the echo waits, and what arrived is done, and what is far behind and
    was never sent again. What did not arrive is sent again if so many have overtaken it, or after
    five quarters of a round trip; twice more if so many that left after its copy came. It costs
    four that were kept.

    A packet that arrives although its copy cannot have was late: twice as many may overtake one
    then, half as many after a copy that has arrived.
    """
    (saved, overtake, tries), (srtt, least, after) = state, times
    late, told = srtt + srtt // 4, 0 < behind <= 64
    gone = told and not there
    for age in (waited, late, late + 1, least, least - 1):
        path = Path(apogee)
        place = path.keep(counter)
        kept, path.state.saved, path.state.overtake = path.state.kept[place], saved, overtake
        kept.tries, kept.after = tries, (counter + after) % U32
        begun, path.now = path.now, path.now + age
        fate = path.apogee.shake_repair_judge(
            path.state, place, (counter + behind) % U32, unseen(behind) if gone else ALL, srtt,
            least, path.now,
        )  # fmt: skip
        arrived = behind == 0 or (told and there)
        learnt = min(2 * overtake + 1, 31) if age < least else overtake // 2
        assert path.state.overtake == (learnt if arrived and tries else overtake)
        assert path.state.needless == bool(tries and arrived and age < least)
        overtaken = behind - after > overtake if tries else age > late or behind > overtake
        again = gone and overtaken
        again = again or (bool(tries) and behind > 64 and overtaken)
        sent = again and saved >= PRICE
        asked = (LAST if tries > 1 else SENT) if sent else DONE
        waits = behind < 0 or (not again and (gone or (bool(tries) and behind > 64)))
        assert fate == (WAITS if waits else asked)
        assert (kept.tries, path.state.saved) == (tries + sent, saved - PRICE * sent)
        assert kept.at == (path.now if sent else begun)


@pytest.mark.parametrize(("srtt", "old"), [(300_000, 2_000_000), (2_000_000, 8_000_003)])
def test_what_a_dead_path_keeps_grows_old(path: Path, srtt: int, old: int) -> None:
    """After two seconds and four round trips TCP has sent it again."""
    kept = path.state.kept[fill(path, 12)[3]]
    assert not path.apogee.shake_repair_is_old(kept, srtt, path.now + old)
    assert path.apogee.shake_repair_is_old(kept, srtt, path.now + old + 1)
    assert path.apogee.shake_repair_is_old(kept, srtt, path.now + 10**9)


def test_what_was_sent_again_is_not_kept_when_its_path_dies(path: Path) -> None:
    place = fill(path, 8)[4]
    assert not path.apogee.shake_repair_is_old(path.state.kept[place], SRTT, path.now)
    assert path.judge(place, 6, unseen(1)) == SENT
    assert path.apogee.shake_repair_is_old(path.state.kept[place], SRTT, path.now)


def test_what_is_saved_up_has_a_bound(path: Path) -> None:
    for counter in range(1, 2 * SAVED):
        place = path.keep(counter)
        assert place is not None
        path.close(place)
    assert path.state.saved == SAVED


def test_no_more_than_there_is_room_for(path: Path) -> None:
    """A path with more under way keeps nothing until all are told of."""
    places = fill(path, KEPT)
    assert sorted(places) == list(range(KEPT))
    assert path.keep(KEPT + 1) is None
    for place in places[:-1]:
        path.close(place)
    assert path.keep(KEPT + 2) is None
    path.close(places[-1])
    assert path.keep(KEPT + 3) is not None


def test_a_packet_tells_of_the_one_before(path: Path) -> None:
    """That is what it may prove to be lost: without copy after a purge, and before the first."""
    covers = path.apogee.shake_repair_covers
    assert not covers(path.state)
    place = path.keep(1)
    assert covers(path.state)
    path.close(place)  # told of, or the session ended
    assert not covers(path.state)
    fill(path, KEPT, 2)
    assert covers(path.state)
    assert path.keep(KEPT + 2) is None
    assert not covers(path.state)


def test_copies_close_in_any_order(path: Path) -> None:
    places = fill(path, 5)
    path.close(places[2])
    assert path.open() == [places[n] for n in (0, 1, 3, 4)]
    path.close(places[0])
    path.close(places[1])
    assert path.state.tail == 3
    assert path.open() == places[3:]


@given(
    st.integers(0, U32 - 1),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 400_000)), max_size=150),
    st.integers(0, 2**32),
)
def test_any_loss(apogee: Library, first: int, script: list[tuple[int, int]], salt: int) -> None:
    """Each packet is done or sent again; none is sent again that the ACK says arrived; the copies
    that are open are those not told of.
    """
    path = Path(apogee)
    counter, held, got, tries = first, {}, set(), {}
    for what, wait in script:
        path.now += wait
        if what < 7:
            counter += 1
            place = path.keep(counter)
            assert place is not None
            held[place] = counter
            if (counter * 2654435761 + salt) % 5:
                got.add(counter)
            continue
        echo = max(got, default=None)
        if echo is None:
            continue
        seen = sum(1 << (64 - b) for b in range(1, 65) if echo - b in got or echo - b <= first)
        for place in path.open():
            fate = path.judge(place, echo, seen)
            behind = echo - held[place]
            if fate in (SENT, LAST):
                tries[held[place]] = tries.get(held[place], 0) + 1
                assert held[place] not in got and 0 < behind <= 64
            assert (fate == WAITS and behind < 0) or behind >= 0
            if fate in (DONE, LAST):
                path.close(place)
                del held[place]
    assert sorted(path.open()) == sorted(held)
    assert all(count <= 3 for count in tries.values())


def test_a_flood_of_acks_that_lie(apogee: Library) -> None:
    """Whatever an ACK says, what is sent again is at most a quarter of what was kept, and 16."""
    path = Path(apogee)
    sent: Any = 0
    for counter in range(1, 3000):
        place = path.keep(counter)
        path.now += 10**6
        for place in path.open():
            fate = path.judge(place, counter, 0)
            sent += fate in (SENT, LAST)
            if fate in (DONE, LAST):
                path.close(place)
    assert sent <= (3000 + GIVEN) // PRICE


def test_a_copy_far_behind_is_told_of_by_its_own_ack(path: Path) -> None:
    """It waits for that until something comes that left later. It is sent three times in all."""
    first, second = fill(path, 12)[:2]
    assert [path.judge(place, 8, unseen(6, 7)) for place in (first, second)] == [SENT] * 2
    for place in (first, second):
        path.state.kept[place].after = 400
    path.now += 10 * SRTT
    assert [path.judge(place, 400) for place in (first, second)] == [WAITS] * 2
    assert path.judge(first, 1) == DONE
    assert path.judge(second, 401) == SENT
    path.state.kept[second].after = 500
    assert path.judge(second, 501) == LAST


def test_what_is_lost_first_is_sent_again(path: Path) -> None:
    """Nothing was saved up for it, but a flow has its slow start before it."""
    place = fill(path, 2)[0]
    assert path.judge(place, 2, unseen(1)) == SENT


@pytest.mark.parametrize(("tries", "behind"), [(0, 65), (1, 6145)])
def test_what_is_too_far_behind_is_not_sent_again(path: Path, tries: int, behind: int) -> None:
    """Nothing told of it in time, or the other end would not take it any more."""
    place = fill(path, 8)[0]
    path.state.kept[place].tries = tries
    path.now += 10 * SRTT
    assert path.judge(place, 1 + behind) == DONE
    assert path.state.needless == 0
