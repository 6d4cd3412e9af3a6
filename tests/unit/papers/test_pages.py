# SPDX-License-Identifier: GPL-2.0
"""docs/results/figures-PAPER.md holds the rows, variants and legend that the code prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.papers import report
from apogee_lab.papers.catalogue import PAPERS, choose
from apogee_lab.papers.figure import Claim
from apogee_lab.results.text import as_markdown

ROW = re.compile(r"\| (\w+) \| (.+?) \| (.+) \| (yes|no|not shown|–) \| (.+) \|")


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


def told(paper: str, page: str) -> list[tuple[Claim, dict[str, Any]]]:
    """Each claim and variant with what the page says of it."""
    claims = [
        (figure.name, claim, variant)
        for figure in PAPERS[paper].figures.values()
        for claim in figure.claims
        for variant in claim.variants
    ]
    found = [row for row in map(ROW.fullmatch, page.splitlines()) if row]
    return [
        (
            claim,
            {
                "figure": figure,
                "claim": claim.text,
                "variant": variant,
                "holds": row[4],
                "why": row[5],
                "own": claim.own,
                "others": claim.others,
            },
        )
        for (figure, claim, variant), row in zip(claims, found, strict=True)
    ]


def test_reasons(paper: str, page: str) -> None:
    """A claim that does not hold has its reason, any other none."""
    for claim, row in told(paper, page):
        reason = claim.why or report.UNKNOWN
        assert row["why"] == (reason if row["holds"] == "no" else report.NONE), row


def test_counts(paper: str, page: str) -> None:
    table = report.counts(PAPERS[paper], [row for _, row in told(paper, page)])
    assert as_markdown(table) in page


def test_no_claim_is_made_twice(paper: str) -> None:
    places = [
        (figure.name, claim.text, variant)
        for figure in PAPERS[paper].figures.values()
        for claim in figure.claims
        for variant in claim.variants
    ]
    assert len(set(places)) == len(places)


def test_variants_and_legend(paper: str, page: str) -> None:
    _, _, below = printed(paper).partition("\n\n- ")
    assert f"- {below.rstrip()}\n" in page
