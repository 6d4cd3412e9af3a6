# SPDX-License-Identifier: GPL-2.0
"""Kept records, and the full page that is printed of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import draw_figures, main
from apogee_lab.papers import kept
from apogee_lab.papers.catalogue import PAPERS, choose
from tests.unit.papers.found import Figures, from_to, mean


@pytest.mark.parametrize("paper", PAPERS)
def test_the_full_page_has_what_the_short_one_has(root: Path, paper: str) -> None:
    """Each claim with what was measured, of all figures."""
    records = kept.read(root / "docs" / "results" / "records" / f"{paper}.jsonl.xz")
    assert sorted(records) == sorted(choice.name for choice in choose([paper]))
    full, page = kept.page(records), (root / "docs" / "results" / f"figures-{paper}.md").read_text()
    rows = [line for line in page.splitlines() if re.search(r"\| (yes|no|not shown) \|", line)]
    assert len(rows) > 10
    for line in rows:
        ours = line.split(" | ")[-1].removesuffix(" |").partition(" [")[0].partition(" (against")[0]
        ends = ours.split(" … ")
        known = any(all(end in row for end in ends) for row in full.splitlines())
        assert known or "more |" in line, line


def test_a_table_of_some_of_them(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figure and variant are settings to `lab table`."""
    path = root / "docs" / "results" / "records" / "compound.jsonl.xz"
    words = ["table", str(path), "--set", "figure=compound-4", "--set", "variant=today"]
    assert main.main([*words, "--set", "n=4,6", "--across", "n", "--of", "Jain"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()[1:]
    assert head.split()[-2:] == ["4", "6"]
    assert {row.split()[0] for row in rows} == {"compound", "compound_plus"}


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


def test_timeouts_of_two_flows_on_the_old_stack(figures: Figures) -> None:
    """The paper's reason for figure 11 applies there: star has twice as many as TCP-J."""

    def counts(mix: str, ber: float) -> list[int]:
        records = figures("star-11")["letter+period"]
        found = [r["flows"] for r in records if (r["cc"], r["set"]["ber"]) == (mix, ber)]
        assert len(found) == 5
        return [sum(flow["timeouts"] for flow in flows) for flows in found]

    star = [f"{mean(counts('star+star', ber)):.0f}" for ber in (0.0, 1e-8)]
    others = from_to(counts("j+j", 0.0) + counts("j+j", 1e-8))
    assert (star, others) == (["69", "70"], "29 to 34")
