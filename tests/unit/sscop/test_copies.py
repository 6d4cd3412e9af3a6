# SPDX-License-Identifier: GPL-2.0
"""How often SDs that were lost are sent, where the device below is the bottleneck."""

from __future__ import annotations

from tests.unit.sscop.core import World, config

RATE = 2_000_000
SEGMENT = 250
LOSS = 32  # of 256
S = 1_000_000


def share(seed: int, window: int, **rules: bool) -> tuple[float, float]:
    """Of the rate, what arrives in half a minute of a sender with so many SDs under way, as TCP
    has; and how many of those sent are sent again. The link holds 370 in a round trip.
    """
    with World(config(window=1024, **rules), segment=SEGMENT, seed=seed) as world:
        world.set("out.delay", S // 5)
        world.set("out.rate", RATE)
        world.connect()
        world.set("out.loss", LOSS)
        for tick in range(4000):
            if tick == 1000:
                before, start = world.counts(0), world.get(1, "delivered")
            lacks = window - (world.get(0, "given") - world.get(1, "delivered"))
            if lacks > 0:
                world.call("give", 0, lacks)
            world.run(10_000)
        counts = world.counts(0)
        again = (counts["sd_again"] - before["sd_again"]) / (counts["sd_sent"] - before["sd_sent"])
        return (world.get(1, "delivered") - start) * SEGMENT * 8 / (30 * RATE), again


def test_a_link_that_has_time_finds_losses_in_fewer_round_trips() -> None:
    """Each waits for the last of hundreds under way: half of the link was idle. It still has a
    third more, as it sends copies of what was lost meanwhile.
    """
    assert sum(share(seed, 500, clock=True)[0] for seed in range(3)) / 3 > 0.58


def test_a_link_that_is_full_has_few_copies() -> None:
    """One in eight is lost, and again as often: a seventh of those sent, and little more."""
    assert sum(share(seed, 2000, clock=True)[1] for seed in range(3)) / 3 < 1.25 / 7


def test_without_the_clock_none_go_at_once() -> None:
    """Whoever sets the published rules has no more than those in idle time."""
    assert share(1, 2000)[1] < 0.25
