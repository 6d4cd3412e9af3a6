# SPDX-License-Identifier: GPL-2.0
"""docs/results/sharing.md has the tables that the records beside it give."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from apogee_lab.commands import main
from tests.unit.papers.found import Record, dropped, runs, short

Read = Callable[[str], list[Record]]


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "results" / "sharing.md").read_text()


def test_what_others_get(
    root: Path, page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's command prints both tables."""
    monkeypatch.chdir(root)
    (command,) = [line for line in page.splitlines() if line.startswith("scripts/lab beside ")]
    assert main.main(shlex.split(command)[1:]) == 0
    tables = [
        "\n".join(line for line in part.splitlines() if line.startswith("|"))
        for part in capsys.readouterr().out.split("\n\n")
    ]
    found = [table for table in tables if table]
    assert len(found) == 2
    for table in found:
        assert table in page


@pytest.mark.parametrize("name", ["twins", "late"])
def test_equal_flows(root: Path, page: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "docs" / "results" / f"{name}.jsonl"
    assert main.main(["table", "--format", "md", str(path)]) == 0
    assert capsys.readouterr().out.strip() in page


ERRORS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)


def index(read: Read, name: str, queue: str, ber: float) -> list[float]:
    found = runs(read(f"{name}.jsonl"), "star+star", queue=queue, ber=ber)
    assert len(found) == 5
    return [record["jain"] for record in found]


def test_what_the_page_says_of_two_star_flows(read: Read, page: str) -> None:
    prose = " ".join(page.split())
    long, tight = (
        [fmean(index(read, "twins", queue, ber)) for ber in ERRORS] for queue in ("625kB", "15kB")
    )
    assert f"(Jain {short(min(long[:-1]))} and more up to 1e-6, {short(long[-1])} at 1e-5)" in prose
    few = min(index(read, "twins", "15kB", 1e-7))
    assert (
        f"the index is {short(min(tight[:-1]))} to {short(max(tight[:-1]))} up to 1e-6, at 1e-7 "
        f"{short(few)} in one of five runs, and {short(tight[-1])} at 1e-5"
    ) in prose
    *usual, last = (
        dropped(runs(read("twins.jsonl"), "star+star", queue="15kB", ber=ber)) for ber in ERRORS
    )
    least, most = min(usual), max(usual)
    assert f"send {least:.1f} to {most:.1f} % is dropped at the short queue up to 1e-6" in prose
    assert f"and {last:.1f} % at 1e-5." in prose


def test_what_the_page_says_of_a_late_start(read: Read, page: str) -> None:
    prose = " ".join(page.split())
    long, tight = (
        [fmean(index(read, "late", queue, ber)) for ber in ERRORS] for queue in ("625kB", "15kB")
    )
    assert (
        f"gains its share: {short(min(long))} and more with the long queue, "
        f"{short(min(tight[:3]))} to {short(max(tight[:3]))} with the short one up to 1e-7 "
        f"and {short(tight[3])} at 1e-6. "
        f"At 1e-5 with the short queue it is {short(tight[4])}:"
    ) in prose
