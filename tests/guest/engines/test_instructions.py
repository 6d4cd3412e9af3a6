# SPDX-License-Identifier: GPL-2.0
"""Instructions of a guest by function, and what a packet through SSCOP or SHAKE costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.commands.device_cost import parts_of
from apogee_lab.commands.main import main
from apogee_lab.engines.instructions import MARK, counted

pytestmark = [pytest.mark.guest, pytest.mark.deep]


def test_counts_what_runs_between_marks(tmp_path: Path) -> None:
    """A loop of the shell, and the same twice as long."""
    loop = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done"
    script = "\n".join([MARK, loop.format(2000), MARK, loop.format(4000), MARK])
    _, once, twice = counted(script, kernel="bookworm", modules=[], out=tmp_path / "out")
    short, long = (counts["programs", ""] for counts in (once, twice))
    assert 2000 * 1000 < short < 2000 * 50_000
    assert 1.8 < long / short < 2.1
    assert sum(parts_of(once).values()) == sum(once.values())


def costs(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[float]]:
    """The numbers of each device; the parts of one are its whole."""
    assert main(["device-cost", *words]) == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    devices = {row[0]: [float(number) for number in row[1:]] for row in rows[2:]}
    for whole, _, _, _, *parts in devices.values():
        assert abs(whole - sum(parts)) < 10
    return devices


def test_a_packet_in_segments_of_256_costs_less_than_five_times_a_vlans(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    devices = costs(capsys, "256", "--packets", "8000")
    assert 3000 < devices["vlan"][0] < 8000
    assert devices["sscop, segment 256"][1] < 5


def test_a_packet_through_shake_beside_gre(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of GRE's whole, with both ends and all that they have in common with it."""
    devices = costs(capsys, "shake-noauth", "shake", "--packets", "20000")
    assert 7000 < devices["gre"][0] < 12000
    assert devices["shake, auth off, one path"][1] < 1.6
    assert devices["shake, auth on, one path"][1] < 2.9
