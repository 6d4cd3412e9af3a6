# SPDX-License-Identifier: GPL-2.0
"""Classes: what may be lost does not wait for what may not."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.unit.sscop.core import (
    BAD_STATE,
    BGAK,
    BGN,
    HEADERS,
    UD,
    UDSTAT,
    Config,
    World,
    config,
    decode,
    encode,
    library,
    pdu,
)

UNASSURED, BOUNDED = 0, 1
PERSIST = 2_000_000
DELAY = 50_000
LOSS = 43  # in 256
Losses = HEADERS.structs["sscop_class_losses"]


def classed(**others: int) -> Config:
    return config(**{"window": 512, "clock": True, "persist": PERSIST} | others)


def radio(world: World, loss: int = LOSS, rate: int = 2_000_000) -> None:
    """A connection over a radio, which then loses."""
    world.set("out.delay", DELAY)
    world.set("out.rate", rate)
    world.connect()
    world.set("out.loss", loss)


def call(world: World, kind: int, packets: int, every: int = 20_000) -> list[int]:
    """Packets from 0 to 1 at a steady pace, then some time; numbers delivered after each."""
    told = []
    for _ in range(packets):
        world.call("offer", 0, kind, 1)
        world.run(every)
        told.append(world.world.peers[1].flows[kind].delivered)
    world.run(3_000_000)
    return told


def counts(world: World, side: int, kind: int) -> dict[str, int]:
    found = world.world.peers[side].s.counts.classes[kind]
    return {name: getattr(found, name) for name, _ in found._fields_}


def deviation(share: float, of: int) -> float:
    return 5 * sqrt(share * (1 - share) / of)


@pytest.mark.parametrize("known", [0, 20, 300, 1000])
def test_copies_follow_the_loss(known: int) -> None:
    """The least number with which one in 1024 is lost; half a loss in four UDs is assumed."""
    for lost in range(0, known + 1, max(1, known // 50)):
        share = (lost + 0.5) / (known + 4)
        copies = library().sscop_class_copies(Losses(known=known, lost=lost))
        assert copies == 6 or share**copies < 1.01 / 1024
        assert copies == 1 or share ** (copies - 1) > 0.99 / 1024


def test_a_call_does_not_wait_for_a_bulk_transfer() -> None:
    with World(classed(), segment=250) as world:
        radio(world)
        world.call("give", 0, 20_000)
        told = call(world, UNASSURED, 500)
        delivered = world.world.peers[1].flows[UNASSURED].delivered
        assert delivered / 500 > 1 - 0.001 - deviation(0.001, 500)
        # what was sent 140 ms before has come, but for one in a hundred
        late = sum(told[n] < n - 6 for n in range(100, 500))
        assert late / 400 < 0.01 + deviation(0.01, 400)
        assert world.get(1, "delivered") > 3000


def test_a_bounded_packet_is_sent_until_it_arrives() -> None:
    """One that is lost is sent twice, until one of both arrives."""
    with World(classed(), segment=250) as world:
        radio(world)
        call(world, BOUNDED, 500)
        assert world.world.peers[1].flows[BOUNDED].delivered == 500
        sent, received = counts(world, 0, BOUNDED), counts(world, 1, BOUNDED)
        share = LOSS / 256
        assert share / (1 - share) - deviation(share, 500) < sent["again"] / 500
        assert sent["again"] / 500 < 2 * (share / (1 - share**2) + deviation(share, 500))
        assert (sent["given_up"], received["missed"]) == (0, 0)


def test_or_until_it_is_given_up() -> None:
    """Before a UDSTAT could call for it: each is sent once, the last again, as none follows."""
    with World(classed(persist=60_000), segment=250) as world:
        radio(world)
        call(world, BOUNDED, 500)
        sent, received = counts(world, 0, BOUNDED), counts(world, 1, BOUNDED)
        share = LOSS / 256
        assert sent["again"] <= 2
        assert 1 - received["received"] / 500 == pytest.approx(share, abs=deviation(share, 500))
        # the last may be missed with nothing behind it
        assert 500 - received["received"] - received["missed"] in range(10)


def test_one_that_none_follows_is_copied_twice() -> None:
    """Of three copies that leave within 40 ms one arrives, but for the cube of the share lost. A
    packet waits for the one before.
    """
    with World(classed(), segment=250) as world:
        radio(world)
        told = call(world, BOUNDED, 4000, every=150_000)
        share = 2 * (LOSS / 256) ** 3
        late = sum(told[n] <= n for n in range(100, 4000)) / 3900
        assert late < share + deviation(share, 3900)


def test_copies_end_when_another_follows() -> None:
    """One packet each 32 ms: a copy after 30 ms, and the next is due 10 ms later."""
    with World(classed(), segment=250) as world:
        radio(world)
        call(world, BOUNDED, 500, every=32_000)
        assert world.world.peers[1].flows[BOUNDED].delivered == 500
        assert 0.8 < counts(world, 0, BOUNDED)["again"] / 500 < 1.5


def test_later_packets_wait_for_one_that_may_still_come() -> None:
    """All copies of the first are lost; the second is delivered when there can be none."""
    with World(classed()) as world:
        world.connect()
        world.set("out.delay", DELAY)
        world.call("offer", 0, UNASSURED, 1)
        world.call("drop", 0, 0)
        world.run(5_000)
        world.call("offer", 0, UNASSURED, 1)
        world.set("out.cut", 1, 0)  # the first's copies, and the second's
        world.run(DELAY)
        assert world.world.peers[1].flows[UNASSURED].delivered == 0
        world.run(30_000 + 50_000 + 25_000)
        assert world.world.peers[1].flows[UNASSURED].delivered == 1
        assert counts(world, 1, UNASSURED)["missed"] == 1


@pytest.mark.parametrize("kind", [UNASSURED, BOUNDED])
def test_a_flood_leaves_half_of_the_link(kind: int) -> None:
    with World(classed(), segment=250) as world:
        radio(world, loss=0)
        world.call("give", 0, 100_000)
        world.run(5_000_000)
        before = world.counts(0)["sd_bytes"]
        world.call("offer", 0, kind, 20_000)
        world.run(10_000_000)
        assert (world.counts(0)["sd_bytes"] - before) * 8 > 0.35 * 10 * 2_000_000
        assert world.world.peers[1].flows[kind].delivered > 500


def test_segments_do_not_wait_behind_a_flood_for_a_keep_alive() -> None:
    """UDs filled what may be under way, and with no SD to ask for no POLL was sent for a second."""
    with World(classed(poll_time=10_000_000), segment=250) as world:
        radio(world, loss=0, rate=256_000)
        world.set("out.box", 1)
        for _ in range(10):
            world.call("offer", 0, UNASSURED, 40)
            world.run(100_000)
            given = world.get(0, "given")
            world.call("give", 0, 3)
            world.run(900_000)
            assert world.get(0, "sent") == given + 3


def test_without_a_peer_that_knows_them_there_are_none() -> None:
    with World(classed(), config(window=512)) as world:
        world.connect()
        world.call("offer", 0, BOUNDED, 10)
        world.call("give", 0, 100)
        world.run(1_000_000)
        assert world.get(1, "delivered") == world.get(0, "sent") > 100
        assert counts(world, 0, BOUNDED)["sent"] == world.counts(1)["udstat_sent"] == 0
        world.world.lied = True
        world.inject(1, pdu(UD, seq=0, packet=0))
        world.inject(1, pdu(UDSTAT, seq=0))
        assert world.dropped(1)[BAD_STATE] == 2


def test_what_is_said_at_the_beginning() -> None:
    """Three octets more in BGN and BGAK, and none where there are no classes."""
    for wanted, number in ((classed(), 22), (config(window=512), 19)):
        with World(wanted, config()) as world:
            world.set("out.delay", DELAY)
            world.call("start", 0)
            [begin] = world.frames(0)
            assert (begin[4] & 15, begin[8]) == (BGN, number)
    known = pdu(BGAK, version=1, seq=8, from_=1, to=2, classes=True)
    octets = encode(known, 0)
    assert octets[-3:].hex() == "010101"
    assert decode(octets, 0)[1].classes


@pytest.mark.parametrize(
    ("parameters", "classes"),
    [
        ("010101", True),
        ("0901aa 010101", True),
        ("0900 010102", False),
        ("010102", False),
        ("0100", False),
        ("01ff01", False),
        ("010101 05", True),
        ("01", False),
    ],
)
def test_parameters_that_are_not_known_are_skipped(parameters: str, classes: bool) -> None:
    plain = encode(pdu(BGN, version=1, seq=8, from_=1), 0)
    body = bytes([plain[4]]) + plain[5:8]
    more = bytes.fromhex(parameters)
    body += bytes([len(plain) + len(more)]) + plain[9:] + more
    crc = library().crc32c(0xFFFFFFFF, body, len(body))
    verdict, read = decode(crc.to_bytes(4, "big") + body, 0)
    assert (verdict, read.classes) == (0, classes)


def test_numbers_wrap() -> None:
    with World(classed()) as world:
        radio(world, loss=LOSS, rate=0)
        call(world, BOUNDED, 50)
        world.set("out.loss", 0)
        world.run(3_000_000)
        assert world.shift(0xFFFF00, 0xFFFFFF - 0xFF)
        world.set("out.loss", LOSS)
        for kind in (UNASSURED, BOUNDED):
            before = world.world.peers[1].flows[kind].delivered
            call(world, kind, 400, 10_000)
            gained = world.world.peers[1].flows[kind].delivered - before
            assert gained == 400 if kind == BOUNDED else gained > 395


def test_a_new_numbering_loses_what_is_under_way_and_nothing_else() -> None:
    with World(classed()) as world:
        radio(world, loss=0)
        call(world, BOUNDED, 20)
        world.call("offer", 0, BOUNDED, 5)
        world.call("resync", 0)
        world.run(1_000_000)
        call(world, BOUNDED, 20)
        assert world.world.peers[1].flows[BOUNDED].delivered >= 40
