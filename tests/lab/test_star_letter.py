# SPDX-License-Identifier: GPL-2.0
"""The paper's figure 15 by the paper's letter: what two flows in one queue take the link for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab import cli, modules, records, sweep
from apogee_lab.engines import uml
from apogee_lab.figures import judges, series
from apogee_lab.figures.star import FIGURE_15

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_two_estimates_alternate_around_8_mbit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figure's own runs and claims: neither the link's rate nor half of it, and in turn."""
    monkeypatch.setattr(sweep, "RUNS", tmp_path / "runs")
    modules.build(uml.kernel())
    cell = next(cell for cell in FIGURE_15.cells if cell.variant == "letter")
    sets = [word for option in cell.options(60) for word in ("--set", option)]
    command = ["run", cell.scenario, "--engine", "uml", "--cc", cell.cc, *sets, "--repeat", "5"]
    assert cli.main([*command, "--json", str(tmp_path / "records")]) == 0
    runs = records.read_records(tmp_path / "records")
    for run in runs:
        folder = tmp_path / "runs" / str(run["run"])
        meta = json.loads((folder / "run.json").read_text(encoding="utf-8"))["meta"]
        run["series"] = series.summary(folder, meta)
    claims = [claim for claim in FIGURE_15.claims if "letter" in claim.variants]
    assert [claim.judge(judges.Results(runs)).yes for claim in claims] == [True, True]
