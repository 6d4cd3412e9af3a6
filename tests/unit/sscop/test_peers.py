# SPDX-License-Identifier: GPL-2.0
"""Two peers and a bad channel: what random scripts do to them.

The world itself checks that segments come out in order, once and unchanged or a reset is
reported, that nothing leaks, and that both are connected and deliver within a bounded
time once the channel works (tests/fuzz/world.h).
"""

from __future__ import annotations

import random
from ctypes import c_uint8
from pathlib import Path

import pytest

from tests.fuzz import kept_fuzzer, play
from tests.unit.sscop.core import (
    BGAK,
    BGN,
    CONFIRMING,
    POLL,
    READY,
    RS,
    SD,
    STAT,
    World,
    config,
    library,
    pdu,
)


def test_the_wrap_of_24_bits() -> None:
    with World(config(window=64)) as world:
        world.connect()
        world.set("out.delay", 10_000)
        world.set("out.loss", 40)
        world.call("heal")
        world.run(2_000_000)
        assert world.shift(-500 - world.get(0, "s.tx.next"), -5 - world.get(0, "s.tx.poll"))
        world.set("out.loss", 40)
        world.call("give", 0, 2000)
        world.call("give", 1, 2000)
        world.run(60_000_000)
        assert world.get(0, "s.tx.next") < 3000
        assert world.get(0, "s.tx.poll") < 100_000
        assert world.counts(0)["resets"] == world.counts(1)["resets"] == 0
        assert world.get(0, "delivered") >= 2000 <= world.get(1, "delivered")


@pytest.mark.parametrize("told", [True, False])
def test_a_restart_is_found_within_a_poll_interval(told: bool) -> None:
    with World(config(window=64)) as world:
        world.connect()
        world.set("out.delay", 50_000)
        world.call("give", 0, 10_000)
        world.run(500_000)
        world.call("stop", 1, told)
        world.call("start", 1)
        world.run(100_000 + 2 * 100_000)
        assert world.connected
        counts = world.counts(0)
        assert counts["resets"] == 1
        assert counts["reset_end" if told else "reset_restart"] == 1


def test_repetitions_and_polls_do_not_call_for_each_other() -> None:
    """A POLL after each SD, and SDs that are lost again and again while nothing else is
    to be sent: each repetition made a POLL due, and the POLL another repetition."""
    with World(config(window=8, poll_sds=1)) as world:
        world.connect()
        world.set("out.delay", 10_000)
        world.call("give", 0, 8)
        world.call("drop", 0, 0)
        world.run(25_000)
        world.call("drop", 0, 0)
        world.run(500_000)
        assert world.counts(0)["resets"] == 0


def begin_in_confirming(world: World) -> None:
    """1 holds on to a number of 0 that never was: a BGAK forged, or late from a dead life."""
    world.call("start", 1)
    world.world.lied = True
    world.inject(1, pdu(BGAK, version=1, from_=99, to=world.get(1, "s.mine"), seq=8))
    assert world.get(1, "s.state") == CONFIRMING


def test_a_late_bgak_costs_no_minute() -> None:
    """Both repeated BGAK to numbers that nobody had, until 60 s had passed."""
    with World(config()) as world:
        world.set("out.delay", 10_000)
        begin_in_confirming(world)
        world.call("start", 0)
        world.inject(0, pdu(BGAK, version=1, from_=98, to=world.get(0, "s.mine"), seq=8))
        world.run(1_000_000)
        assert world.connected


def test_a_late_poll_confirms_nothing() -> None:
    """It may be of the peer's former life: only the answer to a POLL shows that it lives."""
    with World(config()) as world:
        world.set("out.delay", 10_000)
        begin_in_confirming(world)
        world.inject(1, pdu(POLL, seq=0, ps=3))
        world.inject(1, pdu(SD, seq=0))
        assert world.get(1, "s.state") == CONFIRMING
        world.call("start", 0)
        world.run(1_500_000)
        assert world.connected


