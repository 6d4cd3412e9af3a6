# SPDX-License-Identifier: GPL-2.0
"""When POLLs by octets go out on a fast link."""

from __future__ import annotations

import pytest

from tests.unit.sscop.core import Core, World, config


@pytest.mark.parametrize(("window", "at_once"), [(1024, 0), (64, 1)])
def test_a_millisecond_apart_until_an_eighth_of_the_window(
    core: Core, window: int, at_once: int
) -> None:
    """Twice 20 SDs: more than an eighth of 64, and less than one of 1024."""
    with World(core, config(window=window, poll_bytes=300, poll_idle=0)) as world:
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
