# SPDX-License-Identifier: GPL-2.0
"""Pure code and the devices' machines on a big-endian machine, and on one of 32 bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT
from tests.asked import kept, machines
from tests.unit.headers.cheaders import Headers
from tests.unit.machines import run_tests

HEADERS = ("holes", "order", "path", "plpmtu", "policy", "repair", "sched")
#: What starts programs, which are not this machine's, is left out.
PARTS = {
    "sscop": ("tests/unit/sscop",),
    "shake": (
        "tests/unit/shake",
        "--ignore=tests/unit/shake/test_events.py",
        "-k",
        "not libfuzzer",
    ),
    "shake's headers": tuple(f"tests/unit/headers/test_shake_{name}.py" for name in HEADERS),
}


@pytest.mark.deep
@pytest.mark.parametrize("name", machines.MACHINES)
def test_another_machine_answers_alike(name: str, tmp_path: Path) -> None:
    machine = machines.MACHINES[name]
    assert machine.there, f"no {machine.compiler} or {machine.runs} here: scripts/setup machines"
    headers = Headers(ROOT)
    assert machines.difference(headers, machine, [kept.run() / "calls"], tmp_path) == ""


@pytest.mark.deep
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", machines.MACHINES)
def test_devices_on_another_machine(name: str, part: str, tmp_path: Path) -> None:
    assert machines.MACHINES[name].there, "scripts/setup machines"
    passed = int(run_tests(name, tmp_path, *PARTS[part]).split()[0])
    assert passed > 30
