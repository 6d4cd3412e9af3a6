# SPDX-License-Identifier: GPL-2.0
"""Kept records: a page's rows and tables are what its records give."""

from __future__ import annotations

from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.commands import draw_figures
from apogee_lab.papers import kept
from tests import ROOT
from tests.unit.papers.found import TextOf

FILES = sorted((ROOT / "docs" / "results" / "records").glob("*.jsonl.xz"))


def tables(text: str) -> dict[tuple[str, str], list[str]]:
    """The lines of each table by the heading and the line before it."""
    found: dict[tuple[str, str], list[str]] = {}
    heading = caption = ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line
        elif line.startswith("| figure | "):
            caption = line
            found[(heading, caption)] = [line]
        elif line.startswith("|"):
            found.setdefault((heading, caption), []).append(line)
        elif line:
            caption = line
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_page_says_what_its_records_give(path: Path) -> None:
    paper = path.name.split(".")[0]
    page = (ROOT / "docs" / "results" / f"figures-{paper}.md").read_text()
    shown, wanted = tables(page), tables(kept.page(kept.read(path)))
    claims = [
        lines
        for found in (shown, wanted)
        for lines in found.values()
        if lines[0].startswith("| figure | the paper's claim")
    ]
    assert len(claims) == 2
    assert claims[0] == claims[1]
    ours = {place: lines for place, lines in wanted.items() if place[0]}
    assert len(ours) >= {"gentle": 1, "shake": 11, "sscop": 14}.get(paper, 0)
    for place, lines in ours.items():
        assert shown[place] == lines, place


def test_there_and_back(tmp_path: Path) -> None:
    records = {"today": [{"run": "a", "seed": 1}, {"run": "b", "seed": 2}], "period": []}
    path = tmp_path / "a.jsonl.xz"
    one = kept.compressed([kept.as_lines("star-5", records)])
    path.write_bytes(one + kept.compressed([kept.as_lines("star-8", records)]))
    assert kept.read(path) == {name: {"today": records["today"]} for name in ("star-5", "star-8")}


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


def test_the_file_beside_a_table(tmp_path: Path) -> None:
    table = tmp_path / "table-star-5+star-8.md"
    assert draw_figures.records_path(table) == tmp_path / "records-star-5+star-8.jsonl.xz"


def test_timeouts_of_two_flows_on_the_old_stack(root: Path, text_of: TextOf) -> None:
    """What figures-star.md says of the paper's reason for figure 11."""
    found = kept.read(root / "docs" / "results" / "records" / "star.jsonl.xz")["star-11"]

    def counts(mix: str) -> list[list[int]]:
        records = [r for r in found["letter+period"] if r["cc"] == mix]
        by_ber: dict[float, list[int]] = {}
        for record in records:
            total = sum(flow["timeouts"] for flow in record["flows"])
            by_ber.setdefault(record["set"]["ber"], []).append(total)
        assert sorted(by_ber) == [0.0, 1e-8] and all(len(each) == 5 for each in by_ber.values())
        return [by_ber[ber] for ber in sorted(by_ber)]

    star = [f"{sum(each) / 5:.0f}" for each in counts("star+star")]
    others = [count for each in counts("j+j") for count in each]
    prose = text_of("results/figures-star.md")
    assert f"have {star[0]} and {star[1]} timeouts in 60 s there" in prose
    assert f"two of TCP-J {min(others)} to {max(others)})" in prose
