# SPDX-License-Identifier: GPL-2.0
"""Frames that sscop has to drop, and those of who has computed the connection's seal, 10 000 each
second; on engine qemu computing takes time, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers
from tests.guest.modules.sscop_pair import run

pytestmark = pytest.mark.guest

#: Frames in a second, and seconds on each engine.
RATE, SECONDS = 10_000, {"uml": 1, "qemu": 3}
#: kB that the guest's free memory may fall by. Who has computed the seal may have an end keep as
#: much memory of SDs as a window of packets takes, 34 MB, beside TCP's buffers: how much of that
#: there is when it is looked at (872 to 904 kB) is chance, so this must be wide.
MEMORY = 40_000
#: Where nobody is believed, or no more: 656 to 872. 30 000 frames that
#: leave 100 octets each are 3000.
LEFT = 3_000
#: Without a STAT that it asked for, an end gives up after 60 s and begins anew.
BACK_S = 65

#: What the frames of a kind are counted as. Short ones may have any first octets; of those that
#: are replayed, only the ones sent under the same seal are well-formed.
GARBAGE = {
    "random": {"dropped_crc", "dropped_type", "dropped_truncated", "dropped_length"},
    "short": {"dropped_truncated"},
    "begin": {"dropped_flood"},
    "control": {"dropped_stranger"},
    "replay": {"dropped_duplicate", "dropped_stale", "dropped_outside"},
    "reflect": {"dropped_crc", "peer_stranger"},
    "stranger": {"peer_stranger"},
}
#: Likewise of frames made of real ones; one cut may be short enough to be any.
DAMAGED = {
    "cut": {"dropped_crc", "dropped_truncated", "dropped_length"},
    "flip": {"dropped_crc", "dropped_type", "dropped_truncated", "dropped_length"},
    "long": {"dropped_crc", "dropped_duplicate", "dropped_stale", "dropped_outside"},
}
CAUSES = GARBAGE | DAMAGED
SEALED = ("sd", "poll", "stat", "ustat")

#: A stream to the first namespace, whose device gets the frames of a kind meanwhile. They do not
#: pass the queue that limits the link's rate.
SCRIPT = """
below; ip link set near mtu 9000; ip -n far link set far mtu 9000; slow 20mbit 5ms
near_up near; far_up far; addresses; ready first
verified drink 5202 $OUT/drunk & sleep 0.1
drops="truncated length type crc list state stranger flood outside duplicate stale unasked"
see() { say "$1 memory: $(sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)"
	for n in peer_stranger resets; do say "$1 $n: $(count '' $n)"; done
	for d in $drops; do say "$1 dropped_$d: $(count '' dropped_$d)"; done; }
flow() { kind=$1; shift; see "before $kind"
	$far verified pour 10.7.0.1 5202 1000000000 SECONDS >/dev/null & pour=$!
	"$@" & wait $!; see "after $kind"
	n=0; until $far ping -c 1 -W 1 10.7.0.1 >/dev/null; do n=$((n + 1)); [ $n -gt 100 ] && break
	done; say "back $kind: $n"
	kill $pour 2>/dev/null; wait $pour; sleep 1; }
# A kind of flow, what forge calls it, and whose address it has.
forged() { flow $1 $far forge far 02:00:00:00:00:01 ${3-02:00:00:00:00:02} ${2-$1} RATE SECONDS; }
flow none sleep SECONDS
for kind in random short begin control replay reflect; do forged $kind; done
forged stranger control 02:00:00:00:00:77
say "far resets: $(count "$far" resets)"
say "carrier: $(link_file carrier)"
lines
"""
#: Goes on with frames that may be believed.
BELIEVED = f"""
for kind in {" ".join((*DAMAGED, *SEALED))}; do forged $kind; done
flow last sleep SECONDS
"""
FLOWS = ("none", *CAUSES, *SEALED, "last")

#: And octets of each flow's stream, seconds of each flow.
Flooded = tuple[Told, dict[str, int], int]


def scaled(script: str, seconds: int, rate: int = RATE) -> str:
    """A script with its numbers."""
    return script.replace("RATE", str(rate)).replace("SECONDS", str(seconds))


@pytest.fixture(scope="module", params=["uml", pytest.param("qemu", marks=pytest.mark.deep)])
def flooded(build: Path, root: Path, request: pytest.FixtureRequest) -> Flooded:
    out = build / "tests" / f"sscop-hostile-{request.param}"
    report = run(scaled(SCRIPT + BELIEVED, SECONDS[request.param]), request.param, out, root)
    octets = dict(zip(FLOWS, (octets for octets, _ in drunk(out)), strict=True))
    shown = {
        kind: {
            "goodput": round(octets[kind] / octets["none"], 3),
            "memory_kb": fallen(report, kind),
            "back_s": number(report, f"back {kind}"),
        }
        for kind in FLOWS
    }
    (out / "shown.json").write_text(json.dumps(shown, indent=1))
    return report, octets, SECONDS[request.param]


def number(report: dict[str, str], key: str) -> int:
    return numbers(report, key)[0]


def fallen(report: dict[str, str], kind: str) -> int:
    """Free memory at the end of a flood, beside that after the stream alone; kB."""
    return number(report, "after none memory") - number(report, f"after {kind} memory")


@pytest.mark.parametrize("kind", CAUSES)
def test_frames_are_counted_by_cause(flooded: Flooded, kind: str) -> None:
    report, _, seconds = flooded
    before, after = (
        sum(number(report, f"{when} {kind} {name}") for name in CAUSES[kind])
        for when in ("before", "after")
    )
    assert after - before > 0.9 * RATE * seconds


@pytest.mark.parametrize("kind", (*CAUSES, "last"))
def test_goodput_beside_them_and_after_them_stays_above_half(flooded: Flooded, kind: str) -> None:
    _, octets, seconds = flooded
    assert octets["none"] > 1_000_000 * seconds
    assert octets[kind] > octets["none"] / 2


def test_nothing_is_reset_by_garbage(flooded: Flooded) -> None:
    """And no octet of a stream is another, not even where forged SDs are taken for the peer's: TCP
    has its own checksum."""
    report = flooded[0]
    assert report["after stranger resets"] == report["far resets"] == "0"
    assert report["carrier"] == "1"
    assert (report.out / "lines").read_text() == ""
    assert sum(damaged for _, damaged in drunk(report.out)) == 0


@pytest.mark.parametrize("kind", FLOWS[1:])
def test_the_link_is_back_with_its_memory_when_the_flood_is_over(
    flooded: Flooded, kind: str
) -> None:
    assert fallen(flooded[0], kind) < (MEMORY if kind in SEALED else LEFT)
    assert number(flooded[0], f"back {kind}") < BACK_S
