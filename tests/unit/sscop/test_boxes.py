# SPDX-License-Identifier: GPL-2.0
"""Both ends of a link whose bottleneck is a box beyond the device below, with a queue of 200 ms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.unit.sscop.core import STALE, STAT, World, config, library, pdu

RATE = 2_000_000
SEGMENT = 1000
FIRST = 20 * 1522
S = 1_000_000
START, DRAIN, PROBE, REST, CRUISE = range(5)


def behind(world: World, rate: int, delay: int, queue: int) -> None:
    """Connect by a box: bit/s, us one way, us of queue."""
    for name, value in (("box", 1), ("queue", queue), ("delay", delay), ("rate", rate)):
        world.set(f"out.{name}", value)
    world.connect()


@contextmanager
def connected(delay: int = 20_000, **rules: int) -> Iterator[World]:
    with World(config(window=1024, clock=True, **rules), segment=SEGMENT) as world:
        world.set("out.box", 1)
        world.set("out.delay", delay)
        world.set("out.rate", RATE)
        world.connect()
        world.run(S)
        yield world


@pytest.fixture
def world() -> Iterator[World]:
    with connected() as made:
        yield made


class Seen:
    """What was seen of side 0 while it had more to send than it could, for ``us``."""

    def __init__(self, world: World, us: int) -> None:
        clock, first = world.world.peers[0].s.clock, world.get(1, "delivered")
        again = world.counts(0)["sd_again"]
        self.pressed, self.window, self.srtt, self.rate = False, 0, 0, RATE
        for _ in range(us // 10_000):
            if world.get(0, "sent") + 300 > world.get(0, "given"):
                world.call("give", 0, 300)
            world.run(10_000)
            self.pressed |= clock.pressed
            self.window = max(self.window, library().sscop_clock_window(clock))
            self.rate = min(self.rate, library().sscop_clock_rate(clock))
            self.srtt = max(self.srtt, world.get(0, "s.tx.srtt"))
        self.delivered = world.get(1, "delivered") - first
        self.again = world.counts(0)["sd_again"] - again
        self.phase = clock.phase


def test_an_end_that_has_only_received_sends_at_once(world: World) -> None:
    """It knows a link of a short round trip; then it sends a thousand STATs a second, and its next
    POLL is most of a second away.
    """
    world.set("out.delay", 500)
    world.set("out.rate", 20_000_000, 1)
    world.set("out.rate", 0, 0)
    for _ in range(50):
        world.call("give", 1, 250)
        world.run(100_000)
    world.run(2 * S)
    for _ in range(10_300):
        world.call("give", 0, 20)
        world.run(1000)
    before = world.get(0, "delivered")
    world.call("give", 1, 30)
    world.run(3000)
    assert world.get(0, "delivered") > before
    world.run(20_000)
    assert world.get(0, "delivered") == before + 30


def test_a_pause_of_the_device_below_says_nothing_of_the_link(world: World) -> None:
    before = [Seen(world, 10 * S), Seen(world, S)][1]
    world.call("pause", 0, 3 * S)
    assert Seen(world, 3 * S).delivered == 0
    after = Seen(world, S)
    assert not after.pressed
    assert after.srtt < 1.05 * before.srtt
    assert after.window < 1.2 * before.window
    assert after.rate > 0.8 * before.rate
    assert after.delivered > 0.9 * before.delivered
    assert after.again == 0


def test_a_pause_while_the_rate_is_sought(world: World) -> None:
    Seen(world, 50_000)
    world.call("pause", 0, 3 * S)
    assert Seen(world, 3 * S).srtt < 100_000
    after = Seen(world, 2 * S)
    assert after.srtt < 200_000
    assert after.delivered * SEGMENT * 8 > 0.8 * 2 * RATE


def test_a_link_that_has_become_slow_is_no_pause(world: World) -> None:
    """Each frame now takes most of a second of the device below, and it is full."""
    Seen(world, 5 * S)
    world.set("out.box", 0, 0)
    world.set("out.rate", 6000, 0)
    world.call("give", 0, 0)  # it asks anew what the device below takes
    Seen(world, 10 * S)
    before = world.counts(0)["sd_bytes"]
    Seen(world, 60 * S)
    assert (world.counts(0)["sd_bytes"] - before) * 8 > 0.85 * 60 * 6000
    assert world.get(0, "s.tx.srtt") > 100_000


def test_a_window_of_sds_that_is_closed_is_more_to_send() -> None:
    """The rate is found where the window is much more than the box takes, and its SDs all wait."""
    with connected(delay=200_000) as world:
        seen = Seen(world, 10 * S)
        assert seen.phase != START
        assert seen.again < seen.delivered
        assert seen.delivered * SEGMENT * 8 > 0.55 * 10 * RATE
        assert Seen(world, 5 * S).delivered * SEGMENT * 8 > 0.85 * 5 * RATE


def test_what_lists_of_losses_leave_out_did_not_pass() -> None:
    """A queue that is short for the round trip, a radio that loses a tenth, and more losses than a
    list has room for while the rate is sought. Six times as much went out again as arrived.
    """
    again = delivered = 0
    for seed in range(6):
        with World(config(window=1024, clock=True), segment=SEGMENT, seed=seed) as world:
            behind(world, 300_000, 190_000, 100_000)
            world.set("out.loss", 26)
            seen = Seen(world, 60 * S)
        again, delivered = again + seen.again, delivered + seen.delivered
    assert again < delivered


def test_what_the_device_below_refuses_is_answered_by_the_rate(world: World) -> None:
    """It is no loss of the radio: nothing is told of SDs that were under way."""
    Seen(world, 10 * S)
    peer = world.world.peers[0]
    while Seen(world, 10_000).phase != CRUISE:
        pass
    library().sscop_tx_refused(peer.s)
    while (seen := Seen(world, 10_000)).phase == CRUISE:
        assert seen.delivered
    assert seen.phase == REST
    Seen(world, 3 * S)
    told = list(peer.outcomes)
    world.set("out.loss", 64, 0)
    for _ in range(100):
        library().sscop_tx_refused(peer.s)
        Seen(world, 10_000)
    assert peer.outcomes[1] == told[1]
    Seen(world, 3 * S)
    assert peer.outcomes[1] > told[1]


def test_a_stat_that_comes_again_tells_nothing(world: World) -> None:
    """A thousand times, and with runs that it told of before."""
    Seen(world, 10 * S)
    world.call("give", 0, world.get(0, "sent") - world.get(0, "given"))
    world.run(300_000)
    rate = library().sscop_clock_rate(world.world.peers[0].s.clock)
    acked, ps = world.get(0, "s.tx.acked"), world.get(0, "s.tx.poll_acked")
    taken = world.counts(0)["stat_received"]
    for _ in range(1000):
        world.inject(0, pdu(STAT, seq=acked, mr=acked + 1024, ps=ps))
        world.run(1000)
    assert library().sscop_clock_rate(world.world.peers[0].s.clock) > 0.9 * rate
    assert world.counts(0)["stat_received"] - taken < 20
    assert world.dropped(0)[STALE] > 900
    world.call("give", 0, 300)
    world.set("out.cut", 1, 1)
    world.run(100_000)
    acked, ps = world.get(0, "s.tx.acked"), world.get(0, "s.tx.poll")
    told = [acked, acked + 1, acked + 2, acked + 3]
    taken = world.counts(0)["stat_received"]
    for first in (told, told, told[2:], [acked + 4, acked + 5]):
        world.inject(0, pdu(STAT, first, seq=acked, mr=acked + 1024, ps=ps))
    assert world.counts(0)["stat_received"] - taken == 2


def test_a_peer_that_acknowledges_nothing_has_a_window_and_no_more(world: World) -> None:
    """Its STATs are in time, and say that each SD is missing, or nothing at all of them: what is
    sent is what may be under way before anything is known, in each round trip.
    """
    world.set("out.cut", 1, 1)
    for missing in (True, False):
        sent = world.counts(0)["sd_bytes"]
        for _ in range(400):
            poll, last = world.get(0, "s.tx.poll"), world.get(0, "s.tx.next")
            Seen(world, 50_000)
            acked = world.get(0, "s.tx.acked")
            runs = [acked, last] if missing and last != acked else []
            world.inject(0, pdu(STAT, runs, seq=acked, mr=acked + 1024, ps=poll))
        assert world.get(0, "kept") <= 1024
        assert world.counts(0)["resets"] == 0
        assert world.counts(0)["sd_bytes"] - sent < 1.1 * 400 * FIRST


@pytest.mark.parametrize(("delay", "queue"), [(50, 1200), (50, 480), (400, 1200), (400, 600)])
def test_a_queue_shorter_than_the_time_between_two_polls(delay: int, queue: int) -> None:
    """On a fast link it is seen all the same, and what is sent at once fits."""
    rate = 100_000_000
    with World(config(window=16384, clock=True), segment=SEGMENT) as world:
        behind(world, rate, delay, queue)
        Seen(world, S)
        seen = Seen(world, S)
        assert seen.delivered * SEGMENT * 8 > 0.8 * rate
        assert seen.again < 0.1 * seen.delivered


@pytest.mark.parametrize(
    ("rate", "delay", "queue"),
    [(10_000_000, 1000, 5000), (2_000_000, 5000, 20_000), (500_000, 20_000, 100_000)],
)
def test_a_short_queue_of_a_link_that_holds_few_frames(rate: int, delay: int, queue: int) -> None:
    """SDs are paced there as well, and more than the rate is a flood."""
    with World(config(window=1024, clock=True), segment=SEGMENT) as world:
        behind(world, rate, delay, queue)
        Seen(world, 10 * S)
        before = world.counts(0)["sd_bytes"]
        seen = Seen(world, 10 * S)
        assert 0.85 < (world.counts(0)["sd_bytes"] - before) * 8 / (10 * rate) < 1.05
        assert seen.again < 0.05 * seen.delivered


@pytest.mark.parametrize("delay", [400, 1000])
def test_a_fast_link_is_full_between_two_polls(delay: int) -> None:
    """What is sent between two POLLs is under way until the second one's STAT."""
    rate = 100_000_000
    with World(config(window=16384, clock=True), segment=SEGMENT) as world:
        behind(world, rate, delay, 2000)
        Seen(world, S)
        before = world.counts(0)["sd_bytes"]
        Seen(world, S)
        assert (world.counts(0)["sd_bytes"] - before) * 8 > 0.93 * rate


def test_a_link_of_few_frames_that_gets_faster() -> None:
    """SDs that took less than half as long as at the known rate are no longer paced by it."""
    rate = 1_000_000
    with World(config(window=1024, clock=True), segment=SEGMENT) as world:
        behind(world, rate, 1000, 144_000)
        Seen(world, 7 * S)
        world.set("out.rate", 10 * rate)
        world.set("out.queue", 14_400)
        before = world.counts(0)["sd_bytes"]
        Seen(world, S // 2)
        assert (world.counts(0)["sd_bytes"] - before) * 8 > 0.7 * 5 * rate