def test_contradictions_end_in_recovery() -> None:
    """0 released SDs for which 1 still asks; 1's POLLs and SDs are in order meanwhile."""
    with World(config()) as world:
        world.connect()
        world.set("out.delay", 10_000)
        world.world.lied = True
        first = world.get(0, "s.tx.next")
        world.call("give", 0, 4)
        world.call("give", 1, 5000)
        world.call("drop", 0, 0)
        poll = world.get(0, "s.tx.poll")
        world.inject(0, pdu(STAT, [first + 3, first + 4], seq=first + 2, mr=first + 8, ps=poll))
        world.run(3_000_000)
        assert world.counts(0)["reset_error"] == world.counts(1)["reset_error"] == 1
        assert world.get(0, "s.state") == world.get(1, "s.state") == READY


def test_a_link_that_does_not_answer_is_given_up() -> None:
    """POLLs of the peer come in, but its STATs don't: data would wait for ever."""
    with World(config()) as world:
        world.connect()
        world.world.lied = True
        world.inject(1, pdu(POLL, seq=world.get(1, "s.rx.next"), ps=0x400000))
        world.call("give", 0, 100)
        world.run(63_000_000)
        assert world.counts(0)["reset_silence"] + world.counts(1)["reset_silence"] >= 1
        world.call("settle")


def test_rs_from_both_ends_at_once() -> None:
    with World(config()) as world:
        world.connect()
        world.set("out.delay", 10_000)
        world.call("resync", 0)
        world.call("resync", 1)
        assert [frame.type for frame in world.wire(0)][:1] == [RS]
        world.run(1_000_000)
        assert world.connected
        assert world.counts(0)["reset_asked"] == world.counts(1)["reset_asked"] == 1


def test_the_epoch_wraps() -> None:
    """Of eight bits: resynchronized more often than it counts, the connection stays."""
    with World(config()) as world:
        world.connect()
        for number in range(1, 300):
            world.call("resync", 0)
            world.run(10_000)
            assert world.connected
            assert world.get(0, "s.epoch") == world.get(1, "s.epoch") == number % 256
        assert world.counts(1)["reset_asked"] == 299


def test_both_ends_begin_at_once() -> None:
    with World(config(window=1), config(window=64)) as world:
        world.set("out.delay", 10_000)
        world.call("start", 0)
        world.call("start", 1)
        assert [world.wire(side)[0].type for side in (0, 1)] == [BGN, BGN]
        world.run(80_000)
        assert world.connected
        assert world.get(1, "s.tx.limit") == world.get(1, "s.tx.next") + 1


def test_random_scripts(tmp_path: Path) -> None:
    """As libFuzzer plays them, from others than it finds by itself."""
    dice = random.Random(1)
    scripts = [dice.randbytes(dice.randint(5, 400)) for _ in range(500)]
    # each is played once: without what finds others
    program = kept_fuzzer("peers", tmp_path / "peers")
    play(program, scripts)


@pytest.mark.parametrize(
    "script",
    [
        # 160 POLLs under way, of which 64 are remembered: no STAT told of a round trip, and POLLs
        # went on as fast while the SDs that were lost waited for good.
        "ff3afe0a08fe000affffffffffffffffffb145bbba21ff214545d421fffe0a08fe000affffffffffffffffffb1"
        "45bbba21ff214545d421ff21fff0f0f0000a0021fff0f0f0000a0000002e",
        # A round trip of 0 us was one that is not known, and POLLs waited as on a slow link.
        "27ef278b32ffff27ff0127",
    ],
    ids=["forgotten-polls", "no-time"],
)
def test_scripts_that_were_found(script: str) -> None:
    octets = bytes.fromhex(script)
    world = library().script_run((c_uint8 * len(octets))(*octets), len(octets))
    assert world.contents.failure.decode() == ""
    library().world_free(world)
