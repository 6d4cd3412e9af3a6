# SPDX-License-Identifier: GPL-2.0
"""Frames that sscop has to drop, 10 000 each second; on engine qemu computing takes time, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.modules.scripted import drunk, numbers
from tests.guest.modules.sscop_pair import run

pytestmark = pytest.mark.guest

SECONDS = 3

#: A stream to the first namespace, whose device gets the frames of a kind meanwhile. They do not
#: pass the queue that limits the link's rate.
SCRIPT = """
below; slow 20mbit 5ms
near_up near; far_up far; addresses; ready first
verified drink 5202 $OUT/drunk & sleep 0.1
drops="truncated length type crc list state stranger flood outside duplicate stale unasked"
names="peer_stranger sd_received resets control_received"
for d in $drops; do names="$names dropped_$d"; done
flow() { kind=$1; shift
	for n in $names; do say "before $kind $n: $(count '' $n)"; done
	$far verified pour 10.7.0.1 5202 1000000000 SECONDS >/dev/null & pour=$!
	"$@" & forger=$!
	wait $forger; wait $pour; sleep 0.5
	for n in $names; do say "after $kind $n: $(count '' $n)"; done; }
forged() { flow $1 $far forge far 02:00:00:00:00:01 ${2-02:00:00:00:00:02} $1 10000 SECONDS; }
flow none sleep SECONDS
for kind in random short begin control replay reflect; do forged $kind; done
flow stranger $far forge far 02:00:00:00:00:01 02:00:00:00:00:77 control 10000 SECONDS
say "far resets: $(count "$far" resets)"
say "carrier: $(link_file carrier)"
lines
"""

KINDS = ("none", "random", "short", "begin", "control", "replay", "reflect", "stranger")

#: What the frames of a kind are counted as. Short ones may have any first octets; of those that
#: are replayed, only the ones sent under the same seal are well-formed.
CAUSES = {
    "random": {"dropped_crc", "dropped_type", "dropped_truncated", "dropped_length"},
    "short": {"dropped_truncated"},
    "begin": {"dropped_flood"},
    "control": {"dropped_stranger"},
    "replay": {"dropped_duplicate", "dropped_stale", "dropped_outside"},
    "reflect": {"dropped_crc", "peer_stranger"},
    "stranger": {"peer_stranger"},
}


@pytest.fixture(scope="module", params=["uml", pytest.param("qemu", marks=pytest.mark.deep)])
def flooded(build: Path, root: Path, request: pytest.FixtureRequest) -> tuple[dict[str, str], Path]:
    out = build / "tests" / f"sscop-garbage-{request.param}"
    return run(SCRIPT.replace("SECONDS", str(SECONDS)), request.param, out, root), out


@pytest.mark.parametrize("kind", KINDS[1:])
def test_goodput_stays_above_half(flooded: tuple[dict[str, str], Path], kind: str) -> None:
    _, out = flooded
    octets = dict(zip(KINDS, (octets for octets, _ in drunk(out)), strict=True))
    assert octets["none"] > 1_000_000 * SECONDS
    assert octets[kind] > octets["none"] / 2


def test_the_streams_are_whole(flooded: tuple[dict[str, str], Path]) -> None:
    _, out = flooded
    assert [damaged for _, damaged in drunk(out)] == [0] * len(KINDS)


@pytest.mark.parametrize("kind", CAUSES)
def test_frames_are_counted_by_cause(flooded: tuple[dict[str, str], Path], kind: str) -> None:
    report, _ = flooded

    def grown(name: str) -> int:
        return (
            numbers(report, f"after {kind} {name}")[0] - numbers(report, f"before {kind} {name}")[0]
        )

    assert sum(grown(name) for name in CAUSES[kind]) > 0.9 * 10_000 * SECONDS


def test_nothing_is_reset(flooded: tuple[dict[str, str], Path]) -> None:
    report, out = flooded
    assert report["after stranger resets"] == report["far resets"] == "0"
    assert report["carrier"] == "1"
    assert (out / "lines").read_text() == ""
