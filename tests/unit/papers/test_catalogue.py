# SPDX-License-Identifier: GPL-2.0
"""Every paper in the catalogue: its figures, the claims' runs, the cells, what all of it costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.papers import drawings, schedule
from apogee_lab.papers.catalogue import PAPERS, choose
from apogee_lab.papers.claims import Results
from apogee_lab.papers.figure import Cell, Figure
from apogee_lab.scenarios import SCENARIOS
from tests.unit.papers import test_compound_figures as compound
from tests.unit.papers import test_gentle_figures as gentle
from tests.unit.papers import test_shake_figures as shake
from tests.unit.papers import test_sscop_figures as sscop
from tests.unit.papers import test_star_figures as star
from tests.unit.papers.planning import planned

NAMES = {
    "star": "5 6 7 8 10 11 12 13 14 15 16 17 18 19 20",
    "gentle": "2 3 6 7",
    "compound": "2 4 late",
    "sscop": "4 5 6 7 8 9 10 11 12 13 14 today queue window step",
    "shake": "9 10 11 12 13 14 sum peers left several loss needless",
}
#: Any record of a cell.
INVENTED: dict[str, Callable[[Cell], dict[str, Any]]] = {
    "star": star.invented,
    "gentle": gentle.invented,
    "compound": compound.invented,
    "sscop": sscop.record,
    "shake": shake.record,
}
#: The most hours that a paper's runs may take on two CPUs, with the lab's usual engine.
MOST_HOURS = {"star": 0.39, "gentle": 2.5, "compound": 2, "sscop": 1.5, "shake": 1.5}

each_paper = pytest.mark.parametrize("paper", PAPERS)


def figures(paper: str) -> Iterator[Figure]:
    yield from PAPERS[paper].figures.values()


@each_paper
def test_the_names_of_the_figures(paper: str) -> None:
    names = NAMES[paper].split()
    assert list(PAPERS[paper].figures) == names
    assert [choice.name for choice in choose([paper])] == [f"{paper}-{name}" for name in names]
    for name, figure in PAPERS[paper].figures.items():
        begin = f"Figure {name}:" if name.isdigit() else ("Not in the paper:", "Late starts")
        assert figure.name == name and figure.title.startswith(begin)
        assert figure.claims and figure.draw in drawings.DRAWN


def test_snakemake_knows_every_figure(root: Path) -> None:
    text = (root / "scripts" / "reproduce" / "Snakefile").read_text()
    pattern = re.search(r'name="([^"]+)"', text)[1]
    for choice in choose(list(PAPERS)):
        assert re.fullmatch(pattern, choice.name)


@each_paper
def test_every_claim_has_the_runs_it_needs(paper: str) -> None:
    for figure in figures(paper):
        for claim in figure.claims:
            for variant in claim.variants:
                cells = [cell for cell in figure.cells if cell.variant == variant]
                once = [cell for n, cell in enumerate(cells) if cell not in cells[:n]]
                assert once and variant in PAPERS[paper].variants
                assert claim.check(Results(map(INVENTED[paper], once))).ours


@pytest.mark.parametrize("paper", ["sscop", "shake"])
def test_every_cell_is_a_run_of_the_lab(paper: str) -> None:
    """The other papers' runs are compiled where a command makes them, in test_star_figures.py."""
    for figure in figures(paper):
        for cell in figure.cells:
            scenario = SCENARIOS[cell.scenario]
            kinds = {param.name: param.kind for param in scenario.params}
            told = {key: cell.setting(key, cell.duration_s) for key in cell.settings}
            values = {key: units.parse(kinds[key], text) for key, text in told.items()}
            scenario.compile(values, cell.cc, cell.duration_s)


@pytest.mark.deep
@pytest.mark.parametrize("paper", MOST_HOURS)
def test_the_cost_is_bounded(paper: str, tmp_path: Path) -> None:
    made = schedule.as_json(planned(paper), None, None, tmp_path, tmp_path / "table.md")
    assert sum(run["cost_s"] for run in made["runs"].values()) / 2 < 3600 * MOST_HOURS[paper]
