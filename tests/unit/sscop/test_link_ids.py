# SPDX-License-Identifier: GPL-2.0
"""Ids of links: in what begins a connection, and links that hear each other's frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from ctypes import c_uint8

import pytest

from tests.unit.sscop.core import (
    BAD_LENGTH,
    BEGINNING,
    BGAK,
    BGN,
    BGREJ,
    END,
    STRANGER,
    TAKEN,
    World,
    config,
    decode,
    encode,
    library,
    pdu,
)

DELAY_US, STEP_US = 10_000, 5_000


def begin(parameters: str = "", kind: int = BGN) -> bytes:
    """A PDU with these parameters."""
    plain = encode(pdu(kind, version=1, seq=8, from_=1, to=2), 0)
    more = bytes.fromhex(parameters)
    body = plain[4:8] + bytes([len(plain) + len(more)]) + plain[9:] + more
    return library().crc32c(0xFFFFFFFF, body, len(body)).to_bytes(4, "big") + body


@pytest.mark.parametrize(("link", "parameters"), [(0, ""), (1, "02020001"), (0xFFFE, "0202fffe")])
def test_octets(link: int, parameters: str) -> None:
    """A link without one sends what it sent before there were any."""
    for kind in (BGN, BGAK):
        made = encode(pdu(kind, version=1, seq=8, from_=1, to=2, link_id=link), 0)
        assert made == begin(parameters, kind)
        verdict, read = decode(made.ljust(46, b"\xa5"), 0)
        assert (verdict, read.link_id, read.classes) == (TAKEN, link, False)
    both = encode(pdu(BGN, version=1, seq=8, from_=1, to=2, link_id=link, classes=True), 0)
    assert both == begin("010101" + parameters)


@pytest.mark.parametrize(
    ("parameters", "verdict", "link"),
    [
        ("02020007", TAKEN, 7),
        ("0901aa 02020007 010101", TAKEN, 7),
        ("02020007 02020008", TAKEN, 8),
        ("02020000", TAKEN, 0),
        ("0202", TAKEN, 0),  # not there
        ("020200", TAKEN, 0),
        ("0200", BAD_LENGTH, 0),  # there, but not one of this version
        ("020107", BAD_LENGTH, 0),
        ("0203000007", BAD_LENGTH, 0),
        ("02020007 0204" + "00" * 4, BAD_LENGTH, 7),
    ],
)
def test_parameters(parameters: str, verdict: int, link: int) -> None:
    """One of another length is no link without an id."""
    found, read = decode(begin(parameters), 0)
    assert (found, read.link_id) == (verdict, link)


@pytest.fixture
def begun() -> Iterator[World]:
    """The first end has begun on link 5; the second is an older one, or on link 0."""
    with World(config(link_id=5), config()) as made:
        made.set("out.delay", DELAY_US)
        for side in (0, 1):
            made.call("start", side)
        yield made


def test_an_end_without_ids_is_no_peer(begun: World) -> None:
    """Of its BGNs and BGAKs none is answered or taken."""
    begun.run(5_000_000)
    assert [begun.get(side, "s.state") for side in (0, 1)] == [BEGINNING, BEGINNING]
    for side in (0, 1):
        assert begun.dropped(side).keys() == {STRANGER}
        assert {frame.type for frame in begun.wire(side)} <= {BGN}


@pytest.mark.parametrize("kind", [BGN, BGAK, BGREJ, END])
def test_what_begins_another_link_is_dropped(begun: World, kind: int) -> None:
    """It is not answered either, in whatever version, nor counted as a flood; others are judged by
    their numbers."""
    mine, sent = begun.get(0, "s.mine"), begun.counts(0)["control_sent"]
    for link in (0, 4, 0xFFFF):
        for version in (1, 2):
            forged = pdu(kind, version=version, from_=77, to=mine, seq=8, link_id=link)
            begun.inject(0, forged)
    assert begun.counts(0)["control_sent"] == sent
    assert begun.get(0, "s.state") == BEGINNING
    assert begun.dropped(0) == ({} if kind == BGREJ else {STRANGER: 6})


class Medium:
    """Links whose ends hear the frames of all."""

    def __init__(self, worlds: list[World]) -> None:
        self.worlds = worlds
        self.heard: set[tuple[int, bytes]] = set()

    def hear(self, world: World, side: int) -> None:
        """What an end has sent since comes to the others, too, which may answer at once."""
        wire = world.world.peers[side].out
        for number, octets in enumerate(world.frames(side)):
            frame = (wire.frames[number].contents.at, octets)
            if frame in self.heard:
                continue
            self.heard.add(frame)
            for other in self.worlds:
                if other is not world:
                    end = other.world.peers[1 - side]
                    library().peer_receive(end, (c_uint8 * len(octets))(*octets), len(octets))
                    assert not other.world.failure

    def run(self, us: int) -> None:
        for _ in range(us // STEP_US):
            for world in self.worlds:
                for side in (0, 1):
                    self.hear(world, side)
            for world in self.worlds:
                world.run(STEP_US)


def test_links_between_the_same_two_ends() -> None:
    """All of them hear all frames: each loses nothing when another begins or is ended."""
    with ExitStack() as stack:
        worlds = [
            stack.enter_context(World(config(window=64, link_id=link), seed=link))
            for link in (0, 1, 2)
        ]
        medium = Medium(worlds)
        for world in worlds:
            world.set("out.delay", DELAY_US)
            for side in (0, 1):
                world.call("start", side)
            medium.run(300_000)
            assert world.connected
            world.call("give", 0, 500)
            world.call("give", 1, 500)
        medium.run(1_000_000)
        worlds[1].call("stop", 0, True)
        medium.run(500_000)
        worlds[1].call("start", 0)
        for world in worlds:
            world.call("give", 0, 100)
        medium.run(1_000_000)
        for world, resets in zip(worlds, (0, 1, 0), strict=True):
            assert world.connected
            assert world.get(1, "delivered") == 600
            assert world.get(0, "delivered") == 500
            assert [world.counts(side)["resets"] for side in (0, 1)] == [0, resets]
