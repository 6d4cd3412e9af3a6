# SPDX-License-Identifier: GPL-2.0
"""Kept records: docs/results/figures-PAPER.md has the rows, tables and words that they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import draw_figures
from apogee_lab.papers import kept
from apogee_lab.papers.catalogue import PAPERS, choose
from tests.unit.papers.found import Figures, TextOf, from_to, mean


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_says_what_its_records_give(root: Path, paper: str) -> None:
    """Word for word and in this order; between the paragraphs it has some of its own."""
    results = root / "docs" / "results"
    records = kept.read(results / "records" / f"{paper}.jsonl.xz")
    assert sorted(records) == sorted(choice.name for choice in choose([paper]))
    rest = (results / f"figures-{paper}.md").read_text()
    for paragraph in kept.page(records).strip().split("\n\n"):
        _, found, rest = rest.partition(paragraph)
        assert found, paragraph


def test_there_and_back(tmp_path: Path) -> None:
    records = {"today": [{"run": "a", "seed": 1}, {"run": "b", "seed": 2}], "period": []}
    path = tmp_path / "a.jsonl.xz"
    one = kept.compressed([kept.as_lines("star-5", records)])
    path.write_bytes(one + kept.compressed([kept.as_lines("star-8", records)]))
    assert kept.read(path) == {name: {"today": records["today"]} for name in ("star-5", "star-8")}
    beside = draw_figures.records_path(tmp_path / "table-star-5+star-8.md")
    assert beside == tmp_path / "records-star-5+star-8.jsonl.xz"


#: A run of a figure that was kept twice would count as two.
TWICE = 2 * kept.compressed([kept.as_lines("star-5", {"today": [{"run": "a"}]})])


@pytest.mark.parametrize(
    "content", [b"", b"text\n", kept.compressed(["{}\n"]), kept.compressed(["[1]\n"]), TWICE, None]
)
def test_no_file_of_records(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl.xz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LabError):
        kept.read(path)
    assert draw_figures.main(["kept", str(path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_timeouts_of_two_flows_on_the_old_stack(figures: Figures, text_of: TextOf) -> None:
    """What figures-star.md says of the paper's reason for figure 11."""

    def counts(mix: str, ber: float) -> list[int]:
        records = figures("star-11")["letter+period"]
        found = [r["flows"] for r in records if (r["cc"], r["set"]["ber"]) == (mix, ber)]
        assert len(found) == 5
        return [sum(flow["timeouts"] for flow in flows) for flows in found]

    star = [f"{mean(counts('star+star', ber)):.0f}" for ber in (0.0, 1e-8)]
    others = from_to(counts("j+j", 0.0) + counts("j+j", 1e-8))
    prose = text_of("results/figures-star.md")
    assert f"have {star[0]} and {star[1]} timeouts in 60 s there" in prose
    assert f"two of TCP-J {others})" in prose
