# SPDX-License-Identifier: GPL-2.0
"""docs/results/sharing.md has the tables that the records beside it give."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from apogee_lab.commands import main


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
