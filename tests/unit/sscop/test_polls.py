# SPDX-License-Identifier: GPL-2.0
"""When POLLs by octets go out on a fast link."""

from __future__ import annotations

import pytest

from tests.unit.sscop.core import World, config


@pytest.mark.parametrize(("window", "at_once"), [(1024, 0), (64, 1)])
def test_a_millisecond_apart_until_an_eighth_of_the_window(window: int, at_once: int) -> None:
    """Twice 20 SDs: more than an eighth of 64, and less than one of 1024."""
    with World(config(window=window, poll_bytes=300, poll_idle=0)) as world:
        world.connect()
        world.set("out.delay", 100)
        world.call("give", 0, 20)
        first = world.counts(0)["poll_sent"]
        world.run(500)
        world.call("give", 0, 20)
        assert world.counts(0)["poll_sent"] - first >= at_once
        assert at_once or world.counts(0)["poll_sent"] == first
        world.run(1000)
        assert world.counts(0)["poll_sent"] > first


def silence_after_losses(world: World) -> None:
    """64 SDs are sent, some are lost, and then nothing comes back any more."""
    world.connect()
    world.set("out.delay", 10_000)
    world.set("out.loss", 100, 0)
    world.call("give", 0, 64)
    world.run(30_000)
    world.set("out.cut", 1, 1)


#: What one silence may bring of SDs that were lost before, each 64 at most: a round in 10 ms for
#: the first two seconds and two round trips, then each an eighth of the silence later.
ROUNDS = 220 + 70


@pytest.mark.parametrize("given", [0, 40])
def test_repetitions_become_rare_when_nothing_comes_back(given: int) -> None:
    """What comes back is lost for 59 s, after frames were lost; TCP gives little meanwhile."""
    with World(config(window=64)) as world:
        silence_after_losses(world)
        sent = []
        for second in range(59):
            if second % 10 == 5:
                world.call("give", 0, given)
            first = world.counts(0)
            world.run(1_000_000)
            last = world.counts(0)
            sent.append(last["sd_repeated"] - first["sd_repeated"])
        assert 0 < sum(sent) <= 64 * ROUNDS
        # the rounds of the last ten seconds: each 6 s later, at least, and one that begins
        assert sum(sent[-10:]) <= 3 * 64
        assert world.counts(0)["resets"] == 0
        world.set("out.cut", 0)
        world.set("out.loss", 0)
        world.run(200_000)
        assert world.get(1, "delivered") >= world.get(0, "sent")


def test_polls_in_idle_time_go_on_in_a_silence() -> None:
    """Where nine of ten frames are lost either way, one POLL in a hundred is answered. Held up by
    SDs that were lost, they come by poll_idle and the silence, not by poll_time: 10 ms apart for
    2.5 s, then a 256th of the silence, 39 ms after ten seconds; 100 ms after 25.6 s.
    """
    with World(config(window=64)) as world:
        silence_after_losses(world)
        world.run(3_000_000)
        polls = [world.counts(0)["poll_sent"]]
        for _ in range(2):
            world.run(7_000_000)
            polls.append(world.counts(0)["poll_sent"])
        # from 3 to 10 s of silence: 256 ln(10 / 3); repetitions make some of them earlier
        assert polls[1] - polls[0] == pytest.approx(308, rel=0.15)
        world.run(13_000_000)
        before = world.counts(0)["poll_sent"]
        world.run(20_000_000)
        assert world.counts(0)["poll_sent"] - before == pytest.approx(200, rel=0.15)
