# SPDX-License-Identifier: GPL-2.0
"""docs/results/figures-PAPER.md holds the rows, variants and legend that the code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apogee_lab.papers import report
from apogee_lab.papers.catalogue import PAPERS, choose

ROW = re.compile(r"\| (\w+) \| (.+?) \| (.+) \| (yes|no|–)( \([^)]+\))? \| (.+) \|")


@pytest.fixture(params=PAPERS)
def paper(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def page(root: Path, paper: str) -> str:
    return (root / "docs" / "results" / f"figures-{paper}.md").read_text()


def printed(paper: str) -> str:
    """The page as the code prints it without any run."""
    choices = choose([paper])
    rows = {choice.name: report.missing(choice, "not run") for choice in choices}
    lengths = {name: {"durations_s": [60.0], "seeds": [5]} for name in rows}
    return report.markdown(choices, rows, {"lengths": lengths}, ["6.1"])


def test_claims_in_their_order(paper: str, page: str) -> None:
    found = [row.groups() for row in map(ROW.fullmatch, page.splitlines()) if row]
    wanted = [row.groups() for row in map(ROW.fullmatch, printed(paper).splitlines()) if row]
    assert len(wanted) > 30
    assert [row[:2] for row in found] == [row[:2] for row in wanted]


def test_reasons(paper: str, page: str) -> None:
    """A claim that does not hold has its reason, any other none."""
    claims = [
        claim
        for figure in PAPERS[paper].figures.values()
        for claim in figure.claims
        for _ in claim.variants
    ]
    found = [row for row in map(ROW.fullmatch, page.splitlines()) if row]
    for claim, row in zip(claims, found, strict=True):
        reason = claim.why or report.UNKNOWN
        assert row[6] == (reason if row[4] == "no" else report.NONE), row[0]


def test_variants_and_legend(paper: str, page: str) -> None:
    _, _, below = printed(paper).partition("\n\n- ")
    assert f"- {below.rstrip()}\n" in page
