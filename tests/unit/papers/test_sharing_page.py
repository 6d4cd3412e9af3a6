# SPDX-License-Identifier: GPL-2.0
"""docs/results/sharing.md says what the records give."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from apogee_lab.commands import main
from tests.unit.papers.found import (
    Read,
    dropped,
    from_to,
    joined,
    runs,
    short,
)

PAGE = "results/sharing.md"
ERRORS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)


def test_what_others_get(
    root: Path, page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's command prints both tables."""
    monkeypatch.chdir(root)
    text = (root / "docs" / PAGE).read_text()
    (command,) = [line for line in text.splitlines() if line.startswith("scripts/lab beside ")]
    assert main.main(shlex.split(command)[1:]) == 0
    tables = [
        joined("\n".join(line for line in part.splitlines() if line.startswith("|")))
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
    assert joined(capsys.readouterr().out) in page


def test_what_pages_say_of_two_star_flows(read: Read, page: str) -> None:
    """Both at once with a long and with a short queue, and the second 30 s later."""

    def found(name: str, queue: str) -> list[list[float]]:
        at = (runs(read(f"{name}.jsonl"), "star+star", 5, queue=queue, ber=ber) for ber in ERRORS)
        return [[record["jain"] for record in each] for each in at]

    def means(name: str, queue: str) -> list[str]:
        return [short(sum(each) / len(each)) for each in found(name, queue)]

    long, tight = (means("twins", queue) for queue in ("625kB", "15kB"))
    assert f"(Jain {min(long[:-1])} and more up to 1e-6, {long[-1]} at 1e-5)" in page
    least = [short(min(each)) for each in found("twins", "15kB")]
    assert min(map(float, least[:2])) > 0.9
    assert (
        f"the index is {min(tight[:-1])} to {max(tight[:-1])} up to 1e-6, at 1e-7 {least[2]} in "
        f"one of five runs, and {tight[-1]} at 1e-5"
    ) in page
    *usual, last = (
        dropped(runs(read("twins.jsonl"), "star+star", queue="15kB", ber=ber)) for ber in ERRORS
    )
    assert f"send {from_to(usual, 1)} % is dropped at the short queue up to 1e-6" in page
    assert f"and {last:.1f} % at 1e-5." in page

    first, later = (means("late", queue) for queue in ("625kB", "15kB"))
    assert (
        f"gains its share: {min(first)} and more with the long queue, {min(later[:3])} to "
        f"{max(later[:3])} with the short one up to 1e-7 and {later[3]} at 1e-6. "
        f"At 1e-5 with the short queue it is {later[4]}:"
    ) in page
