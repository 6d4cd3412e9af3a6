# SPDX-License-Identifier: GPL-2.0
"""Frames made of real ones, and those of who has computed the connection's seal, 10 000 each
second; on engine qemu computing takes time, too. test_sscop_garbage.py has the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.guest.modules.scripted import drunk, numbers
from tests.guest.modules.sscop_pair import run

pytestmark = pytest.mark.guest

RATE, SECONDS = 10_000, 3
#: kB that the guest's free memory may fall by. Who has computed the seal may have an end keep its
#: window's 1024 SDs of 9 kB, in 16 kB each, beside TCP's buffers: how much of that there is when it
#: is looked at (872 to 904 kB) is chance, so this must be wide.
MEMORY = 24_000
#: Where nobody is believed, or no more: 656 to 872. 30 000 frames that
#: leave 100 octets each are 3000.
LEFT = 3_000
#: Without a STAT that it asked for, an end gives up after 60 s and begins anew.
BACK_S = 65

#: What the frames of a kind are counted as; one cut may be short enough to be any.
DAMAGED = {
    "cut": {"dropped_crc", "dropped_truncated", "dropped_length"},
    "flip": {"dropped_crc", "dropped_type", "dropped_truncated", "dropped_length"},
    "long": {"dropped_crc", "dropped_duplicate", "dropped_stale", "dropped_outside"},
}
SEALED = ("sd", "poll", "stat", "ustat")

SCRIPT = """
below; ip link set near mtu 9000; ip -n far link set far mtu 9000; slow 20mbit 5ms
near_up near; far_up far; addresses; ready first
verified drink 5202 $OUT/drunk & sleep 0.1
drops="truncated length type crc list state stranger flood outside duplicate stale unasked"
see() { say "$1 memory: $(sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)"
	for d in $drops; do say "$1 $d: $(count '' dropped_$d)"; done; }
flow() { kind=$1; shift; see "before $kind"
	$far verified pour 10.7.0.1 5202 1000000000 SECONDS >/dev/null & pour=$!
	"$@" & wait $!; see "after $kind"
	n=0; until $far ping -c 1 -W 1 10.7.0.1 >/dev/null; do n=$((n + 1)); [ $n -gt 100 ] && break
	done; say "back $kind: $n"
	kill $pour 2>/dev/null; wait $pour; sleep 1; }
flow none sleep SECONDS
near=02:00:00:00:00:01 own=02:00:00:00:00:02
for kind in KINDS; do flow $kind $far forge far $near $own $kind RATE SECONDS; done
flow last sleep SECONDS
"""

Flooded = tuple[dict[str, str], Path]


@pytest.fixture(scope="module", params=["uml", pytest.param("qemu", marks=pytest.mark.deep)])
def flooded(build: Path, root: Path, request: pytest.FixtureRequest) -> Flooded:
    kinds = " ".join((*DAMAGED, *SEALED))
    script = SCRIPT.replace("KINDS", kinds).replace("RATE", str(RATE))
    out = build / "tests" / f"sscop-hostile-{request.param}"
    script = script.replace("SECONDS", str(SECONDS))
    report = run(script, request.param, out, root)
    octets = [octets for octets, _ in drunk(out)]
    shown = {
        kind: {
            "goodput": round(octets[i] / octets[0], 3),
            "memory_kb": fallen(report, kind),
            "back_s": number(report, f"back {kind}"),
        }
        for i, kind in enumerate((*DAMAGED, *SEALED), 1)
    }
    (out / "shown.json").write_text(json.dumps(shown, indent=1))
    return report, out


def number(report: dict[str, str], key: str) -> int:
    return numbers(report, key)[0]


def grown(report: dict[str, str], kind: str, name: str) -> int:
    return number(report, f"after {kind} {name}") - number(report, f"before {kind} {name}")


def fallen(report: dict[str, str], kind: str) -> int:
    """Free memory at the end of a flood, beside that after the stream alone; kB."""
    return number(report, "after none memory") - number(report, f"after {kind} memory")


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_frames_are_counted_by_cause(flooded: Flooded, kind: str) -> None:
    report, _ = flooded
    dropped = sum(grown(report, kind, name.removeprefix("dropped_")) for name in DAMAGED[kind])
    assert dropped > 0.9 * RATE * SECONDS


def test_goodput_beside_damaged_frames_stays_above_half(flooded: Flooded) -> None:
    octets = [octets for octets, _ in drunk(flooded[1])]
    assert octets[0] > 1_000_000 * SECONDS
    assert min(octets[1 : 1 + len(DAMAGED)]) > octets[0] / 2


def test_no_octet_of_a_stream_is_another(flooded: Flooded) -> None:
    """Not even where forged SDs are taken for the peer's: TCP has its own checksum."""
    assert sum(damaged for _, damaged in drunk(flooded[1])) == 0


@pytest.mark.parametrize("kind", (*DAMAGED, *SEALED))
def test_memory_is_bounded(flooded: Flooded, kind: str) -> None:
    assert fallen(flooded[0], kind) < (LEFT if kind in DAMAGED else MEMORY)


@pytest.mark.parametrize("kind", (*DAMAGED, *SEALED))
def test_the_link_is_back_when_the_flood_is_over(flooded: Flooded, kind: str) -> None:
    assert number(flooded[0], f"back {kind}") < BACK_S


def test_nothing_is_left_of_it(flooded: Flooded) -> None:
    octets = [octets for octets, _ in drunk(flooded[1])]
    assert octets[-1] > octets[0] / 2
    assert fallen(flooded[0], "last") < LEFT
