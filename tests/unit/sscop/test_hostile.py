# SPDX-License-Identifier: GPL-2.0
"""Forged PDUs are dropped, counted by cause, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.sscop.core import (
    BAD_CRC,
    BGAK,
    BGN,
    BGREJ,
    DUPLICATE,
    END,
    ENDAK,
    ER,
    ERAK,
    FLOOD,
    OUTSIDE,
    POLL,
    READY,
    RS,
    RSAK,
    SD,
    STALE,
    STAT,
    STRANGER,
    UNASKED,
    USTAT,
    Pdu,
    World,
    config,
    pdu,
)

FIELDS = ["s.state", "s.mine", "s.theirs", "s.epoch", "s.tx.acked", "s.tx.next", "s.tx.limit"]
FIELDS += ["s.rx.next", "s.rx.high", "kept", "stored", "delivered"]


@pytest.fixture
def world() -> Iterator[World]:
    """Both connected, 20 SDs sent by each; the window is 8."""
    with World(config(window=8)) as made:
        made.connect()
        made.call("give", 0, 20)
        made.call("give", 1, 20)
        made.run(500_000)
        yield made


def delivers(world: World) -> None:
    """Data still flows, and nothing was reset."""
    assert (world.counts(0)["resets"], world.counts(1)["resets"]) == (0, 0)
    begun = world.get(0, "delivered"), world.get(1, "delivered")
    world.call("give", 0, 10)
    world.call("give", 1, 10)
    world.run(1_000_000)
    assert (world.get(0, "delivered"), world.get(1, "delivered")) == (begun[0] + 10, begun[1] + 10)


def refused(world: World, forged: Pdu, cause: int, *, sealed: bool = True, times: int = 1) -> None:
    state = [world.get(0, field) for field in FIELDS]
    before = world.dropped(0)
    for _ in range(times):
        world.inject(0, forged, sealed=sealed)
    assert [world.get(0, field) for field in FIELDS] == state
    assert world.dropped(0) == before | {cause: before.get(cause, 0) + times}


def test_the_wrong_seal(world: World) -> None:
    for kind in (SD, POLL):
        refused(world, pdu(kind, seq=world.get(0, "s.rx.next")), BAD_CRC, sealed=False, times=50)
    delivers(world)


def test_sds_behind_and_beyond_the_window(world: World) -> None:
    expected = world.get(0, "s.rx.next")
    refused(world, pdu(SD, seq=expected - 1), DUPLICATE, times=50)
    refused(world, pdu(SD, seq=expected + 8), OUTSIDE, times=3)
    refused(world, pdu(SD, seq=(expected + 0x7FFFFF) & 0xFFFFFF), OUTSIDE, times=3)
    delivers(world)


def test_polls(world: World) -> None:
    expected, poll = world.get(0, "s.rx.next"), world.get(0, "s.rx.poll")
    refused(world, pdu(POLL, seq=expected, ps=poll), STALE, times=50)
    refused(world, pdu(POLL, seq=expected, ps=poll - 1), STALE, times=50)
    refused(world, pdu(POLL, seq=expected + 9, ps=poll + 1), OUTSIDE, times=5)
    delivers(world)


def test_stats(world: World) -> None:
    acked, poll = world.get(0, "s.tx.acked"), world.get(0, "s.tx.poll")
    refused(world, pdu(STAT, seq=acked, mr=acked + 8, ps=poll + 1), UNASKED, times=2)
    refused(world, pdu(STAT, seq=acked, mr=acked + 8, ps=poll - 1), STALE, times=50)
    refused(world, pdu(STAT, seq=acked, mr=acked + 8, ps=0), STALE, times=50)
    # a list that tells nothing more than one for the same POLL
    refused(world, pdu(STAT, [acked], seq=acked, mr=acked + 8, ps=poll), STALE, times=50)
    world.run(0)
    for forged in (
        pdu(STAT, seq=acked + 1, mr=acked + 8, ps=poll),
        pdu(STAT, seq=acked, mr=acked + 65537, ps=poll),
        pdu(STAT, seq=acked, mr=acked - 1, ps=poll),
        pdu(STAT, [acked, acked + 1], seq=acked, mr=acked + 8, ps=poll),
        pdu(USTAT, [acked + 1, acked + 2], seq=acked, mr=acked + 8),
    ):
        refused(world, forged, OUTSIDE)
    delivers(world)


def test_control_of_other_connections(world: World) -> None:
    mine, theirs = world.get(0, "s.mine"), world.get(0, "s.theirs")
    for kind in (BGAK, END, ENDAK, RS, RSAK, ER, ERAK, BGREJ):
        for numbers in ((theirs, mine ^ 1), (theirs ^ 1, mine), (mine, theirs), (0, 0)):
            refused(
                world, pdu(kind, version=1, from_=numbers[0], to=numbers[1], sq=1, seq=8), STRANGER
            )
    for kind in (RSAK, ERAK, ENDAK, BGREJ):  # the right numbers, but nothing was asked
        refused(world, pdu(kind, version=1, from_=theirs, to=mine, sq=0, seq=8), STRANGER)
    for kind in (RS, ER):  # an epoch that cannot be
        for epoch in (2, 128, 255):
            refused(world, pdu(kind, version=1, from_=theirs, to=mine, sq=epoch, seq=8), STALE)
    delivers(world)


def test_a_flood_of_bgn(world: World) -> None:
    """10 000 a second for a second: 100 answers, no reset, and the data arrives."""
    world.set("out.delay", 1000)
    world.run(500_000)
    before, begun = world.counts(0), world.get(0, "delivered")
    world.call("give", 1, 500)
    for number in range(10_000):
        world.inject(0, pdu(BGN, version=1, from_=number + 1, seq=8))
        world.run(100)
    after = world.counts(0)
    answers = after["control_sent"] - before["control_sent"]
    assert 99 <= answers <= 101
    assert world.dropped(0)[FLOOD] == 10_000 - answers
    assert world.get(0, "delivered") == begun + 500
    assert world.get(0, "s.state") == READY
    delivers(world)


def test_another_version_is_rejected(world: World) -> None:
    sent = world.counts(0)["control_sent"]
    world.inject(0, pdu(BGN, version=2, from_=77, seq=8))
    assert world.counts(0)["control_sent"] == sent + 1
    assert world.wire(0) == [] or world.wire(0)[-1].type == BGREJ
    delivers(world)
