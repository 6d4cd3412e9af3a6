# SPDX-License-Identifier: GPL-2.0
"""The clock of the link, clock.h, with an endless source before a box that has a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from tests.unit.sscop.core import HEADERS, library

FRAME, HEADER, POLL = 1514, 14, 21
RATE = 2e6 / 8
BASE_US = 40_000
S = 1_000_000
START, CRUISE = 0, 4


def renew(clock: object) -> None:
    """What follows from fields that were set by hand; frames that are 1 us apart change nothing."""
    library().sscop_clock_slow(clock, 1)


class Box:
    """A box that sends frames at ``RATE``; its STATs are ``late`` us later than the base."""

    def __init__(self, late: Callable[[int], int]) -> None:
        self.clock = HEADERS.structs["sscop_clock"]()
        self.late, self.busy, self.longest = late, 0.0, 0.0
        self.stats: deque[tuple[int, int]] = deque()
        library().sscop_clock_init(self.clock, 0)

    def put(self, octets: int, now: int) -> None:
        self.busy = max(self.busy, now) + octets / RATE * S
        self.longest = max(self.longest, self.busy - now)

    def send(self, now: int) -> int:
        """What the clock allows; octets."""
        lib, first = library(), self.clock.sent
        while not lib.sscop_clock_is_full(self.clock) and now >= lib.sscop_clock_due(self.clock):
            self.put(FRAME, now)
            lib.sscop_clock_sent(self.clock, FRAME - HEADER)
            lib.sscop_clock_paced(self.clock, FRAME - HEADER, now)
        lib.sscop_clock_waits(self.clock, 3 if lib.sscop_clock_is_full(self.clock) else 2, now)
        return self.clock.sent - first

    def run(self, poll: int, until: int) -> tuple[float, int]:
        """From the present to ``until``: share of the rate that was sent; the next POLL."""
        lib, total, since = library(), 0, 0
        for now in range(self.now, until, 1000):
            while self.stats and self.stats[0][0] <= now:
                lib.sscop_clock_heard(self.clock, self.stats.popleft()[1], 0, now)
            since += self.send(now)
            if since >= 3000:
                self.put(POLL + HEADER, now)
                lib.sscop_clock_sent(self.clock, POLL)
                lib.sscop_clock_asked(self.clock, poll, now)
                back = int(self.busy) + BASE_US + self.late(now)
                self.stats.append((max(back, self.stats[-1][0] if self.stats else 0), poll))
                total, since, poll = total + since, 0, poll + 1
        share = total / RATE / (until - self.now) * S
        self.now = until
        return share, poll

    now = 0


def test_a_box_is_full_and_hardly_more() -> None:
    box = Box(lambda _: 0)
    _, poll = box.run(1, 10 * S)
    box.longest = 0
    share, _ = box.run(poll, 20 * S)
    assert share > 0.95
    assert library().sscop_clock_rate(box.clock) == pytest.approx(RATE, rel=0.1)
    assert box.longest < 2 * BASE_US  # us in the queue, after the start


def test_a_radio_that_turns_is_full() -> None:
    """STATs come only in each second 100 ms."""
    box = Box(lambda now: 100_000 - now % 100_000 if now // 100_000 % 2 else 0)
    _, poll = box.run(1, 5 * S)
    share, _ = box.run(poll, 20 * S)
    assert share > 0.6


@pytest.mark.parametrize("apart", [1000, 100_000])
def test_what_round_trips_differ_by_is_in_the_window(apart: int) -> None:
    """A way back that STATs leave together, 100 ms apart: nothing waits, and the link is kept full.
    Where round trips differ by what is under way, nothing is added.
    """
    lib, box = library(), Box(lambda now: apart - now % apart)
    frames = int(3 * FRAME / RATE * S)
    _, poll = box.run(1, 5 * S)
    rested, total = [], 0.0
    for second in range(5, 35):
        share, poll = box.run(poll, (second + 1) * S)
        rested.append(box.clock.rested - lib.sscop_clock_base(box.clock))
        total += share / 30
    assert total > 0.9
    assert max(rested) <= max(apart, frames)
    assert max(rested) > apart / 2 or apart < frames
    box.clock.phase, box.clock.more, box.clock.extra[:] = CRUISE, 0, (0, 0)
    box.clock.rested = 10 * BASE_US
    renew(box.clock)
    held = lib.sscop_clock_rate(box.clock) * 10 * BASE_US / S
    assert lib.sscop_clock_window(box.clock) == pytest.approx(9 / 8 * held + 3 * FRAME, rel=0.01)


def test_the_start_is_paced() -> None:
    """Before the rate is known all that may be under way goes out; then, eight times the rate."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)

    def sent(start: int, us: int) -> int:
        """Frames, of a window without an end."""
        frames = 0
        for now in range(start, start + us, 100):
            while frames < 1000 and now >= lib.sscop_clock_due(clock):
                lib.sscop_clock_sent(clock, FRAME - HEADER)
                lib.sscop_clock_paced(clock, FRAME - HEADER, now)
                frames += 1
        return frames

    assert sent(0, 100) == 1000
    clock.rate[0], clock.base[0] = int(RATE), BASE_US
    renew(clock)
    assert clock.phase == START
    for start, us in ((S, 10_000), (2 * S, 100_000)):
        assert sent(start, us) == pytest.approx(8 * RATE * us / S / FRAME, rel=0.1, abs=4)


