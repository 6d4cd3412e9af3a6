# SPDX-License-Identifier: GPL-2.0
"""Engine qemu in real guests: repeatability, a guest that hangs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.engines import qemu
from apogee_lab.engines.work import GuestFailed
from apogee_lab.measures.record import dumps, read_records

pytestmark = pytest.mark.guest


def lab_run(*arguments: str) -> int:
    return main.main(["run", *arguments])


# --- repeatability ----------------------------------------------------------------------------


def test_equal_seeds_give_equal_records(stock_modules: Path, kept: Path, tmp_path: Path) -> None:
    """The same run twice, once beside another: equal bytes except wall_s; seeds differ."""
    lines = []
    for attempt, seeds in (("one", "1,2"), ("two", "1")):
        target = tmp_path / attempt
        status = lab_run(
            "satellite", "--cc", "star", "--set", "ber=1e-5", "--set", "trace=module",
            "--seed", seeds, "--duration", "2", "--fresh", "--json", str(target),
        )  # fmt: skip
        assert status == 0
        found = read_records(target)
        lines.append([dumps(record | {"wall_s": 0}) for record in found])
        traces = {run: (kept / run / "trace.txt").read_bytes() for run in names(found)}
        if attempt == "one":
            first = traces
    assert lines[0][:1] == lines[1]
    assert traces.items() <= first.items(), "to the last ACK"
    one, two = (json.loads(line) for line in lines[0])
    assert one["link_drops"] != two["link_drops"]
    assert len(set(first.values())) == 2


def names(found: list[dict[str, Any]]) -> list[str]:
    return [record["run"] for record in found]


# --- a guest that hangs -----------------------------------------------------------------------


def test_a_busy_guest_is_killed(tmp_path: Path) -> None:
    """A guest in an endless loop is killed when it has used its CPU time."""
    with pytest.raises(GuestFailed, match="clock stood still for 4 s of CPU time"):
        qemu.run_script("while :; do :; done", out=tmp_path / "out", spun_s=4.0)
    assert list(tmp_path.iterdir()) == [], "nothing half done is left"
