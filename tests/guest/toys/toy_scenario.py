# SPDX-License-Identifier: GPL-2.0
"""The toy scenario in a guest; becomes tests/guest/scenarios/test_toy.py of a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.results import table
from tests.guest.runs import measured

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_it_runs(kept: Path, tmp_path: Path) -> None:
    (found,) = measured(tmp_path / "toy", "--cc", "reno", "--duration", "5", scenario="toy")
    assert found["scenario"] == "toy"
    assert found["flows"][0]["rtt_ms"]["min"] == pytest.approx(40, abs=10)
    assert "toy peak kB" in table.render([found])
