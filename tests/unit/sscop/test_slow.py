# SPDX-License-Identifier: GPL-2.0
"""Slow links whose bottleneck is a box with a long queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.unit.sscop.core import World, config

S = 1_000_000
SEGMENT, GIVEN = 500, 50
POLL_BITS = 60 * 8
SHORT_HEADER = 9


@pytest.mark.parametrize("rate", [9600, 16_000])
def test_polls_do_not_fill_a_slow_link(rate: int) -> None:
    """Those are counted that go out while the link takes half of what was given at once."""
    with World(config(window=1024, clock=True), segment=SEGMENT) as world:
        world.set("out.box", 1)
        world.set("out.queue", 60 * S)
        world.set("out.delay", 2000)
        world.set("out.rate", rate)
        world.connect()
        world.call("give", 0, 10)
        world.run(10 * SEGMENT * 8 * S // rate + S)
        world.call("give", 0, GIVEN)
        first = world.counts(0)["poll_sent"]
        us = GIVEN // 2 * SEGMENT * 8 * S // rate
        world.run(us)
        polls = world.counts(0)["poll_sent"] - first
        assert polls * POLL_BITS < 0.1 * rate * us / S
        world.run(2 * us)
        assert world.get(1, "delivered") == world.get(0, "given")


def test_a_sender_of_little_is_no_slow_link() -> None:
    """100 octets every 200 ms over a link of 10 ms that loses a tenth: when the next ones are given
    one of those before is missing at most, ten if POLLs wait for 560 octets at the own rate.
    """
    longest = 0
    for seed in range(1, 5):
        with World(config(window=1024, clock=True), segment=100, seed=seed) as world:
            world.set("out.delay", 5000)
            world.connect()
            world.set("out.loss", 26)
            for _ in range(200):
                world.call("give", 0, 1)
                world.run(S // 5)
                late = world.get(0, "given") - world.get(1, "delivered")
                longest = max(longest, late)
    assert longest <= 3


@pytest.mark.parametrize("rate", [9600, 16_000])
def test_polls_are_no_storm_where_no_answer_has_come(rate: int) -> None:
    """A box whose queue has less room than a frame, and a sender that always has more: a POLL that
    waits for its time finds the queue full. A thousand in a second went out, for good.
    """
    with World(config(window=1024, clock=True), segment=SEGMENT) as world:
        world.set("out.box", 1)
        world.set("out.queue", 5000)
        world.set("out.delay", 2000)
        world.set("out.rate", rate)
        world.connect()
        for _ in range(1000):
            lacks = 200 - (world.get(0, "given") - world.get(0, "sent"))
            if lacks > 0:
                world.call("give", 0, lacks)
            world.run(20_000)
        assert world.counts(0)["poll_sent"] < 20 * 100


@pytest.mark.parametrize("seed", range(1, 5))
def test_reports_leave_room_for_polls_of_their_own_end(seed: int) -> None:
    """A fast way there that loses a sixth, and a way back that is full of reports: whom they come
    from has to ask as well, or it gives up a link that works for want of an answer.
    """
    with World(config(window=2048, clock=True), segment=100, seed=seed) as world:
        world.set("out.queue", 2 * S)
        world.set("out.delay", 12_000)
        world.set("out.rate", 300_000, 0)
        world.set("out.rate", 9600, 1)
        world.connect()
        world.set("out.loss", 40, 0)
        for _ in range(4500):
            lacks = 200 - (world.get(0, "given") - world.get(0, "sent"))
            if lacks > 0:
                world.call("give", 0, lacks)
            world.run(20_000)
            assert world.world.now - world.get(1, "s.heard_at") < 40 * S
        assert world.counts(1)["resets"] == 0


SLOW = [(rate, box) for rate in (300, 600, 1200, 2400) for box in (0, 1)]


@contextmanager
def slow_world(rate: int, box: int) -> Iterator[World]:
    """Both ends begin at once, half a second away; a box keeps frames of a minute."""
    with World(config(window=1024, clock=True), segment=100) as world:
        world.set("out.box", box)
        world.set("out.queue", 60 * S)
        world.set("out.delay", S // 2)
        world.set("out.rate", rate)
        world.call("start", 0)
        world.call("start", 1)
        yield world


@pytest.mark.parametrize(("rate", "box"), SLOW)
def test_both_ends_begin_on_a_slow_link(rate: int, box: int) -> None:
    """A frame takes longer than the next BGAK waits at 300 bit/s: the POLL that ends the handshake
    was never sent. A box is full of what is repeated before its answer can come.
    """
    with slow_world(rate, box) as world:
        for _ in range(600):
            world.run(S // 10)
            if world.connected:
                return
        pytest.fail("not connected in a minute")


def test_frames_that_are_lost_are_no_slow_ones() -> None:
    """Half of all frames: median of the times until both ends are up. With waits as on a slow link
    it was more than twice as long.
    """
    took = []
    for seed in range(41):
        with World(config(window=1024, clock=True), segment=100, seed=seed) as world:
            world.set("out.delay", 25_000)
            world.set("out.loss", 128)
            world.call("start", 0)
            world.call("start", 1)
            start = world.world.now
            while not world.connected:
                world.run(S // 100)
            took.append(world.world.now - start)
    assert sorted(took)[20] < 1.3 * S


@pytest.mark.parametrize(("rate", "box"), SLOW)
def test_a_slow_link_carries_data(rate: int, box: int) -> None:
    """A POLL in each second took all of it, and a first burst of twenty long frames a minute."""
    with slow_world(rate, box) as world:
        while not world.connected:
            world.run(S)
        start = world.get(1, "delivered")
        for _ in range(6000):
            lacks = 20 - (world.get(0, "given") - world.get(0, "sent"))
            if lacks > 0:
                world.call("give", 0, lacks)
            world.run(S // 10)
        octets = (world.get(1, "delivered") - start) * (SHORT_HEADER + (8 + 100) / 2)
        assert octets * 8 > 0.4 * 600 * rate
        assert world.counts(0)["resets"] == world.counts(1)["resets"] == 0
