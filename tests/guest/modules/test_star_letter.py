# SPDX-License-Identifier: GPL-2.0
"""The paper's figure 15, with star as published: bandwidth estimates of two flows in one queue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apogee_lab.papers import series
from apogee_lab.papers.claims import Results
from apogee_lab.papers.star.figures import FIGURE_15
from tests.guest.runs import measured

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.deep]


def test_two_estimates_are_around_8_mbit(kept: Path, tmp_path: Path) -> None:
    """The figure's own runs: neither the link's rate nor half of it."""
    cell = next(cell for cell in FIGURE_15.cells if cell.variant == "letter")
    sets = [word for option in cell.options(60) for word in ("--set", option)]
    seeds = range(cell.first_seed, cell.first_seed + cell.seeds)
    how = ["--cc", cell.cc, *sets, "--seed", ",".join(map(str, seeds))]
    runs = measured(tmp_path / "records", *how, scenario=cell.scenario)
    for run in runs:
        folder = kept / run["run"]
        meta = json.loads((folder / "run.json").read_text(encoding="utf-8"))["meta"]
        run["series"] = series.summary(folder, meta)
    (claim,) = (c for c in FIGURE_15.claims if c.text.startswith("about 8 Mbit/s"))
    assert claim.check(Results(runs)).holds == "yes"