@pytest.mark.parametrize("base", [13, 300, 1000])
@pytest.mark.parametrize("rate", [12_500_000, 125_000_000, 12_500_000_000])
def test_what_is_sent_between_two_polls_may_be_under_way(rate: int, base: int) -> None:
    """POLLs are 1 ms apart on a fast link, whose round trip is shorter."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)
    clock.rate[0], clock.base[0], clock.phase = rate, base, CRUISE
    renew(clock)
    assert lib.sscop_clock_window(clock) >= rate * 1e-3


def test_a_slow_way_back_keeps_no_sds_back() -> None:
    """Its STATs begin to wait for twice the base, which stays what was seen before for a while."""
    box = Box(lambda now: 2 * BASE_US if now > 5 * S else 0)
    _, poll = box.run(1, 7 * S)
    share, _ = box.run(poll, 12 * S)
    assert share > 0.7


def test_pauses_of_the_sender_do_not_make_it_forget_the_rate() -> None:
    """Each time it sends a frame and a POLL twice, and then has nothing to send."""
    box, lib = Box(lambda _: 0), library()
    _, poll = box.run(1, 10 * S)
    for now in range(20 * S, 30 * S, S // 10):
        lib.sscop_clock_idle(box.clock, True)
        for number in (poll, poll + 1):
            lib.sscop_clock_sent(box.clock, FRAME - HEADER)
            lib.sscop_clock_asked(box.clock, number, now)
        for number in (poll, poll + 1):
            lib.sscop_clock_heard(box.clock, number, 0, now + BASE_US)
        poll += 2
        assert lib.sscop_clock_rate(box.clock) > 0.8 * RATE


@pytest.mark.parametrize(("untold", "lost", "share"), [(0, 0, 1), (40, 0, 1), (40, 45, 0.25)])
def test_what_is_not_told_was_lost_as_often(untold: int, lost: int, share: float) -> None:
    """A hundred frames are sent in a round trip; then a STAT tells of some of them only."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)
    for poll, now in enumerate((1000, 1000 + BASE_US), 1):
        lib.sscop_clock_sent(clock, POLL)
        lib.sscop_clock_asked(clock, poll, now)
        if poll == 1:
            lib.sscop_clock_heard(clock, poll, 0, now + BASE_US)
            for _ in range(100):
                lib.sscop_clock_sent(clock, FRAME - HEADER)
    for _ in range(lost):
        lib.sscop_clock_lost(clock, FRAME - HEADER)
    lib.sscop_clock_heard(clock, 2, untold * FRAME, 1000 + 2 * BASE_US)
    expected = share * 100 * FRAME / BASE_US * S
    assert lib.sscop_clock_rate(clock) == pytest.approx(expected, rel=0.02)


def test_what_was_lost_before_the_poll_did_not_pass() -> None:
    """On a short link USTATs tell of most losses before the next POLL is sent."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)
    for poll in range(1, 25):
        sent = 5 if poll <= 20 else 20
        for frame in range(sent):
            lib.sscop_clock_sent(clock, FRAME - HEADER)
            if frame >= 5:
                lib.sscop_clock_lost(clock, FRAME - HEADER)
        lib.sscop_clock_asked(clock, poll, poll * 1000)
        lib.sscop_clock_heard(clock, poll, 0, poll * 1000 + 100)
    assert lib.sscop_clock_rate(clock) < 1.3 * 5 * FRAME * 1000


def test_what_a_further_stat_says_was_lost_is_not_lost_again() -> None:
    """Its losses are of frames before the POLL that it answers, not of those before the next."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)
    for poll in (1, 2):
        for _ in range(100):
            lib.sscop_clock_sent(clock, FRAME - HEADER)
        lib.sscop_clock_asked(clock, poll, poll * BASE_US)
        lib.sscop_clock_heard(clock, poll, 0, poll * BASE_US + 1000)
        for _ in range(50 if poll == 1 else 0):
            lib.sscop_clock_lost(clock, FRAME - HEADER)
        lib.sscop_clock_heard(clock, poll, 0, poll * BASE_US + 1000)
    assert lib.sscop_clock_rate(clock) == pytest.approx(100 * FRAME / BASE_US * S, rel=0.02)


def test_what_is_lost_while_polls_wait_is_not_the_radios() -> None:
    """Nor if they wait as long at little load, as STATs do on a slow way back."""
    lib, clock = library(), HEADERS.structs["sscop_clock"]()
    lib.sscop_clock_init(clock, 0)
    for poll in range(1, 41):
        if poll > 20:
            clock.phase, clock.rested = CRUISE, 10 * BASE_US
        for frame in range(10):
            lib.sscop_clock_sent(clock, FRAME - HEADER)
            if poll > 20 and frame % 2:
                lib.sscop_clock_lost(clock, FRAME - HEADER)
        at = poll * 10 * BASE_US
        lib.sscop_clock_asked(clock, poll, at)
        lib.sscop_clock_heard(clock, poll, 0, at + (5 if poll > 20 else 1) * BASE_US)
    assert clock.light_lost == 0
