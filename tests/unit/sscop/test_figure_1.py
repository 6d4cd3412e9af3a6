# SPDX-License-Identifier: GPL-2.0
"""The paper's figure 1, step by step: window 8, a POLL after four SDs."""

from __future__ import annotations

from tests.unit.sscop.core import POLL, SD, STAT, USTAT, World, config, runs


def sequence(world: World, side: int) -> list[tuple[int, int]]:
    return [(pdu.type, pdu.seq) for pdu in world.wire(side)]


def test_figure_1() -> None:
    rules = config(window=8, poll_bytes=0, poll_sds=4, poll_time=10_000_000, poll_idle=0)
    with World(rules) as world:
        world.connect()
        world.set("out.delay", 10_000)
        # As in the figure, the first SD is 0 and the first POLL is 1.
        assert world.shift(-world.get(0, "s.tx.next"), -world.get(0, "s.tx.poll"))
        begun = world.get(1, "delivered")

        world.call("give", 0, 4)
        assert sequence(world, 0) == [(SD, 0), (SD, 1), (SD, 2), (SD, 3), (POLL, 4)]
        assert world.wire(0)[4].ps == 1
        world.call("drop", 0, 1)
        world.run(10_000)

        # (1) SD(0) is delivered. (2) SD(2) shows that SD(1) was lost: USTAT. (3) STAT.
        assert world.get(1, "delivered") == begun + 1
        ustat, stat = world.wire(1)
        assert (ustat.type, ustat.seq, ustat.mr, runs(ustat)) == (USTAT, 1, 9, [1, 2])
        assert (stat.type, stat.seq, stat.mr, stat.ps) == (STAT, 1, 9, 1)
        assert runs(stat) == [1, 2, 4]

        # SD(1) goes out once more for the USTAT, and not for the STAT: it was sent again
        # behind POLL(4,1). SD(0), SD(2) and SD(3) are released.
        world.run(10_000)
        assert sequence(world, 0) == [(SD, 1)]
        assert world.get(0, "kept") == 1
        assert world.get(0, "s.tx.acked") == 1
        assert world.get(0, "s.tx.limit") == 9

        # SD(6) is lost; nothing behind it shows it but POLL(7,2).
        world.call("give", 0, 3)
        assert sequence(world, 0) == [(SD, 1), (SD, 4), (SD, 5), (SD, 6), (POLL, 7)]
        assert world.wire(0)[4].ps == 2
        world.call("drop", 0, 3)
        world.run(10_000)
        assert world.get(1, "delivered") == begun + 6
        (stat,) = world.wire(1)
        assert (stat.type, stat.seq, stat.mr, stat.ps) == (STAT, 6, 14, 2)
        assert runs(stat) == [6, 7]

        # SD(6) was sent while 1 was the last POLL's number, and 2 is greater: again.
        world.run(10_000)
        assert sequence(world, 0) == [(SD, 6)]
        world.run(10_000)
        assert world.get(1, "delivered") == begun + 7
        assert world.counts(0)["sd_again"] == 2
        assert world.counts(1)["ustat_sent"] == 1
