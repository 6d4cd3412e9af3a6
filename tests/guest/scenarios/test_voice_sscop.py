# SPDX-License-Identifier: GPL-2.0
"""A call beside a bulk transfer over SSCOP: its class decides what it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.runs import Run, compiled, run_cases
from tests.guest.scenarios.test_radio import over_radio

pytestmark = [pytest.mark.guest, pytest.mark.uml]

SECONDS = 30
PORT = 5400
EF = 0xB8
CALL = f"""
cp /lab/voice.bin /bin/voice; chmod 755 /bin/voice
ip netns exec mh voice hear {PORT} >$OUT/heard & hears=$!
sleep 5
ip netns exec gw voice speak 10.0.1.2 {PORT} {EF} {SECONDS}
wait $hears
"""
CASES = {
    kind: over_radio(
        duration_s=SECONDS + 10, beside=CALL, segment="auto", ber="1e-4", window="0", ef=kind,
        qdisc="fq_codel", target="300ms", interval="1s",
    )
    for kind in ("assured", "bounded", "unassured")
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(modules: Path, build: Path) -> dict[str, Run]:
    program = compiled(Path(__file__).with_name("voice.c"))
    return run_cases(build, "radio-voice", CASES, files={"lab/voice.bin": program})


PACKETS = 50 * SECONDS


def heard(run: Run) -> list[tuple[int, float]]:
    """Numbers and delays (ms) in the order of arrival."""
    lines = [line.split() for line in run.text("heard").splitlines()]
    return [(int(number), int(us) / 1000) for number, us in lines]


def late(run: Run) -> float:
    """The 99th percentile of the delays (ms)."""
    delays = sorted(delay for _, delay in heard(run))
    return delays[len(delays) * 99 // 100]


def lost(run: Run) -> float:
    return 1 - len({number for number, _ in heard(run)}) / PACKETS


def test_unassured_packets_come_in_time(runs: dict[str, Run]) -> None:
    """Copies: measured 92 ms, .0 lost; 488 ms if they are assured. One in a thousand may be lost;
    five standard deviations more are chance."""
    assert late(runs["unassured"]) < 130 < late(runs["assured"])
    assert lost(runs["unassured"]) < 0.001 + 5 * (0.001 / PACKETS) ** 0.5


def test_bounded_packets_are_repaired(runs: dict[str, Run]) -> None:
    """Within the second after which they are given up; a repair takes a round trip."""
    assert lost(runs["bounded"]) <= 0.001
    assert max(delay for _, delay in heard(runs["bounded"])) < 1200
    counts = runs["bounded"].record["sscop"]["gw"]
    assert counts["bounded_sent"] == PACKETS
    assert counts["bounded_given_up"] == 0


@pytest.mark.parametrize("kind", CASES)
def test_a_call_stays_in_order(runs: dict[str, Run], kind: str) -> None:
    numbers = [number for number, _ in heard(runs[kind])]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("kind", CASES)
def test_the_bulk_transfer_goes_on(runs: dict[str, Run], kind: str) -> None:
    """A call is a twentieth of the rate; copies make it a fifth."""
    record = runs[kind].record
    assert record["total_goodput_bps"] / record["limit_bps"] > 0.75
    assert record["sscop"]["gw"]["resets"] == record["sscop"]["mh"]["resets"] == 0
