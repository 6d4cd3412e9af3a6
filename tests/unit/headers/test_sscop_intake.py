# SPDX-License-Identifier: GPL-2.0
"""What comes in before it can be sent, sscop_intake.h, over a link of 1 Mbit/s and 100 ms."""

from __future__ import annotations

import pytest

from tests.unit.headers.cheaders import Library

RATE, BASE_US = 125_000, 100_000
PACKET = 1500
PACKET_US = 12_000
ROUND = RATE * BASE_US / 1e6  # octets that the link holds
S = 1_000_000
WRAP = 2**32


class Above:
    """A queue that never ends, above a link that takes nothing by itself."""

    def __init__(self, apogee: Library, now: int, rate: int = RATE, base: int = BASE_US) -> None:
        self.apogee, self.now, self.at, self.waiting = apogee, now % WRAP, now % WRAP, 0
        self.intake = apogee.sscop_intake(rate, base)

    def passes(self, us: int) -> None:
        self.now = (self.now + us) % WRAP

    def take_in(self) -> int:
        """All that may come in now; octets."""
        first = self.waiting
        while self.apogee.sscop_intake_may(self.intake, self.at, self.waiting, self.now):
            self.waiting += PACKET
        return self.waiting - first

    def sends(self) -> None:
        self.at = self.apogee.sscop_intake_sent(self.intake, self.at, PACKET, self.now)

    def run(self, us: int, again: int = 1) -> int:
        """Octets that come in while the link sends all the time, each packet so many times."""
        came = 0
        for frame in range(us // PACKET_US):
            self.passes(PACKET_US)
            self.waiting = max(0, self.waiting - PACKET * (frame % again == 0))
            self.sends()
            came += self.take_in()
        return came


@pytest.fixture(params=[0, WRAP - S // 10, WRAP // 2 - S // 10])
def above(request: pytest.FixtureRequest, apogee: Library) -> Above:
    return Above(apogee, request.param)


def test_a_silence_is_made_good_for_two_round_trips(above: Above) -> None:
    assert above.take_in() == 0
    above.passes(BASE_US)
    assert above.take_in() == pytest.approx(ROUND * 15 / 16, abs=PACKET)
    above.passes(60 * S)
    above.waiting = 0
    assert above.take_in() == pytest.approx(2 * ROUND * 15 / 16, abs=PACKET)


@pytest.mark.parametrize("again", [1, 2, 4])
def test_then_what_waits_becomes_less(above: Above, again: int) -> None:
    """Also where each packet is sent again: the link is as busy."""
    above.passes(60 * S)
    first = above.take_in()
    above.run(S, again)
    assert 0 < above.waiting < first
    above.run(20 * S, again)
    assert above.run(20 * S, again) == 0
    assert above.waiting == 0


def test_frames_sent_at_once_put_the_next_packet_off_by_one(above: Above) -> None:
    for _ in range(1000):
        above.sends()
    assert above.take_in() == 0
    above.passes(PACKET_US * 16 // 15 + 10)
    assert above.take_in() == PACKET


def test_what_waits_is_bounded_though_the_link_takes_nothing(above: Above) -> None:
    for _ in range(1000):
        above.passes(BASE_US)
        above.take_in()
    assert above.waiting <= 2 * ROUND + PACKET


def test_nothing_comes_in_while_the_link_is_not_known(apogee: Library) -> None:
    above = Above(apogee, 0, 0, 0)
    above.passes(60 * S)
    assert above.take_in() == 0
    above.sends()
    assert above.take_in() == 0


def test_a_link_that_claims_too_much_is_bounded(apogee: Library) -> None:
    above = Above(apogee, 0, 2**40, 60 * S)
    above.passes(WRAP // 4)
    assert PACKET < above.take_in() <= 2**24 + PACKET
