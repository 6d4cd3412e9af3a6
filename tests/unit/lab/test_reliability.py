# SPDX-License-Identifier: GPL-2.0
"""docs/reliability.md and SECURITY.md have the numbers of the programs and of the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT, proof
from tests.fuzz.test_fuzz import LEAST_OF, LEAST_PERCENT, RUNS
from tests.guest.modules.test_debug_kernel import FAULTS
from tests.played import ALGORITHMS, books
from tests.played.devices.silence import SILENCES
from tests.played.devices.storms import EACH, WITH_EACH
from tests.played.devices.storms import STORMS as DEVICES_STORMS
from tests.played.exchanges.play import UML
from tests.played.hostile import attacks
from tests.played.hostile.cost import DEARER
from tests.played.storms.storms import STORMS

RELIABILITY, SECURITY, SHAKE = (
    (ROOT / name).read_text()
    for name in ("docs/reliability.md", "SECURITY.md", "docs/shake-design.md")
)
WORDS = {2: "two", 3: "three", 5: "five", 6: "six", 8: "eight", 9: "nine", 10: "ten", 11: "eleven"}


def streams_h() -> float:
    """Virtual time of the records' streams."""
    return sum(record["total_ms"] for record in books.read("storms")) / 3.6e6


def devices_h() -> float:
    """Virtual time of all storms over the devices."""
    times = [storm.whole_s for of in DEVICES_STORMS.values() for storm in of.values()]
    with_each = [of[name].whole_s for of in DEVICES_STORMS.values() for name in WITH_EACH]
    return (sum(times) + len(EACH) * sum(with_each)) / 3600


def rows() -> list[str]:
    """Of the table of what the programs play: how they begin."""
    algorithms = WORDS[len(ALGORITHMS)]
    silences, devices = (sum(map(len, of.values())) for of in (SILENCES, DEVICES_STORMS))
    each = WORDS[len(WITH_EACH) * len(DEVICES_STORMS)]
    connections = len(attacks.ATTACKS) * len(attacks.PATHS) * len(ALGORITHMS)
    inputs = f"{sum(runs for runs, _ in RUNS.values()):,}".replace(",", " ")
    return [
        f"| `tests/played/exchanges` | {len(UML.names())} scripts,",
        f"| `tests/played/storms` | {len(STORMS)} storms, {algorithms} algorithms: "
        f"{len(STORMS) * len(ALGORITHMS)} streams | {streams_h():.1f} h |",
        f"| `tests/played/devices` | {devices} storms with CUBIC, {each} with each of "
        f"{WORDS[len(EACH)]} algorithms, {silences} silences | {devices_h():.1f} h",
        f"| `tests/played/hostile` | {len(attacks.HOSTILE)} lies and {WORDS[len(attacks.HONEST)]} "
        f"honest receivers, {WORDS[len(attacks.PATHS)]} paths, {algorithms} algorithms: "
        f"{connections} connections |",
        f"| `tests/proof` | {len(proof.claims()) + len(proof.contracts())} proofs |",
        f"| `tests/fuzz` | {WORDS[len(RUNS)]} targets, {inputs} inputs |",
    ]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.split("`")[1])
def test_what_the_programs_play(row: str) -> None:
    assert f"\n{row}" in RELIABILITY


def test_bounds_are_those_of_the_tests() -> None:
    for said in (
        f"{len(FAULTS)} planted faults, one of each kind",
        f"makes ACKs at most {DEARER} times as expensive",
        f"execute at least {LEAST_PERCENT:.0f} % of the lines",
        f"{LEAST_OF['shake/peer.c']:.0f} % of `shake/peer.c` and `shake/receive.c`",
        f"{LEAST_OF['shake/settings.c']:.0f} % of `shake/settings.c`",
    ):
        assert said in RELIABILITY


def constant(file: str, name: str) -> int:
    """A number that a source defines."""
    found = re.search(rf"^#define {name}\s+(\d+)", Path(ROOT, file).read_text(), re.M)
    assert found, (file, name)
    return int(found[1])


def test_limits_are_those_of_the_sources() -> None:
    resets = constant("shake/register.c", "RESETS")
    assert f"at most {resets} RESETs per second" in SECURITY
    computed = constant("shake/register.c", "REGISTRATIONS")
    assert f"{computed // 2} per second in all" in " ".join(SECURITY.split())  # two for a HELLO
    assert f"Hints are at most {resets} per second" in " ".join(SHAKE.split())
    paths = constant("shake/core/wire.h", "SHAKE_WIRE_PATHS")
    flows = constant("shake/flows.h", "SHAKE_FLOWS_MAX")
    holes = constant("shake/core/shake_holes.h", "SHAKE_HOLES_MAX")
    room = constant("shake/flows.h", "SHAKE_FLOWS_HOLES")
    said = f"at most {paths} paths, {flows} flows, {holes} holes of a flow, and room for {room}"
    assert said in " ".join(SHAKE.split())
