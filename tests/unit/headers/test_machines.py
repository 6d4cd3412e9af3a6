# SPDX-License-Identifier: GPL-2.0
"""include/apogee computes the same on a big-endian machine, and on one of 32 bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT
from tests.asked import kept, machines
from tests.unit.headers.cheaders import Headers


@pytest.mark.deep
@pytest.mark.parametrize("name", machines.MACHINES)
def test_another_machine_answers_alike(name: str, tmp_path: Path) -> None:
    machine = machines.MACHINES[name]
    assert machine.there, f"no {machine.compiler} or {machine.runs} here: scripts/setup machines"
    headers = Headers(ROOT)
    assert machines.difference(headers, machine, [kept.run() / "calls"], tmp_path) == ""
