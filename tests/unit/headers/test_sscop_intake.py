# SPDX-License-Identifier: GPL-2.0
"""What comes in before it can be sent, sscop_intake.h, over a link of 1 Mbit/s and 100 ms."""

from __future__ import annotations

import pytest

from tests.unit.headers.cheaders import Library

RATE, BASE_US = 125_000, 100_000
PACKET = 1500
ROUND = RATE * BASE_US / 1e6  # octets that the link holds
S = 1_000_000
WRAP = 2**32


class Above:
    """A queue that never ends, above a link that takes nothing by itself."""

    def __init__(self, apogee: Library, now: int, rate: int = RATE, base: int = BASE_US) -> None:
        self.apogee, self.now, self.at, self.waiting = apogee, now % WRAP, now % WRAP, 0
        self.intake = apogee.sscop_intake(rate, base)

    def take_in(self) -> int:
        """All that may come in now; octets."""
        first = self.waiting
        while self.apogee.sscop_intake_may(self.intake, self.at, self.waiting, self.now):
            self.came()
        return self.waiting - first

    def came(self) -> None:
        self.at = self.apogee.sscop_intake_taken(self.intake, self.at, PACKET, self.now)
        self.waiting += PACKET

    def run(self, us: int) -> int:
        """Octets that come in while the link takes what it can."""
        came = 0
        for _ in range(us // 1000):
            self.now = (self.now + 1000) % WRAP
            self.waiting = max(0, self.waiting - RATE // 1000)
            came += self.take_in()
        return came


@pytest.fixture(params=[0, WRAP - S // 10, WRAP // 2 - S // 10])
def above(request: pytest.FixtureRequest, apogee: Library) -> Above:
    return Above(apogee, request.param)


def test_a_silence_is_made_good_for_two_round_trips(above: Above) -> None:
    assert above.take_in() == 0
    above.now = (above.now + BASE_US) % WRAP
    assert above.take_in() == pytest.approx(ROUND * 7 / 8, abs=PACKET)
    above.now = (above.now + 60 * S) % WRAP
    above.waiting = 0
    assert above.take_in() == pytest.approx(2 * ROUND * 7 / 8, abs=PACKET)


def test_then_what_waits_becomes_less(above: Above) -> None:
    above.now = (above.now + 60 * S) % WRAP
    first = above.take_in()
    assert above.run(S) == pytest.approx(S / 1e6 * RATE * 7 / 8, rel=0.02)
    assert above.waiting < first
    above.run(60 * S)
    assert above.waiting <= PACKET


def test_what_comes_anyway_puts_the_next_off_by_one_packet(above: Above) -> None:
    for _ in range(1000):
        above.came()
    above.waiting = 0
    assert above.take_in() == 0
    above.now = (above.now + int(PACKET / RATE * 1e6 * 8 / 7) + 10) % WRAP
    assert above.take_in() == PACKET


def test_what_waits_is_bounded_though_the_link_takes_nothing(above: Above) -> None:
    for _ in range(1000):
        above.now = (above.now + BASE_US) % WRAP
        above.take_in()
    assert above.waiting <= 2 * ROUND + PACKET


def test_nothing_comes_in_while_the_link_is_not_known(apogee: Library) -> None:
    above = Above(apogee, 0, 0, 0)
    above.now = 60 * S
    assert above.take_in() == 0
    above.came()
    assert above.take_in() == 0


def test_a_link_that_claims_too_much_is_bounded(apogee: Library) -> None:
    above = Above(apogee, 0, 2**40, 60 * S)
    above.now = WRAP // 4
    assert PACKET < above.take_in() <= 2**24 + PACKET
